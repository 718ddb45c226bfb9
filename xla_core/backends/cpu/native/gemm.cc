#include "xla_core/backends/cpu/native/gemm.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "xla_core/backends/cpu/native/complex_gemm.h"
#include "xla_core/backends/cpu/native/convert.h"
#include "xla_core/backends/cpu/native/isa.h"
#include "xla_core/backends/cpu/native/small_float.h"
#include "xla_core/base/error.h"
#include "xla_core/base/parallel_for.h"

namespace armillary::native {
namespace {

// Depth of a packed block: fixed, since it decides the order of summation. 384 f32 rows of a B panel fill an L1 cache.
constexpr int64_t kDepthBlock = 384;
// A block of A (about 168 x 384) stays in L2, one of B (384 x 512) in L3.
constexpr int64_t kRowTilesPerBlock = 12;
constexpr int64_t kMaxColumns = 512;
constexpr int64_t kMaxRowTiles = 36;
// Products up to this many multiplications go unpacked when their layout allows.
constexpr int64_t kSmallWork = 48 * 48 * 48;
constexpr int64_t kWorkPerTask = 1 << 20;
// Long inner products are summed in pieces of this length, then the pieces in order.
constexpr int64_t kInnerPiece = 1 << 15;

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

template <class T>
const GemmKernels<T>& kernels() {
  const GemmTable& t = gemm_table();
  if constexpr (std::is_same_v<T, float>) return t.f32;
  if constexpr (std::is_same_v<T, double>) return t.f64;
  if constexpr (std::is_same_v<T, uint32_t>) return t.u32;
  if constexpr (std::is_same_v<T, uint64_t>) return t.u64;
}

template <class T>
constexpr DType dtype_of() {
  if constexpr (std::is_same_v<T, float>) return DType::kF32;
  if constexpr (std::is_same_v<T, double>) return DType::kF64;
  if constexpr (std::is_same_v<T, uint32_t>) return DType::kU32;
  return DType::kU64;
}

bool is_same_width_integer(DType a, DType b) { return is_integer(a) && is_integer(b) && bit_width(a) == bit_width(b); }

std::optional<Source> source_kind(DType acc, DType from) {
  if (acc == from || is_same_width_integer(acc, from)) return Source::kSame;
  if (acc == DType::kF32) {
    if (from == DType::kBF16) return Source::kBf16;
    if (from == DType::kF16) return Source::kF16;
    if (byte_size(from) == 1) return Source::kByte;
  }
  if (acc == DType::kF64 && from == DType::kF32) return Source::kF32;
  if (acc == DType::kU32) {
    if (byte_size(from) == 1 && !is_float(from)) return Source::kByte;
    if (from == DType::kS16) return Source::kS16;
    if (from == DType::kU16) return Source::kU16;
  }
  return std::nullopt;
}

PackSource pack_source(DType acc, const GemmSide& side, const std::byte* data, int64_t batch) {
  PackSource s;
  s.source = *source_kind(acc, side.dtype);
  s.data = data + side.batch.offsets[batch] * byte_size(side.dtype);
  if (s.source == Source::kByte)
    s.table = acc == DType::kF32 ? static_cast<const void*>(byte_table_f32(side.dtype)) : byte_table_u32(side.dtype);
  return s;
}

// One product at a time, for one task: a range of rows and columns of one batch element.
template <class T>
class Multiplication {
 public:
  Multiplication(const GemmPlan& plan, const std::byte* a, const std::byte* b, std::byte* c, const Epilogue& epilogue)
      : a_(plan.a), b_(plan.b), c_(plan.c), a_data_(a), b_data_(b), c_data_(c), epilogue_(epilogue), k_(kernels<T>()) {
    direct_ = c_.dtype == dtype_of<T>() || is_same_width_integer(c_.dtype, dtype_of<T>());
  }

  void run() {
    const int64_t batches = c_.batch.size(), m = c_.rows.size(), n = c_.cols.size(), depth = a_.depth.size();
    if (batches * m * n == 0) return;
    if (is_inner(m, n)) return run_inner(batches, m, n, depth);
    if (is_small(m, n, depth)) return run_small(batches, m, n, depth);
    plan(batches, m, n);
    const int64_t row_parts = ceil_div(m, rows_per_task_), col_parts = ceil_div(n, cols_per_task_);
    const double work_per_task = static_cast<double>(rows_per_task_) * cols_per_task_ * (depth + 1);
    const int64_t grain = std::max<int64_t>(1, static_cast<int64_t>(kWorkPerTask / work_per_task));
    parallel_for(batches * row_parts * col_parts, grain, [&](int64_t begin, int64_t end) {
      Scratch scratch(*this);
      for (int64_t t = begin; t < end; ++t) {
        const int64_t col = t / row_parts % col_parts * cols_per_task_, row = t % row_parts * rows_per_task_;
        block(scratch, t / row_parts / col_parts, {row, std::min(m, row + rows_per_task_)}, {col, std::min(n, col + cols_per_task_)});
      }
    });
  }

