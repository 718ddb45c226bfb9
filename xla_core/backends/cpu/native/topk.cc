#include "xla_core/backends/cpu/native/topk.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "xla_core/backends/cpu/native/sort_keys.h"
#include "xla_core/base/error.h"
#include "xla_core/base/parallel_for.h"

namespace armillary::native {
namespace {

// The k least entries of a row, sorted. A heap of the best so far turns most elements away after one
// comparison; when k is a good part of the row, selecting among all entries is quicker.
template <class Entry>
void least(const std::byte* row, int64_t n, int64_t k, int64_t width, const KeyReader& read,
           std::vector<Entry>& best) {
  best.clear();
  const int64_t first = k > n / 8 ? n : k;
  for (int64_t i = 0; i < first; ++i)
    best.push_back(Entry::make(read(row + i * width), static_cast<uint32_t>(i)));
  if (first == n) {
    if (k < n) std::nth_element(best.begin(), best.begin() + k, best.end());
    best.resize(k);
    std::sort(best.begin(), best.end());
    return;
  }
  std::make_heap(best.begin(), best.end());
  for (int64_t i = first; i < n; ++i) {
    const Entry e = Entry::make(read(row + i * width), static_cast<uint32_t>(i));
    if (!(e < best.front())) continue;
    std::pop_heap(best.begin(), best.end());
    best.back() = e;
    std::push_heap(best.begin(), best.end());
  }
  std::sort_heap(best.begin(), best.end());
}

template <class Entry>
void run(const ArrayRef& operand, int64_t k, bool largest, const ArrayRef& values, const ArrayRef& indices) {
  const int64_t n = operand.dims.back(), width = byte_size(operand.dtype);
  parallel_for(operand.size() / n, std::max<int64_t>(1, 8192 / n), [&](int64_t begin, int64_t end) {
    const KeyReader read(operand.dtype, {.descending = largest, .canonical = false});
    std::vector<Entry> best;
    for (int64_t r = begin; r < end; ++r) {
      const std::byte* row = operand.data + r * n * width;
      least(row, n, k, width, read, best);
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
