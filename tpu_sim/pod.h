// A program on a simulated pod: when each command starts and ends, and why.
//
// Under SPMD one chip stands for all: every device runs the same commands and collectives take the same time
// everywhere, so one timeline is enough. simulate_all() runs every device and every message on every link,
// and is held against it in tests.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tpu_sim/ici/topology.h"
#include "tpu_sim/isa.h"

namespace armillary::sim {

// Slices of one shape. Devices are numbered slice by slice, chip by chip (first axis slowest), then core by
// core.
struct Pod {
  Chip chip;
  Topology torus;
  int slices = 1;
  int devices_per_chip = 1;

  int devices() const { return slices * torus.chips() * devices_per_chip; }
};

// "v5e:4x4", "v5p:4x4x4+2" (two slices), "v6e:1x1", "v7x:core" (one TensorCore, or both where they are one
// device). Throws a user error that says what there is.
Pod parse_pod(std::string_view text);
// The same for a chip of the user's own; the text is the shape alone, or has any name before its colon.
Pod parse_pod(std::string_view text, const Chip& chip);

// The smallest part of a pod that has these devices, and their numbers in it. An axis that is not whole does
// not wrap.
struct Part {
  Pod pod;
  std::vector<int> places;
};
Part part_of(const Pod& pod, const std::vector<int>& devices);

// "v5e:4x4+2", as parse_pod reads it.
std::string to_string(const Pod& pod);

// Where a span of a timeline lies. The core is one row: its commands follow each other. The rest runs beside
// it.
enum class Track : uint8_t { kCore, kDma, kIci, kDcn, kHost };
inline constexpr int kNumTracks = static_cast<int>(Track::kHost) + 1;
std::string_view to_string(Track track);  // "core", "dma", ...

struct Span {
  Track track = Track::kCore;
  OpClass op_class = OpClass::kOther;
  int label = 0;              // in Timeline::ops
  double start = 0, end = 0;  // seconds
  std::string_view bound;     // "mxu", "vpu", "xlu", "load/store", "dma in", "dma out", "hbm", "ici", "dcn",
                              // "latency", "wait", ...
};

// All runs of the commands that share a name.
struct OpTime {
  Label label;  // flops and bytes of one run
  int64_t runs = 0;
  double seconds = 0;      // on the core's row, waits too
  double background = 0;   // beside it: of asynchronous copies and collectives
  std::string_view bound;  // of the last run
};

// Shares of the step in which each unit was busy; HBM against the bandwidth that large copies reach.
struct Utilization {
  double mxu = 0, vpu = 0, xlu = 0, hbm = 0, ici = 0, dcn = 0;
};

struct Roofline {
  double flops_per_byte = 0;  // of the program: flops over HBM bytes moved
  double ridge = 0;           // of the device: peak over nominal bandwidth
  double achieved = 0;        // FLOP/s
  double attainable = 0;      // FLOP/s: min(peak, intensity x bandwidth)
};

// Of all collectives of one kind.
struct Communication {
  double seconds = 0;  // hidden or not, launches included
  double exposed = 0;  // waits
};

struct Timeline {
  double seconds = 0;
  double flops = 0;                                 // of one device: the sum of its commands' labels
  double peak_flops = 0;                            // of one device, bf16; int8 where it has no bf16
  double mfu = 0;                                   // flops / (seconds x peak_flops)
  double hbm_bytes = 0;                             // moved by one device
  std::array<double, kNumOpClasses> by_class = {};  // seconds; they add up to `seconds`
  std::vector<OpTime> ops;                          // in program order
  std::vector<Span> spans;                   // of one device; of extrapolated loops the simulated trips only
  double exposed_communication_seconds = 0;  // waits for collectives
  double exposed_copy_seconds = 0;           // waits for copies and host transfers
  double communication_seconds = 0;          // collectives, hidden or not
  std::array<Communication, kNumCollectiveKinds> by_kind = {};
  Utilization utilization;
  Roofline roofline;
  std::vector<std::string> notes;  // what was extrapolated or priced conservatively, a sentence each
};

// How Timeline::mfu is made on a chip, for printing.
std::string mfu_formula(const Chip& chip);

struct SimulateOptions {
  bool spans = true;
  int64_t most_spans = 1 << 20;          // further ones are left out, and a note says so
  std::function<void(double)> progress;  // called now and then with the share of commands done
};

// Throws a user error on commands that cannot be: a handle started twice or never, groups that are no
// partition of the devices, a tile larger than VMEM, times beyond 100 days.
Timeline simulate(const Program& program, const Pod& pod, const SimulateOptions& options = {});

// Every device and every message, for small pods (at most 4096 devices): end of the program on each device.
// No loop is extrapolated.
std::vector<double> simulate_all(const Program& program, const Pod& pod);

// One collective alone, with its launch; groups as in CollectiveStart.
double collective_seconds(const CollectiveStart& collective, const Pod& pod);

}  // namespace armillary::sim
