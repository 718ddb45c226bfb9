#include "xla_core/kernels/lower.h"

#include <algorithm>

#include "xla_core/base/error.h"
#include "xla_core/kernels/estimate.h"
#include "xla_core/kernels/lower_parts.h"
#include "xla_core/kernels/reduce_plan.h"
#include "xla_core/kernels/scalar.h"

namespace armillary::kernels {
namespace {

constexpr int64_t kManyPieces = 16;

bool is_combining(const Instruction& i) {
  return i.is(Op::reduce) || i.is(Op::reduce_window) || i.is(Op::map);
}

std::string obstacle(const Site& site, const Instruction& i) {
  const bool input = site.input_number(&i) >= 0;
  if (i.shape().is_tuple()) {
    const bool variadic = i.is(Op::reduce) || i.is(Op::reduce_window);
    if (input || !(variadic || i.is(Op::tuple))) return "%" + i.name() + " is a tuple";
    for (const Shape& leaf : i.shape().tuple)
      if (!leaf.is_array()) return "%" + i.name() + " is " + to_string(i.shape());
  } else if (!i.shape().is_array()) {
    return "%" + i.name() + " is " + to_string(i.shape());
  }
  if (i.shape().is_dynamic()) return "%" + i.name() + " has a dynamic dimension";
  if (input || is_reshape_like(i) || i.is(Op::tuple) || i.is(Op::get_tuple_element)) return "";
  if (i.is(Op::constant)) return i.literal().elided() ? "the constant's value is elided" : "";
  if (is_combining(i)) {
    std::string why;
    return can_lower_scalar(*i.attrs().callee(Attr::to_apply), &why) ? "" : why;
  }
  if (i.is(Op::bitcast) && bit_width(i.dtype()) != bit_width(i.operand(0)->dtype()))
    return "a bitcast changes the element's width";
  const Meaning m = i.def().meaning;
  if ((m == Meaning::kScalar && i.def().scalar) || (m == Meaning::kIndex && i.def().element)) return "";
  return "no kernel code for " + std::string(to_string(i.op()));
}

bool same_count(const Site& site) {
  return std::ranges::all_of(site.roots(), [&](const Instruction* r) {
    return r->shape().is_tuple() || r->shape().num_elements() == site.roots()[0]->shape().num_elements();
  });
}

std::string obstacle(const Instruction& instr) {
  if (instr.is(Op::fusion) && (instr.callees().size() != 1 || !instr.callees()[0]->root()))
    return "the fusion has no body";
  if (!instr.is(Op::fusion)) {
    const Meaning m = instr.def().meaning;
    const bool known =
        m == Meaning::kScalar || m == Meaning::kIndex || is_combining(instr) || is_reshape_like(instr);
    if (!known) return "no kernel code for " + std::string(to_string(instr.op()));
  }
  const Site site(instr);
  for (const Instruction* i : site.body())
    if (std::string why = obstacle(site, *i); !why.empty()) return why;
  if (site.roots().empty()) return "the result is empty";
  if (!same_count(site)) return "the results have different element counts";
  return "";
}

int64_t result_elements(const Site& site) {
  const Instruction* r = site.roots()[0];
  return r->shape().is_tuple() ? r->shape().tuple[0].num_elements() : r->shape().num_elements();
}

}  // namespace

KernelWriter::KernelWriter(const Site& s, Lowering& l)
    : site(s), lowering(l), b(out.kernel), elements(b, s, l, out.buffers) {
  out.kernel.name = s.instr().name();
}

void KernelWriter::store(int64_t leaf, Val linear, Val value) {
  const Shape& shape = *leaves_of(site.instr().shape())[leaf];
  b.store_at(elements.buffer({BufferRef::kResult, leaf}, shape, true), linear, value);
}

void KernelWriter::store_roots(const Index& index) {
  const auto& roots = site.roots();
  std::vector<Val> values;
  for (size_t leaf = 0; leaf < roots.size(); ++leaf)
    values.push_back(elements.all_at(roots[leaf], index).at(roots[leaf]->shape().is_tuple() ? leaf : 0));
  const Val linear = index.linear(b);
  for (size_t leaf = 0; leaf < roots.size(); ++leaf) store(static_cast<int64_t>(leaf), linear, values[leaf]);
}

void KernelWriter::finish() {
  out.kernel.work_per_iteration = estimate_work(out.kernel);
  lowering.kernels.push_back(std::move(out));
}

double cost_of(const Site& site) {
  double cost = 0;
  for (const Instruction* i : site.body()) {
    if (site.input_number(i) >= 0) continue;
    cost += i->def().meaning == Meaning::kScalar && i->num_operands() == 1 ? 5 : 1;
  }
  return cost;
}

bool can_lower(const Instruction& instr, std::string* why) {
  std::string reason = obstacle(instr);
  if (why) *why = reason;
  return reason.empty();
}

Lowering lower_fusion(const Instruction& instr) {
  std::string why;
  if (!can_lower(instr, &why)) throw unsupported_error(instr, "cannot make a kernel: {}", why);
  const Site site(instr);
  Lowering lowering;
  if (result_elements(site) == 0) return lowering;
  const Instruction* root = site.roots()[0];
  if (updates_in_place(instr))
    lower_update(site, lowering);
  else if (!hero_reduces(site).empty())
    lower_reduce(site, lowering);
  else if (site.roots().size() == 1 && root->is(Op::concatenate) && root->num_operands() <= kManyPieces)
    lower_concatenate(site, lowering);
  else if (site.roots().size() == 1 && root->is(Op::pad))
    lower_pad(site, lowering);
  else if (is_scan(site))
    lower_scan(site, lowering);
  else if (is_turned(site))
    lower_transpose(site, lowering);
  else
    lower_loop(site, lowering);
  return lowering;
}

}  // namespace armillary::kernels
