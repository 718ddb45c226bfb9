// Which results may live in which operands' memory.
#include <algorithm>

#include "xla_core/kernels/elements.h"

namespace armillary::kernels {
namespace {

// Through ops that keep the element's place.
const Instruction* through_reshapes(const Instruction* i) {
  while (is_reshape_like(*i)) i = i->operand(0);
  return i;
}

bool same_region(const Instruction* slice, const Instruction* update) {
  if (!slice->is(Op::dynamic_slice) || slice->dims() != update->operand(1)->dims()) return false;
  if (slice->num_operands() + 1 != update->num_operands()) return false;
  for (int64_t o = 1; o < slice->num_operands(); ++o)
    if (slice->operand(o) != update->operand(1 + o)) return false;
  return true;
}

// Whether everything from `i` down reads `input` at the element's own place only, or, in an update, through
// `aligned` slices of the region.
class PlaceCheck {
 public:
  PlaceCheck(const Site& site, int64_t input) : site_(site), input_(input) {}
  // The root: an update whose region is read in place.
  const Instruction* update = nullptr;

  bool run(const Instruction* i, bool own_place) {
    if (site_.input_number(i) == input_) return own_place && !update;
    if (site_.input_number(i) >= 0) return true;
    const bool done = own_place ? !seen_own_.insert(i).second : !seen_other_.insert(i).second;
    if (done) return true;
    if (update && own_place && same_region(i, update) &&
        site_.input_number(through_reshapes(i->operand(0))) == input_)
      return true;
    const bool keeps = i->def().is_pointwise() || is_reshape_like(*i) || i->is(Op::tuple);
    for (const Instruction* operand : i->operands()) {
      const bool same_count = operand->shape().is_array() && i->shape().is_array() &&
                              operand->shape().num_elements() == i->shape().num_elements();
      if (!run(operand, own_place && keeps && same_count)) return false;
    }
    return true;
  }

 private:
  const Site& site_;
  int64_t input_;
  std::unordered_set<const Instruction*> seen_own_, seen_other_;
};

std::optional<int64_t> update_target(const Site& site, const Instruction* root) {
  if (!root->is(Op::dynamic_update_slice)) return std::nullopt;
  const int64_t number = site.input_number(through_reshapes(root->operand(0)));
  return number >= 0 ? std::optional(number) : std::nullopt;
}

// All roots are updates of the same size, each of another operand, and nobody reads such an operand but at
// the place that is being written.
bool all_in_place(const Site& site) {
  std::vector<int64_t> targets;
  for (const Instruction* root : site.roots()) {
    const auto target = update_target(site, root);
    if (!target || std::ranges::find(targets, *target) != targets.end()) return false;
    if (root->operand(1)->dims() != site.roots()[0]->operand(1)->dims()) return false;
    if (root->shape().num_elements() == 0 || root->operand(1)->shape().num_elements() == 0) return false;
    targets.push_back(*target);
  }
  for (size_t k = 0; k < targets.size(); ++k)
    for (const Instruction* root : site.roots()) {
      PlaceCheck check(site, targets[k]);
      check.update = site.roots()[k];
      for (int64_t o = 1; o < root->num_operands(); ++o)
        if (!check.run(root->operand(o), o == 1 && root == check.update)) return false;
    }
  return true;
}

}  // namespace

std::optional<int64_t> in_place_operand(const Instruction& instr, int64_t leaf) {
  const Instruction* root = instr.is(Op::fusion) ? instr.callees().at(0)->root() : &instr;
  if (!root->is(Op::dynamic_update_slice) && !root->is(Op::tuple)) return std::nullopt;
  const Site site(instr);
  if (leaf >= static_cast<int64_t>(site.roots().size()) || !all_in_place(site)) return std::nullopt;
  return update_target(site, site.roots()[leaf]);
}

bool updates_in_place(const Instruction& instr) { return in_place_operand(instr, 0).has_value(); }

bool may_share(const Instruction& instr, int64_t operand, int64_t leaf) {
  const Shape& from = instr.operand(operand)->shape();
  const std::vector<const Shape*> leaves = leaves_of(instr.shape());
  if (!from.is_array() || leaf >= static_cast<int64_t>(leaves.size())) return false;
  const Shape& to = *leaves[leaf];
  if (!to.is_array() || byte_size(from.dtype) != byte_size(to.dtype) ||
      from.num_elements() != to.num_elements())
    return false;
  if (updates_in_place(instr)) return in_place_operand(instr, leaf) == operand;
  const Site site(instr);
  for (const Instruction* root : site.roots()) {
    PlaceCheck check(site, operand);
    if (!root->shape().is_array() || !check.run(root, true)) return false;
  }
  return true;
}

}  // namespace armillary::kernels
