// while(join(x)) = join(while(x)), for those parts of a loop's state that the body works on tile by tile.
#include <algorithm>
#include <map>
#include <set>

#include "xla_core/spmd/marks.h"
#include "xla_core/spmd/ties.h"

namespace armillary {
namespace {

class Loop {
 public:
  Loop(Marks& marks, Instruction* loop)
      : marks_(marks),
        loop_(loop),
        body_(loop->attrs().callee(Attr::body)),
        condition_(loop->attrs().callee(Attr::condition)) {}

  // State is taken apart where it enters, leaves, and in the body; the condition does as it likes.
  bool is_plain() const {
    auto only_elements = [](const Instruction* tuple) {
      return !tuple->is_root() &&
             std::all_of(tuple->users().begin(), tuple->users().end(),
                         [](const Instruction* u) { return u->is(Op::get_tuple_element); });
    };
    return loop_->operand(0)->is(Op::tuple) && body_->root()->is(Op::tuple) && only_elements(loop_) &&
           only_elements(body_->parameter(0)) && only_elements(condition_->parameter(0));
  }

  bool carry() {
    start();
    for_each_carried([&](int64_t k, Walk& walk) { demand(body_->root()->operand(k), carried_.at(k), walk); });
    for_each_carried([&](int64_t k, Walk& walk) {
      for (const Instruction* e : elements(body_->parameter(0), k)) spread(e, carried_.at(k), walk);
    });
    while (drop_one()) continue;
    if (carried_.empty()) return false;
    rewrite();
    return true;
  }

 private:
  std::vector<Instruction*> elements(const Instruction* tuple, int64_t k) const {
    std::vector<Instruction*> out;
    for (Instruction* u : tuple->users())
      if (u->attrs().integer(Attr::index) == k) out.push_back(u);
    return out;
  }

  // The cuts, all alike, that are made of what leaves the loop as state `k`; nothing where the whole is
  // needed.
  std::optional<std::vector<const Sharding*>> cuts_after(int64_t k) const {
    std::vector<const Sharding*> out;
    for (const Instruction* e : elements(loop_, k)) {
      if (e->is_root()) return {};
      for (const Instruction* user : e->users())
        if (const Sharding* s = marks_.is_cut(user); s && (out.empty() || *s == *out[0]))
          out.push_back(s);
        else
          return {};
    }
    return out;
  }

  const Sharding* cut_before(int64_t k) const {
    const Sharding* s = marks_.joined(loop_->operand(0)->operand(k));
    return s && s->summands == 1 ? s : nullptr;
  }

  // What enters as tiles, what leaves to be cut, and what each turn makes in tiles or as a sum.
  void start() {
    for (int64_t k = 0; k < loop_->operand(0)->num_operands(); ++k) {
      const Sharding* before = cut_before(k);
      const Sharding* made = marks_.joined(body_->root()->operand(k));
      const auto after = cuts_after(k);
      if (made && made->summands > 1)
        carried_.emplace(k, *made);
      else if (before)
        carried_.emplace(k, *before);
      else if (after && !after->empty() && after->front()->summands == 1)
        carried_.emplace(k, *after->front());
      else if (made)
        carried_.emplace(k, *made);
    }
  }

  // States that are still to be followed, and values that were.
  struct Walk {
    std::vector<int64_t> pending;
    std::set<const Instruction*> seen;
  };

  // Follows every carried state, those that are found on the way too.
  template <class Follow>
  void for_each_carried(Follow follow) {
    Walk walk;
    for (const auto& [k, s] : carried_) walk.pending.push_back(k);
    while (!walk.pending.empty()) {
      const int64_t k = walk.pending.back();
      walk.pending.pop_back();
      follow(k, walk);
    }
  }
  void carry_too(int64_t k, const Sharding& s, Walk& walk) {
    if (carried_.emplace(k, s).second) walk.pending.push_back(k);
  }

  // What the body needs in tiles to make x in tiles.
  void demand(const Instruction* x, const Sharding& s, Walk& walk) {
    if (s.is_replicated() || s.summands > 1 || !walk.seen.insert(x).second) return;
    if (x->is(Op::get_tuple_element) && x->operand(0) == body_->parameter(0)) {
      const int64_t k = x->attrs().integer(Attr::index);
      if (s.divides(x->shape()) && (cut_before(k) || cuts_after(k))) carry_too(k, s, walk);
      return;
    }
    const auto wanted = operand_shardings(*x, s);
    for (size_t o = 0; wanted && o < wanted->size(); ++o)
      demand(x->operand(static_cast<int64_t>(o)), (*wanted)[o], walk);
  }

  // What the body makes of the tiles of x: stacks of results begin whole, and are cut for nothing.
  void spread(const Instruction* x, const Sharding& s, Walk& walk) {
    if (s.is_replicated() || s.summands > 1 || !walk.seen.insert(x).second) return;
    for (const Instruction* user : x->users())
      for (int64_t k = 0; k < user->num_operands(); ++k) {
        if (user->operand(k) != x || marks_.is_mark(user)) continue;
        if (user == body_->root())
          carry_too(k, s, walk);
        else if (const auto result = made_of_tiles(user, k, s))
          spread(user, *result, walk);
      }
  }

