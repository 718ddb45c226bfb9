#include "xla_core/spmd/partition.h"

#include <algorithm>

#include "xla_core/base/error.h"
#include "xla_core/passes/passes.h"
#include "xla_core/spmd/boundaries.h"
#include "xla_core/spmd/custom_calls.h"
#include "xla_core/spmd/inspect.h"
#include "xla_core/spmd/sharding_groups.h"

namespace armillary {
namespace {

bool is_wish(const Instruction* i) {
  if (i->has(Attr::sharding)) return true;
  if (!i->is(Op::custom_call)) return false;
  const std::string& target = i->attrs().text(Attr::custom_call_target);
  return target == "Sharding" || target.starts_with("xla.sdy.") || target.starts_with("SPMD") ||
         target == kInspectSharding;
}

bool is_manual(const Instruction* i) {
  return i->is(Op::custom_call) && (i->attrs().text(Attr::custom_call_target).starts_with("xla.sdy.Global") ||
                                    i->attrs().text(Attr::custom_call_target).starts_with("SPMDFull"));
}

template <class Predicate>
bool any(const Module& m, Predicate predicate) {
  for (const Computation* c : m.reachable())
    if (std::any_of(c->instructions().begin(), c->instructions().end(), predicate)) return true;
  return false;
}

class Partitioner {
 public:
  Partitioner(Module& m, const PassContext& context)
      : m_(m), context_(context), marks_(m), custom_(m, marks_, context) {}

  void run() {
    cut_parameters();
    custom_.take_bodies();
    replace_boundaries();
    cut_results_as_wished();
    do settle();
    while (agree_in_groups(m_, marks_) || custom_.cut(false) || custom_.cut(true) || use_bodies());
    answer_inspections(m_, marks_);
    cut_results();
    marks_.note_wholes(m_);
    lower_marks(m_, marks_);
    strip();
  }

 private:
  void replace_boundaries() {
    Boundaries(m_, marks_).replace_all();
    simplify_tuples(m_, context_);  // regions with several results
  }

  void settle() {
    bool changed = false;
    do {
      sink_joins(m_, marks_);
      changed = lift_sums(m_, marks_);
      dce(m_, context_);  // the unused would count as users
      changed |= lift_cuts(m_, marks_);
      changed |= carry_tiles(m_, marks_);
    } while (changed);
  }

  // What is written out at last may be annotated as well.
  bool use_bodies() {
    if (!custom_.use_bodies()) return false;
    replace_boundaries();
    return true;
  }

  std::vector<Annotation> said_of(const Instruction* i) const {
    const std::vector<int64_t> ranks = ranks_of(i->shape());
    if (!i->has(Attr::sharding)) return std::vector<Annotation>(ranks.size());
    try {
      return parse_sharding(i->attrs().raw(Attr::sharding), ranks, marks_.devices());
    } catch (const Error& e) {
      throw user_error(*i, "{}", e.message());
    }
  }

  // A parameter becomes its tile; whoever used it gets the join of the tiles.
  void cut_parameters() {
    Computation* entry = m_.entry();
    const std::vector<Instruction*> parameters = entry->parameters();
    for (Instruction* p : parameters) {
      const std::vector<Annotation> said = said_of(p);
      const Shape whole = p->shape();
      std::vector<Sharding> shardings;
      for (size_t k = 0; k < said.size(); ++k)
        shardings.push_back(sharding_of(*p, said[k], *leaves_of(whole)[k]));
      p->attrs().set(Attr::sharding, RawText{text_of(whole, shardings)});
      if (std::all_of(shardings.begin(), shardings.end(),
                      [](const Sharding& s) { return s.is_replicated(); }))
        continue;
      const std::vector<Instruction*> users(p->users().begin(), p->users().end());
      const bool was_root = p->is_root();
      Instruction* before = first_after_parameters();
      Build b(before);
      p->set_shape(local(whole, shardings));
      Instruction* joined = rejoin(b, p, whole, shardings);
      for (Instruction* user : users)
        for (int64_t o = 0; o < user->num_operands(); ++o)
          if (user->operand(o) == p) user->replace_operand(o, joined);
      if (was_root) entry->set_root(joined);
    }
  }

