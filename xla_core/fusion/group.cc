#include "xla_core/fusion/group.h"

#include <algorithm>

#include "xla_core/fusion/fusible.h"

namespace armillary {
namespace {

constexpr size_t kMaxSpaces = 4;        // how often one member may be written out in the kernel
constexpr int64_t kEmittedPerBody = 2;  // members written out, per member the body may have
constexpr int64_t kMostChoices = 4;     // pieces of a concatenation inside a kernel: all are evaluated
constexpr double kWindowOverlap = 4;    // evaluations per element that a window may cost a cheap producer
constexpr int64_t kFreeCopies = 12;  // copies a small group may hold; beyond that, two per member of its own

double elements(const Shape& shape) {
  const Shape& array = shape.is_tuple() ? shape.tuple[0] : shape;
  return static_cast<double>(array.num_elements());
}

// dynamic-update-slice runs over its update and leaves the rest of operand 0 where it is.
double loop_size(const Instruction& root) {
  return elements(root.is(Op::dynamic_update_slice) ? root.operand(1)->shape() : root.shape());
}

Dims without_ones(const Dims& dims) {
  Dims result;
  std::copy_if(dims.begin(), dims.end(), std::back_inserter(result), [](int64_t d) { return d != 1; });
  return result;
}

// Of one root; reduces are added as they come in.
LoopSpace space_of_root(const Instruction& root) {
  if (root.is(Op::dynamic_update_slice))
    return {.result = without_ones(root.operand(1)->dims()), .updates = true};
  return {.result = without_ones(root.shape().is_tuple() ? root.shape().tuple[0].dims : root.dims())};
}

bool is_reduced_operand(const Instruction& i, int64_t operand) {
  return i.is(Op::reduce) && 2 * operand < i.num_operands();
}

// The k-th operand of `a` and the l-th of `b` are read at the same index when `a` and `b` are evaluated at
// the same index.
bool same_index_map(const Instruction& a, int64_t k, const Instruction& b, int64_t l) {
  if (a.operand(k)->dims() != b.operand(l)->dims()) return false;
  if (is_reduced_operand(a, k) && is_reduced_operand(b, l))
    return a.attrs().ints(Attr::dimensions) == b.attrs().ints(Attr::dimensions);
  if (a.op() != b.op() || k != l || a.dims() != b.dims() || !(a.attrs() == b.attrs())) return false;
  if (a.num_operands() < 2) return true;
  return std::equal(a.operands().begin() + 1, a.operands().end(), b.operands().begin() + 1,
                    b.operands().end());  // start indices
}

}  // namespace

int64_t LoopSpace::elements() const {
  return Shape(DType::kPred, operand ? *operand : result).num_elements();
}

namespace {

// The old value, read only where the new one will be written.
bool reads_same_window(const Instruction& i, const Instruction& update) {
  return i.is(Op::dynamic_slice) && i.operand(0) == update.operand(0) &&
         i.dims() == update.operand(1)->dims() &&
         std::equal(i.operands().begin() + 1, i.operands().end(), update.operands().begin() + 2,
                    update.operands().end());
}

bool reads_directly(const Instruction& i, const Instruction* what) {
  return std::find(i.operands().begin(), i.operands().end(), what) != i.operands().end();
}

// Looks as far back as a fusion could reach.
bool needs_operand_elsewhere(const Instruction& update, int64_t most) {
  const Instruction* target = update.operand(0);
  std::vector<const Instruction*> work(update.operands().begin() + 1, update.operands().end());
  std::unordered_set<const Instruction*> seen;
  while (!work.empty() && static_cast<int64_t>(seen.size()) < most) {
    const Instruction* i = work.back();
    work.pop_back();
    if (i == target) return true;
    if (!is_fusible(*i) || is_root_only(*i) || !seen.insert(i).second || reads_same_window(*i, update))
      continue;
    if (reads_directly(*i, target)) return true;
    work.insert(work.end(), i->operands().begin(), i->operands().end());
  }
  return false;
}

}  // namespace

Group::Update Group::kind_of_update(const Instruction& root, const PassOptions& limits) {
  if (!root.is(Op::dynamic_update_slice)) return Update::kNone;
  return needs_operand_elsewhere(root, limits.fusion_max_body) ? Update::kApart : Update::kInPlace;
}

Group::Group(Instruction* root, const PassOptions& limits)
    : limits_(&limits), update_(kind_of_update(*root, limits)), loop_(space_of_root(*root)) {
  spaces_.push_back({-1, nullptr, 0, loop_size(*root)});
  roots_.push_back(root);
  insert(root, {{0}, false, false});
}

// One loop nest serves all reduces of a kernel.
bool Group::fits_reduces(const Instruction& reduce) const {
  if (loop_.updates || contraction_ != nullptr) return false;
  return !loop_.operand || (*loop_.operand == reduce.operand(0)->dims() &&
                            loop_.reduced == reduce.attrs().ints(Attr::dimensions));
}

void Group::insert(Instruction* i, Member member) {
  if (i->is(Op::reduce)) {
    loop_.operand = i->operand(0)->dims();
    loop_.reduced = i->attrs().ints(Attr::dimensions);
  }
  if (is_contraction(*i)) contraction_ = i;
  copies_ += member.copied && !is_scalar_constant(*i);
  recomputed_ += member.recomputed;
  emitted_ += static_cast<int64_t>(member.spaces.size());
  members_.emplace(i, std::move(member));
  order_.push_back(i);
  inputs_.erase(i);
  for (Instruction* o : i->operands())
    if (!members_.contains(o)) inputs_.insert(o);
}

bool Group::try_add_root(Instruction* root) {
  auto stands_alone = [](const Instruction& r) { return is_root_only(r) || r.has(kPiecewise); };
  if (stands_alone(*root) || stands_alone(*roots_[0]) || size() >= limits_->fusion_max_body) return false;
  if (without_ones(root->dims()) != loop_.result || (root->is(Op::reduce) && !fits_reduces(*root)))
    return false;
  if (is_contraction(*root) && (contraction_ != nullptr || loop_.operand)) return false;
  std::vector<Space> added;
  for (int s : spaces_of(*root, added))
    if (s != 0) return false;  // another root reads it elsewhere
  roots_.push_back(root);
  insert(root, {{0}, false, false});
  return true;
}

const Group::Space& Group::space(int number, const std::vector<Space>& added) const {
  size_t n = number;
  return n < spaces_.size() ? spaces_[n] : added[n - spaces_.size()];
}

int Group::space_behind(int parent, const Instruction& user, int64_t operand,
                        std::vector<Space>& added) const {
  if (user.is(Op::dynamic_update_slice) && operand == 1) return parent;
  if (reads_same_index(user, operand)) return parent;
  auto same = [&](const Space& s) {
    return s.parent == parent && s.via && same_index_map(*s.via, s.operand, user, operand);
  };
  for (size_t n = 0; n < spaces_.size() + added.size(); ++n)
    if (same(space(static_cast<int>(n), added))) return static_cast<int>(n);
  double evaluations = space(parent, added).evaluations * reads_per_element(user, operand);
  if (user.is(Op::dynamic_update_slice)) evaluations = 1;  // start indices are read once
  if (parent == 0 && &user == roots_[0] && roots_.size() == 1 && user.has(kPiecewise))
    evaluations = elements(user.operand(operand)->shape());
  added.push_back({parent, &user, operand, evaluations});
  return static_cast<int>(spaces_.size() + added.size() - 1);
}

std::vector<int> Group::spaces_of(const Instruction& producer, std::vector<Space>& added) const {
  std::vector<int> result;
  for (const Instruction* user : producer.users()) {
    auto member = members_.find(user);
    if (member == members_.end()) continue;
    for (int64_t k = 0; k < user->num_operands(); ++k) {
      if (user->operand(k) != &producer) continue;
      for (int parent : member->second.spaces) {
        int behind = space_behind(parent, *user, k, added);
        if (std::find(result.begin(), result.end(), behind) == result.end()) result.push_back(behind);
      }
    }
  }
  return result;
}

bool Group::is_recomputed(const Instruction& producer, const std::vector<int>& spaces,
                          const std::vector<Space>& added) const {
  double evaluations = 0;
  for (int s : spaces) evaluations += space(s, added).evaluations;
  return evaluations > elements(producer.shape()) * (1 + 1e-9);  // products of ratios are rounded
}

// Windows that share many elements would compute each of them as often.
bool Group::windows_overlap(const Instruction& producer, const std::vector<int>& spaces,
                            const std::vector<Space>& added) const {
  for (int s : spaces) {
    const Space& read = space(s, added);
    bool windowed =
        read.via && read.via->is(Op::reduce_window) && 2 * read.operand < read.via->num_operands();
    if (windowed && is_running_window(*read.via) && price_of(producer) == Price::kCostly)
      return true;  // one after the other
    if (windowed && read.evaluations > kWindowOverlap * elements(producer.shape())) return true;
  }
  return false;
}

// An in-place update may read the old value only where it writes: through the dynamic-slice with its own
// start indices.
bool Group::keeps_update_in_place(const Instruction& producer, const std::vector<int>& spaces) const {
  if (update_ == Update::kNone) return true;
  if (update_ == Update::kApart) return is_scalar_constant(producer);
  if (&producer == roots_[0]->operand(0)) return false;
  return !reads_directly(producer, roots_[0]->operand(0)) ||
         (reads_same_window(producer, *roots_[0]) && spaces == std::vector<int>{0});
}

// Blocks of a contraction's operands pass by more than once: what is made of several arrays is better made
// once.
bool reads_several(const Instruction& producer) {
  int64_t whole = 0;
  for (const Instruction* o : producer.operands()) {
    whole += !is_made_up(*o) && 2 * elements(o->shape()) > elements(producer.shape());
  }
  return whole > 1;
}

// One contraction, which sees the loop of the roots, be it transposed. Before it stands what is elementwise.
bool Group::fits_contraction(const Instruction& producer, bool copied, const std::vector<int>& spaces,
                             const std::vector<Space>& added) const {
  auto only_transposed = [&](int s) {
    while (s > 0 && space(s, added).via->is(Op::transpose)) s = space(s, added).parent;
    return s == 0;
  };
  if (is_contraction(producer))
    return !copied && contraction_ == nullptr && !loop_.operand && spaces.size() == 1 &&
           only_transposed(spaces[0]);
  if (contraction_ == nullptr || spaces == std::vector<int>{0}) return true;
  return producer.def().meaning != Meaning::kFactors && !producer.is(Op::map) && !producer.is(Op::gather) &&
         !reads_several(producer) && !follows_contraction(producer);
}

bool Group::can_add(const Instruction& producer, bool copied) const {
  if (is_root_only(producer) || size() >= limits_->fusion_max_body) return false;
  if (producer.is(Op::concatenate) && producer.num_operands() > kMostChoices) return false;
  std::vector<Space> added;
  std::vector<int> spaces = spaces_of(producer, added);
  if (spaces.empty() || spaces.size() > kMaxSpaces) return false;
  if (emitted_ + static_cast<int64_t>(spaces.size()) > kEmittedPerBody * limits_->fusion_max_body)
    return false;
  if (copied && !is_scalar_constant(producer) && copies_ >= kFreeCopies + 2 * (size() - copies_))
    return false;
  if (windows_overlap(producer, spaces, added)) return false;
  if (!fits_contraction(producer, copied, spaces, added)) return false;
  if (producer.is(Op::reduce_window) && is_running_window(*roots_[0])) return false;
  if (is_recomputed(producer, spaces, added)) {
    Price price = price_of(producer);
    if (price == Price::kCostly || (price == Price::kCheap && recomputed_ >= limits_->fusion_max_recomputed))
      return false;
  }
  if (producer.is(Op::reduce) && (copied || spaces != std::vector<int>{0} || !fits_reduces(producer)))
    return false;
  int64_t more_inputs = producer.num_operands() - 1;
  if (static_cast<int64_t>(inputs_.size() + roots_.size()) + more_inputs > limits_->fusion_max_operands)
    return false;
  return keeps_update_in_place(producer, spaces);
}

bool Group::try_add(Instruction* producer, bool copied) {
  if (!can_add(*producer, copied)) return false;
  std::vector<Space> added;
  std::vector<int> spaces = spaces_of(*producer, added);
  bool recomputed = is_recomputed(*producer, spaces, added) && price_of(*producer) == Price::kCheap;
  spaces_.insert(spaces_.end(), added.begin(), added.end());
  insert(producer, {std::move(spaces), copied, recomputed});
  return true;
}

bool Group::reads_at_root_index(const Instruction& input) const {
  std::vector<Space> added;
  std::vector<int> spaces = spaces_of(input, added);
  return spaces == std::vector<int>{0};
}

bool Group::is_worth_a_fusion() const {
  int64_t constants = std::count_if(order_.begin(), order_.end(),
                                    [](const Instruction* i) { return is_scalar_constant(*i); });
  return roots_.size() > 1 || size() - constants > 1;
}

}  // namespace armillary
