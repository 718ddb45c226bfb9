// Parameters and results in other orders than row-major.
#include <algorithm>
#include <unordered_map>

#include "xla_core/layout/layout.h"
#include "xla_core/layout/orders.h"

namespace armillary {
namespace {

// Which dimensions are major in the memory that the elements of a value come from; empty: row-major.
class Orders {
 public:
  explicit Orders(const Computation& c) {
    for (const Instruction* i : c.instructions())
      if (Dims order = order_of(*i); !std::ranges::is_sorted(order)) orders_.emplace(i, std::move(order));
  }
  Dims operator[](const Instruction* i) const {
    const auto found = orders_.find(i);
    return found == orders_.end() ? Dims() : found->second;
  }

 private:
  Dims order_of(const Instruction& i) const {
    if (i.is(Op::transpose)) return of_transpose(i);
    return i.def().is_pointwise() ? of_pointwise(i) : Dims();
  }

  Dims of_transpose(const Instruction& i) const {
    const Dims at = inverse(i.attrs().ints(Attr::dimensions));
    const Dims order = (*this)[i.operand(0)];
    return order.empty() ? at : permuted(at, order);
  }

  // Where the operands differ, no order is better than row-major; what is spread over all elements lies in
  // none.
  Dims of_pointwise(const Instruction& i) const {
    std::optional<Dims> agreed;
    for (const Instruction* x : i.operands()) {
      if (x->shape().rank() != i.shape().rank() || x->is(Op::broadcast) || x->is(Op::constant)) continue;
      Dims order = (*this)[x];
      if (agreed && *agreed != order) return {};
      agreed = std::move(order);
    }
    return agreed.value_or(Dims());
  }

  std::unordered_map<const Instruction*, Dims> orders_;
};

Layout in_order(const Dims& major_to_minor) {
  Layout layout;
  layout.minor_to_major.assign(major_to_minor.rbegin(), major_to_minor.rend());
  return layout;
}

Shape laid_out(DType dtype, Dims dims, Layout layout) {
  Shape shape(dtype, std::move(dims));
  shape.layout = std::move(layout);
  return shape;
}

Instruction* bitcast(Instruction* x, Dims dims, Layout layout, Instruction* before) {
  return x->parent()->add(Op::bitcast, laid_out(x->dtype(), std::move(dims), std::move(layout)), {x}, {},
                          before);
}

// Also gives the new transpose a layout: all others have one by now.
Instruction* laid_out_transpose(Instruction* x, const Dims& permutation, Instruction* before) {
  Instruction* t = transpose(x, permutation, before);
  t->set_shape(laid_out(t->dtype(), t->dims(), Layout::row_major(t->shape().rank())));
  return t;
}

class EntryLayout {
 public:
  explicit EntryLayout(Module& m) : entry_(*m.entry()), wanted_(*m.entry_layout) {}

  bool apply() {
    for (Instruction* p : std::vector<Instruction*>(entry_.parameters()))
      take(p, wanted_.parameters[static_cast<size_t>(p->parameter_number())]);
    const bool open =
        std::ranges::any_of(leaves_of(wanted_.result), [](const Shape* s) { return !s->layout; });
    orders_ = open ? std::make_optional<Orders>(entry_) : std::nullopt;
    Instruction* root = give(entry_.root(), wanted_.result);
    if (root != entry_.root()) entry_.set_root(root);
    return changed_;
  }

 private:
  // Tuples of arguments, and arrays whose size is not known, are row-major.
  void take(Instruction* p, Shape& wanted) {
    if (!wanted.is_array() || plain(wanted) || wanted.is_dynamic()) {
      make_row_major(wanted);
      return;
    }
    const Dims order = major_to_minor(wanted);
    wanted.layout = in_order(order);  // no tiles, nor anything else that our memory has not
    const std::vector<Instruction*> users(p->users().begin(), p->users().end());
    const bool was_root = p->is_root();
    Instruction* before = first_after_parameters();
    p->set_shape(wanted);
    Instruction* lies = bitcast(p, permuted(p->dims(), order), Layout::row_major(wanted.rank()), before);
    Instruction* reads = laid_out_transpose(lies, inverse(order), before);
    for (Instruction* user : users)
      for (int64_t o = 0; o < user->num_operands(); ++o)
        if (user->operand(o) == p) user->replace_operand(o, reads);
    if (was_root) entry_.set_root(reads);
    changed_ = true;
  }

  // The place where what stands before all users can be put; nullptr: at the end.
  Instruction* first_after_parameters() {
    const std::vector<Instruction*>& parameters = entry_.parameters();
    for (auto p = parameters.rbegin(); p != parameters.rend(); ++p)
      if (*p != entry_.instructions().front()) entry_.move_before(*p, entry_.instructions().front());
    for (Instruction* i : entry_.instructions())
      if (!i->is(Op::parameter)) return i;
    return nullptr;
  }

  Instruction* give(Instruction* x, Shape& wanted) {
    if (wanted.is_tuple()) return give_tuple(x, wanted);
    if (!wanted.is_array()) return x;
    Dims order = wanted.layout ? major_to_minor(wanted) : (*orders_)[x];
    if (wanted.is_dynamic() || std::ranges::is_sorted(order)) {
      make_row_major(wanted);
      return x;
    }
    wanted.layout = in_order(order);
    changed_ = true;
    return bitcast(laid_out_transpose(x, order, nullptr), wanted.dims, *wanted.layout, nullptr);
  }

  Instruction* give_tuple(Instruction* x, Shape& wanted) {
    std::vector<Instruction*> elements;
    bool same = true;
    for (size_t k = 0; k < wanted.tuple.size(); ++k) {
      const auto number = static_cast<int64_t>(k);
      Instruction* element = x->is(Op::tuple) ? x->operand(number) : get_element(x, number);
      elements.push_back(give(element, wanted.tuple[k]));
      same &= elements.back() == element;
    }
    if (same) return x;
    Shape shape = x->shape();
    for (size_t k = 0; k < elements.size(); ++k) shape.tuple[k] = elements[k]->shape();
    return entry_.add(Op::tuple, std::move(shape), std::move(elements));
  }

  Instruction* get_element(Instruction* x, int64_t number) {
    Attrs attrs;
    attrs.set(Attr::index, number);
    return entry_.add(Op::get_tuple_element, x->shape().tuple[static_cast<size_t>(number)], {x},
                      std::move(attrs));
  }

  Computation& entry_;
  ProgramShape& wanted_;
  std::optional<Orders> orders_;
  bool changed_ = false;
};

}  // namespace

bool lay_out_entry(Module& m) { return m.entry_layout && EntryLayout(m).apply(); }

void make_entry_row_major(Module& m) {
  if (!m.entry_layout) return;
  for (Shape& parameter : m.entry_layout->parameters) make_row_major(parameter);
  make_row_major(m.entry_layout->result);
}

}  // namespace armillary
