#include "xla_core/passes/testing/sampler.h"

#include <algorithm>
#include <numeric>

namespace armillary::testing {
namespace {

constexpr DType kReals[] = {DType::kF32, DType::kF32, DType::kF64, DType::kBF16, DType::kF16, DType::kS32,
                            DType::kS8,  DType::kU8,  DType::kU32, DType::kS64,  DType::kU64, DType::kPred};

}  // namespace

Dims shuffled(Rng& rng, int64_t n) {
  Dims order(n);
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), rng);
  return order;
}

DType Sampler::random_dtype() { return chance(rng_, 0.1) ? DType::kC64 : kReals[rng_() % std::size(kReals)]; }

Shape Sampler::random_shape() {
  Shape shape(random_dtype(), {});
  for (int64_t rank = pick(rng_, 0, 4); rank > 0; --rank)
    shape.dims.push_back(chance(rng_, 0.05) ? 0 : pick(rng_, 1, 3));
  return shape;
}

Instruction* Sampler::add(Op op, const Shape& shape, std::vector<Instruction*> operands, Attrs attrs) {
  return entry_->add(op, shape, std::move(operands), std::move(attrs));
}

Instruction* Sampler::constant(const Shape& shape, double value) {
  Literal literal(Shape::scalar(shape.dtype));
  if (is_complex(shape.dtype))
    literal.set_complex(0, value);
  else
    literal.set_double(0, value);
  Instruction* scalar = entry_->add_constant(std::move(literal));
  return shape.dims.empty() ? scalar : add(Op::broadcast, shape, {scalar}, with(Attr::dimensions, Dims{}));
}

Instruction* Sampler::random_splat(const Shape& shape) {
  Literal value = chance(rng_, 0.5) ? random_literal(rng_, Shape::scalar(shape.dtype))
                                    : tame_literal(rng_, Shape::scalar(shape.dtype));
  if (chance(rng_, 0.3) && !is_complex(shape.dtype))
    value.set_double(0, std::ldexp(1.0, static_cast<int>(pick(rng_, -3, 5))));
  Instruction* scalar = entry_->add_constant(std::move(value));
  return shape.dims.empty() ? scalar : add(Op::broadcast, shape, {scalar}, with(Attr::dimensions, Dims{}));
}

Instruction* Sampler::leaf(const Shape& shape) {
  if (chance(rng_, 0.1)) return random_splat(shape);
  return entry_->add_parameter(parameters_++, shape, "p");
}

Instruction* Sampler::make(const Pat& pattern, const Shape& shape) {
  Instruction* bound = pattern.name ? bound_[pattern.name - 'a'] : nullptr;
  if (bound) return bound->shape().compatible(shape) ? bound : throw Miss();
  Instruction* made = nullptr;
  switch (pattern.kind) {
    case Pat::kAny:
      made = leaf(shape);
      break;
    case Pat::kNumber:
      return constant(shape, pattern.number);
    case Pat::kSplat:
      made = random_splat(shape);
      break;
    case Pat::kOp:
      made = make_op(pattern, shape);
      break;
  }
  if (pattern.name) bound_[pattern.name - 'a'] = made;
  return made;
}

Instruction* Sampler::in(const Pat& pattern, size_t k, const Shape& shape) {
  return k < pattern.in.size() ? make(pattern.in[k], shape) : leaf(shape);
}

DType Sampler::operand_dtype(Op op, DType result, size_t k) {
  if (op == Op::compare || op == Op::convert || op == Op::is_finite) return random_dtype();
  if (op == Op::real || op == Op::imag) return complex_of(result);
  if (op == Op::complex) return real_part_of(result);
  if (op == Op::select && k == 0) return DType::kPred;
  if (op == Op::abs && is_float(result) && chance(rng_, 0.3)) return complex_of(result);
  if (op == Op::bitcast_convert) {
    DType other = random_dtype();
    return bit_width(other) == bit_width(result) ? other : result;
  }
  return result;
}

