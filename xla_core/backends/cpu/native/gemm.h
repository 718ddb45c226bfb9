// C = A B over matrices whose elements may lie anywhere: rows, columns and depth are lists of offsets, so
// that dots with any dimension order, convolutions and narrow dtypes all become one packed, cache-blocked
// multiplication without intermediate copies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "xla_core/backends/cpu/native/gemm_kernels.h"
#include "xla_core/shape/dtype.h"

namespace armillary::native {

// Offsets, in elements, of the positions along one axis of a matrix.
struct Axis {
  std::vector<int64_t> offsets;
  bool contiguous = false;  // offsets[i] == offsets[0] + i
  bool uniform = false;     // offsets[i] == offsets[0] + i * stride
  int64_t stride = 0;

  // All index combinations of `dims`, the last fastest; {0} when there are none.
  static Axis of(std::span<const int64_t> dims, std::span<const int64_t> strides);
  static Axis of(std::vector<int64_t> offsets);
  static Axis sums(const std::vector<std::vector<int64_t>>&
                       parts);  // all sums of one offset from each part, the last part fastest
  int64_t size() const { return static_cast<int64_t>(offsets.size()); }
};

struct GemmSide {
  DType dtype = DType::kInvalid;
  Axis outer, depth;  // A: rows and depth; B: columns and depth
  Axis batch;
};

struct GemmResult {
  DType dtype = DType::kInvalid;
  Axis rows, cols, batch;
};

// Everything about a product but the memory; made once, run many times.
struct GemmPlan {
  DType accumulator = DType::kInvalid;  // f32, f64, u32 or u64 (signed integers wrap alike), c64, c128
  GemmSide a, b;
  GemmResult c;
};

// Called when the result elements [begin, end), counted in elements from its start, are final; from several
// threads at once.
using Epilogue = std::function<void(int64_t begin, int64_t end)>;

// Sums run over the depth in order, in blocks of fixed length: results do not depend on the number of
// threads. Throws an internal error for sources that gemm_reads refuses.
void gemm(const GemmPlan& plan, const std::byte* a, const std::byte* b, std::byte* c,
          const Epilogue& epilogue = nullptr);

// The product with the roles of rows and columns exchanged: C' = B' A'.
GemmPlan transposed(const GemmPlan& plan);

bool gemm_reads(DType accumulator, DType source);

// The kernels of the best instruction set this machine has (isa.h).
const GemmTable& gemm_table();

}  // namespace armillary::native
