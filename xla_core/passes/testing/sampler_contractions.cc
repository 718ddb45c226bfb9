// Samples of what combines or picks elements: reduce, dot, convolution, gather, scatter, dynamic slices,
// sort.
#include <algorithm>
#include <numeric>

#include "xla_core/passes/testing/sampler.h"

namespace armillary::testing {

Computation* Sampler::combiner(DType dtype) {
  static constexpr Op kOps[] = {Op::add, Op::add, Op::maximum, Op::minimum, Op::multiply};
  Op op = is_pred(dtype) ? (chance(rng_, 0.5) ? Op::and_ : Op::or_) : kOps[rng_() % std::size(kOps)];
  return Build(entry_->root() ? entry_->root() : constant(Shape::scalar(dtype), 0)).scalar_body(op, dtype);
}

Instruction* Sampler::reduce(const Pat& p, const Shape& shape) {
  Dims dims, dimensions;
  for (int64_t d = 0; d <= shape.rank(); ++d) {
    for (int64_t n = pick(rng_, 0, 1); n > 0; --n) {
      dimensions.push_back(static_cast<int64_t>(dims.size()));
      dims.push_back(chance(rng_, 0.05) ? 0 : pick(rng_, 1, 3));
    }
    if (d < shape.rank()) dims.push_back(shape.dims[d]);
  }
  Computation* body = combiner(shape.dtype);
  Instruction* operand = in(p, 0, Shape(shape.dtype, dims));
  Instruction* init =
      chance(rng_, 0.5) ? constant(Shape::scalar(shape.dtype), 0) : in(p, 1, Shape::scalar(shape.dtype));
  if (p.in.size() > 1 && p.in[1].name && !bound_[p.in[1].name - 'a']) bound_[p.in[1].name - 'a'] = init;
  // An inner reduce combines as the outer one does, often enough.
  if (operand->is(Op::reduce))
    operand->attrs().set(Attr::to_apply, body), init = chance(rng_, 0.5) ? operand->operand(1) : init;
  Attrs attrs = with(Attr::dimensions, dimensions);
  attrs.set(Attr::to_apply, body);
  return add(Op::reduce, shape, {operand, init}, attrs);
}

Instruction* Sampler::dot(const Pat& p, const Shape& shape) {
  const int64_t batch = pick(rng_, 0, shape.rank()), left = pick(rng_, 0, shape.rank() - batch),
                depth = pick(rng_, 0, 2);
  Dims sizes[2], roles[2];  // batch, free, contracting; then shuffled
  for (int64_t d = 0; d < shape.rank(); ++d)
    for (int side : {0, 1})
      if (d < batch || (side == 0) == (d < batch + left)) sizes[side].push_back(shape.dims[d]);
  for (int64_t k = 0; k < depth; ++k) {
    int64_t size = chance(rng_, 0.1) ? 0 : pick(rng_, 1, 3);
    for (int side : {0, 1}) sizes[side].push_back(size);
  }
  std::vector<Instruction*> operands;
  Attrs attrs;
  for (int side : {0, 1}) {
    int64_t rank = static_cast<int64_t>(sizes[side].size()), free = rank - batch - depth;
    Dims place = shuffled(rng_, rank), dims(rank), batch_dims, contracting;
    std::sort(place.begin() + batch, place.begin() + batch + free);  // free ones keep their order
    for (int64_t d = 0; d < rank; ++d) dims[place[d]] = sizes[side][d];
    for (int64_t d = 0; d < batch; ++d) batch_dims.push_back(place[d]);
    for (int64_t d = batch + free; d < rank; ++d) contracting.push_back(place[d]);
    if (batch) attrs.set(side ? Attr::rhs_batch_dims : Attr::lhs_batch_dims, batch_dims);
    attrs.set(side ? Attr::rhs_contracting_dims : Attr::lhs_contracting_dims, contracting);
    operands.push_back(in(p, static_cast<size_t>(side), Shape(shape.dtype, dims)));
  }
  return add(Op::dot, shape, operands, attrs);
}

std::vector<Instruction*> Sampler::random_starts(const Dims& dims) {
  const DType dtype = chance(rng_, 0.5) ? DType::kS32 : chance(rng_, 0.5) ? DType::kU32 : DType::kS8;
  const bool known = chance(rng_, 0.6);
  std::vector<Instruction*> starts;
  for (size_t d = 0; d < dims.size(); ++d)
    starts.push_back(known ? random_splat(Shape::scalar(dtype))
                           : entry_->add_parameter(parameters_++, Shape::scalar(dtype), "i"));
  return starts;
}

Instruction* Sampler::dynamic_slice(const Shape& shape) {
  Dims dims;
  const bool whole = chance(rng_, 0.2);
  for (int64_t d : shape.dims) dims.push_back(d + (whole ? 0 : pick(rng_, 0, 2)));
  std::vector<Instruction*> operands{chance(rng_, 0.3) ? random_splat(Shape(shape.dtype, dims))
                                                       : leaf(Shape(shape.dtype, dims))};
  for (Instruction* start : random_starts(dims)) operands.push_back(start);
  return add(Op::dynamic_slice, shape, operands, with(Attr::dynamic_slice_sizes, shape.dims));
}

Instruction* Sampler::dynamic_update_slice(const Shape& shape) {
  Dims dims;
  const bool whole = chance(rng_, 0.3);
  for (int64_t d : shape.dims) dims.push_back(whole ? d : pick(rng_, 0, d));
  std::vector<Instruction*> operands{leaf(shape), leaf(Shape(shape.dtype, dims))};
  for (Instruction* start : random_starts(dims)) operands.push_back(start);
  return add(Op::dynamic_update_slice, shape, operands);
}

// One index vector into an operand of the result's rank; the sliced-away dimensions are put in front.
Instruction* Sampler::gather(const Pat& p, const Shape& shape) {
  const int64_t collapsed = pick(rng_, 0, 2), rank = shape.rank() + collapsed;
  Dims dims, sizes, offsets(shape.rank()), gone(collapsed);
  for (int64_t d = 0; d < rank; ++d) {
    sizes.push_back(d < collapsed ? 1 : shape.dims[d - collapsed]);
    dims.push_back(sizes.back() + pick(rng_, 0, 2));
  }
  std::iota(offsets.begin(), offsets.end(), 0);
  std::iota(gone.begin(), gone.end(), 0);
  Dims map = shuffled(rng_, rank);
  map.resize(pick(rng_, 0, rank));
  Attrs attrs = with(Attr::offset_dims, offsets);
  attrs.set(Attr::collapsed_slice_dims, gone);
  attrs.set(Attr::start_index_map, map);
  attrs.set(Attr::index_vector_dim, int64_t{0});
  std::string text = "{";
  for (size_t d = 0; d < sizes.size(); ++d) text += (d ? "," : "") + std::to_string(sizes[d]);
  attrs.set(Attr::slice_sizes, RawText{text + "}", false});
  Instruction* operand = in(p, 0, Shape(shape.dtype, dims));
  return add(Op::gather, shape, {operand, in(p, 1, Shape(DType::kS32, {static_cast<int64_t>(map.size())}))},
             attrs);
}

Instruction* Sampler::scatter(const Pat& p, const Shape& shape) {
  Dims window, inserted, window_dims, map = shuffled(rng_, shape.rank());
  map.resize(pick(rng_, 0, shape.rank()));
  for (int64_t d = 0; d < shape.rank(); ++d) {
    if (chance(rng_, 0.3) && shape.dims[d] > 0)
      inserted.push_back(d);
    else
      window_dims.push_back(static_cast<int64_t>(window.size())),
          window.push_back(
              chance(rng_, 0.1) ? 0 : pick(rng_, std::min<int64_t>(1, shape.dims[d]), shape.dims[d]));
  }
  Attrs attrs = with(Attr::update_window_dims, window_dims);
  attrs.set(Attr::inserted_window_dims, inserted);
  attrs.set(Attr::scatter_dims_to_operand_dims, map);
  attrs.set(Attr::index_vector_dim, int64_t{0});
  Computation* body = combiner(shape.dtype);
  if (chance(rng_, 0.3)) body->set_root(body->parameter(1));
  attrs.set(Attr::to_apply, body);
  Instruction* operand = in(p, 0, shape);
  const Shape indices(chance(rng_, 0.5) ? DType::kS32 : DType::kU8, {static_cast<int64_t>(map.size())});
  Instruction* index = chance(rng_, 0.4) ? random_splat(indices) : in(p, 1, indices);
  return add(Op::scatter, shape, {operand, index, in(p, 2, Shape(shape.dtype, window))}, attrs);
}

// Kernels of one point, with the dimensions of input and kernel in any order.
Instruction* Sampler::convolution(const Pat& p, const Shape& shape) {
  const int64_t rank = shape.rank(), spatial = rank - 2;
  if (spatial < 0) throw Miss();
  const int64_t features = pick(rng_, 1, 3);
  Dims in_place = shuffled(rng_, rank), kernel_place = shuffled(rng_, rank), input(rank), kernel(rank, 1);
  ConvDims d;
  d.output_batch = 0, d.output_feature = rank - 1;
  d.input_batch = in_place[0], d.input_feature = in_place[rank - 1];
  d.kernel_input_feature = kernel_place[0], d.kernel_output_feature = kernel_place[1];
  input[d.input_batch] = shape.dims[0], input[d.input_feature] = features;
  kernel[d.kernel_input_feature] = features, kernel[d.kernel_output_feature] = shape.dims[rank - 1];
  for (int64_t k = 0; k < spatial; ++k) {
    d.output_spatial.push_back(k + 1), d.input_spatial.push_back(in_place[k + 1]),
        d.kernel_spatial.push_back(kernel_place[k + 2]);
    input[in_place[k + 1]] = shape.dims[k + 1];
  }
  Attrs attrs = with(Attr::window, Window{std::vector<WindowDim>(spatial)});
  attrs.set(Attr::dim_labels, d);
  Instruction* operand = in(p, 0, Shape(shape.dtype, input));
  return add(Op::convolution, shape, {operand, in(p, 1, Shape(shape.dtype, kernel))}, attrs);
}

Instruction* Sampler::sort(const Shape& shape) {
  if (shape.rank() == 0 || is_complex(shape.dtype)) throw Miss();
  Computation* body = module_->add_computation("less");
  Instruction* x = body->add_parameter(0, Shape::scalar(shape.dtype));
  Instruction* y = body->add_parameter(1, Shape::scalar(shape.dtype));
  body->set_root(body->add(Op::compare, {x, y}, with(Attr::direction, std::string("LT"))));
  Attrs attrs = with(Attr::dimensions, Dims{pick(rng_, 0, shape.rank() - 1)});
  attrs.set(Attr::to_apply, body);
  return add(Op::sort, shape, {leaf(shape)}, attrs);
}

}  // namespace armillary::testing
