// Programs written by hand, and their timelines.
#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tpu_sim/pod.h"
#include "tpu_sim/pybind/bind.h"
#include "xla_core/base/error.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace armillary::sim {
namespace {

using Counts = std::map<std::string, int64_t>;

constexpr std::array<std::string_view, kNumVectorOps> kVectorOps = {
    "arithmetic", "integer", "select", "convert", "divide", "transcendental"};

template <size_t N>
size_t index_of(const std::array<std::string_view, N>& names, std::string_view name, std::string_view what) {
  for (size_t i = 0; i < N; ++i) {
    if (names[i] == name) return i;
  }
  throw user_error("there is no {} '{}'; there are {}", what, name, fmt::join(names, ", "));
}

OpClass class_of(std::string_view name) {
  std::array<std::string_view, kNumOpClasses> names;
  for (int i = 0; i < kNumOpClasses; ++i) names[i] = to_string(static_cast<OpClass>(i));
  return static_cast<OpClass>(index_of(names, name, "class of operations"));
}

VectorWork vector_work(const Counts& counts) {
  VectorWork work{};
  for (const auto& [name, elements] : counts) work[index_of(kVectorOps, name, "vector operation")] = elements;
  return work;
}

MatrixWork matrix_work(int64_t m, int64_t n, int64_t k, int64_t count, std::string_view type, int passes) {
  const auto dtype = dtype_from_name(type);
  if (!dtype) throw user_error("'{}' is no type", type);
  return {m, n, k, count, *dtype, passes};
}

void add_loop(Program& p, const Label& label, int64_t tiles, int64_t bytes_in, int64_t bytes_out,
              const std::vector<MatrixWork>& matrix, const Counts& vector, const Counts& transpose) {
  const auto count = [&](const char* name) {
    const auto found = transpose.find(name);
    return found == transpose.end() ? 0 : found->second;
  };
  FusedLoop loop{
      .tiles = tiles,
      .tile = {
          .bytes_in = bytes_in, .bytes_out = bytes_out, .matrix = matrix, .vector = vector_work(vector)}};
  loop.tile.transpose = {count("transposed"), count("reduced"), count("permuted")};
  p.commands.push_back({label, std::move(loop)});
}

// The product's own loop, with vector work of an epilogue spread over its tiles.
void add_matmul(Program& p, const Label& label, const Chip& chip, const MatrixWork& w,
                std::string_view result, const Counts& vector) {
  const auto dtype = dtype_from_name(result);
  if (!dtype) throw user_error("'{}' is no type", result);
  const Matmul matmul{.m = w.m,
                      .n = w.n,
                      .k = w.k,
                      .batch = w.count,
                      .operand = w.type,
                      .result = *dtype,
                      .passes = w.passes};
  FusedLoop loop = matmul_loop(matmul, choose_blocks(matmul, chip));
  for (const auto& [name, elements] : vector) {
    loop.tile.vector[index_of(kVectorOps, name, "vector operation")] =
        (elements + loop.tiles - 1) / std::max<int64_t>(1, loop.tiles);
  }
  p.commands.push_back({label, std::move(loop)});
}

void add_collective(Program& p, const Label& label, int handle, std::string_view kind, int64_t bytes,
                    DeviceGroups groups, DevicePairs pairs) {
  CollectiveStart start{collective_from_name(kind), bytes, nullptr, nullptr, handle};
  if (!groups.empty()) start.groups = std::make_shared<const DeviceGroups>(std::move(groups));
  if (start.kind == CollectiveKind::kCollectivePermute)
    start.pairs = std::make_shared<const DevicePairs>(std::move(pairs));
  p.commands.push_back({label, std::move(start)});
}

nb::dict op_dict(const OpTime& op) {
  nb::dict out;
  out["name"] = op.label.name;
  out["op_class"] = std::string(to_string(op.label.op_class));
  out["runs"] = op.runs;
  out["seconds"] = op.seconds;
  out["background"] = op.background;
  out["bound"] = std::string(op.bound);
  return out;
}

nb::dict timeline_dict(const Timeline& t) {
  nb::dict out, by_class, utilization;
  for (int i = 0; i < kNumOpClasses; ++i) {
    if (t.by_class[i] > 0)
      by_class[nb::str(std::string(to_string(static_cast<OpClass>(i))).c_str())] = t.by_class[i];
  }
  utilization["mxu"] = t.utilization.mxu, utilization["vpu"] = t.utilization.vpu,
  utilization["xlu"] = t.utilization.xlu;
  utilization["hbm"] = t.utilization.hbm, utilization["ici"] = t.utilization.ici;
  utilization["dcn"] = t.utilization.dcn;
  nb::list ops;
  for (const OpTime& op : t.ops) ops.append(op_dict(op));
  out["seconds"] = t.seconds, out["flops"] = t.flops, out["peak_flops"] = t.peak_flops, out["mfu"] = t.mfu;
  out["hbm_bytes"] = t.hbm_bytes, out["by_class"] = by_class, out["ops"] = ops,
  out["utilization"] = utilization;
  out["exposed_communication_seconds"] = t.exposed_communication_seconds;
  out["communication_seconds"] = t.communication_seconds;
  out["exposed_copy_seconds"] = t.exposed_copy_seconds;
  out["notes"] = t.notes;
  return out;
}

nb::dict simulate_program(const Program& program, const Chip& chip, std::string_view shape) {
  const Pod pod = parse_pod(shape, chip);
  Timeline timeline;
  {
    nb::gil_scoped_release released;
    timeline = simulate(program, pod, {.spans = false});
  }
  return timeline_dict(timeline);
}

}  // namespace

