#include "xla_core/buffers/assign.h"

#include <algorithm>
#include <numeric>

namespace armillary {
namespace {

// Values that share memory. Union-find with the union of the members' segments at the representative.
class Groups {
 public:
  Groups(const Values& values, const std::vector<SharingWish>& wishes) : values_(values), wishes_(wishes) {
    groups_.resize(values.size());
    wishes_of_.resize(values.size());
    for (int32_t v = 0; v < values.size(); ++v)
      groups_[v] = {v, values.at(v).kind != Value::kDefined, {v}, merged(values.at(v).segments)};
    for (size_t w = 0; w < wishes.size(); ++w) {
      wishes_of_[wishes[w].from].push_back(w);
      wishes_of_[wishes[w].to].push_back(w);
    }
  }

  int32_t find(int32_t v) {
    while (groups_[v].parent != v) v = groups_[v].parent = groups_[groups_[v].parent].parent;
    return v;
  }
  const std::vector<Segment>& segments(int32_t group) const { return groups_[group].segments; }
  size_t members(int32_t group) const { return groups_[group].members.size(); }
  bool fixed(int32_t group) const {
    return groups_[group].fixed;
  }  // memory we may not write: arguments, constants
  void unfix(int32_t v) { groups_[find(v)].fixed = false; }

  // Grants the wish when the two groups are never alive at once, but for the moments of hand-over between
  // them.
  bool share(const SharingWish& wish) {
    int32_t from = find(wish.from), to = find(wish.to);
    if (from == to || fixed(from) || fixed(to)) return from == to;
    if (values_.at(wish.from).size != values_.at(wish.to).size) return false;
    if (members(from) > members(to)) std::swap(from, to);
    std::vector<Segment> a = segments(from), b = segments(to);
    for (int32_t member : groups_[from].members)
      for (size_t w : wishes_of_[member]) {
        if (find(wishes_[w].from) == from && find(wishes_[w].to) == to) end_before(a, wishes_[w].tick);
        if (find(wishes_[w].from) == to && find(wishes_[w].to) == from) end_before(b, wishes_[w].tick);
      }
    if (overlap(a, b)) return false;
    unite(from, to);
    return true;
  }

 private:
  struct Group {
    int32_t parent = 0;
    bool fixed = false;
    std::vector<int32_t> members;
    std::vector<Segment> segments;
  };

  // The segment whose last read is at `tick` ends just before it.
  static void end_before(std::vector<Segment>& segments, int64_t tick) {
    for (Segment& s : segments)
      if (s.begin <= tick && (s.end == tick || s.end == tick + 1)) s.end = tick - 1;
    std::erase_if(segments, [](const Segment& s) { return s.end < s.begin; });
  }
  static std::vector<Segment> merged(std::vector<Segment> all) {
    std::sort(all.begin(), all.end(), [](const Segment& a, const Segment& b) { return a.begin < b.begin; });
    std::vector<Segment> result;
    for (const Segment& s : all) {
      if (!result.empty() && s.begin <= result.back().end) {
        result.back().end = std::max(result.back().end, s.end);
      } else {
        result.push_back(s);
      }
    }
    return result;
  }
  void unite(int32_t from, int32_t to) {
    Group &gone = groups_[from], &kept = groups_[to];
    gone.parent = to;
    kept.members.insert(kept.members.end(), gone.members.begin(), gone.members.end());
    kept.segments.insert(kept.segments.end(), gone.segments.begin(), gone.segments.end());
    kept.segments = merged(std::move(kept.segments));
    gone.members.clear();
    gone.segments.clear();
  }

  const Values& values_;
  const std::vector<SharingWish>& wishes_;
  std::vector<Group> groups_;
  std::vector<std::vector<size_t>> wishes_of_;  // per value
};

size_t leaf_number(const Shape& shape, const Dims& index) {
  const Shape* target = &shape.at(index);
  const std::vector<const Shape*> leaves = leaves_of(shape);
  return static_cast<size_t>(std::find(leaves.begin(), leaves.end(), target) - leaves.begin());
}

// Donated arguments would like to become the result that aliases them.
std::vector<int32_t> add_donations(const Module& m, const Values& values, std::vector<SharingWish>& wishes) {
  std::vector<int32_t> donated;
  const Instruction* root = m.entry()->root();
  constexpr int kDonation = 9;
  for (const InputOutputAlias& alias : m.aliases) {
    const Instruction* parameter = m.entry()->parameter(alias.parameter);
    const size_t from_leaf = leaf_number(parameter->shape(), alias.parameter_index);
    const size_t to_leaf = leaf_number(root->shape(), alias.output_index);
    if (from_leaf >= values.of(parameter).size() || to_leaf >= values.of(root).size()) continue;
    const int32_t from = values.of(parameter)[from_leaf], to = values.of(root)[to_leaf];
    if (from < 0 || to < 0) continue;
    donated.push_back(from);
    wishes.push_back({from, to, -1, kDonation});
  }
  return donated;
}

class Assigner {
 public:
  Assigner(const Module& m, const Target& target) : module_(m), values_(m, target) {}

