#include "xla_core/passes/build.h"

#include <algorithm>
#include <numeric>

namespace armillary {
namespace {

bool any_layout(const Shape& shape) {
  return shape.layout.has_value() || std::any_of(shape.tuple.begin(), shape.tuple.end(), any_layout);
}

}  // namespace

Attrs with(Attr attr, AttrValue value) {
  Attrs attrs;
  attrs.set(attr, std::move(value));
  return attrs;
}

// A scalar has no layout to tell by: its operands may.
Build::Build(Instruction* before) : before_(before), has_layout_(any_layout(before->shape())) {
  for (const Instruction* o : before->operands()) has_layout_ |= any_layout(o->shape());
}

Shape Build::laid_out(Shape shape) const {
  for (Shape& element : shape.tuple) element = laid_out(std::move(element));
  if (!shape.is_array()) return shape;
  shape.layout.reset();
  if (has_layout_) shape.layout = Layout::row_major(shape.rank());
  return shape;
}

Instruction* Build::finish(Instruction* i) const {
  i->set_shape(laid_out(i->shape()));
  i->set_metadata(before_->metadata());
  return i;
}

Instruction* Build::add(Op op, std::vector<Instruction*> operands, Attrs attrs) {
  return finish(computation()->add(op, std::move(operands), std::move(attrs), before_));
}

Instruction* Build::add(Op op, Shape shape, std::vector<Instruction*> operands, Attrs attrs) {
  return finish(computation()->add(op, std::move(shape), std::move(operands), std::move(attrs), before_));
}

Instruction* Build::clone(const Instruction& i, std::vector<Instruction*> operands) {
  return computation()->clone(i, std::move(operands), before_);
}

Instruction* Build::constant(Literal literal) {
  return finish(computation()->add_constant(std::move(literal), before_));
}

Instruction* Build::scalar(DType dtype, double value) {
  Literal literal(Shape::scalar(dtype));
  if (is_complex(dtype))
    literal.set_complex(0, value);
  else if (is_integral(dtype))
    literal.set_int(0, static_cast<int64_t>(value));
  else
    literal.set_double(0, value);
  return constant(std::move(literal));
}

Instruction* Build::scalar_int(DType dtype, int64_t value) {
  Literal literal(Shape::scalar(dtype));
  literal.set_int(0, value);
  return constant(std::move(literal));
}

Instruction* Build::splat(const Shape& shape, Instruction* scalar) {
  return shape.dims.empty() ? scalar : broadcast(scalar, shape.dims, {});
}

Instruction* Build::splat(const Shape& shape, double value) {
  return splat(shape, scalar(shape.dtype, value));
}

Instruction* Build::broadcast(Instruction* x, Dims dims, Dims dimensions) {
  return add(Op::broadcast, Shape(x->dtype(), std::move(dims)), {x},
             with(Attr::dimensions, std::move(dimensions)));
}

Instruction* Build::reshape(Instruction* x, Dims dims) {
  return x->dims() == dims ? x : add(Op::reshape, Shape(x->dtype(), std::move(dims)), {x});
}

Instruction* Build::transpose(Instruction* x, Dims permutation) {
  Dims dims;
  for (int64_t d : permutation) dims.push_back(x->dims()[d]);
  return add(Op::transpose, Shape(x->dtype(), std::move(dims)), {x},
             with(Attr::dimensions, std::move(permutation)));
}

Instruction* Build::convert(Instruction* x, DType dtype) {
  return x->dtype() == dtype ? x : add(Op::convert, Shape(dtype, x->dims()), {x});
}

Instruction* Build::slice(Instruction* x, Slices slices) {
  Dims dims;
  for (const SliceDim& s : slices)
    dims.push_back(std::max<int64_t>(0, (s.limit - s.start + s.stride - 1) / s.stride));
  return add(Op::slice, Shape(x->dtype(), std::move(dims)), {x}, with(Attr::slice, std::move(slices)));
}

Instruction* Build::pad(Instruction* x, Instruction* value, Padding padding) {
  Dims dims;
  for (size_t d = 0; d < padding.size(); ++d) {
    int64_t size = x->dims()[d];
    dims.push_back(padding[d].low + padding[d].high + size +
                   std::max<int64_t>(0, size - 1) * padding[d].interior);
  }
  return add(Op::pad, Shape(x->dtype(), std::move(dims)), {x, value},
             with(Attr::padding, std::move(padding)));
}

Instruction* Build::concatenate(std::vector<Instruction*> xs, int64_t dimension) {
  Shape shape(xs[0]->dtype(), xs[0]->dims());
  for (size_t n = 1; n < xs.size(); ++n) shape.dims[dimension] += xs[n]->dims()[dimension];
  return add(Op::concatenate, std::move(shape), std::move(xs), with(Attr::dimensions, Dims{dimension}));
}

Instruction* Build::reverse(Instruction* x, Dims dimensions) {
  return add(Op::reverse, Shape(x->dtype(), x->dims()), {x}, with(Attr::dimensions, std::move(dimensions)));
}

Instruction* Build::iota(Shape shape, int64_t dimension) {
  return add(Op::iota, std::move(shape), {}, with(Attr::iota_dimension, dimension));
}

Instruction* Build::compare(const char* direction, Instruction* x, Instruction* y) {
  return add(Op::compare, Shape(DType::kPred, x->dims()), {x, y},
             with(Attr::direction, std::string(direction)));
}

Instruction* Build::select(Instruction* p, Instruction* x, Instruction* y) {
  return add(Op::select, Shape(x->dtype(), x->dims()), {p, x, y});
}

Instruction* Build::element(Instruction* tuple, int64_t index) {
  return add(Op::get_tuple_element, tuple->shape().tuple[index], {tuple}, with(Attr::index, index));
}

Instruction* Build::tuple(std::vector<Instruction*> elements) {
  std::vector<Shape> shapes;
  for (const Instruction* e : elements) shapes.push_back(e->shape());
  return add(Op::tuple, Shape::make_tuple(std::move(shapes)), std::move(elements));
}

Instruction* Build::reduce(Op op, Instruction* x, double init, Dims dimensions) {
  Shape shape(x->dtype(), {});
  for (int64_t d = 0; d < x->shape().rank(); ++d)
    if (std::find(dimensions.begin(), dimensions.end(), d) == dimensions.end())
      shape.dims.push_back(x->dims()[d]);
  Attrs attrs = with(Attr::dimensions, std::move(dimensions));
  attrs.set(Attr::to_apply, scalar_body(op, x->dtype()));
  return add(Op::reduce, std::move(shape), {x, scalar(x->dtype(), init)}, std::move(attrs));
}

Instruction* Build::dynamic_slice(Instruction* x, std::vector<Instruction*> starts, Dims sizes) {
  std::vector<Instruction*> operands{x};
  operands.insert(operands.end(), starts.begin(), starts.end());
  Shape shape(x->dtype(), sizes);
  return add(Op::dynamic_slice, std::move(shape), std::move(operands),
             with(Attr::dynamic_slice_sizes, std::move(sizes)));
}

Instruction* Build::dynamic_update_slice(Instruction* x, Instruction* update,
                                         std::vector<Instruction*> starts) {
  std::vector<Instruction*> operands{x, update};
  operands.insert(operands.end(), starts.begin(), starts.end());
  return add(Op::dynamic_update_slice, Shape(x->dtype(), x->dims()), std::move(operands));
}

Computation* Build::scalar_body(Op op, DType dtype) {
  std::string name = fmt::format("{}_{}", to_string(op), to_string(dtype));
  Computation* body = module().add_computation(std::move(name));
  Instruction* x = body->add_parameter(0, Shape::scalar(dtype), "x");
  Instruction* y = body->add_parameter(1, Shape::scalar(dtype), "y");
  body->set_root(body->add(op, Shape::scalar(dtype), {x, y}));
  for (Instruction* i : {x, y, body->root()}) i->set_shape(laid_out(i->shape()));
  return body;
}

}  // namespace armillary