 private:
  struct Range {
    int64_t begin, end;
    int64_t size() const { return end - begin; }
  };
  struct Scratch {
    explicit Scratch(const Multiplication& m) {
      const int64_t depth = std::min(kDepthBlock, m.a_.depth.size());
      a = std::make_unique_for_overwrite<T[]>(kRowTilesPerBlock * m.k_.rows * depth);
      b = std::make_unique_for_overwrite<T[]>((m.cols_per_task_ + m.k_.cols) * depth);
      if (!m.direct_) c = std::make_unique_for_overwrite<T[]>(m.rows_per_task_ * m.cols_per_task_);
    }
    std::unique_ptr<T[]> a, b, c;
    alignas(64) T tile[14 * 32];
  };

  bool is_small(int64_t m, int64_t n, int64_t depth) const {
    if (!direct_ || !b_.outer.contiguous || !c_.cols.contiguous || *source_kind(dtype_of<T>(), a_.dtype) != Source::kSame) return false;
    if (*source_kind(dtype_of<T>(), b_.dtype) != Source::kSame) return false;
    return m <= 4 || static_cast<double>(m) * n * depth <= kSmallWork;
  }

  // Few rows or columns, and both operands contiguous along the depth: plain inner products.
  bool is_inner(int64_t m, int64_t n) const {
    return direct_ && (m <= 4 || n <= 4) && a_.depth.contiguous && b_.depth.contiguous && !b_.outer.contiguous &&
           *source_kind(dtype_of<T>(), a_.dtype) == Source::kSame && *source_kind(dtype_of<T>(), b_.dtype) == Source::kSame;
  }

  void run_inner(int64_t batches, int64_t m, int64_t n, int64_t depth) const {
    const int64_t pieces = std::max<int64_t>(1, ceil_div(depth, kInnerPiece));
    std::vector<T> partial(pieces > 1 ? batches * m * n * pieces : 0);
    const int64_t grain = std::max<int64_t>(1, kWorkPerTask / 16 / std::max<int64_t>(1, std::min(depth, kInnerPiece)));
    parallel_for(batches * m * n * pieces, grain, [&](int64_t begin, int64_t end) {
      for (int64_t t = begin; t < end; ++t) {
        const int64_t piece = t % pieces, at = t / pieces, k = piece * kInnerPiece;
        const T* a = reinterpret_cast<const T*>(a_data_) + a_.batch.offsets[at / n / m] + a_.outer.offsets[at / n % m];
        const T* b = reinterpret_cast<const T*>(b_data_) + b_.batch.offsets[at / n / m] + b_.outer.offsets[at % n];
        const int64_t first = depth > 0 ? k + a_.depth.offsets[0] : 0, second = depth > 0 ? k + b_.depth.offsets[0] : 0;
        const T sum = k_.dot(a + first, b + second, std::min(kInnerPiece, depth - k));
        if (pieces > 1)
          partial[t] = sum;
        else
          result_at(at, m, n) = sum;
      }
    });
    for (int64_t at = 0; pieces > 1 && at < batches * m * n; ++at) {
      T sum = 0;
      for (int64_t p = 0; p < pieces; ++p) sum += partial[at * pieces + p];
      result_at(at, m, n) = sum;
    }
    for (int64_t batch = 0; epilogue_ && batch < batches; ++batch) finish_rows(batch, {0, m}, {0, n});
  }

  T& result_at(int64_t at, int64_t m, int64_t n) const {
    return reinterpret_cast<T*>(c_data_)[c_.batch.offsets[at / n / m] + c_.rows.offsets[at / n % m] + c_.cols.offsets[at % n]];
  }

  // Enough tasks for every thread, but tasks so large that packing stays cheap.
  void plan(int64_t batches, int64_t m, int64_t n) {
    rows_per_task_ = std::min(kMaxRowTiles, ceil_div(m, k_.rows)) * k_.rows;
    cols_per_task_ = std::min(kMaxColumns / k_.cols, ceil_div(n, k_.cols)) * k_.cols;
    const int64_t wanted = 2 * num_threads();
    while (batches * ceil_div(m, rows_per_task_) * ceil_div(n, cols_per_task_) < wanted) {
      if (rows_per_task_ >= cols_per_task_ && rows_per_task_ > 4 * k_.rows)
        rows_per_task_ = ceil_div(rows_per_task_ / 2, k_.rows) * k_.rows;
      else if (cols_per_task_ > 2 * k_.cols)
        cols_per_task_ = ceil_div(cols_per_task_ / 2, k_.cols) * k_.cols;
      else
        break;
    }
  }

