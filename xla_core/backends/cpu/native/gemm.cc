#include "xla_core/backends/cpu/native/gemm.h"

#include "xla_core/backends/cpu/native/complex_gemm.h"
#include "xla_core/backends/cpu/native/gemm_operands.h"
#include "xla_core/backends/cpu/native/isa.h"
#include "xla_core/base/error.h"

namespace armillary::native {
namespace {

bool is_same_width_integer(DType a, DType b) {
  return is_integer(a) && is_integer(b) && bit_width(a) == bit_width(b);
}

const GemmTable& choose_table() {
  switch (best_isa()) {
    case Isa::kAvx512:
      return gemm_table_avx512();
    case Isa::kAvx2:
      return gemm_table_avx2();
    default:
      return gemm_table_baseline();
  }
}

template <class T>
void run(const GemmPlan& plan, const std::byte* a, const std::byte* b, std::byte* c,
         const Epilogue& epilogue) {
  const Operands<T> product{plan.a, plan.b, plan.c, a, b, c, epilogue};
  if (product.batches() * product.m() * product.n() == 0) return;
  if (multiply_inner(product) || multiply_small(product)) return;
  // Few columns of many rows that lie side by side: turned, the long side fills the vectors and need not be
  // packed.
  const int64_t tile = gemm_kernels<T>().cols;
  if (product.n() <= tile / 2 && product.m() >= 2 * tile && plan.a.outer.contiguous && !epilogue) {
    const GemmPlan turned = transposed(plan);
    return multiply_packed(Operands<T>{turned.a, turned.b, turned.c, b, a, c, epilogue});
  }
  multiply_packed(product);
}

}  // namespace

std::optional<Source> source_kind(DType acc, DType from) {
  if (acc == from || is_same_width_integer(acc, from)) return Source::kSame;
  if (acc == DType::kF32) {
    if (from == DType::kBF16) return Source::kBf16;
    if (from == DType::kF16) return Source::kF16;
    if (byte_size(from) == 1) return Source::kByte;
  }
  if (acc == DType::kF64 && from == DType::kF32) return Source::kF32;
  if (acc == DType::kU32) {
    if (from == DType::kS8) return Source::kS8;
    if (from == DType::kU8) return Source::kU8;
    if (byte_size(from) == 1 && !is_float(from)) return Source::kByte;
    if (from == DType::kS16) return Source::kS16;
    if (from == DType::kU16) return Source::kU16;
  }
  return std::nullopt;
}

const GemmTable& gemm_table() {
  static const GemmTable& table = choose_table();
  return table;
}

const GemmKernels<uint32_t>& pair_kernels() { return has_vnni() ? gemm_pairs_vnni() : gemm_table().pairs; }

Axis Axis::of(std::vector<int64_t> offsets) {
  Axis axis;
  axis.offsets = std::move(offsets);
  const int64_t n = axis.size();
  axis.stride = n > 1 ? axis.offsets[1] - axis.offsets[0] : 1;
  axis.uniform = true;
  for (int64_t i = 1; i < n && axis.uniform; ++i)
    axis.uniform = axis.offsets[i] - axis.offsets[i - 1] == axis.stride;
  axis.contiguous = axis.uniform && axis.stride == 1;
  return axis;
}

Axis Axis::of(std::span<const int64_t> dims, std::span<const int64_t> strides) {
  std::vector<std::vector<int64_t>> parts;
  for (size_t d = 0; d < dims.size(); ++d) {
    parts.emplace_back(dims[d]);
    for (int64_t i = 0; i < dims[d]; ++i) parts.back()[i] = i * strides[d];
  }
  return sums(parts);
}

Axis Axis::sums(const std::vector<std::vector<int64_t>>& parts) {
  std::vector<int64_t> offsets = {0};
  for (const std::vector<int64_t>& part : parts) {
    std::vector<int64_t> next;
    next.reserve(offsets.size() * part.size());
    for (int64_t base : offsets)
      for (int64_t o : part) next.push_back(base + o);
    offsets = std::move(next);
  }
  return of(std::move(offsets));
}

bool gemm_reads(DType accumulator, DType source) { return source_kind(accumulator, source).has_value(); }

GemmPlan transposed(const GemmPlan& plan) {
  return {plan.accumulator, plan.b, plan.a, {plan.c.dtype, plan.c.cols, plan.c.rows, plan.c.batch}};
}

void gemm(const GemmPlan& plan, const std::byte* a, const std::byte* b, std::byte* c,
          const Epilogue& epilogue) {
  ARM_CHECK(gemm_reads(plan.accumulator, plan.a.dtype) && gemm_reads(plan.accumulator, plan.b.dtype));
  switch (plan.accumulator) {
    case DType::kF32:
      return run<float>(plan, a, b, c, epilogue);
    case DType::kF64:
      return run<double>(plan, a, b, c, epilogue);
    case DType::kU32:
      return run<uint32_t>(plan, a, b, c, epilogue);
    case DType::kU64:
      return run<uint64_t>(plan, a, b, c, epilogue);
    case DType::kC64:
    case DType::kC128:
      return complex_gemm(plan, a, b, c, epilogue);
    default:
      throw internal_error("{} is no accumulator", to_string(plan.accumulator));
  }
}

}  // namespace armillary::native
