// The simulated pod: compile for it, and ask it for a timeline.
#include <pybind11/functional.h>
#include <pybind11/stl.h>

#include "xla_core/client/simulated_programs.h"
#include "xla_core/io/xspace.h"
#include "xla_core/pybind/bind.h"

namespace py = pybind11;
using namespace py::literals;

namespace armillary {
namespace {

py::str text(std::string_view s) { return {s.data(), s.size()}; }

sim::Pod make_pod(const std::string& topology, const std::string& chip, const std::vector<double>& values,
                  const std::string& source) {
  if (chip.empty()) return sim::parse_pod(topology);
  std::vector<sim::Constant> constants;
  for (double value : values) constants.push_back({value, source});
  return sim::parse_pod(topology, sim::Chip(chip, std::move(constants)));
}

std::shared_ptr<Executable> compile_module(const Module& module, const sim::Pod& pod,
                                           const std::string& values, bool overlap, int64_t partitions) {
  py::gil_scoped_release nogil;
  return compile_for(module.clone(), pod, {values != "none", values == "array", overlap, partitions});
}

py::dict hbm_dict(const Executable& executable, const sim::Pod& pod) {
  const auto& simulated = executable.program().simulated;
  if (!simulated) throw user_error("{} was not compiled for a simulated target", executable.module().name());
  const HbmReport& r = simulated->hbm;
  py::list largest;
  for (const HbmBuffer& b : r.largest)
    largest.append(py::dict("bytes"_a = b.bytes, "kind"_a = b.kind, "name"_a = b.name, "shape"_a = b.shape,
                            "op_name"_a = b.op_name, "source"_a = b.source));
  return py::dict("peak_bytes"_a = r.peak_bytes, "argument_bytes"_a = r.argument_bytes,
                  "result_bytes"_a = r.result_bytes, "temporary_bytes"_a = r.temporary_bytes,
                  "capacity_bytes"_a = hbm_capacity(pod), "largest"_a = largest,
                  "text"_a = describe(r, hbm_capacity(pod)));
}

py::list op_list(const sim::Timeline& t) {
  py::list ops;
  for (const sim::OpTime& op : t.ops)
    ops.append(py::dict("name"_a = op.label.name, "op_class"_a = text(sim::to_string(op.label.op_class)),
                        "seconds"_a = op.seconds, "background_seconds"_a = op.background, "runs"_a = op.runs,
                        "flops"_a = op.label.flops, "bytes"_a = op.label.bytes, "bound"_a = text(op.bound),
                        "op_name"_a = op.label.op_name, "source"_a = op.label.source));
  return ops;
}

py::list span_list(const sim::Timeline& t) {
  py::list spans;
  for (const sim::Span& s : t.spans)
    spans.append(py::make_tuple(text(sim::to_string(s.track)), s.label, s.start, s.end, text(s.bound)));
  return spans;
}

py::dict by_kind(const sim::Timeline& t) {
  py::dict kinds;
  for (size_t k = 0; k < t.by_kind.size(); ++k)
    if (t.by_kind[k].seconds > 0)
      kinds[text(sim::to_string(static_cast<sim::CollectiveKind>(k)))] =
          py::make_tuple(t.by_kind[k].seconds, t.by_kind[k].exposed);
  return kinds;
}

py::list overlap_list(const Executable& executable) {
  py::list reports;
  for (const OverlapReport& r : executable.overlap())
    reports.append(py::dict("computation"_a = r.computation, "collectives"_a = r.collectives,
                            "before"_a = r.before, "after"_a = r.after, "lower_bound"_a = r.lower_bound,
                            "peak_before"_a = r.peak_before, "peak_after"_a = r.peak_after));
  return reports;
}

py::dict timeline_dict(const sim::Timeline& t, const sim::Pod& pod) {
  py::dict by_class;
  for (size_t c = 0; c < t.by_class.size(); ++c)
    by_class[text(sim::to_string(static_cast<sim::OpClass>(c)))] = t.by_class[c];
  return py::dict(
      "seconds"_a = t.seconds, "flops"_a = t.flops, "peak_flops"_a = t.peak_flops, "mfu"_a = t.mfu,
      "mfu_formula"_a = sim::mfu_formula(pod.chip), "hbm_bytes"_a = t.hbm_bytes, "by_class"_a = by_class,
      "exposed_communication_seconds"_a = t.exposed_communication_seconds,
      "exposed_copy_seconds"_a = t.exposed_copy_seconds, "communication_seconds"_a = t.communication_seconds,
      "by_kind"_a = by_kind(t),
      "utilization"_a =
          py::dict("mxu"_a = t.utilization.mxu, "vpu"_a = t.utilization.vpu, "xlu"_a = t.utilization.xlu,
                   "hbm"_a = t.utilization.hbm, "ici"_a = t.utilization.ici, "dcn"_a = t.utilization.dcn),
      "roofline"_a = py::dict("flops_per_byte"_a = t.roofline.flops_per_byte, "ridge"_a = t.roofline.ridge,
                              "achieved"_a = t.roofline.achieved, "attainable"_a = t.roofline.attainable),
      "notes"_a = t.notes, "ops"_a = op_list(t), "spans"_a = span_list(t));
}

py::dict run_timeline(const Executable& executable, const sim::Pod& pod, bool allow_oom,
                      const std::optional<std::function<void(double)>>& progress) {
  sim::SimulateOptions options;
  if (progress) {
    options.progress = [&](double share) {
      py::gil_scoped_acquire gil;
      (*progress)(share);
    };
  }
  sim::Timeline timeline;
  {
    py::gil_scoped_release nogil;
    if (!allow_oom) check_fits(executable, pod);
    timeline = simulate(executable, pod, options);
  }
  return timeline_dict(timeline, pod);
}

using OpRow = std::tuple<std::string, std::string, std::string, std::string, double, double>;
using SpanRow = std::tuple<int64_t, int64_t, double, double>;

py::bytes xspace(const std::tuple<std::string, std::string, double, double>& device,
                 const std::string& program, double seconds, const std::vector<std::string>& rows,
                 const std::vector<OpRow>& ops, const std::vector<SpanRow>& spans) {
  const auto& [name_of_device, kind, peak_flops, hbm_bytes_per_s] = device;
  Trace trace{name_of_device, kind, program, seconds, peak_flops, hbm_bytes_per_s, rows, {}, {}};
  for (const auto& [name, category, op_name, source, flops, bytes] : ops)
    trace.ops.push_back({name, category, op_name, source, flops, bytes});
  for (const auto& [row, op, start, end] : spans) trace.spans.push_back({row, op, start, end});
  return to_xspace(trace);
}

py::list program_list() {
  py::list programs;
  for (const auto& p : simulated_programs())
    programs.append(py::dict("name"_a = p->name, "topology"_a = sim::to_string(p->pod),
                             "devices"_a = p->pod.devices(), "runs"_a = p->runs.load(),
                             "seconds"_a = p->seconds, "pod"_a = p->pod,
                             "executable"_a = std::const_pointer_cast<Executable>(p->executable.lock())));
  return programs;
}

}  // namespace

void bind_simulate(py::module_& m) {
  py::class_<sim::Pod>(m, "Pod", "A simulated pod: chips on a torus.")
      .def(py::init(&make_pod), "topology"_a, "chip"_a = "", "values"_a = std::vector<double>(),
           "source"_a = "", "From chip:shape; with the constants of a chip of the user's own, its shape.")
      .def_property_readonly("devices", &sim::Pod::devices)
      .def_property_readonly("chip", [](const sim::Pod& pod) { return pod.chip.name(); });
  m.def("compile_for", compile_module, "module"_a, "pod"_a, "values"_a, "overlap"_a = true,
        "partitions"_a = 0,
        "Compiles a copy of the module for the pod. values: none, program or array; overlap: collectives run "
        "beside "
        "computation; partitions: how many it is for, where the module does not say.");
  m.def("to_xspace", xspace, "device"_a, "program"_a, "seconds"_a, "rows"_a, "ops"_a, "spans"_a,
        "A timeline as XProf's XSpace: the device as (name, kind, peak FLOP/s, HBM bytes/s), ops as (name, "
        "class, "
        "op_name, source, flops, bytes), spans as (row, op, start, end).");
  m.def("hbm_report", hbm_dict, "executable"_a, "pod"_a, "Peak HBM of one device and what takes it.");
  m.def("overlap_report", overlap_list, "executable"_a,
        "What the scheduler gained by running collectives beside computation, a dict for each computation.");
  m.def("simulated_programs", program_list,
        "What JAX has compiled for the simulated TPU of this process, how often it ran and how long one run "
        "takes.");
  m.def("restart_simulated_programs", restart_simulated_programs, "Sets all counts of runs to nothing.");
  m.def(
      "simulate", run_timeline, "executable"_a, "pod"_a, "allow_oom"_a = false, "progress"_a = py::none(),
      "How long the program takes: a timeline as a dict. `progress` is called with the share that is done.");
}

}  // namespace armillary
