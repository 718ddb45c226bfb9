#include "xla_core/compile/compiler.h"

#include <chrono>
#include <cstdio>

#include "xla_core/analysis/graph.h"
#include "xla_core/base/dump.h"
#include "xla_core/base/flags.h"
#include "xla_core/buffers/assign.h"
#include "xla_core/buffers/donors.h"
#include "xla_core/hlo/text.h"
#include "xla_core/io/proto.h"
#include "xla_core/layout/layout.h"

namespace armillary {
namespace {

constexpr std::string_view kSimplify =
    "fixpoint(simplify-tuples,simplify,fold-constants,simplify-loops,cse,dce)";

std::string content(const Module& m, DumpFormat format) {
  switch (format) {
    case DumpFormat::kText:
      return print(m);
    case DumpFormat::kDot:
      return to_dot(m);
    case DumpFormat::kHtml:
      return to_html(m);
    case DumpFormat::kProto:
      return to_proto(m);
  }
  return {};
}

void print_statistics(const std::vector<PassRecord>& records) {
  std::fprintf(stderr, "%-14s %-22s %9s %9s %13s\n", "pipeline", "pass", "ms", "rewrites", "instructions");
  for (const PassRecord& r : records)
    std::fprintf(stderr, "%-14s %-22s %9.2f %9ld %6ld ->%5ld\n", r.pipeline.c_str(), r.pass.c_str(),
                 r.seconds * 1e3, r.rewrites, r.instructions_before, r.instructions_after);
}

const XlaFlags& xla_flags_of(const CompileOptions& options) {
  return options.xla_flags ? *options.xla_flags : xla_flags();
}

PassContext make_context(const CompileOptions& options, Dumper& dumper) {
  PassContext context;
  context.options = options.passes;
  context.verify_each = flags().verify_each;
  context.disabled = xla_flags_of(options).disabled_passes;
  context.fuel.limit = flags().pass_fuel;
  if (dumper.enabled())
    context.dump = [&dumper](const Module& m, std::string_view pipeline, std::string_view after,
                             std::string_view before) {
      dumper.dump_pass(pipeline, after, before, [&m](DumpFormat f) { return content(m, f); });
    };
  return context;
}

// They say where values lie among several devices; one device has nothing to choose.
void drop_shardings(Module& m) {
  for (const Computation* c : m.computations())
    for (Instruction* i : c->instructions())
      if (!i->is(Op::parameter) || !c->is_entry()) i->attrs().erase(Attr::sharding);
}

int64_t argument_bytes(const Module& m) {
  int64_t bytes = 0;
  for (const Instruction* p : m.entry()->parameters()) bytes += p->shape().byte_size();
  return bytes;
}

void check_can_run(const Module& m, const Target& target) {
  for (const Computation* c : m.control_computations())
    for (const Instruction* i : c->instructions()) {
      std::string why;
      if (!target.can_run(*i, &why))
        throw unsupported_error(*i, "unsupported: {}{}", to_string(i->op()),
                                why.empty() ? "" : " (" + why + ")");
    }
}

// Collectives run beside computation where the machine's own costs say that it pays and memory allows it.
std::vector<OverlapReport> hide_collectives(Module& m, const Target& target, const Machine& machine) {
  OverlapOptions options;
  options.seconds = target.costs(&machine);
  if (target.memory_limit) options.memory_limit = target.memory_limit(&machine) - argument_bytes(m);
  std::vector<OverlapReport> reports = overlap_collectives(m, options);
  verify(m, Stage::kScheduled);
  return reports;
}

}  // namespace

std::vector<OverlapReport> optimise(Module& m, const Target& target, const CompileOptions& options,
                                    const PassContext& context) {
  auto stage = [&](Stage s, std::string_view passes, std::string_view name) {
    context.stage = s;
    run_pipeline(m, passes, context, name);
    verify(m, s);
  };
  register_all_passes();
  if (!options.entry_layouts || !target.values_from.empty()) make_entry_row_major(m);
  stage(Stage::kParsed, "expand-bitcasts,custom-call-layouts,inline-calls,dce", "inline");
  stage(Stage::kExpanded, "expand", "expand");
  stage(Stage::kPartitioned, "spmd-partition", "partition");
  if (options.optimise) stage(Stage::kPartitioned, kSimplify, "simplification");
  if (options.optimise) stage(Stage::kPartitioned, "combine-all-reduces", "collectives");
  stage(Stage::kLaidOut, "layout,entry-layouts", "layout");
  if (options.optimise) stage(Stage::kLaidOut, kSimplify, "post-layout");
  if (options.optimise && !target.before_fusion.empty())
    stage(Stage::kLaidOut, target.before_fusion, "before-fusion");
  if (options.optimise) stage(Stage::kFused, "remove-barriers,simplify-tuples,dce,fusion,cse,dce", "fusion");
  stage(Stage::kFused, "flatten-call-graph,loop-copies", "copies");
  check_can_run(m, target);
  stage(Stage::kScheduled, "schedule", "schedule");
  if (!target.costs || !options.overlap) return {};
  return hide_collectives(m, target, *options.machine);
}

namespace {

// The program of the target that computes what a simulated one gives, with the simulated one's rounding.
// Returns how its arguments and results lie: in the simulated memory no order costs more than another.
std::optional<ProgramShape> add_values(std::unique_ptr<Module> module, const Target& target,
                                       const CompileOptions& options, Program& program) {
  CompileOptions of_values = options;
  of_values.target = target.values_from;
  if (flags().tpu_precision) {
    PassContext context;
    context.options = options.passes;
    run_pipeline(*module, "matrix-precision", context, "values");
  }
  if (options.prepare_values) options.prepare_values(*module);
  std::shared_ptr<const Simulated> simulated = program.simulated;
  Compiled values = compile(std::move(module), of_values);
  program = std::move(values.program);
  program.simulated = std::move(simulated);
  return std::move(values.module->entry_layout);
}

}  // namespace

Compiled compile(std::unique_ptr<Module> module, const CompileOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  const Target& target = target_from_name(options.target);
  Compiled out;
  out.module = std::move(module);
  Module& m = *out.module;
  verify(m);
  std::unique_ptr<Module> of_values;
  if (!target.values_from.empty() && options.values) of_values = m.clone();
  Dumper dumper(next_module_number(), m.name(), xla_flags_of(options));
  dumper.dump("before_optimizations", [&](DumpFormat f) { return content(m, f); });
  if (m.num_partitions == 1) drop_shardings(m);
  PassContext context = make_context(options, dumper);
  context.options.fusion = target.fusion;
  out.overlap = optimise(m, target, options, context);
  dumper.dump(std::string(target.name) + "_after_optimizations", [&](DumpFormat f) { return content(m, f); });
  if (!target.values_from.empty()) match_donors(m);
  const Assignment assignment = assign_buffers(m, target);
  target.emit(m, assignment, options.machine.get(), out.program);
  if (of_values) m.entry_layout = add_values(std::move(of_values), target, options, out.program);
  out.passes = context.records;
  out.last_rewrite = context.fuel.last_rewrite;
  out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (flags().print_pass_statistics) print_statistics(out.passes);
  return out;
}

}  // namespace armillary