  // A state whose tiles would have to be joined again in the loop stays whole. Returns whether there was one.
  bool drop_one() {
    std::map<const Instruction*, Sharding> tiles;
    for (const auto& [k, s] : carried_) {
      bool fits = std::all_of(elements(condition_->parameter(0), k).begin(),
                              elements(condition_->parameter(0), k).end(),
                              [](const Instruction* e) { return e->users().empty() && !e->is_root(); });
      if (s.summands == 1)  // a sum would be added in each turn in any case
        for (const Instruction* e : elements(body_->parameter(0), k)) fits = fits && stays_tiles(e, s, tiles);
      if (fits) continue;
      carried_.erase(k);
      return true;
    }
    return false;
  }

  // Whether all that comes of `x` in the body comes of its tiles alone.
  bool stays_tiles(const Instruction* x, const Sharding& s,
                   std::map<const Instruction*, Sharding>& tiles) const {
    auto [known, fresh] = tiles.emplace(x, s);
    if (!fresh) return known->second == s;
    for (const Instruction* user : x->users()) {
      if (const Sharding* cut = marks_.is_cut(user)) {
        if (!(*cut == s)) return false;
        continue;
      }
      for (int64_t k = 0; k < user->num_operands(); ++k)
        if (user->operand(k) == x && !(user == body_->root() ? leaves_as(k, s) : goes_on(user, k, s, tiles)))
          return false;
    }
    return true;
  }
  bool leaves_as(int64_t k, const Sharding& s) const {
    auto state = carried_.find(k);
    return state != carried_.end() && state->second == s;
  }
  bool goes_on(const Instruction* user, int64_t k, const Sharding& s,
               std::map<const Instruction*, Sharding>& tiles) const {
    const std::optional<Sharding> result = made_of_tiles(user, k, s);
    return result && (result->is_replicated() || stays_tiles(user, *result, tiles));
  }
  // What comes of tiles of operand `k`, sums added; nothing where they are not enough.
  static std::optional<Sharding> made_of_tiles(const Instruction* user, int64_t k, const Sharding& s) {
    std::vector<std::optional<Sharding>> cuts(user->num_operands());
    cuts[k] = s;
    const std::optional<Split> work = split(*user, cuts);
    if (!work || !(work->operands[k] == s) || !work->result.divides(user->shape())) return {};
    for (int64_t o = 0; o < user->num_operands(); ++o)
      if (!work->operands[o].divides(user->operand(o)->shape())) return {};
    return work->result.added();
  }

  void rewrite() {
    std::vector<Shape> whole = loop_->shape().tuple;
    Shape state = loop_->shape();
    std::vector<Instruction*> initial(loop_->operand(0)->operands().begin(),
                                      loop_->operand(0)->operands().end());
    Build before(loop_), end(body_->root());
    Instruction* root = body_->root();
    for (const auto& [k, s] : carried_) {
      state.tuple[k] = s.local(whole[k]);
      initial[k] = marks_.cut(before, initial[k], s);
      root->replace_operand(k, marks_.cut(end, root->operand(k), s));
    }
    loop_->replace_operand(0, before.tuple(initial));
    for (Instruction* tuple : {loop_, root, body_->parameter(0), condition_->parameter(0)})
      tuple->set_shape(state);
    for (const auto& [k, s] : carried_)
      for (const Instruction* tuple : {loop_, body_->parameter(0), condition_->parameter(0)})
        for (Instruction* element : elements(tuple, k)) {
          Build b(element);
          Instruction* joined = marks_.join(b, b.element(element->operand(0), k), s, whole[k]);
          element->replace_all_uses_with(joined);
          element->parent()->erase(element);
        }
  }

  Marks& marks_;
  Instruction* loop_;
  Computation *body_, *condition_;
  std::map<int64_t, Sharding> carried_;
};

std::map<const Computation*, int64_t> callers(const Module& m) {
  std::map<const Computation*, int64_t> out;
  for (const Computation* c : m.reachable())
    for (const Instruction* i : c->instructions())
      for (const Computation* callee : i->callees()) ++out[callee];
  return out;
}

}  // namespace

bool carry_tiles(Module& m, Marks& marks) {
  bool changed = false;
  const auto called = callers(m);
  for (Computation* c : m.reachable())
    for (Instruction* i : c->snapshot()) {
      if (!i->is(Op::while_) || !i->shape().is_tuple()) continue;
      const std::vector<Computation*> callees = i->callees();
      if (std::any_of(callees.begin(), callees.end(), [&](const Computation* f) { return called.at(f) > 1; }))
        continue;
      Loop loop(marks, i);
      if (loop.is_plain()) changed |= loop.carry();
    }
  return changed;
}

}  // namespace armillary
