#include "xla_core/interp/dense.h"

#include <algorithm>

#include "xla_core/base/error.h"

namespace armillary {

Literal permuted(const Literal& literal, std::span<const int64_t> order) {
  const Dims& dims = literal.shape().dims;
  const Dims strides = selected(strides_of(dims), order);
  Literal result(Shape(literal.dtype(), selected(dims, order)));
  if (result.size() == 0) return result;
  Dims index(order.size(), 0);
  int64_t at = 0;
  copy_elements(byte_size(literal.dtype()), literal.bytes(), result.bytes(), result.size(), [&](int64_t) {
    const int64_t here = at;
    for (size_t d = index.size(); d-- > 0;) {
      at += strides[d];
      if (++index[d] < result.shape().dims[d]) break;
      at -= index[d] * strides[d];
      index[d] = 0;
    }
    return here;
  });
  return result;
}

Literal converted(const Literal& from, DType to) {
  if (from.dtype() == to) return from;
  Literal result(from.shape().with_dtype(to));
  for (int64_t k = 0; k < from.size(); ++k) {
    if (is_complex(to))
      result.set_complex(k, from.get_complex(k));
    else if (is_integral(from.dtype()))
      result.set_int(k, from.get_int(k));
    else
      result.set_double(k, from.get_double(k));
  }
  return result;
}

bool has_dim(std::span<const int64_t> dims, int64_t d) {
  return std::find(dims.begin(), dims.end(), d) != dims.end();
}

Dims other_dims(int64_t rank, std::span<const int64_t> taken) {
  Dims others;
  for (int64_t d = 0; d < rank; ++d)
    if (!has_dim(taken, d)) others.push_back(d);
  return others;
}

Dims selected(std::span<const int64_t> values, std::span<const int64_t> which) {
  Dims result;
  for (int64_t d : which) result.push_back(values[static_cast<size_t>(d)]);
  return result;
}

Dims concatenated(std::initializer_list<std::span<const int64_t>> parts) {
  Dims result;
  for (auto part : parts) result.insert(result.end(), part.begin(), part.end());
  return result;
}

MatrixStack::MatrixStack(const Shape& shape) {
  if (shape.rank() < 2) throw user_error("{} is no matrix", to_string(shape));
  rows = shape.dims[shape.dims.size() - 2];
  cols = shape.dims.back();
  count = product(std::span(shape.dims).first(shape.dims.size() - 2));
}

}  // namespace armillary
