// Inside gemm: one product with its memory, as the packed and the unpacked method see it.
#pragma once

#include <algorithm>
#include <optional>
#include <type_traits>

#include "xla_core/backends/cpu/native/gemm.h"

namespace armillary::native {

inline int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Multiplications that are worth a task.
inline constexpr int64_t kWorkPerTask = 1 << 20;

template <class T>
const GemmKernels<T>& gemm_kernels() {
  const GemmTable& t = gemm_table();
  if constexpr (std::is_same_v<T, float>) return t.f32;
  if constexpr (std::is_same_v<T, double>) return t.f64;
  if constexpr (std::is_same_v<T, uint32_t>) return t.u32;
  if constexpr (std::is_same_v<T, uint64_t>) return t.u64;
}

// For what both sides of pairs may be; see GemmTable.
const GemmKernels<uint32_t>& pair_kernels();
inline bool fits_in_pair(Source source) {
  return source == Source::kByte || source == Source::kS8 || source == Source::kU8 || source == Source::kS16;
}

template <class T>
constexpr DType kAccumulator = std::is_same_v<T, float>      ? DType::kF32
                               : std::is_same_v<T, double>   ? DType::kF64
                               : std::is_same_v<T, uint32_t> ? DType::kU32
                                                             : DType::kU64;

// How elements of `from` become the accumulator; nothing when packing cannot do it.
std::optional<Source> source_kind(DType accumulator, DType from);

struct Range {
  int64_t begin, end;
  int64_t size() const { return end - begin; }
};

// Length of the run of neighbours that begins at position `begin` of an axis.
inline int64_t run_length(const Axis& axis, int64_t begin, int64_t end) {
  if (axis.contiguous) return end - begin;
  int64_t n = 1;
  while (begin + n < end && axis.offsets[begin + n] == axis.offsets[begin] + n) ++n;
  return n;
}
inline bool is_run(const Axis& axis, int64_t begin, int64_t n) {
  return n == 0 || run_length(axis, begin, begin + n) == n;
}
inline bool is_uniform(const Axis& axis, int64_t begin, int64_t n) {
  if (axis.uniform) return true;
  const int64_t* o = axis.offsets.data() + begin;
  for (int64_t i = 2; i < n; ++i)
    if (o[i] - o[i - 1] != o[1] - o[0]) return false;
  return true;
}

template <class T>
struct Operands {
  const GemmSide& a;
  const GemmSide& b;
  const GemmResult& c;
  const std::byte* a_data;
  const std::byte* b_data;
  std::byte* c_data;
  const Epilogue& epilogue;

  int64_t batches() const { return c.batch.size(); }
  int64_t m() const { return c.rows.size(); }
  int64_t n() const { return c.cols.size(); }
  int64_t depth() const { return a.depth.size(); }

  bool a_is_plain() const { return source_kind(kAccumulator<T>, a.dtype) == Source::kSame; }
  bool b_is_plain() const { return source_kind(kAccumulator<T>, b.dtype) == Source::kSame; }
  // Sums can be kept in the result itself.
  bool c_is_plain() const { return source_kind(kAccumulator<T>, c.dtype) == Source::kSame; }
  const T* a_at(int64_t batch) const { return reinterpret_cast<const T*>(a_data) + a.batch.offsets[batch]; }
  const T* b_at(int64_t batch) const { return reinterpret_cast<const T*>(b_data) + b.batch.offsets[batch]; }
  T* c_at(int64_t batch) const { return reinterpret_cast<T*>(c_data) + c.batch.offsets[batch]; }

  // Tells the epilogue which elements are final.
  void finish(int64_t batch, Range rows, Range cols) const {
    if (!epilogue) return;
    for (int64_t r = rows.begin; r < rows.end; ++r) {
      const int64_t at = c.batch.offsets[batch] + c.rows.offsets[r];
      for (int64_t col = cols.begin, n; col < cols.end; col += n) {
        n = run_length(c.cols, col, cols.end);
        epilogue(at + c.cols.offsets[col], at + c.cols.offsets[col] + n);
      }
    }
  }
};

template <class T>
void multiply_packed(const Operands<T>& product);

// False when the product is not of their kind.
template <class T>
bool multiply_inner(
    const Operands<T>& product);  // few rows or columns, both operands contiguous along the depth
template <class T>
bool multiply_small(const Operands<T>& product);  // few rows, or little work

}  // namespace armillary::native
