// What a compiled program asks of one simulated core: tile-level commands, in order.
//
// One command stands for one HLO instruction or fusion after compilation. It says how much work there is, of
// which kind and in which pieces; the core (core/) says how long that takes on a chip, the pod (pod.h) what
// hides behind what. Nothing here carries values.
//
// All byte counts are of one device and include the padding of layouts; padding.h has what the hardware
// rounds up to. A device is what JAX calls one: both cores of a v4 or v5p, one of the two of a v2, v3 or v7x,
// the only one of the others (chip key devices_per_chip).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "tpu_sim/core/padding.h"
#include "tpu_sim/ici/kind.h"
#include "tpu_sim/spec/chip.h"
#include "xla_core/shape/dtype.h"

namespace armillary::sim {

// What people ask a profile about; each second of a run belongs to exactly one of these.
enum class OpClass : uint8_t {
  kMatmul,         // dot, alone or with what is fused to it
  kConvolution,    // likewise
  kElementwise,    // loop fusions
  kReduction,      // reduce, reduce-window, and what is fused to them
  kDataMovement,   // copy, transpose, slice, pad, concatenate, prefetch
  kGatherScatter,  // gather, scatter, dynamic-slice and dynamic-update-slice that are no plain copies
  kSort,
  kCollective,  // also the waits for one
  kControl,     // while, conditional, call: their own cost, not that of their bodies
  kOther,       // rng, host transfers, custom calls
};
inline constexpr int kNumOpClasses = static_cast<int>(OpClass::kOther) + 1;
std::string_view to_string(OpClass op_class);  // "matmul", "data movement", ...

// Who a command's time belongs to.
struct Label {
  std::string name;  // of the HLO instruction; commands with one name are added up in reports
  OpClass op_class = OpClass::kOther;
  double flops =
      0;  // of one device, by the definition of the op, without padding and without repeated passes
  double bytes = 0;     // that the op must read and write, without padding
  std::string op_name;  // HLO metadata: "jit(step)/jvp(loss)/dot_general"
  std::string source;   // "train.py:41"
};

// C[m, n] += A[m, k] B[k, n] on the matrix units. Extents as they are: the core pads them to its array.
struct MatrixWork {
  int64_t m = 0, n = 0, k = 0;
  int64_t count = 1;          // so many of them, as in a batch
  DType type = DType::kBF16;  // of the operands as they enter the array; bf16, f32 (cut to bf16), s8, u8, f8
  int passes = 1;             // 1 for precision DEFAULT, 3 for HIGH, 6 for HIGHEST
};

// Kinds of work of the vector unit, counted in elements of 32-bit lanes.
enum class VectorOp : uint8_t {
  kArithmetic,      // float add, subtract, multiply, min, max, negate, abs
  kInteger,         // integer and bitwise
  kSelect,          // compare and select
  kConvert,         // between element types
  kDivide,          // divide, remainder
  kTranscendental,  // exp, log, tanh, rsqrt, sine ...: the slot of its own, and the steps around it
};
inline constexpr int kNumVectorOps = static_cast<int>(VectorOp::kTranscendental) + 1;
using VectorWork = std::array<int64_t, kNumVectorOps>;

// The transpose unit, in elements of 32-bit lanes.
struct TransposeWork {
  int64_t transposed = 0;  // minor two dimensions change places
  int64_t reduced =
      0;  // sums (or so) across lanes; those across sublanes or major dimensions are vector arithmetic
  int64_t permuted = 0;  // shuffles within a register: rolls, sorts, lane broadcasts
};

// One tile of a loop: what comes into VMEM, what is done there, what goes out.
struct Tile {
  int64_t bytes_in = 0;   // from HBM; operands that are in VMEM already do not count
  int64_t bytes_out = 0;  // to HBM
  int64_t run_in =
      0;  // contiguous bytes of the transfer in; 0: all of it. Runs below the burst waste bandwidth
  int64_t run_out = 0;
  std::vector<MatrixWork> matrix;
  VectorWork vector = {};
  TransposeWork transpose;
  int64_t scalar_ops = 0;    // address arithmetic beyond the loop's own, one a cycle
  int64_t vmem_traffic = 0;  // bytes between VMEM and registers; 0: what comes in and goes out
};

// A fused operation: prologue, `tiles` equal tiles in a pipeline, epilogue. If a dimension does not divide,
// round the tiles up: the hardware does.
struct FusedLoop {
  int64_t tiles = 1;
  Tile tile;
  int64_t prologue_bytes = 0;  // read from HBM before the first tile: what all tiles share
  int64_t epilogue_bytes = 0;  // written after the last: what they add up
  int64_t vmem_bytes =
      0;            // live in VMEM, with `buffers` copies of the tiles in and out; refused beyond the chip's
  int buffers = 2;  // of tiles in, and of tiles out
  // Units that a tile visits one after the other, as a product, its softmax and the next product: while one
  // works on a tile the next works on the tile before. The last tile leaves stages - 1 steps later.
  int stages = 1;
};

enum class Space : uint8_t { kHbm, kVmem };

// A copy by DMA, by default HBM to HBM. With a handle it runs beside what follows until a Wait for that
// handle: a prefetch.
struct Copy {
  Space from = Space::kHbm, to = Space::kHbm;
  int64_t bytes = 0;  // each is read once and written once
  int64_t run = 0;    // contiguous bytes; 0: all
  int handle = -1;    // below 0: synchronous
};

// Which devices take part together: devices by number, as the program's replica groups list them. Shared,
// since large pods have long lists that many commands use.
using DeviceGroups = std::vector<std::vector<int>>;
using DevicePairs = std::vector<std::pair<int, int>>;

// Starts a collective; Wait ends it. A synchronous one is a start with its Wait right behind.
// broadcast: say all-gather of as many bytes; ragged-all-to-all: all-to-all of the whole buffer.
struct CollectiveStart {
  CollectiveKind kind = CollectiveKind::kAllReduce;
  int64_t bytes = 0;  // of one device: what an all-gather gives it, what the others start with
  std::shared_ptr<const DeviceGroups> groups;  // null or empty: all devices in one group
  std::shared_ptr<const DevicePairs> pairs;    // collective-permute: source and target devices
  int handle = -1;                             // from 0; free again once waited for
};

// Between the device and its host over PCIe.
struct HostTransfer {
  int64_t bytes = 0;
  int handle = -1;  // below 0: synchronous
};

// Blocks until what has this handle is done. The time that passes is exposed.
struct Wait {
  int handle = -1;
};

// Rows picked by indices that are known only at run time, one DMA each.
struct IndexedAccess {
  int64_t rows = 0;
  int64_t row_bytes = 0;
  bool adds = false;  // scatter with a combiner: read, add, write, one after the other
};

// What a TPU has no fast path for: element after element on the scalar unit.
struct Serial {
  int64_t steps = 0;  // dependent scalar steps
  int64_t bytes = 0;  // read and written
};

struct Command;

struct Loop {
  int64_t trips = 1;
  std::vector<Command> body;
};

struct Conditional {
  std::vector<std::vector<Command>> branches;
  int taken = -1;  // below 0: the branch that ends last
};

struct Command {
  Label label;
  std::variant<FusedLoop, Copy, CollectiveStart, HostTransfer, Wait, IndexedAccess, Serial, Loop, Conditional>
      what;
};

// A program for every device alike (SPMD).
struct Program {
  std::vector<Command> commands;
};

// Seconds that a command takes on an idle core: no waits, no collectives (0 for those and for Wait); bodies
// count as often as they run, of branches the dearest. What a scheduler or a tile choice asks.
double estimate_seconds(const Command& command, const Chip& chip);

// A matrix product with its operands and result in HBM, padded.
struct Matmul {
  int64_t m = 0, n = 0, k = 0, batch = 1;
  DType operand = DType::kBF16, result = DType::kBF16;
  int passes = 1;
  int64_t vmem_budget = 0;  // bytes; 0: all of the device's
  // Bytes between HBM and VMEM for each byte of a block: 0 where the array is in VMEM, 2 where f32 is read
  // and cut to bf16, less than 1 where windows of a convolution overlap, more where an epilogue reads others.
  double a_traffic = 1, b_traffic = 1, c_traffic = 1;
};

// What passes through VMEM at once: a part of one product, or several small ones of a batch.
struct MatmulBlocks {
  int64_t m = 0, n = 0, k = 0;
  int64_t batch = 1;
};
// Those that take the least time of all that fit.
MatmulBlocks choose_blocks(const Matmul& matmul, const Chip& chip);

// The loop over such blocks. Inputs that a fused prologue reads, and vector work of an epilogue, may be added
// to its tile.
FusedLoop matmul_loop(const Matmul& matmul, const MatmulBlocks& blocks);

// An operation without a product: all of its work as one tile, cut into as many equal ones as take the least
// time and fit VMEM (budget in bytes; 0: all of the device's).
FusedLoop stream_loop(const Tile& whole, const Chip& chip, int64_t vmem_budget = 0);

}  // namespace armillary::sim
