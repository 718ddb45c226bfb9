// Products in packed, cache-sized blocks, after Goto and van de Geijn, "Anatomy of high-performance matrix
// multiplication", 2008.
#include <cstring>

#include "xla_core/backends/cpu/native/convert.h"
#include "xla_core/backends/cpu/native/gemm_operands.h"
#include "xla_core/backends/cpu/native/scratch.h"
#include "xla_core/backends/cpu/native/small_float.h"
#include "xla_core/base/parallel_for.h"

namespace armillary::native {
namespace {

// Depth of a packed block: fixed, since it decides the order of summation. A panel of A (8 x 384) and one of
// B (384 x 32) share L1 and L2.
constexpr int64_t kDepthBlock = 384;
// A block of A (about 160 x 384) stays in L2 while the panels of B (384 x 512) stream by.
constexpr int64_t kRowTilesPerBlock = 20;
constexpr int64_t kMaxColumns = 512;
constexpr int64_t kMaxRowTiles = 60;
// So few tiles of A read a column of B too seldom for packing to pay.
constexpr int64_t kThinTiles = 4;
constexpr int64_t kMaxThinRows = 8;

PackSource pack_source(DType accumulator, const GemmSide& side, const std::byte* data, int64_t batch) {
  PackSource s;
  s.source = *source_kind(accumulator, side.dtype);
  s.data = data + side.batch.offsets[batch] * byte_size(side.dtype);
  if (s.source == Source::kByte)
    s.table = accumulator == DType::kF32 ? static_cast<const void*>(byte_table_f32(side.dtype))
                                         : byte_table_u32(side.dtype);
  return s;
}

template <class T>
class Packed {
 public:
  Packed(const Operands<T>& p, const GemmKernels<T>& kernels, bool pairs)
      : p_(p), k_(kernels), pairs_(pairs), direct_(p.c_is_plain()) {}

  void run() {
    plan();
    const int64_t m = p_.m(), n = p_.n();
    const int64_t row_parts = ceil_div(m, rows_per_task_), col_parts = ceil_div(n, cols_per_task_);
    const double work_per_task = static_cast<double>(rows_per_task_) * cols_per_task_ * (p_.depth() + 1);
    const int64_t grain = std::max<int64_t>(1, static_cast<int64_t>(kWorkPerTask / work_per_task));
    parallel_for(p_.batches() * row_parts * col_parts, grain, [&](int64_t begin, int64_t end) {
      Scratch scratch = make_scratch();
      for (int64_t t = begin; t < end; ++t) {
        const int64_t col = t / row_parts % col_parts * cols_per_task_, row = t % row_parts * rows_per_task_;
        block(scratch, t / row_parts / col_parts, {row, std::min(m, row + rows_per_task_)},
              {col, std::min(n, col + cols_per_task_)});
      }
    });
  }

 private:
  // The columns of a tile over one block of the depth.
  struct Panel {
    const T* data;
    int64_t step;
  };

  struct Scratch {
    T* a;
    T* b;
    T* c;
    Panel panels[kMaxColumns / 4];
    alignas(64) T tile[16 * 32];
  };
  Scratch make_scratch() const {
    const int64_t depth = std::min(kDepthBlock, p_.depth());
    return {thread_scratch_of<T>(0, kRowTilesPerBlock * k_.rows * depth),
            thread_scratch_of<T>(1, (cols_per_task_ + k_.cols) * depth),
            direct_ ? nullptr : thread_scratch_of<T>(2, (rows_per_task_ + k_.rows) * cols_per_task_),
            {},
            {}};
  }

  // Enough tasks for every thread, but tasks so large that packing stays cheap.
  void plan() {
    rows_per_task_ = std::min(kMaxRowTiles, ceil_div(p_.m(), k_.rows)) * k_.rows;
    cols_per_task_ = std::min(kMaxColumns / k_.cols, ceil_div(p_.n(), k_.cols)) * k_.cols;
    const int64_t wanted = num_threads() == 1 ? 1 : 2 * num_threads();
    while (p_.batches() * ceil_div(p_.m(), rows_per_task_) * ceil_div(p_.n(), cols_per_task_) < wanted) {
      if (rows_per_task_ >= cols_per_task_ && rows_per_task_ > 4 * k_.rows)
        rows_per_task_ = ceil_div(rows_per_task_ / 2, k_.rows) * k_.rows;
      else if (cols_per_task_ > 2 * k_.cols)
        cols_per_task_ = ceil_div(cols_per_task_ / 2, k_.cols) * k_.cols;
      else
        break;
    }
  }