  void run_small(int64_t batches, int64_t m, int64_t n, int64_t depth) {
    // Thin matrices are cut along n, many small ones along the batch.
    const int64_t strip = batches > 1 ? n : std::clamp<int64_t>(kWorkPerTask / 4 / std::max<int64_t>(1, m * depth) / 64 * 64, 64, 4096);
    const int64_t strips = std::max<int64_t>(1, n / strip);  // the last one takes the rest
    const int64_t grain = std::max<int64_t>(1, kWorkPerTask / 8 / std::max<int64_t>(1, m * depth * std::min(n, strip)));
    parallel_for(batches * strips, grain, [&](int64_t begin, int64_t end) {
      for (int64_t t = begin; t < end; ++t) {
        const int64_t batch = t / strips, col = t % strips * strip, width = t % strips == strips - 1 ? n - col : strip;
        const T* a = reinterpret_cast<const T*>(a_data_) + a_.batch.offsets[batch];
        const T* b = reinterpret_cast<const T*>(b_data_) + b_.batch.offsets[batch] + b_.outer.offsets[col];
        const int64_t out = c_.batch.offsets[batch] + c_.cols.offsets[col];
        k_.small({m, width, depth, a, a_.outer.offsets.data(), a_.depth.offsets.data(), b, b_.depth.offsets.data(),
                  reinterpret_cast<T*>(c_data_) + out, c_.rows.offsets.data()});
        finish_rows(batch, {0, m}, {col, col + width});
      }
    });
  }

  void block(Scratch& s, int64_t batch, Range rows, Range cols) const {
    const int64_t depth = a_.depth.size();
    if (depth == 0) std::memset(s.tile, 0, sizeof(s.tile));
    for (int64_t k = 0; k < depth || k == 0; k += kDepthBlock) {
      const Range ks{k, std::min(depth, k + kDepthBlock)};
      pack_b(s, batch, cols, ks);
      for (int64_t row = rows.begin; row < rows.end; row += kRowTilesPerBlock * k_.rows) {
        const Range part{row, std::min(rows.end, row + kRowTilesPerBlock * k_.rows)};
        pack_a(s, batch, part, ks);
        multiply_panels(s, batch, part, rows.begin, cols, ks);
      }
    }
    if (!direct_) store(s, batch, rows, cols);
    finish_rows(batch, rows, cols);
  }

  void pack_a(Scratch& s, int64_t batch, Range rows, Range ks) const {
    PackSource p = pack_source(dtype_of<T>(), a_, a_data_, batch);
    p.depths = a_.depth.offsets.data() + ks.begin;
    p.depth_count = ks.size();
    for (int64_t r = rows.begin; r < rows.end; r += k_.rows) {
      p.lanes = a_.outer.offsets.data() + r;
      p.lane_count = std::min<int64_t>(k_.rows, rows.end - r);
      k_.pack_a(p, s.a.get() + (r - rows.begin) * ks.size());
    }
  }

  void pack_b(Scratch& s, int64_t batch, Range cols, Range ks) const {
    PackSource p = pack_source(dtype_of<T>(), b_, b_data_, batch);
    p.depths = b_.depth.offsets.data() + ks.begin;
    p.depth_count = ks.size();
    for (int64_t c = cols.begin; c < cols.end; c += k_.cols) {
      p.lanes = b_.outer.offsets.data() + c;
      p.lane_count = std::min<int64_t>(k_.cols, cols.end - c);
      k_.pack_b(p, s.b.get() + (c - cols.begin) * ks.size());
    }
  }

  void multiply_panels(Scratch& s, int64_t batch, Range rows, int64_t first_row, Range cols, Range ks) const {
    const bool add = ks.begin > 0;
    for (int64_t c = cols.begin; c < cols.end; c += k_.cols) {
      for (int64_t r = rows.begin; r < rows.end; r += k_.rows) {
        const T* a = s.a.get() + (r - rows.begin) * ks.size();
        const T* b = s.b.get() + (c - cols.begin) * ks.size();
        if (!direct_) {
          k_.multiply(ks.size(), a, b, s.c.get() + (r - first_row) * cols_per_task_ + (c - cols.begin), cols_per_task_, add);
          continue;
        }
        const int64_t height = std::min<int64_t>(k_.rows, rows.end - r), width = std::min<int64_t>(k_.cols, cols.end - c);
        T* out = reinterpret_cast<T*>(c_data_) + c_.batch.offsets[batch] + c_.cols.offsets[c];
        if (height == k_.rows && width == k_.cols && is_run(c_.cols, c, width) && is_uniform(c_.rows, r, height)) {
          k_.multiply(ks.size(), a, b, out + c_.rows.offsets[r], c_.rows.offsets[r + 1] - c_.rows.offsets[r], add);
        } else {
          k_.multiply(ks.size(), a, b, s.tile, k_.cols, false);
          const int64_t* cols = c_.cols.offsets.data() + c;
          for (int64_t i = 0; i < height; ++i) add_row(out + c_.rows.offsets[r + i] - cols[0], cols, s.tile + i * k_.cols, width, add);
        }
      }
    }
  }

