// The inner loops of matrix multiplication, compiled once per instruction set; gemm.cc picks the best the
// machine has. This header and gemm_kernels.inc include next to nothing: code compiled for AVX-512 must not
// leak out through shared inline functions.
#pragma once

#include <cstdint>

namespace armillary::native {

// How an operand's elements become the accumulator's type T while they are packed.
enum class Source : uint8_t {
  kSame,  // already T
  kBf16,
  kF16,
  kByte,  // one byte an element: looked up in a table of 256 values
  kS8,
  kU8,
  kS16,
  kU16,
  kF32,  // for T = double
};

// Element (lane, depth) of a panel lies at data[lanes[lane] + depths[depth]], counted in elements of the
// source.
struct PackSource {
  const void* data = nullptr;
  Source source = Source::kSame;
  const void* table = nullptr;  // 256 values of T
  const int64_t* lanes = nullptr;
  const int64_t* depths = nullptr;
  int64_t lane_count = 0, depth_count = 0;
};

// A product without packing, for small or thin matrices: B's columns and C's columns are contiguous.
template <class T>
struct SmallProduct {
  int64_t m, n, k;
  const T* a;
  const int64_t* a_rows;
  const int64_t* a_depths;
  const T* b;
  const int64_t* b_depths;
  T* c;
  const int64_t* c_rows;
};

template <class T>
struct GemmKernels {
  int rows, cols;  // the tile one call of multiply computes; cols is two vectors
  // c[rows][cols] = (or +=, when add) the product of a packed panel a[depth][rows] and b, whose rows lie
  // b_step apart: `cols` in a packed panel. [0] computes the left half of the columns only, [1] all.
  void (*multiply[2])(int64_t depth, const T* a, const T* b, int64_t b_step, T* c, int64_t ldc, bool add);
  // Panels of `rows` (`cols`) lanes, one after the other; missing lanes of the last one become zero.
  void (*pack_a)(const PackSource& source, T* out);
  void (*pack_b)(const PackSource& source, T* out);

  // The same for `thin_rows` (at most 8) rows of A that are contiguous along the depth and stay where they
  // are: no packing, and as quick.
  int thin_rows;
  void (*multiply_thin[2])(int64_t depth, const T* const* a, const T* b, int64_t b_step, T* c, int64_t ldc,
                           bool add);

  void (*small)(const SmallProduct<T>& product);
  // out[i][j] = a[i] . b[j] for up to kInnerTile vectors of each, all contiguous; out has kInnerTile columns.
  void (*inner)(int a_count, int b_count, const T* const* a, const T* const* b, int64_t n, T* out);
  // out[i] = sum_k x[xs[k] + i] * w[ws[k] + i] for i < n: a convolution of one channel a group, channels side
  // by side.
  void (*weighted_sum)(int64_t depth, const T* x, const int64_t* xs, const T* w, const int64_t* ws, int64_t n,
                       T* out);
};
inline constexpr int kInnerTile = 4;

struct GemmTable {
  GemmKernels<float> f32;
  GemmKernels<double> f64;
  GemmKernels<uint32_t> u32;
  GemmKernels<uint64_t> u64;
  // Of integers that fit into a signed 16-bit one. An element of a panel is a pair, which one instruction
  // multiplies and adds: position k of the first half of the depth in its low bits, of the second half in its
  // high bits, where an odd depth has a last zero. `depth` counts pairs. For packed products alone.
  GemmKernels<uint32_t> pairs;
};
const GemmTable& gemm_table_baseline();
const GemmTable& gemm_table_avx2();
const GemmTable& gemm_table_avx512();
const GemmKernels<uint32_t>& gemm_pairs_vnni();  // for AVX-512 with VNNI

}  // namespace armillary::native
