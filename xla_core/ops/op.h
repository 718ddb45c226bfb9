// The op table: one row an op, and the row is the compiler's whole knowledge of it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "xla_core/base/error.h"
#include "xla_core/ops/attr.h"
#include "xla_core/ops/tape.h"
#include "xla_core/shape/shape.h"

namespace armillary {

// Generated from op_list.def: Op::add, Op::dot, Op::get_tuple_element, ... in alphabetical order of their
// text names.
enum class Op : uint8_t {
#define ARM_OP(id, text) id,
#include "xla_core/ops/op_list.def"
#undef ARM_OP
};

// What a row's functions see of an instruction.
struct OpContext {
  std::span<const Shape* const> operands;
  const Attrs& attrs;
  std::span<const ProgramShape> callees;  // in the order of Instruction::callees()
  const Shape* stated = nullptr;          // the shape written in the text, when there is one
  const Shape& operand(int i) const { return *operands[i]; }
};

enum Trait : uint32_t {
  kCommutative = 1u << 0,
  kHasEffect = 1u << 1,  // may not be removed or merged though unused (infeed, outfeed, send, recv, rng, ...)
  kElementwise = 1u << 2,  // result element i depends on the operands' elements i only; has a scalar recipe
  kCollective = 1u << 3,
  kAsyncStart = 1u << 4,
  kAsyncDone = 1u << 5,
  kNeedsShape = 1u << 6,  // the text must state the shape; it cannot be inferred
  kCallsEmbedded =
      1u << 7,  // callees are scalar bodies (map, reduce, sort, scatter, fusion): they do not allocate
  kCallsControl = 1u << 8,      // callees are control flow (call, while, conditional, async-start)
  kExpensive = 1u << 9,         // an element of it costs more to compute again than to load
  kCannotRun = 1u << 10,        // parses, prints and verifies, but reports `unsupported` when it must run
  kRenames = 1u << 11,          // the result is the operands' memory under another name, or a tuple of such
  kGlobalDeviceIds = 1u << 12,  // replica_groups may count all devices (use_global_device_ids)
  kNoTraffic = 1u << 13,        // what it gives is there already: nothing is read or written for it
  kFree = 1u << 14,             // an element of it again is an index computation at most
  kPiecewise = 1u << 15,        // the result is cut into parts, each of one operand's elements
  kOverwrites = 1u << 16,       // operand 0 with a part of it overwritten
  kMapsCallee = 1u << 17,       // result element i is its callee's of the operands' elements i
};

// The one meaning of a row.
enum class Meaning : uint8_t { kScalar, kIndex, kFactors, kExpand, kSpecial };

inline constexpr int kVariadic = -1;

struct OpDef {
  Op op;
  std::string_view name;            // HLO text
  std::string_view stablehlo = {};  // StableHLO's name, empty when it has none
  int arity = 0;                    // kVariadic when it varies
  uint32_t traits = 0;
  std::vector<Attr> attrs = {};     // required ones
  std::vector<Attr> optional = {};  // allowed besides those every instruction may carry
  std::string_view doc = {};        // one sentence
  // Result shape from operands and attributes; throws user_error("operand 1 is s32[4], but add needs f32[4]")
  // without a place. nullptr: the stated shape is taken.
  Shape (*infer)(const OpContext&) = nullptr;
  // The numbered checks of the row beyond shape inference; throws likewise. May be nullptr.
  void (*check)(const OpContext&) = nullptr;
  // The parameter of the first callee that takes an operand's elements, -1 when none does: what XLA lets
  // differ in float precision from the operand. May be nullptr.
  int (*parameter_of)(const OpContext&, int operand) = nullptr;
  // Of the start and the done of a pair: the op that does the same in one piece. Generic pairs have none.
  std::optional<Op> whole = {};
  Meaning meaning = Meaning::kSpecial;
  // kScalar: one result element from one element of each operand. `result` is the result's dtype.
  Val (*scalar)(TapeBuilder&, std::span<const Val> x, const OpContext&, DType result) = nullptr;
  // kIndex: the result element at `index`, reading operands through b.load(operand, dtype, dims, index).
  Val (*element)(TapeBuilder&, std::span<const Val> index, const OpContext&, const Shape& result) = nullptr;
  // kFactors: dims by letter, operands then result; `.` combiner noted in the doc. Dots and convolutions
  // derive theirs from attributes.
  std::string_view factors = {};
  // kScalar, of two operands in any grouping: the e with op(e, x) = x, but for the sign of zeros; an invalid
  // value when the type has none. nullptr: not to be reduced with.
  Val (*identity)(TapeBuilder&, DType) = nullptr;

  // What the recipe does not tell of the costs; each may be nullptr.
  // Floating point operations per result element (kFactors, kSpecial); nullptr: none.
  double (*flops)(const OpContext&, const Shape& result) = nullptr;
  // How often the callees run, of rows that call scalar bodies; nullptr: not known, counted as never.
  double (*body_runs)(const OpContext&, const Shape& result) = nullptr;
  // Elements of an operand that one element of the result is made of; nullptr: one.
  double (*reads)(const OpContext&, int operand) = nullptr;
  // Bytes of memory read of an operand and written of the result; nullptr: all of them.
  double (*bytes_read)(const OpContext&, int operand, const Shape& result) = nullptr;
  double (*bytes_written)(const OpContext&, const Shape& result) = nullptr;

  bool has(Trait t) const { return traits & t; }
  // Result element i depends on the operands' elements i only.
  bool is_pointwise() const { return traits & (kElementwise | kMapsCallee); }
};

const OpDef& def(Op op);
std::span<const OpDef> all_ops();                  // in enum order
const OpDef* op_from_name(std::string_view name);  // nullptr when there is none
std::string nearest_op_name(std::string_view name);
inline std::string_view to_string(Op op) { return def(op).name; }

// Elements per dimension of a window's result, shared by reduce-window, convolution and select-and-scatter.
int64_t window_output_size(int64_t input, const WindowDim& w);

}  // namespace armillary