  // Marks go in front of the first instruction that is no parameter, so that they stand before every user.
  Instruction* first_after_parameters() {
    Computation* entry = m_.entry();
    for (Instruction* p : std::vector<Instruction*>(entry->parameters()))
      entry->move_before(p, entry->instructions().front());
    for (Instruction* i : entry->instructions())
      if (!i->is(Op::parameter)) return i;
    Instruction* root = entry->root();
    Build b(root);
    Instruction* copy = entry->add(Op::copy, {root});
    entry->set_root(copy);
    return copy;
  }

  Sharding sharding_of(const Instruction& at, const Annotation& said, const Shape& shape) const {
    const auto rank = static_cast<int64_t>(shape.dims.size());
    if (said.kind != Annotation::kTiled) return Sharding::replicated(rank, marks_.devices());
    if (shape.is_array() && !said.sharding.divides(shape))
      throw unsupported_error(at, "{} does not divide {}", to_string(said.sharding), to_string(shape));
    return said.sharding;
  }

  static Shape local(const Shape& whole, const std::vector<Sharding>& shardings) {
    if (!whole.is_tuple()) return whole.is_array() ? shardings[0].local(whole) : whole;
    Shape out = whole;
    size_t k = 0;
    localise(out, shardings, k);
    return out;
  }
  static void localise(Shape& shape, const std::vector<Sharding>& shardings, size_t& k) {
    if (shape.is_tuple())
      for (Shape& element : shape.tuple) localise(element, shardings, k);
    else if (const Sharding& s = shardings[k++]; shape.is_array())
      shape = s.local(shape);
  }

  Instruction* rejoin(Build& b, Instruction* tiles, const Shape& whole,
                      const std::vector<Sharding>& shardings) {
    size_t k = 0;
    return rejoin(b, tiles, whole, shardings, k);
  }
  Instruction* rejoin(Build& b, Instruction* tiles, const Shape& whole,
                      const std::vector<Sharding>& shardings, size_t& k) {
    if (!whole.is_tuple()) {
      const Sharding& s = shardings[k++];
      return whole.is_array() ? marks_.join(b, tiles, s, whole) : tiles;
    }
    std::vector<Instruction*> elements;
    for (size_t e = 0; e < whole.tuple.size(); ++e)
      elements.push_back(rejoin(b, b.element(tiles, static_cast<int64_t>(e)), whole.tuple[e], shardings, k));
    return b.tuple(elements);
  }

  static std::string text_of(const Shape& shape, const std::vector<Sharding>& shardings) {
    std::string text;
    for (const Sharding& s : shardings) text += (text.empty() ? "" : ", ") + to_string(s);
    if (shape.is_tuple() && text.empty()) text = "{replicated}";  // XLA's form for nothing at all
    return shape.is_tuple() ? "{" + text + "}" : text;
  }

  // The root as a tuple of the leaves of the result, or the only leaf.
  std::vector<Instruction*> leaves(Build& b, Instruction* i) {
    if (!i->shape().is_tuple()) return {i};
    std::vector<Instruction*> out;
    for (size_t e = 0; e < i->shape().tuple.size(); ++e) {
      Instruction* element =
          i->is(Op::tuple) ? i->operand(static_cast<int64_t>(e)) : b.element(i, static_cast<int64_t>(e));
      const std::vector<Instruction*> inner = leaves(b, element);
      out.insert(out.end(), inner.begin(), inner.end());
    }
    return out;
  }

  Instruction* pack(Build& b, const Shape& shape, const std::vector<Instruction*>& all, size_t& k) {
    if (!shape.is_tuple()) return all[k++];
    std::vector<Instruction*> elements;
    for (const Shape& element : shape.tuple) elements.push_back(pack(b, element, all, k));
    return b.tuple(elements);
  }

