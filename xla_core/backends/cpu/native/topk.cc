#include "xla_core/backends/cpu/native/topk.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "xla_core/backends/cpu/native/sort_keys.h"
#include "xla_core/base/error.h"
#include "xla_core/base/parallel_for.h"

namespace armillary::native {
namespace {

constexpr int64_t kBlock = 128;

// The k least entries of a row, sorted. A heap holds the best so far; blocks in which nothing is better than
// its worst are passed over at the speed of one vector comparison. When k is a good part of the row,
// selecting among all entries is quicker.
template <class Entry>
void least(const std::byte* row, int64_t n, int64_t k, const KeyReader& read, std::vector<Entry>& best) {
  using Key = typename Entry::Key;
  std::array<Key, kBlock> keys;
  best.clear();
  const bool select = k > n / 8;
  for (int64_t i = 0; i < n; i += kBlock) {
    const int64_t count = std::min(kBlock, n - i);
    read.read(row + i * read.width(), 1, count, keys.data());
    int64_t at = 0;
    for (; at < count && (select || static_cast<int64_t>(best.size()) < k); ++at) {
      best.push_back(Entry::make(keys[at], static_cast<uint32_t>(i + at)));
      if (!select && static_cast<int64_t>(best.size()) == k) std::make_heap(best.begin(), best.end());
    }
    if (at == count) continue;
    const Key worst = static_cast<Key>(best.front().key());
    int better = 0;
    for (int64_t t = at; t < count; ++t) better += keys[t] < worst;  // equal keys come later: they lose
    for (; better > 0 && at < count; ++at) {
      const Entry e = Entry::make(keys[at], static_cast<uint32_t>(i + at));
      if (!(e < best.front())) continue;
      std::pop_heap(best.begin(), best.end());
      best.back() = e;
      std::push_heap(best.begin(), best.end());
    }
  }
  if (!select) return std::sort_heap(best.begin(), best.end());
  if (k < n) std::nth_element(best.begin(), best.begin() + k, best.end());
  best.resize(k);
  std::sort(best.begin(), best.end());
}

template <class Entry>
void run(const ArrayRef& operand, int64_t k, bool largest, const ArrayRef& values, const ArrayRef& indices) {
  const int64_t n = operand.dims.back(), width = byte_size(operand.dtype);
  parallel_for(operand.size() / n, std::max<int64_t>(1, 8192 / n), [&](int64_t begin, int64_t end) {
    const KeyReader read(operand.dtype, {.descending = largest, .canonical = false});
    std::vector<Entry> best;
    for (int64_t r = begin; r < end; ++r) {
      const std::byte* row = operand.data + r * n * width;
      least(row, n, k, read, best);
      for (int64_t i = 0; i < k; ++i) {
        std::memcpy(values.data + (r * k + i) * width, row + best[i].position() * width, width);
        indices.as<int32_t>()[r * k + i] = static_cast<int32_t>(best[i].position());
      }
    }
  });
}

}  // namespace

void topk(const ArrayRef& operand, int64_t k, bool largest, const ArrayRef& values, const ArrayRef& indices) {
  ARM_CHECK(operand.rank() > 0 && k <= operand.dims.back() && KeyReader::supports(operand.dtype));
  if (k == 0 || operand.size() == 0) return;
  if (byte_size(operand.dtype) == 8) return run<WideEntry>(operand, k, largest, values, indices);
  run<NarrowEntry>(operand, k, largest, values, indices);
}

}  // namespace armillary::native
