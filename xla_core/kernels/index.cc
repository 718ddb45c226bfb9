#include "xla_core/kernels/index.h"

#include <algorithm>

#include "xla_core/shape/shape.h"

namespace armillary::kernels {

Index Index::of_dims(std::span<const int64_t> dims, std::span<const Val> index) {
  const Dims strides = strides_of(dims);
  std::vector<Digit> digits;
  for (size_t d = 0; d < dims.size(); ++d)
    if (dims[d] != 1) digits.push_back({dims[d], strides[d], index[d]});
  return Index(std::move(digits));
}

// Outermost digits first, so that their sum does not change in the inner loops.
Val Index::linear(KernelBuilder& b) const {
  Val sum;
  for (const Digit& d : digits_) {
    const Val term = b.mul(d.value, b.index_const(d.stride));
    sum = sum.valid() ? b.add(sum, term) : term;
  }
  return sum.valid() ? sum : b.index_const(0);
}

std::vector<Val> Index::along(KernelBuilder& b, std::span<const int64_t> dims) const {
  const Dims strides = strides_of(dims);
  std::vector<Val> result;
  for (size_t d = 0; d < dims.size(); ++d)
    result.push_back(Index(between(b, strides[d], strides[d] * dims[d])).linear(b));
  return result;
}

std::vector<Digit> Index::between(KernelBuilder& b, int64_t low, int64_t high) const {
  std::vector<Digit> result;
  if (high <= low) return result;
  for (size_t k = 0; k < digits_.size(); ++k) {
    const Digit& d = digits_[k];
    int64_t end = d.stride * d.extent;
    if (k > 0) end = std::min(end, digits_[k - 1].stride);  // the last of several chunks may be short
    const int64_t from = std::max(low, d.stride), to = std::min(high, end);
    if (from >= to && (d.stride < high || d.stride % high == 0)) continue;
    const bool overflows = (d.extent - 1) * d.stride >= to;
    const bool aligned =
        from < to && from % d.stride == 0 && from % low == 0 && (to == high || to % low == 0);
    if (!aligned || (overflows && to % from != 0)) {  // the digits do not meet the dimension
      const Val v = b.mod(b.floor_div(linear(b), low), high / low);
      return {{high / low, 1, v}};
    }
    Val v = b.floor_div(d.value, from / d.stride);
    if (overflows) v = b.mod(v, to / from);
    result.push_back({(to + from - 1) / from, from / low, v});
  }
  return result;
}

std::vector<int64_t> Index::key() const {
  std::vector<int64_t> key;
  for (const Digit& d : digits_) key.insert(key.end(), {d.stride, d.value.re});
  return key;
}

}  // namespace armillary::kernels
