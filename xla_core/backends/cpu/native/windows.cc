#include "xla_core/backends/cpu/native/windows.h"

#include <algorithm>
#include <limits>

#include "xla_core/base/error.h"
#include "xla_core/base/parallel_for.h"

namespace armillary::native {
namespace {

template <class T>
int64_t read_as(const std::byte* data, int64_t i) {
  return static_cast<int64_t>(reinterpret_cast<const T*>(data)[i]);
}

using ReadIndex = int64_t (*)(const std::byte*, int64_t);

ReadIndex index_reader(DType d) {
  switch (d) {
    case DType::kS16:
      return read_as<int16_t>;
    case DType::kU16:
      return read_as<uint16_t>;
    case DType::kS32:
      return read_as<int32_t>;
    case DType::kU32:
      return read_as<uint32_t>;
    case DType::kS64:
      return read_as<int64_t>;
    case DType::kU64:  // what no signed index can name lies beyond any array
      return [](const std::byte* data, int64_t i) {
        return static_cast<int64_t>(std::min<uint64_t>(reinterpret_cast<const uint64_t*>(data)[i],
                                                       std::numeric_limits<int64_t>::max()));
      };
    default:
      if (is_integral(d) && byte_size(d) == 1) return is_signed(d) ? read_as<int8_t> : read_as<uint8_t>;
      throw internal_error("{} is no index", to_string(d));
  }
}

}  // namespace

Dims other_dims(int64_t rank, const Dims& a, const Dims& b) {
  Dims out;
  for (int64_t d = 0; d < rank; ++d)
    if (!std::ranges::count(a, d) && !std::ranges::count(b, d)) out.push_back(d);
  return out;
}

std::vector<int64_t> offsets_of(const Dims& sizes, const Dims& strides) {
  std::vector<int64_t> offsets = {0};
  for (size_t d = 0; d < sizes.size(); ++d) {
    std::vector<int64_t> next;
    next.reserve(offsets.size() * sizes[d]);
    for (int64_t base : offsets)
      for (int64_t i = 0; i < sizes[d]; ++i) next.push_back(base + i * strides[d]);
    offsets = std::move(next);
  }
  return offsets;
}

WindowRuns::WindowRuns(const Dims& sizes, const Dims& first_strides, const Dims& second_strides) {
  // The last dimensions that are dense in both arrays form the run.
  size_t outer = sizes.size();
  while (outer > 0 && (sizes[outer - 1] == 1 ||
                       (first_strides[outer - 1] == length && second_strides[outer - 1] == length)))
    length *= sizes[--outer];
  auto head = [&](const Dims& d) { return Dims(d.begin(), d.begin() + outer); };
  first = offsets_of(head(sizes), head(first_strides));
  second = offsets_of(head(sizes), head(second_strides));
}

std::vector<int64_t> window_starts(const ArrayRef& indices, const IndexRoles& roles, const Dims& operand,
                                   const Dims& window, OutOfRange rule) {
  const Dims operand_strides = strides_of(operand), index_strides = strides_of(indices.dims);
  Dims sizes, strides;   // of the index array without its vector dimension
  Dims batching_stride;  // operand elements per step of such a dimension, for batching dimensions
  for (int64_t d = 0; d < indices.rank(); ++d) {
    if (d == roles.vector_dim) continue;
    sizes.push_back(indices.dims[d]);
    strides.push_back(index_strides[d]);
    batching_stride.push_back(0);
    for (size_t b = 0; b < roles.index_batching.size(); ++b)
      if (roles.index_batching[b] == d) batching_stride.back() = operand_strides[roles.operand_batching[b]];
  }
  const bool scalar = roles.vector_dim >= indices.rank();
  const int64_t step = scalar ? 0 : index_strides[roles.vector_dim];
  const ReadIndex read = index_reader(indices.dtype);
  std::vector<int64_t> starts(product(sizes));
  parallel_for(static_cast<int64_t>(starts.size()), 4096, [&](int64_t begin, int64_t end) {
    for (int64_t s = begin; s < end; ++s) {
      int64_t from = 0, at = 0, rest = s;
      for (int64_t d = static_cast<int64_t>(sizes.size()) - 1; d >= 0; --d) {
        from += rest % sizes[d] * strides[d];
        at += rest % sizes[d] * batching_stride[d];
        rest /= sizes[d];
      }
      for (size_t k = 0; k < roles.coordinate_dims.size() && at != kDropped; ++k) {
        const int64_t dim = roles.coordinate_dims[k], last = operand[dim] - window[dim];
        const int64_t value = read(indices.data, from + static_cast<int64_t>(k) * step);
        if (rule == OutOfRange::kDrop && (value < 0 || value > last))
          at = kDropped;
        else
          at += std::clamp<int64_t>(value, 0, std::max<int64_t>(0, last)) * operand_strides[dim];
      }
      starts[s] = at;
    }
  });
  return starts;
}

}  // namespace armillary::native