Instruction* Sampler::elementwise(const Pat& p, const Shape& shape) {
  const OpDef& row = def(p.op);
  std::vector<Instruction*> operands;
  DType shared = operand_dtype(p.op, shape.dtype, 1);
  for (int k = 0; k < row.arity; ++k) {
    DType dtype = p.op == Op::select && k == 0 ? DType::kPred : shared;
    Shape operand(dtype, p.op == Op::select && k == 0 && chance(rng_, 0.3) ? Dims{} : shape.dims);
    operands.push_back(in(p, static_cast<size_t>(k), operand));
  }
  Attrs attrs;
  static constexpr const char* kDirections[] = {"EQ", "NE", "LT", "LE", "GT", "GE"};
  if (p.op == Op::compare) attrs.set(Attr::direction, std::string(kDirections[rng_() % 6]));
  if (p.op == Op::reduce_precision)
    attrs.set(Attr::exponent_bits, pick(rng_, 2, 8)), attrs.set(Attr::mantissa_bits, pick(rng_, 1, 7));
  return add(p.op, shape, std::move(operands), std::move(attrs));
}

// Ones come and go; neighbours merge.
Instruction* Sampler::reshape(const Pat& p, const Shape& shape) {
  Dims dims;
  for (int64_t d : shape.dims) {
    if (d == 1 && chance(rng_, 0.5)) continue;
    if (chance(rng_, 0.3)) dims.push_back(1);
    if (!dims.empty() && chance(rng_, 0.2))
      dims.back() *= d;
    else
      dims.push_back(d);
  }
  if (chance(rng_, 0.2)) dims.push_back(1);
  return add(Op::reshape, shape, {in(p, 0, Shape(shape.dtype, dims))});
}

Instruction* Sampler::transpose(const Pat& p, const Shape& shape) {
  Dims order = shuffled(rng_, shape.rank()), dims(order.size());
  if (chance(rng_, 0.3)) std::sort(order.begin(), order.end());
  for (size_t d = 0; d < order.size(); ++d) dims[order[d]] = shape.dims[d];
  return add(Op::transpose, shape, {in(p, 0, Shape(shape.dtype, dims))}, with(Attr::dimensions, order));
}

Instruction* Sampler::broadcast(const Pat& p, const Shape& shape) {
  Dims dimensions, dims;
  const double keep = std::uniform_real_distribution<>(0, 1.2)(rng_);
  for (int64_t d = 0; d < shape.rank(); ++d)
    if (chance(rng_, keep)) dimensions.push_back(d), dims.push_back(shape.dims[d]);
  if (!p.in.empty() && p.in[0].name && bound_[p.in[0].name - 'a']) dims = bound_[p.in[0].name - 'a']->dims();
  if (dims.size() != dimensions.size()) throw Miss();
  return add(Op::broadcast, shape, {in(p, 0, Shape(shape.dtype, dims))}, with(Attr::dimensions, dimensions));
}

Instruction* Sampler::slice(const Pat& p, const Shape& shape) {
  Slices slices;
  Dims dims;
  for (int64_t d : shape.dims) {
    int64_t start = pick(rng_, 0, 2), stride = chance(rng_, 0.7) ? 1 : pick(rng_, 2, 3),
            after = pick(rng_, 0, 2);
    if (chance(rng_, 0.4)) start = after = 0, stride = 1;
    int64_t limit = start + std::max<int64_t>(0, (d - 1) * stride + 1);
    slices.push_back({start, d == 0 ? start : limit, stride});
    dims.push_back(slices.back().limit + after);
  }
  return add(Op::slice, shape, {in(p, 0, Shape(shape.dtype, dims))}, with(Attr::slice, slices));
}

Instruction* Sampler::pad(const Pat& p, const Shape& shape) {
  Padding padding;
  Dims dims;
  for (int64_t d : shape.dims) {
    PadDim pad{pick(rng_, -1, 2), pick(rng_, -1, 2), chance(rng_, 0.1) ? 1 : 0};
    if (chance(rng_, 0.4)) pad = {};
    int64_t rest = d - pad.low - pad.high;
    if (rest < 0) pad = {}, rest = d;
    if (pad.interior && rest % 2 == 0) pad.interior = 0;
    if (pad.interior) rest = (rest + 1) / 2;
    padding.push_back(pad);
    dims.push_back(rest);
  }
  Instruction* operand = in(p, 0, Shape(shape.dtype, dims));
  return add(Op::pad, shape, {operand, in(p, 1, Shape::scalar(shape.dtype))}, with(Attr::padding, padding));
}

