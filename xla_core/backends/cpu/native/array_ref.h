// Arrays as the native operations see them: typed memory, dense and row-major, owned by somebody else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "xla_core/shape/shape.h"

namespace armillary::native {

struct ArrayRef {
  DType dtype = DType::kInvalid;
  Dims dims;
  std::byte* data = nullptr;

  int64_t rank() const { return static_cast<int64_t>(dims.size()); }
  int64_t size() const {
    int64_t n = 1;
    for (int64_t d : dims) n *= d;
    return n;
  }
  int64_t bytes() const { return size() * byte_size(dtype); }
  template <class T>
  T* as() const {
    return reinterpret_cast<T*>(data);
  }
};

// Machine code of a computation over scalars: buffers are its operands in order, then its results; runs once
// with range [0, 1).
using ScalarFn = void (*)(std::byte* const* buffers, int64_t begin, int64_t end);

inline int64_t product(std::span<const int64_t> dims) {
  int64_t n = 1;
  for (int64_t d : dims) n *= d;
  return n;
}

inline Dims pick(std::span<const int64_t> from, std::span<const int64_t> at) {
  Dims out;
  for (int64_t i : at) out.push_back(from[i]);
  return out;
}

}  // namespace armillary::native
