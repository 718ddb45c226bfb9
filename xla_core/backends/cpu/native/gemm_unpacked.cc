// Products that are too small or too thin for packing to pay.
#include <vector>

#include "xla_core/backends/cpu/native/gemm_operands.h"
#include "xla_core/base/parallel_for.h"

namespace armillary::native {
namespace {

constexpr int64_t kThin = 4;
// Up to this many multiplications go unpacked when the layout allows.
constexpr int64_t kSmallWork = 40 * 40 * 40;
// Long inner products are summed in pieces of this length, then the pieces in order.
constexpr int64_t kInnerPiece = 1 << 15;

// One tile of inner products over one piece of the depth.
template <class T>
void inner_tile(const Operands<T>& p, int64_t batch, Range rows, Range cols, Range ks, T* out) {
  const T* a[kInnerTile];
  const T* b[kInnerTile];
  const int64_t a_first = ks.size() > 0 ? p.a.depth.offsets[ks.begin] : 0,
                b_first = ks.size() > 0 ? p.b.depth.offsets[ks.begin] : 0;
  for (int64_t r = rows.begin; r < rows.end; ++r)
    a[r - rows.begin] = p.a_at(batch) + p.a.outer.offsets[r] + a_first;
  for (int64_t c = cols.begin; c < cols.end; ++c)
    b[c - cols.begin] = p.b_at(batch) + p.b.outer.offsets[c] + b_first;
  gemm_kernels<T>().inner(static_cast<int>(rows.size()), static_cast<int>(cols.size()), a, b, ks.size(), out);
}

}  // namespace

template <class T>
bool multiply_inner(const Operands<T>& p) {
  const int64_t m = p.m(), n = p.n(), depth = p.depth();
  if ((m > kThin && n > kThin) || !p.a.depth.contiguous || !p.b.depth.contiguous ||
      (m <= kThin && p.b.outer.contiguous && n > 1))
    return false;
  if (!p.a_is_plain() || !p.b_is_plain() || !p.c_is_plain()) return false;
  constexpr int64_t kTile = kInnerTile;
  const int64_t row_tiles = ceil_div(m, kTile), col_tiles = ceil_div(n, kTile),
                pieces = std::max<int64_t>(1, ceil_div(depth, kInnerPiece));
  const int64_t tiles = p.batches() * row_tiles * col_tiles;
  std::vector<T> partial(pieces > 1 ? tiles * pieces * kTile * kTile : 0);
  auto store = [&](int64_t tile, const T* sums) {
    const int64_t batch = tile / col_tiles / row_tiles, row = tile / col_tiles % row_tiles * kTile,
                  col = tile % col_tiles * kTile;
    const Range rows{row, std::min(m, row + kTile)}, cols{col, std::min(n, col + kTile)};
    for (int64_t r = rows.begin; r < rows.end; ++r)
      for (int64_t c = cols.begin; c < cols.end; ++c)
        p.c_at(batch)[p.c.rows.offsets[r] + p.c.cols.offsets[c]] = sums[(r - row) * kTile + c - col];
    p.finish(batch, rows, cols);
  };
  const int64_t work = std::min(m, kTile) * std::min(n, kTile) * std::min(depth, kInnerPiece) + 64;
  parallel_for(tiles * pieces, std::max<int64_t>(1, kWorkPerTask / 8 / work),
               [&](int64_t begin, int64_t end) {
                 T sums[kTile * kTile];
                 for (int64_t t = begin; t < end; ++t) {
                   const int64_t tile = t / pieces, k = t % pieces * kInnerPiece;
                   const int64_t batch = tile / col_tiles / row_tiles,
                                 row = tile / col_tiles % row_tiles * kTile, col = tile % col_tiles * kTile;
                   T* out = pieces > 1 ? partial.data() + t * kTile * kTile : sums;
                   inner_tile(p, batch, {row, std::min(m, row + kTile)}, {col, std::min(n, col + kTile)},
                              {k, std::min(depth, k + kInnerPiece)}, out);
                   if (pieces == 1) store(tile, sums);
                 }
               });
  for (int64_t tile = 0; pieces > 1 && tile < tiles; ++tile) {
    T* sums = partial.data() + tile * pieces * kTile * kTile;
    for (int64_t k = 1; k < pieces; ++k)
      for (int64_t i = 0; i < kTile * kTile; ++i) sums[i] += sums[k * kTile * kTile + i];
    store(tile, sums);
  }
  return true;
}

template <class T>
bool multiply_small(const Operands<T>& p) {
  const int64_t m = p.m(), n = p.n(), depth = p.depth();
  if (m > kThin && static_cast<double>(m) * n * depth > kSmallWork) return false;
  if (!p.b.outer.contiguous || !p.c.cols.contiguous || !p.a_is_plain() || !p.b_is_plain() || !p.c_is_plain())
    return false;
  // Thin matrices are cut along n, many small ones along the batch.
  const int64_t strip =
      p.batches() > 1
          ? n
          : std::clamp<int64_t>(kWorkPerTask / 4 / std::max<int64_t>(1, m * depth) / 64 * 64, 64, 4096);
  const int64_t strips = std::max<int64_t>(1, n / strip);  // the last one takes the rest
  const int64_t grain =
      std::max<int64_t>(1, kWorkPerTask / 8 / std::max<int64_t>(1, m * depth * std::min(n, strip)));
  parallel_for(p.batches() * strips, grain, [&](int64_t begin, int64_t end) {
    for (int64_t t = begin; t < end; ++t) {
      const int64_t batch = t / strips, col = t % strips * strip,
                    width = t % strips == strips - 1 ? n - col : strip;
      gemm_kernels<T>().small({m, width, depth, p.a_at(batch), p.a.outer.offsets.data(),
                               p.a.depth.offsets.data(), p.b_at(batch) + p.b.outer.offsets[col],
                               p.b.depth.offsets.data(), p.c_at(batch) + p.c.cols.offsets[col],
                               p.c.rows.offsets.data()});
      p.finish(batch, {0, m}, {col, col + width});
    }
  });
  return true;
}

template bool multiply_inner(const Operands<float>&);
template bool multiply_inner(const Operands<double>&);
template bool multiply_inner(const Operands<uint32_t>&);
template bool multiply_inner(const Operands<uint64_t>&);
template bool multiply_small(const Operands<float>&);
template bool multiply_small(const Operands<double>&);
template bool multiply_small(const Operands<uint32_t>&);
template bool multiply_small(const Operands<uint64_t>&);

}  // namespace armillary::native