  void block(Scratch& s, int64_t batch, Range rows, Range cols) const {
    const int64_t depth = p_.depth();
    for (int64_t k = 0; k < depth || k == 0; k += kDepthBlock) {
      const Range ks{k, std::min(depth, k + kDepthBlock)};
      pack_b(s, batch, rows, cols, ks);
      if (p_.a_is_plain() && is_run(p_.a.depth, k, ks.size())) {
        multiply_thin(s, batch, rows, cols, ks);
        continue;
      }
      for (int64_t row = rows.begin; row < rows.end; row += kRowTilesPerBlock * k_.rows) {
        const Range part{row, std::min(rows.end, row + kRowTilesPerBlock * k_.rows)};
        pack_a(s, batch, part, ks);
        multiply_panels(s, batch, part, rows.begin, cols, ks);
      }
    }
    if (!direct_) store(s, batch, rows, cols);
    p_.finish(batch, rows, cols);
  }

  // Elements of a lane of a panel.
  int64_t packed(Range ks) const { return pairs_ ? ceil_div(ks.size(), 2) : ks.size(); }

  void pack_a(Scratch& s, int64_t batch, Range rows, Range ks) const {
    PackSource source = pack_source(kAccumulator<T>, p_.a, p_.a_data, batch);
    source.depths = p_.a.depth.offsets.data() + ks.begin;
    source.depth_count = ks.size();
    source.lanes = p_.a.outer.offsets.data() + rows.begin;
    source.lane_count = rows.size();
    k_.pack_a(source, s.a);
  }

  // B's rows are read where they lie when few tiles of A meet them; narrower panels than a tile are always
  // packed, since tiles read whole vectors.
  Panel panel_in_place(int64_t batch, Range rows, Range cols, Range ks) const {
    if (rows.size() > kThinTiles * k_.rows || cols.size() < k_.cols || ks.size() == 0 || !p_.b_is_plain())
      return {nullptr, 0};
    if (!is_run(p_.b.outer, cols.begin, cols.size()) || !is_uniform(p_.b.depth, ks.begin, ks.size()))
      return {nullptr, 0};
    const int64_t* depths = p_.b.depth.offsets.data() + ks.begin;
    return {p_.b_at(batch) + p_.b.outer.offsets[cols.begin] + depths[0],
            ks.size() > 1 ? depths[1] - depths[0] : 0};
  }

  void pack_b(Scratch& s, int64_t batch, Range rows, Range cols, Range ks) const {
    PackSource source = pack_source(kAccumulator<T>, p_.b, p_.b_data, batch);
    source.depths = p_.b.depth.offsets.data() + ks.begin;
    source.depth_count = ks.size();
    Range missing{cols.begin, cols.begin};  // neighbouring panels are packed together
    auto pack_missing = [&] {
      source.lanes = p_.b.outer.offsets.data() + missing.begin;
      source.lane_count = missing.size();
      if (missing.size() > 0) k_.pack_b(source, s.b + (missing.begin - cols.begin) * packed(ks));
    };
    for (int64_t c = cols.begin; c < cols.end; c += k_.cols) {
      const Range part{c, std::min(cols.end, c + k_.cols)};
      Panel& panel = s.panels[(c - cols.begin) / k_.cols];
      panel = panel_in_place(batch, rows, part, ks);
      if (panel.data != nullptr) {
        pack_missing();
        missing = {part.end, part.end};
      } else {
        panel = {s.b + (c - cols.begin) * packed(ks), k_.cols};
        missing.end = part.end;
      }
    }
    pack_missing();
  }

  // Where a tile's sums go: into the result when it is whole and regular there, else through a tile of our
  // own; or into the scratch of the task.
  template <class Kernel>
  void run_tile(Scratch& s, int64_t batch, Range rows, int64_t tile_rows, int64_t first_row, Range cols,
                int64_t first_col, bool add, const Kernel& kernel) const {
    const bool whole = rows.size() == tile_rows && cols.size() == k_.cols;
    if (!direct_)
      return kernel(s.c + (rows.begin - first_row) * cols_per_task_ + (cols.begin - first_col),
                    cols_per_task_, add);
    T* out = p_.c_at(batch) + p_.c.cols.offsets[cols.begin];
    if (whole && is_run(p_.c.cols, cols.begin, cols.size()) &&
        is_uniform(p_.c.rows, rows.begin, rows.size())) {
      const int64_t* o = p_.c.rows.offsets.data() + rows.begin;
      return kernel(out + o[0], o[1] - o[0], add);
    }
    kernel(s.tile, k_.cols, false);
    const int64_t* at = p_.c.cols.offsets.data() + cols.begin;
    for (int64_t i = 0; i < rows.size(); ++i)
      add_row(out + p_.c.rows.offsets[rows.begin + i] - at[0], at, s.tile + i * k_.cols, cols.size(), add);
  }

