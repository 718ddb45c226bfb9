#include "xla_core/backends/cpu/native/windows.h"

#include <algorithm>
#include <limits>
#include <type_traits>

#include "xla_core/base/error.h"
#include "xla_core/base/parallel_for.h"

namespace armillary::native {
namespace {

// What no signed index can name lies beyond any array.
template <class T>
int64_t index_value(T v) {
  if constexpr (std::is_same_v<T, uint64_t>)
    return static_cast<int64_t>(std::min<uint64_t>(v, std::numeric_limits<int64_t>::max()));
  return static_cast<int64_t>(v);
}

// fn(T()) for the type of an index array's elements.
template <class Fn>
void with_index_type(DType d, const Fn& fn) {
  switch (d) {
    case DType::kS16:
      return fn(int16_t());
    case DType::kU16:
      return fn(uint16_t());
    case DType::kS32:
      return fn(int32_t());
    case DType::kU32:
      return fn(uint32_t());
    case DType::kS64:
      return fn(int64_t());
    case DType::kU64:
      return fn(uint64_t());
    default:
      if (is_integral(d) && byte_size(d) == 1) return is_signed(d) ? fn(int8_t()) : fn(uint8_t());
      throw internal_error("{} is no index", to_string(d));
  }
}

// One coordinate of an index vector.
struct Coordinate {
  int64_t step, last, stride;  // where it stands in the vector; greatest start; operand elements per unit
};

struct IndexArray {
  Dims sizes, strides;   // of the index array without its vector dimension
  Dims batching_stride;  // operand elements per step of such a dimension, for batching dimensions
  std::vector<Coordinate> coordinates;
  bool in_order = true;  // vector s begins at s * strides.back(), and nothing is batched
};

IndexArray index_array(const ArrayRef& indices, const IndexRoles& roles, const Dims& operand,
                       const Dims& window) {
  const Dims operand_strides = strides_of(operand), index_strides = strides_of(indices.dims);
  IndexArray a;
  for (int64_t d = 0; d < indices.rank(); ++d) {
    if (d == roles.vector_dim) continue;
    a.sizes.push_back(indices.dims[d]);
    a.strides.push_back(index_strides[d]);
    a.batching_stride.push_back(0);
    for (size_t b = 0; b < roles.index_batching.size(); ++b)
      if (roles.index_batching[b] == d) a.batching_stride.back() = operand_strides[roles.operand_batching[b]];
  }
  a.in_order = roles.index_batching.empty() && roles.vector_dim >= indices.rank() - 1;
  const int64_t step = roles.vector_dim >= indices.rank() ? 0 : index_strides[roles.vector_dim];
  for (size_t k = 0; k < roles.coordinate_dims.size(); ++k) {
    const int64_t dim = roles.coordinate_dims[k];
    a.coordinates.push_back(
        {static_cast<int64_t>(k) * step, operand[dim] - window[dim], operand_strides[dim]});
  }
  return a;
}

template <class T>
void fill_starts(const T* data, const IndexArray& a, OutOfRange rule, int64_t begin, int64_t end,
                 int64_t* starts) {
  const int64_t vector_step = a.strides.empty() ? 0 : a.strides.back();
  for (int64_t s = begin; s < end; ++s) {
    int64_t from = s * vector_step, at = 0;
    if (!a.in_order) {
      from = 0;
      int64_t rest = s;
      for (int64_t d = static_cast<int64_t>(a.sizes.size()) - 1; d >= 0; rest /= a.sizes[d], --d) {
        from += rest % a.sizes[d] * a.strides[d];
        at += rest % a.sizes[d] * a.batching_stride[d];
      }
    }
    bool inside = true;
    for (const Coordinate& c : a.coordinates) {
      const int64_t value = index_value(data[from + c.step]);
      inside &= value >= 0 && value <= c.last;
      at += std::clamp<int64_t>(value, 0, std::max<int64_t>(0, c.last)) * c.stride;
    }
    starts[s] = inside || rule == OutOfRange::kClamp ? at : kDropped;
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
  const IndexArray a = index_array(indices, roles, operand, window);
  std::vector<int64_t> starts(product(a.sizes));
  with_index_type(indices.dtype, [&](auto zero) {
    const auto* data = indices.as<decltype(zero)>();
    parallel_for(static_cast<int64_t>(starts.size()), 8192,
                 [&](int64_t begin, int64_t end) { fill_starts(data, a, rule, begin, end, starts.data()); });
  });
  return starts;
}

}  // namespace armillary::native
