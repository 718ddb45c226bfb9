// Operations that move elements without looking at them.
#include <algorithm>
#include <numeric>

#include "xla_core/io/vhlo/op_import.h"

namespace armillary::vhlo {
namespace {

template <Op kOp>
void plain(OpImport& at) {
  at.give(at.emit(kOp, at.shape(), at.operands()));
}

Attrs with_dimensions(Dims dims) {
  Attrs attrs;
  attrs.set(Attr::dimensions, std::move(dims));
  return attrs;
}

Instruction* broadcast(OpImport& at, Instruction* x, Shape shape, Dims dims) {
  return at.emit(Op::broadcast, std::move(shape), {x}, with_dimensions(std::move(dims)));
}

// Dimensions out of order are transposed first.
Instruction* sort_dimensions(OpImport& at, Instruction* x, Dims& dims) {
  if (std::is_sorted(dims.begin(), dims.end())) return x;
  Dims order(dims.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return dims[a] < dims[b]; });
  Shape shape(x->dtype(), {});
  for (int64_t d : order) shape.dims.push_back(x->dims()[d]);
  std::sort(dims.begin(), dims.end());
  return at.emit(Op::transpose, std::move(shape), {x}, with_dimensions(std::move(order)));
}

// Dimensions of size one that grow are dropped by a reshape: a broadcast of HLO only adds dimensions.
void broadcast_in_dim(OpImport& at) {
  Dims dims = at.ints("broadcast_dimensions");
  Shape shape = at.shape();
  Instruction* x = at.operand(0);
  if (dims.size() != x->dims().size())
    throw user_error("broadcast_dimensions={{{}}} for {}", fmt::join(dims, ","), to_string(x->shape()));
  for (int64_t d : dims)
    if (d < 0 || d >= shape.rank()) throw user_error("there is no dimension {} in {}", d, to_string(shape));
  x = sort_dimensions(at, x, dims);
  if (std::adjacent_find(dims.begin(), dims.end()) != dims.end())
    throw user_error("broadcast_dimensions={{{}}} names a dimension twice", fmt::join(dims, ","));
  Shape inner = shape;
  for (size_t i = 0; i < dims.size(); ++i) inner.dims[dims[i]] = x->dims()[i];
  if (inner.dims == shape.dims) return at.give(broadcast(at, x, std::move(shape), std::move(dims)));
  Instruction* wide = broadcast(at, x, inner, std::move(dims));
  Shape narrow(shape.dtype, {});
  Dims kept;
  for (int64_t d = 0; d < shape.rank(); ++d) {
    if (inner.dims[d] != shape.dims[d]) continue;
    narrow.dims.push_back(shape.dims[d]);
    kept.push_back(d);
  }
  const Sharding whole = std::exchange(at.sharding, std::nullopt);  // made for another rank
  Instruction* dropped = at.emit(Op::reshape, std::move(narrow), {wide});
  at.sharding = whole;
  at.give(broadcast(at, dropped, std::move(shape), std::move(kept)));
}

// New dimensions come first.
void broadcast_sizes(OpImport& at) {
  Dims dims(at.operand(0)->dims().size());
  std::iota(dims.begin(), dims.end(), at.shape().rank() - static_cast<int64_t>(dims.size()));
  at.give(broadcast(at, at.operand(0), at.shape(), std::move(dims)));
}

void concatenate(OpImport& at) {
  at.give(at.emit(Op::concatenate, at.shape(), at.operands(), with_dimensions({at.integer("dimension")})));
}

template <Op kOp>
void along(OpImport& at) {
  at.give(at.emit(kOp, at.shape(), at.operands(), with_dimensions(at.ints("dimensions"))));
}

void transpose(OpImport& at) {
  at.give(at.emit(Op::transpose, at.shape(), at.operands(), with_dimensions(at.ints("permutation"))));
}

void iota(OpImport& at) {
  Attrs attrs;
  attrs.set(Attr::iota_dimension, at.integer("iota_dimension"));
  at.give(at.emit(Op::iota, at.shape(), {}, std::move(attrs)));
}

void pad(OpImport& at) {
  const Dims low = at.ints("edge_padding_low"), high = at.ints("edge_padding_high"),
             interior = at.ints("interior_padding");
  if (low.size() != high.size() || low.size() != interior.size())
    throw user_error("paddings of different lengths");
  Padding padding;
  for (size_t d = 0; d < low.size(); ++d) padding.push_back({low[d], high[d], interior[d]});
  Attrs attrs;
  attrs.set(Attr::padding, std::move(padding));
  at.give(at.emit(Op::pad, at.shape(), at.operands(), std::move(attrs)));
}

void slice(OpImport& at) {
  const Dims start = at.ints("start_indices"), limit = at.ints("limit_indices"), stride = at.ints("strides");
  if (start.size() != limit.size() || start.size() != stride.size())
    throw user_error("bounds of different lengths");
  Slices slices;
  for (size_t d = 0; d < start.size(); ++d) slices.push_back({start[d], limit[d], stride[d]});
  Attrs attrs;
  attrs.set(Attr::slice, std::move(slices));
  at.give(at.emit(Op::slice, at.shape(), at.operands(), std::move(attrs)));
}

void get_dimension_size(OpImport& at) {
  at.give(
      at.emit(Op::get_dimension_size, at.shape(), at.operands(), with_dimensions({at.integer("dimension")})));
}

// A size that is the dimension's own makes it static again.
void set_dimension_size(OpImport& at) {
  at.give(
      at.emit(Op::set_dimension_size, at.shape(), at.operands(), with_dimensions({at.integer("dimension")})));
}

// The sizes come one by one.
void dynamic_reshape(OpImport& at) {
  const Shape& shape = at.shape();
  std::vector<Instruction*> x = {at.operand(0)};
  Instruction* sizes = at.operand(1);
  if (sizes->dims() != Dims{shape.rank()} || sizes->dtype() != DType::kS32)
    throw user_error("sizes of type {} for {}", to_string(sizes->shape()), to_string(shape));
  for (int64_t d = 0; d < shape.rank(); ++d) {
    if (shape.dims[d] == Shape::kUnbounded) throw unsupported_error("dimensions without bounds");
    Attrs attrs;
    attrs.set(Attr::slice, Slices{{d, d + 1, 1}});
    Instruction* one = at.emit(Op::slice, Shape(DType::kS32, {1}), {sizes}, std::move(attrs));
    x.push_back(at.emit(Op::reshape, Shape::scalar(DType::kS32), {one}));
  }
  at.give(at.emit(Op::dynamic_reshape, shape, std::move(x)));
}

void tuple(OpImport& at) { at.give(at.emit(Op::tuple, at.shape(), at.operands())); }

void get_tuple_element(OpImport& at) {
  Attrs attrs;
  attrs.set(Attr::index, at.integer("index"));
  at.give(at.emit(Op::get_tuple_element, at.shape(), at.operands(), std::move(attrs)));
}

}  // namespace