  static void add_row(T* out, const int64_t* at, const T* row, int64_t n, bool add) {
    for (int64_t j = 0; j < n; ++j) out[at[j]] = add ? out[at[j]] + row[j] : row[j];
  }

  void multiply_panels(Scratch& s, int64_t batch, Range rows, int64_t first_row, Range cols, Range ks) const {
    for (int64_t r = rows.begin; r < rows.end; r += k_.rows) {
      const T* a = s.a + (r - rows.begin) * packed(ks);
      for (int64_t c = cols.begin; c < cols.end; c += k_.cols) {
        const Panel& b = s.panels[(c - cols.begin) / k_.cols];
        const Range tile{c, std::min(cols.end, c + k_.cols)};
        run_tile(s, batch, {r, std::min(rows.end, r + k_.rows)}, k_.rows, first_row, tile, cols.begin,
                 ks.begin > 0, [&](T* out, int64_t ld, bool add) {
                   k_.multiply[is_wide(tile)](packed(ks), a, b.data, b.step, out, ld, add);
                 });
      }
    }
  }

  // One vector is enough for the columns of a narrow tile.
  bool is_wide(Range cols) const { return cols.size() > k_.cols / 2; }

  // A's rows are read where they lie; the last tile repeats its last row to be whole.
  void multiply_thin(Scratch& s, int64_t batch, Range rows, Range cols, Range ks) const {
    const T* base = p_.a_at(batch) + (ks.size() > 0 ? p_.a.depth.offsets[ks.begin] : 0);
    const int64_t tile_rows = k_.thin_rows;
    for (int64_t r = rows.begin; r < rows.end; r += tile_rows) {
      const T* a[kMaxThinRows];
      for (int64_t i = 0; i < tile_rows; ++i) a[i] = base + p_.a.outer.offsets[std::min(rows.end - 1, r + i)];
      for (int64_t c = cols.begin; c < cols.end; c += k_.cols) {
        const Panel& b = s.panels[(c - cols.begin) / k_.cols];
        const Range tile{c, std::min(cols.end, c + k_.cols)};
        run_tile(s, batch, {r, std::min(rows.end, r + tile_rows)}, tile_rows, rows.begin, tile, cols.begin,
                 ks.begin > 0, [&](T* out, int64_t ld, bool add) {
                   k_.multiply_thin[is_wide(tile)](ks.size(), a, b.data, b.step, out, ld, add);
                 });
      }
    }
  }

  // Rounds the finished sums into the result.
  void store(const Scratch& s, int64_t batch, Range rows, Range cols) const {
    const int64_t width = byte_size(p_.c.dtype);
    for (int64_t r = rows.begin; r < rows.end; ++r) {
      const T* row = s.c + (r - rows.begin) * cols_per_task_;
      std::byte* out = p_.c_data + (p_.c.batch.offsets[batch] + p_.c.rows.offsets[r]) * width;
      for (int64_t c = cols.begin, n; c < cols.end; c += n) {
        n = run_length(p_.c.cols, c, cols.end);
        narrow(row + (c - cols.begin), n, p_.c.dtype, out + p_.c.cols.offsets[c] * width);
      }
    }
  }

  const Operands<T>& p_;
  const GemmKernels<T>& k_;
  bool pairs_;   // panels hold pairs
  bool direct_;  // sums are kept in the result itself
  int64_t rows_per_task_ = 0, cols_per_task_ = 0;
};

}  // namespace

template <class T>
void multiply_packed(const Operands<T>& product) {
  if constexpr (std::is_same_v<T, uint32_t>) {
    auto fits = [](const GemmSide& side) { return fits_in_pair(*source_kind(kAccumulator<T>, side.dtype)); };
    if (fits(product.a) && fits(product.b)) return Packed<T>(product, pair_kernels(), true).run();
  }
  Packed<T>(product, gemm_kernels<T>(), false).run();
}
template void multiply_packed(const Operands<float>&);
template void multiply_packed(const Operands<double>&);
template void multiply_packed(const Operands<uint32_t>&);
template void multiply_packed(const Operands<uint64_t>&);

}  // namespace armillary::native