  // A new root in place of the old: every leaf is what `leaf(builder, value, number)` makes of it.
  template <class Leaf>
  void rebuild_root(Leaf leaf) {
    Computation* entry = m_.entry();
    Instruction* root = entry->root();
    Instruction* end = entry->add(Op::after_all, Shape::token(), {});  // a place to build before
    Build b(end);
    const Shape shape = root->shape();
    std::vector<Instruction*> all = leaves(b, root);
    for (size_t k = 0; k < all.size(); ++k) all[k] = leaf(b, all[k], k);
    size_t k = 0;
    entry->set_root(pack(b, shape, all, k));
    entry->erase(end);
  }

  void cut_results_as_wished() {
    const std::vector<Annotation> said = said_of(m_.entry()->root());
    rebuild_root([&](Build& b, Instruction* x, size_t k) {
      if (said[k].kind != Annotation::kTiled || !x->shape().is_array()) return x;
      const Sharding s = sharding_of(*x, said[k], x->shape());
      if (s.is_replicated()) return marks_.keep_whole(b, x);
      return marks_.join(b, marks_.cut(b, x, s), s, x->shape());
    });
  }

  // Whatever is a join of tiles leaves the program as a tile.
  void cut_results() {
    std::vector<Sharding> shardings;
    rebuild_root([&](Build&, Instruction* x, size_t) {
      const Sharding* s = marks_.joined(x);
      shardings.push_back(s ? *s
                            : Sharding::replicated(static_cast<int64_t>(x->dims().size()), marks_.devices()));
      return s ? x->operand(0) : x;
    });
    m_.result_sharding = text_of(m_.entry()->root()->shape(), shardings);
  }

  // Nothing else is annotated, entry layouts and aliases follow the tiles.
  void strip() {
    for (Computation* c : m_.reachable())
      for (Instruction* i : c->snapshot())
        if (!i->is(Op::parameter) || !c->is_entry()) i->attrs().erase(Attr::sharding);
    if (m_.entry_layout) m_.entry_layout = with_layouts_of(*m_.entry_layout, m_.entry()->program_shape());
    const Shape result = m_.entry()->root()->shape();
    std::erase_if(m_.aliases, [&](const InputOutputAlias& a) {
      const Shape& from = subshape(m_.entry()->parameter(a.parameter)->shape(), a.parameter_index);
      return !from.compatible(subshape(result, a.output_index));
    });
  }

  // Tiles lie as the whole arrays would.
  static ProgramShape with_layouts_of(const ProgramShape& wholes, ProgramShape tiles) {
    for (size_t n = 0; n < tiles.parameters.size(); ++n)
      copy_layouts(wholes.parameters[n], tiles.parameters[n]);
    copy_layouts(wholes.result, tiles.result);
    return tiles;
  }
  static void copy_layouts(const Shape& from, Shape& to) {
    to.layout = from.layout;
    for (size_t k = 0; k < to.tuple.size(); ++k) copy_layouts(from.tuple[k], to.tuple[k]);
  }

  static const Shape& subshape(const Shape& shape, const Dims& index) {
    const Shape* out = &shape;
    for (int64_t i : index) out = &out->tuple[i];
    return *out;
  }

  Module& m_;
  const PassContext& context_;
  Marks marks_;
  CustomCalls custom_;
};

}  // namespace

bool partition(Module& m, const PassContext& context) {
  if (m.num_partitions == 1 || !any(m, is_wish)) return replace_by_bodies(m);
  const bool per_device =
      any(m, [](const Instruction* i) { return i->has(kCollective); }) && !any(m, is_manual);
  if (per_device || !context.spend(m.entry()->root())) return replace_by_bodies(m);
  Partitioner(m, context).run();
  dce(m, context);
  return true;
}

}  // namespace armillary
