#include "xla_core/backends/cpu/native/sort_entries.h"

#include <algorithm>
#include <array>
#include <vector>

#include "xla_core/base/parallel_for.h"

namespace armillary::native {
namespace {

constexpr int64_t kRadixFrom = 512;         // shorter rows are quicker by comparison
constexpr int64_t kParallelFrom = 1 << 16;  // longer rows are cut into runs, which are merged
constexpr int64_t kInsertion = 12;

// Least significant digit first; digits in which all keys agree cost nothing but their count.
template <class Entry>
void radix_sort(std::span<Entry> row, std::span<Entry> scratch, int key_bits) {
  const int digits = (key_bits + 7) / 8;
  std::vector<std::array<uint32_t, 256>> counts(digits, std::array<uint32_t, 256>{});
  for (const Entry& e : row)
    for (int d = 0; d < digits; ++d) ++counts[d][e.key() >> (8 * d) & 255];
  Entry* from = row.data();
  Entry* to = scratch.data();
  for (int d = 0; d < digits; ++d) {
    if (std::ranges::count(counts[d], row.size()) == 1) continue;
    std::array<uint32_t, 256> start;
    uint32_t sum = 0;
    for (int b = 0; b < 256; ++b) start[b] = sum, sum += counts[d][b];
    for (size_t i = 0; i < row.size(); ++i) to[start[from[i].key() >> (8 * d) & 255]++] = from[i];
    std::swap(from, to);
  }
  if (from != row.data()) std::copy(from, from + row.size(), row.data());
}

// Merges the sorted runs [begin, middle) and [middle, end) of `from` into `to`, ties to the first run; cut in
// pieces for the thread pool.
template <class T, class MakeLess>
void merge_runs(const T* from, T* to, int64_t middle, int64_t end, const MakeLess& make_less) {
  const int64_t pieces = std::max<int64_t>(1, end / 32768);
  parallel_for(pieces, 1, [&](int64_t first, int64_t last) {
    auto less = make_less();
    auto split = [&](int64_t out) {  // how many of the first `out` merged elements come from the first run
      int64_t low = std::max<int64_t>(0, out - (end - middle)), high = std::min(out, middle);
      while (low < high) {
        const int64_t mid = (low + high) / 2;
        if (less(from[middle + out - mid - 1], from[mid]))
          high = mid;
        else
          low = mid + 1;
      }
      return low;
    };
    for (int64_t p = first; p < last; ++p) {
      const int64_t out = end * p / pieces, stop = end * (p + 1) / pieces;
      const int64_t a = split(out), a_end = split(stop);
      std::merge(from + a, from + a_end, from + middle + out - a, from + middle + stop - a_end, to + out,
                 [&](const T& x, const T& y) { return less(x, y); });
    }
  });
}

// Sorts fixed runs side by side, then merges them two by two.
template <class T, class MakeLess, class SortRun>
void sort_long(std::span<T> row, std::span<T> scratch, const MakeLess& make_less, const SortRun& sort_run) {
  const int64_t n = row.size(), run = (n + 7) / 8;
  parallel_for(8, 1, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const int64_t from = std::min(n, r * run), size = std::min(run, n - from);
      sort_run(row.subspan(from, size), scratch.subspan(from, size));
    }
  });
  T* from = row.data();
  T* to = scratch.data();
  for (int64_t width = run; width < n; width *= 2, std::swap(from, to))
    for (int64_t at = 0; at < n; at += 2 * width)
      merge_runs(from + at, to + at, std::min(width, n - at), std::min(2 * width, n - at), make_less);
  if (from != row.data()) std::copy(from, from + n, row.data());
}

template <class Entry>
void sort_run(std::span<Entry> row, std::span<Entry> scratch, int key_bits) {
  if (static_cast<int64_t>(row.size()) < kRadixFrom)
    std::sort(row.begin(), row.end());
  else
    radix_sort(row, scratch, key_bits);
}

template <class Entry>
void sort_row(std::span<Entry> row, std::span<Entry> scratch, int key_bits) {
  if (static_cast<int64_t>(row.size()) < kParallelFrom || num_threads() == 1)
    return sort_run(row, scratch, key_bits);
  const auto make_less = [] { return [](const Entry& a, const Entry& b) { return a < b; }; };
  sort_long(row, scratch, make_less,
            [&](std::span<Entry> r, std::span<Entry> s) { sort_run(r, s, key_bits); });
}

// Insertion for short runs, then merges, alternating between the two rows.
void merge_sort(std::span<uint32_t> row, std::span<uint32_t> scratch, const PositionLess& less) {
  const int64_t n = row.size();
  for (int64_t begin = 0; begin < n; begin += kInsertion) {
    const int64_t end = std::min(n, begin + kInsertion);
    for (int64_t i = begin + 1; i < end; ++i) {
      const uint32_t value = row[i];
      int64_t j = i;
      for (; j > begin && less(value, row[j - 1]); --j) row[j] = row[j - 1];
      row[j] = value;
    }
  }
  uint32_t* from = row.data();
  uint32_t* to = scratch.data();
  for (int64_t width = kInsertion; width < n; width *= 2, std::swap(from, to)) {
    for (int64_t at = 0; at < n; at += 2 * width) {
      const int64_t middle = std::min(n, at + width), end = std::min(n, at + 2 * width);
      std::merge(from + at, from + middle, from + middle, from + end, to + at, less);
    }
  }
  if (from != row.data()) std::copy(from, from + n, row.data());
}

}  // namespace

void sort_entries(std::span<NarrowEntry> row, std::span<NarrowEntry> scratch, int key_bits) {
  sort_row(row, scratch, key_bits);
}
void sort_entries(std::span<WideEntry> row, std::span<WideEntry> scratch, int key_bits) {
  sort_row(row, scratch, key_bits);
}

void sort_positions(std::span<uint32_t> row, std::span<uint32_t> scratch,
                    const std::function<PositionLess()>& make_less) {
  if (static_cast<int64_t>(row.size()) < kParallelFrom / 8) return merge_sort(row, scratch, make_less());
  sort_long(row, scratch, make_less,
            [&](std::span<uint32_t> r, std::span<uint32_t> s) { merge_sort(r, s, make_less()); });
}

}  // namespace armillary::native