  Assignment run() {
    std::vector<SharingWish> wishes = values_.wishes();
    const std::vector<int32_t> donated = add_donations(module_, values_, wishes);
    std::stable_sort(wishes.begin(), wishes.end(),
                     [](const auto& a, const auto& b) { return a.priority < b.priority; });
    Groups groups(values_, wishes);
    for (int32_t v : donated) groups.unfix(v);
    for (const SharingWish& wish : wishes) groups.share(wish);
    groups_ = &groups;
    slice_of_.resize(values_.size());
    place_parameters();
    place_constants();
    place_results();
    place_temporaries();
    fill_slices();
    return std::move(out_);
  }

 private:
  int32_t add_allocation(Allocation a) {
    out_.allocations.push_back(std::move(a));
    return static_cast<int32_t>(out_.allocations.size()) - 1;
  }
  bool placed(int32_t group) const { return slice_of_[group].allocation >= 0; }

  void place_parameters() {
    int64_t number = 0;
    for (const Instruction* p : module_.entry()->parameters())
      for (int32_t v : values_.of(p)) {
        Allocation a{
            .kind = Allocation::kParameter, .size = v < 0 ? 0 : values_.at(v).size, .index = number++};
        const int64_t size = a.size;
        a.written = v >= 0 && groups_->members(groups_->find(v)) > 1;
        const int32_t allocation = add_allocation(std::move(a));
        if (v >= 0) slice_of_[groups_->find(v)] = {allocation, 0, size};
      }
  }

  void place_constants() {
    for (int32_t v = 0; v < values_.size(); ++v) {
      const Value& value = values_.at(v);
      if (value.kind != Value::kConstant) continue;
      Allocation a{
          .kind = Allocation::kConstant, .size = value.size, .constant = value.instruction->literal()};
      slice_of_[v] = {add_allocation(std::move(a)), 0, value.size};
    }
  }

  // A result that is an argument, a constant or another result already gets memory of its own and a copy at
  // the end.
  void place_results() {
    int64_t number = 0;
    for (int32_t v : values_.of(module_.entry()->root())) {
      const int64_t leaf = number++;
      if (v < 0) {
        out_.results.push_back({});
        continue;
      }
      const int32_t group = groups_->find(v);
      Slice& slice = slice_of_[group];
      const int64_t size = values_.at(v).size;
      if (placed(group) && !groups_->fixed(group) && out_.allocations[slice.allocation].result < 0) {
        out_.allocations[slice.allocation].result = leaf;  // a donated argument
        out_.results.push_back(slice);
        continue;
      }
      Allocation a{.kind = Allocation::kResult, .size = size, .result = leaf};
      const Slice own{add_allocation(std::move(a)), 0, size};
      if (!placed(group)) slice = own;
      out_.results.push_back(own);
    }
  }

  void place_temporaries() {
    std::vector<Block> blocks;
    std::vector<int32_t> group_of;
    for (int32_t v = 0; v < values_.size(); ++v) {
      if (groups_->find(v) != v || placed(v)) continue;
      blocks.push_back({values_.at(v).size, groups_->segments(v)});
      group_of.push_back(v);
    }
    const int64_t total = pack_blocks(blocks);
    out_.max_live_bytes = armillary::max_live_bytes(blocks);
    const int32_t arena = add_allocation({.kind = Allocation::kTemporary, .size = total});
    for (size_t b = 0; b < blocks.size(); ++b)
      slice_of_[group_of[b]] = {arena, blocks[b].offset, blocks[b].size};
  }

  void fill_slices() {
    for (const Computation* c : module_.reachable())
      for (const Instruction* i : c->instructions()) {
        if (!values_.knows(i)) continue;  // inside a fusion or another embedded computation
        std::vector<Slice> slices;
        for (int32_t v : values_.of(i)) slices.push_back(v < 0 ? Slice{} : slice_of_[groups_->find(v)]);
        out_.slices[i] = std::move(slices);
      }
  }

  const Module& module_;
  Values values_;
  Groups* groups_ = nullptr;
  std::vector<Slice> slice_of_;  // per value, valid at representatives
  Assignment out_;
};

}  // namespace

Assignment assign_buffers(const Module& module, const Target& target) {
  return Assigner(module, target).run();
}

}  // namespace armillary