std::vector<OpRow> shape_rows() {
  return {
      {"vhlo", "broadcast_in_dim_v1", {"broadcast_dimensions"}, broadcast_in_dim},
      {"vhlo", "broadcast_v1", {"broadcast_sizes"}, broadcast_sizes},
      {"vhlo", "concatenate_v1", {"dimension"}, concatenate},
      {"vhlo", "dynamic_reshape_v1", {}, dynamic_reshape},
      {"vhlo", "get_dimension_size_v1", {"dimension"}, get_dimension_size},
      {"vhlo", "get_tuple_element_v1", {"index"}, get_tuple_element, Quantized::kAsStored},
      {"vhlo", "iota_v1", {"iota_dimension"}, iota},
      {"vhlo", "pad_v1", {"edge_padding_low", "edge_padding_high", "interior_padding"}, pad},
      {"vhlo", "reshape_v1", {}, plain<Op::reshape>},
      {"vhlo", "reverse_v1", {"dimensions"}, along<Op::reverse>},
      {"vhlo", "set_dimension_size_v1", {"dimension"}, set_dimension_size},
      {"vhlo", "slice_v1", {"start_indices", "limit_indices", "strides"}, slice},
      {"vhlo", "transpose_v1", {"permutation"}, transpose},
      {"vhlo", "tuple_v1", {}, tuple, Quantized::kAsStored},
  };
}

}  // namespace armillary::vhlo