  static void add_row(T* out, const int64_t* at, const T* row, int64_t n, bool add) {
    for (int64_t j = 0; j < n; ++j) out[at[j]] = add ? out[at[j]] + row[j] : row[j];
  }

  static bool is_run(const Axis& axis, int64_t begin, int64_t n) { return axis.contiguous || run_length(axis, begin, begin + n) == n; }
  static int64_t run_length(const Axis& axis, int64_t begin, int64_t end) {
    if (axis.contiguous) return end - begin;
    int64_t n = 1;
    while (begin + n < end && axis.offsets[begin + n] == axis.offsets[begin] + n) ++n;
    return n;
  }
  static bool is_uniform(const Axis& axis, int64_t begin, int64_t n) {
    if (axis.uniform) return true;
    const int64_t* o = axis.offsets.data() + begin;
    for (int64_t i = 2; i < n; ++i)
      if (o[i] - o[i - 1] != o[1] - o[0]) return false;
    return true;
  }

  // Rounds the finished accumulators into the result.
  void store(const Scratch& s, int64_t batch, Range rows, Range cols) const {
    const int64_t width = byte_size(c_.dtype);
    for (int64_t r = rows.begin; r < rows.end; ++r) {
      const T* row = s.c.get() + (r - rows.begin) * cols_per_task_;
      std::byte* out = c_data_ + (c_.batch.offsets[batch] + c_.rows.offsets[r]) * width;
      for (int64_t c = cols.begin, n; c < cols.end; c += n) {
        n = run_length(c_.cols, c, cols.end);
        narrow(row + (c - cols.begin), n, c_.dtype, out + c_.cols.offsets[c] * width);
      }
    }
  }

  void finish_rows(int64_t batch, Range rows, Range cols) const {
    if (!epilogue_) return;
    for (int64_t r = rows.begin; r < rows.end; ++r) {
      const int64_t at = c_.batch.offsets[batch] + c_.rows.offsets[r];
      for (int64_t c = cols.begin, n; c < cols.end; c += n) {
        n = run_length(c_.cols, c, cols.end);
        epilogue_(at + c_.cols.offsets[c], at + c_.cols.offsets[c] + n);
      }
    }
  }

  const GemmSide& a_;
  const GemmSide& b_;
  const GemmResult& c_;
  const std::byte* a_data_;
  const std::byte* b_data_;
  std::byte* c_data_;
  const Epilogue& epilogue_;
  const GemmKernels<T>& k_;
  bool direct_ = false;  // accumulate in the result itself
  int64_t rows_per_task_ = 0, cols_per_task_ = 0;
};

const GemmTable& choose_table() {
  switch (best_isa()) {
    case Isa::kAvx512: return gemm_table_avx512();
    case Isa::kAvx2: return gemm_table_avx2();
    default: return gemm_table_baseline();
  }
}

}  // namespace

const GemmTable& gemm_table() {
  static const GemmTable& table = choose_table();
  return table;
}

Axis Axis::of(std::vector<int64_t> offsets) {
  Axis axis;
  axis.offsets = std::move(offsets);
  const int64_t n = axis.size();
  axis.stride = n > 1 ? axis.offsets[1] - axis.offsets[0] : 1;
  axis.uniform = true;
  for (int64_t i = 1; i < n && axis.uniform; ++i) axis.uniform = axis.offsets[i] - axis.offsets[i - 1] == axis.stride;
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

void gemm(const GemmPlan& plan, const std::byte* a, const std::byte* b, std::byte* c, const Epilogue& epilogue) {
  ARM_CHECK(gemm_reads(plan.accumulator, plan.a.dtype) && gemm_reads(plan.accumulator, plan.b.dtype));
  switch (plan.accumulator) {
    case DType::kF32: return Multiplication<float>(plan, a, b, c, epilogue).run();
    case DType::kF64: return Multiplication<double>(plan, a, b, c, epilogue).run();
    case DType::kU32: return Multiplication<uint32_t>(plan, a, b, c, epilogue).run();
    case DType::kU64: return Multiplication<uint64_t>(plan, a, b, c, epilogue).run();
    case DType::kC64: case DType::kC128: return complex_gemm(plan, a, b, c, epilogue);
    default: throw internal_error("{} is no accumulator", to_string(plan.accumulator));
  }
}

}  // namespace armillary::native
