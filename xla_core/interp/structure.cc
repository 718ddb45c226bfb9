// Handlers that move values without computing: constants, tuples, tokens, copies, bitcasts.
#include <cstring>

#include "xla_core/interp/dense.h"
#include "xla_core/interp/evaluation.h"
#include "xla_core/shape/permutation.h"

namespace armillary {
namespace {

Literal constant(Evaluation&, const Instruction& i, Operands) {
  if (i.literal().elided()) throw user_error("the value of this constant is elided ({{...}})");
  return i.literal();
}

Literal tuple(Evaluation&, const Instruction&, Operands operands) {
  return Literal::make_tuple({operands.begin(), operands.end()});
}

Literal get_tuple_element(Evaluation&, const Instruction& i, Operands operands) {
  return operands[0].tuple().at(static_cast<size_t>(i.attrs().integer(Attr::index)));
}

Literal first_operand(Evaluation&, const Instruction& i, Operands operands) {
  return i.shape().is_array() ? with_shape(operands[0], i.shape()) : operands[0];
}

// opt-barrier: all of its operands, which HLO text may also write one by one.
Literal all_operands(Evaluation&, const Instruction& i, Operands operands) {
  return operands.size() == 1 && !(i.shape().is_tuple() && !operands[0].is_tuple())
             ? operands[0]
             : Literal::make_tuple({operands.begin(), operands.end()});
}

Literal token(Evaluation&, const Instruction& i, Operands) { return Literal(i.shape()); }

// One program, one device: number 0.
Literal zero_of_shape(Evaluation&, const Instruction& i, Operands) { return Literal(i.shape()); }

Literal reshape(Evaluation&, const Instruction& i, Operands operands) {
  return operands[0].reshaped(i.shape());
}

// The dimensions from the slowest to the fastest in memory.
Dims physical_order(const Shape& shape) {
  if (!shape.layout || static_cast<int64_t>(shape.layout->minor_to_major.size()) != shape.rank())
    return other_dims(shape.rank(), {});
  return {shape.layout->minor_to_major.rbegin(), shape.layout->minor_to_major.rend()};
}

// The same memory under another shape: through the physical order on both sides.
Literal bitcast(Evaluation&, const Instruction& i, Operands operands) {
  const Shape& from = i.operand(0)->shape();
  const Literal physical = permuted(operands[0], physical_order(from));
  const Dims order = physical_order(i.shape());
  Literal result(Shape(i.dtype(), selected(i.dims(), order)));
  if (result.size_bytes() != physical.size_bytes())
    throw user_error("bitcast of {} to {} changes the number of bytes", to_string(from),
                     to_string(i.shape()));
  std::memcpy(result.bytes(), physical.bytes(), static_cast<size_t>(result.size_bytes()));
  return with_shape(permuted(result, inverse(order)), i.shape());
}

// copy-start gives (destination, source, context); copy-done the destination.
Literal copy_start(Evaluation&, const Instruction& i, Operands operands) {
  std::vector<Literal> parts = {operands[0], operands[0]};
  for (size_t k = parts.size(); k < i.shape().tuple.size(); ++k) parts.emplace_back(i.shape().tuple[k]);
  return Literal::make_tuple(std::move(parts));
}
Literal copy_done(Evaluation&, const Instruction&, Operands operands) { return operands[0].tuple().at(0); }

// Sizes are static here: only the bound itself can be asked for or set.
Literal get_dimension_size(Evaluation&, const Instruction& i, Operands operands) {
  const int64_t d = i.attrs().ints(Attr::dimensions).at(0);
  return Literal::scalar<int64_t>(DType::kS32, operands[0].shape().dims.at(static_cast<size_t>(d)));
}
Literal set_dimension_size(Evaluation&, const Instruction& i, Operands operands) {
  const int64_t d = i.attrs().ints(Attr::dimensions).at(0), bound = i.dims().at(static_cast<size_t>(d));
  if (operands[1].get_int(0) != bound)
    throw unsupported_error("unsupported: set-dimension-size to {} of dimension {}, whose bound is {}",
                            operands[1].get_int(0), d, bound);
  return operands[0].reshaped(i.shape());
}

}  // namespace

std::span<const HandlerRow> structure_handlers() {
  static constexpr HandlerRow rows[] = {
      {Op::constant, constant},
      {Op::tuple, tuple},
      {Op::get_tuple_element, get_tuple_element},
      {Op::add_dependency, first_operand},
      {Op::domain, first_operand},
      {Op::copy, first_operand},
      {Op::opt_barrier, all_operands},
      {Op::after_all, token},
      {Op::partition_id, zero_of_shape},
      {Op::replica_id, zero_of_shape},
      {Op::reshape, reshape},
      {Op::dynamic_reshape, reshape},
      {Op::bitcast, bitcast},
      {Op::copy_start, copy_start},
      {Op::copy_done, copy_done},
      {Op::get_dimension_size, get_dimension_size},
      {Op::set_dimension_size, set_dimension_size},
  };
  return rows;
}

}  // namespace armillary
