// What writers leave out around a reducer: conversions between floats, and the tuple around a single result.
// XLA takes such text; here they are written out as soon as a module is read, so that nobody behind needs to
// know of them.
#include "xla_core/hlo/mixed_precision.h"

#include <algorithm>

namespace armillary {
namespace {

bool floats(const Shape& a, const Shape& b) { return is_float(a.dtype) && is_float(b.dtype); }

Instruction* convert(Instruction* x, DType to, Instruction* before) {
  return x->parent()->add(Op::convert, x->shape().with_dtype(to), {x}, {}, before);
}

// The operands' elements take the types of the reducer's parameters.
void convert_operands(Instruction* i) {
  const OpDef& row = i->def();
  const Instruction::ContextStorage storage = i->context_storage();
  if (row.parameter_of == nullptr || storage.callees.size() != 1) return;
  const std::vector<Shape>& parameters = storage.callees[0].parameters;
  for (int k = 0; k < static_cast<int>(i->num_operands()); ++k) {
    Instruction* x = i->operand(k);
    const int at = row.parameter_of(storage.context(i->attrs(), nullptr), k);
    if (at < 0 || at >= static_cast<int>(parameters.size()) || !floats(parameters[at], x->shape())) continue;
    if (parameters[at].dtype != x->dtype()) i->replace_operand(k, convert(x, parameters[at].dtype, i));
  }
}

// Whether `gives` becomes `stated` by conversions between floats and a tuple around one result.
bool differs_slightly(const Shape& gives, const Shape& stated) {
  if (gives.is_array() && stated.is_tuple())
    return stated.tuple.size() == 1 && differs_slightly(gives, stated.tuple[0]);
  if (gives.is_array())
    return gives.dims == stated.dims && (gives.dtype == stated.dtype || floats(gives, stated));
  return gives.is_tuple() && stated.is_tuple() &&
         std::equal(gives.tuple.begin(), gives.tuple.end(), stated.tuple.begin(), stated.tuple.end(),
                    differs_slightly);
}

bool same_types(const Shape& a, const Shape& b) {
  return a.dtype == b.dtype &&
         std::equal(a.tuple.begin(), a.tuple.end(), b.tuple.begin(), b.tuple.end(), same_types);
}

Instruction* as_stated(Instruction* x, const Shape& stated, Instruction* before) {
  Computation& c = *x->parent();
  if (x->shape().is_array() && stated.is_tuple())
    return c.add(Op::tuple, stated, {as_stated(x, stated.tuple[0], before)}, {}, before);
  if (x->shape().is_array()) return x->dtype() == stated.dtype ? x : convert(x, stated.dtype, before);
  std::vector<Instruction*> elements;
  for (size_t k = 0; k < stated.tuple.size(); ++k) {
    Attrs attrs;
    attrs.set(Attr::index, static_cast<int64_t>(k));
    Instruction* element = c.add(Op::get_tuple_element, x->shape().tuple[k], {x}, std::move(attrs), before);
    elements.push_back(as_stated(element, stated.tuple[k], before));
  }
  return c.add(Op::tuple, stated, std::move(elements), {}, before);
}

void convert_result(Instruction* i, Instruction* next) {
  const Shape stated = i->shape();
  Shape gives;
  try {
    const Instruction::ContextStorage storage = i->context_storage();
    gives = i->def().infer(storage.context(i->attrs(), &stated));
  } catch (const Error&) {
    return;  // the verifier says it with its place
  }
  if (same_types(gives, stated) || !differs_slightly(gives, stated)) return;
  const bool root = i->is_root();
  const std::vector<Instruction*> users(i->users().begin(), i->users().end());
  i->set_shape(gives);
  Instruction* result = as_stated(i, stated, next);
  for (Instruction* user : users)
    for (int64_t k = 0; k < user->num_operands(); ++k)
      if (user->operand(k) == i) user->replace_operand(k, result);
  if (root) i->parent()->set_root(result);
}

}  // namespace

void write_out_reducer_conversions(Module& module) {
  for (Computation* c : module.computations()) {
    const std::vector<Instruction*> all = c->snapshot();
    for (size_t k = 0; k < all.size(); ++k) {
      if (!all[k]->has(kCallsEmbedded) || all[k]->def().infer == nullptr || all[k]->has(kNeedsShape))
        continue;
      convert_operands(all[k]);
      convert_result(all[k], k + 1 < all.size() ? all[k + 1] : nullptr);
    }
  }
}

}  // namespace armillary
