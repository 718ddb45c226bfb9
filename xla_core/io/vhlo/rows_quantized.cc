// Integers to the floats they stand for, and back: StableHLO's specification, `quantize` and `dequantize`.
#include <algorithm>

#include "xla_core/io/vhlo/quantized.h"

namespace armillary::vhlo {
namespace {

// One number for all elements, or one for each slice along the axis.
template <class T>
Instruction* spread(OpImport& at, const Shape& shape, const std::vector<T>& values, int64_t axis) {
  const bool per_axis = axis >= 0;
  Literal literal = Literal::array<T>(
      shape.dtype, per_axis ? Dims{static_cast<int64_t>(values.size())} : Dims{}, std::span<const T>(values));
  Instruction* constant = at.into().add_constant(std::move(literal));
  if (shape.rank() == 0) return constant;
  Attrs attrs;
  attrs.set(Attr::dimensions, per_axis ? Dims{axis} : Dims{});
  return at.emit(Op::broadcast, shape, {constant}, std::move(attrs));
}

bool has_zero_points(const Quantization& q) {
  return std::any_of(q.zero_points.begin(), q.zero_points.end(), [](int64_t zero) { return zero != 0; });
}

void check_static(const Shape& shape) {
  if (shape.is_dynamic())
    throw unsupported_error("quantized values of the dynamic type {}", to_string(shape));
}

void uniform_quantize(OpImport& at) {
  Instruction* x = at.operand(0);
  at.shape();  // there is a result
  const Quantization* to = at.op().results[0]->type->quantization.get();
  const Quantization* from = at.op().operands[0]->type->quantization.get();
  if (to == nullptr) throw user_error("its result is no quantized value");
  if (from != nullptr && *from == *to) return at.give(x);
  if (from != nullptr) x = dequantize(at, x, *from);
  at.give(quantize(at, x, *to));
}

void uniform_dequantize(OpImport& at) {
  Instruction* x = at.operand(0);
  const Quantization* from = at.op().operands[0]->type->quantization.get();
  if (from == nullptr) throw user_error("its operand is no quantized value");
  at.give(dequantize(at, x, *from));
}

}  // namespace

// The specification subtracts in the type of storage, where 127 - -128 has no place; here nothing wraps.
Instruction* dequantize(OpImport& at, Instruction* x, const Quantization& q) {
  check_static(x->shape());
  if (has_zero_points(q)) {
    const Shape wide = x->shape().with_dtype(bit_width(q.storage) < 32 ? DType::kS32 : DType::kS64);
    x = at.emit(Op::convert, wide, {x});
    x = at.emit(Op::subtract, wide, {x, spread(at, wide, q.zero_points, q.axis)});
  }
  const Shape shape = x->shape().with_dtype(q.expressed);
  x = at.emit(Op::convert, shape, {x});
  return at.emit(Op::multiply, shape, {x, spread(at, shape, q.scales, q.axis)});
}

Instruction* quantize(OpImport& at, Instruction* x, const Quantization& q) {
  const Shape shape = x->shape();
  check_static(shape);
  if (shape.dtype != q.expressed)
    throw user_error("{} becomes integers that stand for {}", to_string(shape), to_string(q.expressed));
  x = at.emit(Op::divide, shape, {x, spread(at, shape, q.scales, q.axis)});
  if (has_zero_points(q)) x = at.emit(Op::add, shape, {x, spread(at, shape, q.zero_points, q.axis)});
  auto bound = [&](int64_t value) { return spread(at, shape, std::vector<int64_t>{value}, -1); };
  x = at.emit(Op::clamp, shape, {bound(q.min), x, bound(q.max)});
  x = at.emit(Op::round_nearest_even, shape, {x});
  return at.emit(Op::convert, shape.with_dtype(q.storage), {x});
}

std::vector<OpRow> quantized_rows() {
  return {
      {"vhlo", "uniform_dequantize_v1", {}, uniform_dequantize},
      {"vhlo", "uniform_quantize_v1", {}, uniform_quantize},
  };
}

}  // namespace armillary::vhlo
