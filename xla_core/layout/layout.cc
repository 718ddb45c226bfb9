#include "xla_core/layout/layout.h"

#include <algorithm>

#include "xla_core/hlo/parse_parts.h"
#include "xla_core/layout/orders.h"

namespace armillary {
namespace {

// Tiles that pad, and elements narrower than a byte, lie in memory as the text says, but not in ours.
void check_bytes(const Instruction& bitcast) {
  const Shape &have = bitcast.operand(0)->shape(), &want = bitcast.shape();
  auto bytes = [](const Shape& s) { return s.num_elements() * byte_size(s.dtype); };
  auto packed = [](const Shape& s) { return bit_width(s.dtype) < 8 && s.dtype != DType::kPred; };
  if (bytes(have) != bytes(want) ||
      ((packed(have) || packed(want)) && bit_width(have.dtype) != bit_width(want.dtype)))
    throw unsupported_error(bitcast, "a bitcast from {} to {} changes the number of bytes", to_string(have),
                            to_string(want));
}

// The same memory as elements of another type; a change of width leaves the order of elements only.
Instruction* with_elements(Instruction* x, DType dtype, Instruction* bitcast) {
  Computation* c = bitcast->parent();
  const int64_t have = byte_size(x->dtype()), want = byte_size(dtype);
  Dims dims = x->dims();
  if (want > have) {
    dims = {x->shape().num_elements() * have / want};
    x = c->add(Op::reshape, Shape(x->dtype(), {dims[0], want / have}), {x}, {}, bitcast);
  } else if (want < have) {
    dims.push_back(have / want);
  }
  return c->add(Op::bitcast_convert, Shape(dtype, std::move(dims)), {x}, {}, bitcast);
}

// The bytes of the operand, read with the result's dtype, dims and layout.
Instruction* expand_bitcast(Instruction* bitcast) {
  Computation* c = bitcast->parent();
  Instruction* x = bitcast->operand(0);
  check_bytes(*bitcast);
  if (!plain(x->shape())) x = transpose(x, major_to_minor(x->shape()), bitcast);
  const Shape& want = bitcast->shape();
  const Dims order = plain(want) ? Dims() : major_to_minor(want);
  const Dims physical = order.empty() ? want.dims : permuted(want.dims, order);
  if (x->dtype() != want.dtype) x = with_elements(x, want.dtype, bitcast);
  if (x->dims() != physical) x = c->add(Op::reshape, Shape(want.dtype, physical), {x}, {}, bitcast);
  if (order.empty()) return x;
  return transpose(x, inverse(order), bitcast);
}

Instruction* reshape(Instruction* x, const Dims& dims, Instruction* before) {
  return before->parent()->add(Op::reshape, Shape(x->dtype(), dims), {x}, {}, before);
}

// Its row-major elements are those of x as they lie in memory with this layout, and back.
Instruction* as_it_lies(Instruction* x, const Shape& layout, Instruction* before) {
  return plain(layout) ? x : reshape(transpose(x, major_to_minor(layout), before), layout.dims, before);
}
Instruction* as_it_reads(Instruction* x, const Shape& layout, Instruction* before) {
  if (plain(layout)) return x;
  const Dims order = major_to_minor(layout);
  return transpose(reshape(x, permuted(layout.dims, order), before), inverse(order), before);
}

// The operands' shapes with the layouts that a custom call states; none when it states none.
std::vector<Shape> stated_operands(const Instruction& call) {
  const std::string& text = call.attrs().raw(Attr::operand_layout_constraints);
  std::vector<Shape> shapes;
  if (text.empty()) return shapes;
  Scanner in(text, "", 100);
  in.expect('{', "before layouts");
  in.list('}', "between layouts", [&] { shapes.push_back(read_shape(in)); });
  return shapes;
}

// LAPACK's routines are our own, and take matrices as they read. A constraint only says what its result shall
// be like; what it states for its operand means nothing.
bool takes_layouts(const Instruction& call) {
  const std::string& target = call.attrs().text(Attr::custom_call_target);
  return !target.starts_with("lapack_") && target != "LayoutConstraint";
}

Instruction* lay_out(Instruction* call, const std::vector<Shape>& operands) {
  Computation* c = call->parent();
  std::vector<Instruction*> laid_out;
  for (size_t k = 0; k < operands.size(); ++k)
    laid_out.push_back(as_it_lies(call->operand(static_cast<int64_t>(k)), operands[k], call));
  const Shape shape = call->shape();
  Instruction* raw = c->clone(*call, std::move(laid_out), call);
  raw->set_shape(shape.without_layout());
  raw->attrs().erase(Attr::operand_layout_constraints);
  if (shape.is_array()) return as_it_reads(raw, shape, call);
  std::vector<Instruction*> elements;
  for (size_t k = 0; k < shape.tuple.size(); ++k) {
    Attrs index;
    index.set(Attr::index, static_cast<int64_t>(k));
    Instruction* element = c->add(Op::get_tuple_element, {raw}, std::move(index), call);
    elements.push_back(as_it_reads(element, shape.tuple[k], call));
  }
  return c->add(Op::tuple, std::move(elements), {}, call);
}

}  // namespace

bool expand_bitcasts(Module& m) {
  bool changed = false;
  for (Computation* c : m.reachable())
    for (Instruction* i : c->snapshot()) {
      if (!i->is(Op::bitcast) ||
          (plain(i->shape()) && plain(i->operand(0)->shape()) && i->dtype() == i->operand(0)->dtype()))
        continue;
      i->replace_all_uses_with(expand_bitcast(i));
      c->erase(i);
      changed = true;
    }
  return changed;
}

bool lay_out_custom_calls(Module& m) {
  bool changed = false;
  for (Computation* c : m.reachable())
    for (Instruction* i : c->snapshot()) {
      if (!i->is(Op::custom_call) || !takes_layouts(*i)) continue;
      std::vector<Shape> operands = stated_operands(*i);
      const std::vector<const Shape*> results = leaves_of(i->shape());
      if (operands.size() != static_cast<size_t>(i->num_operands()) ||
          (std::ranges::all_of(operands, plain) &&
           std::ranges::all_of(results, [](const Shape* s) { return plain(*s); })))
        continue;
      i->replace_all_uses_with(lay_out(i, operands));
      c->erase(i);
      changed = true;
    }
  return changed;
}

bool assign_layouts(Module& m) {
  bool changed = expand_bitcasts(m);
  for (Computation* c : m.reachable())
    for (Instruction* i : c->instructions()) {
      Shape shape = i->shape();
      if (!make_row_major(shape)) continue;
      i->set_shape(std::move(shape));
      changed = true;
    }
  return changed;
}

}  // namespace armillary