void bind_programs(nb::module_& m) {
  m.def("mfu_formula", [](const Chip& chip) { return mfu_formula(chip); }, "chip"_a);
  nb::class_<Label>(m, "Label")
      .def(
          "__init__",
          [](Label* self, std::string name, std::string_view op_class, double flops) {
            new (self) Label{std::move(name), class_of(op_class), flops};
          },
          "name"_a, "op_class"_a, "flops"_a);
  nb::class_<MatrixWork>(m, "MatrixWork")
      .def(
          "__init__",
          [](MatrixWork* self, int64_t m, int64_t n, int64_t k, int64_t count, std::string_view type,
             int passes) { new (self) MatrixWork(matrix_work(m, n, k, count, type, passes)); },
          "m"_a, "n"_a, "k"_a, "count"_a, "type"_a, "passes"_a);
  nb::class_<Program>(m, "Program")
      .def(nb::init<>())
      .def(
          "extend",
          [](Program& p, const Program& more) {
            const std::vector<Command> copy = more.commands;  // it may be this program itself
            p.commands.insert(p.commands.end(), copy.begin(), copy.end());
          },
          "more"_a)
      .def("__len__", [](const Program& p) { return p.commands.size(); })
      .def("fused_loop", add_loop, "label"_a, "tiles"_a, "bytes_in"_a, "bytes_out"_a, "matrix"_a, "vector"_a,
           "transpose"_a)
      .def("matmul", add_matmul, "label"_a, "chip"_a, "product"_a, "result"_a, "vector"_a)
      .def(
          "copy",
          [](Program& p, const Label& label, int64_t bytes, bool from_vmem, bool to_vmem, int handle) {
            p.commands.push_back({label, Copy{from_vmem ? Space::kVmem : Space::kHbm,
                                              to_vmem ? Space::kVmem : Space::kHbm, bytes, 0, handle}});
          },
          "label"_a, "bytes"_a, "from_vmem"_a, "to_vmem"_a, "handle"_a)
      .def(
          "host_transfer",
          [](Program& p, const Label& label, int64_t bytes, int handle) {
            p.commands.push_back({label, HostTransfer{bytes, handle}});
          },
          "label"_a, "bytes"_a, "handle"_a)
      .def("start", add_collective, "label"_a, "handle"_a, "kind"_a, "bytes"_a, "groups"_a, "pairs"_a)
      .def(
          "wait",
          [](Program& p, const Label& label, int handle) { p.commands.push_back({label, Wait{handle}}); },
          "label"_a, "handle"_a)
      .def(
          "loop",
          [](Program& p, const Label& label, int64_t trips, const Program& body) {
            p.commands.push_back({label, Loop{trips, body.commands}});
          },
          "label"_a, "trips"_a, "body"_a);
  m.def("simulate_program", simulate_program, "program"_a, "chip"_a, "shape"_a);
}

}  // namespace armillary::sim
