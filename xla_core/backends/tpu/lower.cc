#include "xla_core/backends/tpu/lower.h"

#include <algorithm>

#include "xla_core/analysis/trip_count.h"
#include "xla_core/backends/tpu/chain.h"
#include "xla_core/backends/tpu/prefetch.h"
#include "xla_core/backends/tpu/product.h"
#include "xla_core/backends/tpu/sharing.h"
#include "xla_core/backends/tpu/tiled.h"

namespace armillary::tpu {
namespace {

constexpr double kResidentShare = 0.5;  // assumed: of VMEM, for temporaries; the rest holds tiles

// Scalars live in the scalar unit, which runs beside the others.
bool is_scalar_work(const Instruction& i) {
  auto scalar = [](const Shape& shape) {
    for (const Shape* leaf : leaves_of(shape))
      if (leaf->is_array() && leaf->num_elements() > 1) return false;
    return true;
  };
  if (i.has(kAsyncDone) || i.has(kCollective) || i.has_effect() || i.has(kCallsControl) || !scalar(i.shape()))
    return false;
  return std::all_of(i.operands().begin(), i.operands().end(),
                     [&](const Instruction* o) { return scalar(o->shape()); });
}

sim::OpClass class_of(const Instruction& i, const BodyWork& work) {
  if (work.reduces) return sim::OpClass::kReduction;
  const int64_t computed = work.vector[0] + work.vector[1] + work.vector[2] + work.vector[4] + work.vector[5];
  if (i.is(Op::dynamic_slice) || (i.is(Op::dynamic_update_slice))) return sim::OpClass::kGatherScatter;
  const bool only_moves = i.def().meaning == Meaning::kIndex || i.is(Op::copy) || computed == 0;
  return only_moves ? sim::OpClass::kDataMovement : sim::OpClass::kElementwise;
}

}  // namespace

bool Places::in_vmem(const Instruction* i, size_t leaf) const {
  if (values == nullptr || residents == nullptr || !values->knows(i)) return false;
  const std::vector<int32_t>& ids = values->of(i);
  return leaf < ids.size() && residents->contains(ids[leaf]);
}

int64_t vmem_bytes(const sim::Chip& chip) {
  return static_cast<int64_t>(chip["vmem_bytes"] * chip["cores"] / chip["devices_per_chip"]);
}
int64_t resident_capacity(const sim::Chip& chip) {
  return static_cast<int64_t>(static_cast<double>(vmem_bytes(chip)) * kResidentShare);
}

Lowering::Lowering(const Machine& machine, Places places)
    : machine_(machine),
      places_(places),
      tile_budget_(vmem_bytes(machine.chip) - (places.residents ? resident_capacity(machine.chip) : 0)) {}

void Lowering::note(const Instruction& i, std::string text) {
  notes_.push_back(i.name() + ": " + std::move(text));
}

Commands Lowering::lower(const Computation& computation) {
  std::vector<Lowered> all;
  for (const Instruction* i : computation.instructions()) {
    Commands commands = lower(*i);
    all.push_back({i, std::move(commands), std::move(hbm_reads_), std::move(work_)});
    hbm_reads_.clear();
    work_.reset();
  }
  merge_chains(all, machine_.chip, places_, tile_budget_);
  Commands out;
  Prefetch prefetch(machine_.chip, tile_budget_);
  for (Lowered& l : all) {
    Commands& more = l.commands;
    const bool is_loop = !more.empty() && std::holds_alternative<sim::FusedLoop>(more.back().what);
    if (is_loop) prefetch.note_loop(out.size() + more.size() - 1, std::move(l.reads));
    prefetch.note_value(*l.instruction, more.empty() && !l.continues ? 0 : out.size() + more.size());
    out.insert(out.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  }
  return places_.residents ? prefetch.run(std::move(out), next_handle_) : out;
}

Commands Lowering::lower(const Instruction& i) {
  if (i.has(kRenames) || i.is(Op::parameter) || i.is(Op::constant) || is_scalar_work(i)) return {};
  switch (i.op()) {
    case Op::while_:
      return lower_while(i);
    case Op::conditional:
      return lower_conditional(i);
    case Op::call:
      return lower(*i.callees().front());
    default:
      break;
  }
  if (i.has(kCollective) || i.has(kAsyncStart) || i.has(kAsyncDone) || talks_to_host(i))
    return lower_collective(i);
  return lower_fusion(i);
}

Commands Lowering::lower_while(const Instruction& i) {
  Commands out;
  const Computation* body = i.attrs().callee(Attr::body);
  if (places_.assignment)
    add_copies(places_.assignment->of(i.operand(0)), places_.assignment->of(&i), *i.operand(0), i, out);
  sim::Loop loop;
  if (std::optional<Induction> induction = induction_of(i)) {
    loop.trips = induction->trips;
  } else {
    loop.trips = machine_.unknown_trips;
    note(i, fmt::format("the number of its rounds is not known; {} assumed (flag tpu_unknown_trips)",
                        loop.trips));
  }
  loop.body = lower(*i.attrs().callee(Attr::condition));
  Commands rest = lower(*body);
  loop.body.insert(loop.body.end(), std::make_move_iterator(rest.begin()),
                   std::make_move_iterator(rest.end()));
  if (places_.assignment)
    add_copies(places_.assignment->of(body->root()), places_.assignment->of(&i), *body->root(), i, loop.body);
  out.push_back({label_of(i, sim::OpClass::kControl), std::move(loop)});
  return out;
}

Commands Lowering::lower_conditional(const Instruction& i) {
  sim::Conditional conditional;
  note(i, "which branch is taken is not known; the one that takes longest is charged");
  for (const Computation* branch : i.callees()) conditional.branches.push_back(lower(*branch));
  return {{label_of(i, sim::OpClass::kControl), std::move(conditional)}};
}

// Where two leaves that should be one array are two.
void Lowering::add_copies(const std::vector<Slice>& from, const std::vector<Slice>& to,
                          const Instruction& source, const Instruction& target, Commands& out) const {
  const std::vector<const Shape*> leaves = leaves_of(target.shape());
  for (size_t l = 0; l < from.size() && l < to.size(); ++l) {
    if (from[l].allocation < 0 || from[l] == to[l] || leaves[l]->num_elements() <= 1) continue;
    sim::Copy copy{.bytes = tiled_bytes(*leaves[l])};
    if (places_.in_vmem(&source, l)) copy.from = sim::Space::kVmem;
    if (places_.in_vmem(&target, l)) copy.to = sim::Space::kVmem;
    if (copy.from == sim::Space::kVmem && copy.to == sim::Space::kVmem) continue;
    sim::Label label = label_of(target, sim::OpClass::kDataMovement);
    label.name = "copy for " + target.name();
    label.bytes = 2 * static_cast<double>(copy.bytes);
    out.push_back({std::move(label), copy});
  }
}

Commands Lowering::lower_fusion(const Instruction& i) {
  Commands out;
  add_updates_apart(i, out);
  SpecialWork special;
  if (special_work(i, &special)) {
    if (special.rough) note(i, "a TPU has no fast path for it: a rough price");
    sim::Command command{label_of(i, special.op_class), {}};
    if (auto* work = std::get_if<sim::Tile>(&special.what)) {
      command.what = sim::stream_loop(*work, machine_.chip, tile_budget_);
    } else if (auto* access = std::get_if<sim::IndexedAccess>(&special.what)) {
      command.what = *access;
    } else {
      command.what = std::get<sim::Serial>(special.what);
    }
    out.push_back(std::move(command));
    return out;
  }
  BodyWork work = body_work(i);
  out.push_back(work.contraction ? contraction(i, work) : loop(i, work, class_of(i, work)));
  if (out.size() == 1) work_ = std::move(work);
  return out;
}

// An update whose operand lives on elsewhere is made on a copy of it.
void Lowering::add_updates_apart(const Instruction& i, Commands& out) const {
  if (places_.assignment == nullptr) return;
  for (size_t leaf = 0; leaf < leaves_of(i.shape()).size(); ++leaf) {
    const int64_t operand = updated_operand(i, static_cast<int64_t>(leaf));
    if (operand < 0) continue;
    const Instruction* from = i.operand(operand);
    const std::vector<Slice>& to = places_.assignment->of(&i);
    if (leaf < to.size()) add_copies(places_.assignment->of(from), {to[leaf]}, *from, i, out);
  }
}

sim::Command Lowering::loop(const Instruction& i, const BodyWork& body, sim::OpClass op_class) {
  sim::Tile work{.vector = body.vector, .transpose = body.transpose};
  for (int64_t k = 0; k < i.num_operands(); ++k) {
    work.vmem_traffic += body.read[k];
    if (!places_.in_vmem(i.operand(k)))
      work.bytes_in += body.read[k], hbm_reads_.emplace_back(i.operand(k), body.read[k]);
  }
  for (size_t leaf = 0; leaf < body.written.size(); ++leaf) {
    work.vmem_traffic += body.written[leaf];
    if (!places_.in_vmem(&i, leaf)) work.bytes_out += body.written[leaf];
  }
  return {label_of(i, op_class), sim::stream_loop(work, machine_.chip, tile_budget_)};
}

}  // namespace armillary::tpu