Instruction* Sampler::concatenate(const Pat& p, const Shape& shape) {
  if (shape.rank() == 0) throw Miss();
  const int64_t dim = pick(rng_, 0, shape.rank() - 1);
  std::vector<Instruction*> pieces;
  Shape whole = shape;
  whole.dims[dim] = shape.dims[dim] + 2;
  Instruction* source = chance(rng_, 0.4) ? leaf(whole) : nullptr;  // its slices, in a row
  int64_t at = 0;
  while (at < shape.dims[dim] || pieces.empty()) {
    Shape piece = shape;
    piece.dims[dim] = p.in.size() == 1 ? shape.dims[dim] : pick(rng_, 0, shape.dims[dim] - at);
    if (source && piece.dims[dim] > 0) {
      Slices slices;
      for (int64_t d : piece.dims) slices.push_back({0, d, 1});
      slices[dim] = {at, at + piece.dims[dim], 1};
      pieces.push_back(add(Op::slice, piece, {source}, with(Attr::slice, slices)));
    } else {
      bool nest = chance(rng_, 0.2) && p.in.empty() && piece.dims[dim] > 0;
      pieces.push_back(nest ? add(Op::concatenate, piece, {leaf(piece)}, with(Attr::dimensions, Dims{dim}))
                       : chance(rng_, 0.2) ? random_splat(piece)
                                           : leaf(piece));
    }
    at += piece.dims[dim];
  }
  return add(Op::concatenate, shape, pieces, with(Attr::dimensions, Dims{dim}));
}

Instruction* Sampler::reverse(const Pat& p, const Shape& shape) {
  Dims dimensions;
  for (int64_t d = 0; d < shape.rank(); ++d)
    if (chance(rng_, 0.5)) dimensions.push_back(d);
  return add(Op::reverse, shape, {in(p, 0, shape)}, with(Attr::dimensions, dimensions));
}

Instruction* Sampler::make_op(const Pat& p, const Shape& shape) {
  switch (p.op) {
    case Op::reshape:
      return reshape(p, shape);
    case Op::transpose:
      return transpose(p, shape);
    case Op::broadcast:
      return broadcast(p, shape);
    case Op::slice:
      return slice(p, shape);
    case Op::pad:
      return pad(p, shape);
    case Op::concatenate:
      return concatenate(p, shape);
    case Op::reverse:
      return reverse(p, shape);
    case Op::reduce:
      return reduce(p, shape);
    case Op::dot:
      return dot(p, shape);
    case Op::dynamic_slice:
      return dynamic_slice(shape);
    case Op::dynamic_update_slice:
      return dynamic_update_slice(shape);
    case Op::gather:
      return gather(p, shape);
    case Op::scatter:
      return scatter(p, shape);
    case Op::convolution:
      return convolution(p, shape);
    case Op::sort:
      return sort(shape);
    case Op::copy:
      return add(Op::copy, shape, {in(p, 0, shape)});
    case Op::constant:
      return entry_->add_constant(chance(rng_, 0.5) ? Literal(shape) : random_literal(rng_, shape));
    case Op::iota:
      if (shape.rank() == 0) throw Miss();
      return add(Op::iota, shape, {}, with(Attr::iota_dimension, pick(rng_, 0, shape.rank() - 1)));
    case Op::get_dimension_size: {
      Shape operand = random_shape();
      if (operand.rank() == 0) throw Miss();
      return add(Op::get_dimension_size, Shape::scalar(DType::kS32), {in(p, 0, operand)},
                 with(Attr::dimensions, Dims{pick(rng_, 0, operand.rank() - 1)}));
    }
    default:
      return elementwise(p, shape);
  }
}

std::unique_ptr<Module> Sampler::sample(const Pat& pattern) {
  Shape shape = random_shape();
  if (pattern.kind == Pat::kOp && (pattern.op == Op::compare || pattern.op == Op::is_finite))
    shape.dtype = DType::kPred;
  if (pattern.kind == Pat::kOp && pattern.op == Op::complex) shape.dtype = DType::kC64;
  try {
    entry_->set_root(make(pattern, shape));
    return std::move(module_);
  } catch (const Miss&) {
    return nullptr;
  } catch (const Error&) {
    return nullptr;  // the row refused the shapes
  }
}

}  // namespace armillary::testing
