#include "xla_core/backends/cpu/native/sort.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <numeric>
#include <vector>

#include "xla_core/backends/cpu/native/sort_entries.h"
#include "xla_core/base/error.h"
#include "xla_core/base/parallel_for.h"

namespace armillary::native {
namespace {

// Neighbouring rows of a sort along an outer dimension share cache lines: they are read together, at most
// this many entries at a time.
constexpr int64_t kMaxTogether = 16;
constexpr int64_t kEntriesTogether = 1 << 20;
constexpr int64_t kReadAhead = 64;

// Rows lie along `dimension`: element i of row (outer, inner) is at (outer * length + i) * stride + inner.
struct Rows {
  int64_t length = 1, stride = 1, count = 1;
  int64_t start(int64_t row) const { return row / stride * length * stride + row % stride; }
};

Rows rows_of(const ArrayRef& array, int64_t dimension) {
  Rows r;
  for (int64_t d = 0; d < array.rank(); ++d) {
    if (d == dimension) r.length = array.dims[d];
    if (d > dimension) r.stride *= array.dims[d];
    if (d != dimension) r.count *= array.dims[d];
  }
  return r;
}

template <class Word>
void permute_words(const Word* from, Word* to, int64_t stride, std::span<const uint32_t> order,
                   std::vector<std::byte>& spare) {
  const int64_t n = order.size();
  if (from != to) {
    for (int64_t i = 0; i < n; ++i) to[i * stride] = from[order[i] * stride];
    return;
  }
  spare.resize(n * sizeof(Word));  // in place: through a row of our own
  Word* copy = reinterpret_cast<Word*>(spare.data());
  for (int64_t i = 0; i < n; ++i) copy[i] = from[order[i] * stride];
  for (int64_t i = 0; i < n; ++i) to[i * stride] = copy[i];
}

struct Sixteen {
  uint64_t low, high;
};

// to[i] = from[order[i]] for one row of one array.
void permute(const ArrayRef& from, const ArrayRef& to, int64_t start, int64_t stride,
             std::span<const uint32_t> order, std::vector<std::byte>& spare) {
  switch (byte_size(from.dtype)) {
    case 1:
      return permute_words(from.as<uint8_t>() + start, to.as<uint8_t>() + start, stride, order, spare);
    case 2:
      return permute_words(from.as<uint16_t>() + start, to.as<uint16_t>() + start, stride, order, spare);
    case 4:
      return permute_words(from.as<uint32_t>() + start, to.as<uint32_t>() + start, stride, order, spare);
    case 8:
      return permute_words(from.as<uint64_t>() + start, to.as<uint64_t>() + start, stride, order, spare);
    case 16:
      return permute_words(from.as<Sixteen>() + start, to.as<Sixteen>() + start, stride, order, spare);
    default:
      throw internal_error("cannot sort {}", to_string(from.dtype));
  }
}

using Arrays = std::span<const ArrayRef>;

template <class Entry>
void sort_by_key(Arrays operands, Arrays results, const Rows& rows, KeyOrder order) {
  const ArrayRef& keys = operands[0];
  const int64_t n = rows.length, width = byte_size(keys.dtype);
  const int64_t together = std::clamp<int64_t>(std::min(kEntriesTogether / n, rows.stride), 1, kMaxTogether);
  auto task = [&](int64_t begin, int64_t end) {
    const KeyReader read(keys.dtype, order);
    std::vector<Entry> entries(together * n), scratch(n);
    std::vector<uint32_t> positions(n);
    std::vector<std::byte> spare;
    std::array<typename Entry::Key, kReadAhead> ahead;
    for (int64_t row = begin; row < end;) {
      const int64_t block = std::min({together, end - row, rows.stride - row % rows.stride});
      // One line of memory after the other: element i of all rows of the block.
      const std::byte* base = keys.data + rows.start(row) * width;
      for (int64_t i = 0; i < n; i += kReadAhead) {
        const int64_t count = std::min(kReadAhead, n - i);
        for (int64_t r = 0; r < block; ++r) {
          read.read(base + (i * rows.stride + r) * width, rows.stride, count, ahead.data());
          Entry* to = entries.data() + r * n + i;
          for (int64_t k = 0; k < count; ++k) to[k] = Entry::make(ahead[k], static_cast<uint32_t>(i + k));
        }
      }
      for (int64_t r = 0; r < block; ++r, ++row) {
        const std::span<Entry> one(entries.data() + r * n, n);
        sort_entries(one, scratch, static_cast<int>(8 * width));
        for (int64_t i = 0; i < n; ++i) positions[i] = one[i].position();
        for (size_t o = 0; o < operands.size(); ++o)
          permute(operands[o], results[o], rows.start(row), rows.stride, positions, spare);
      }
    }
  };
  if (rows.count >= num_threads() || n < 4096)
    return parallel_for(rows.count, std::max<int64_t>(together, 4096 / n), task);
  for (int64_t row = 0; row < rows.count; ++row)
    task(row, row + 1);  // few long rows: each uses the pool itself
}

// The comparator reads its arguments where they lie.
PositionLess make_less(Arrays operands, int64_t start, int64_t stride, ScalarFn compare) {
  struct Task {
    std::vector<std::byte*> buffers;
    std::vector<const std::byte*> bases;
    std::vector<int64_t> steps;
    bool result = false;
  };
  auto task = std::make_shared<Task>();
  for (const ArrayRef& o : operands) {
    task->bases.push_back(o.data + start * byte_size(o.dtype));
    task->steps.push_back(stride * byte_size(o.dtype));
  }
  task->buffers.resize(2 * operands.size() + 1);
  task->buffers.back() = reinterpret_cast<std::byte*>(&task->result);
  return [task, compare](uint32_t a, uint32_t b) {
    Task& t = *task;
    for (size_t o = 0; o < t.bases.size(); ++o) {
      t.buffers[2 * o] = const_cast<std::byte*>(t.bases[o] + a * t.steps[o]);
      t.buffers[2 * o + 1] = const_cast<std::byte*>(t.bases[o] + b * t.steps[o]);
    }
    compare(t.buffers.data(), 0, 1);
    return t.result;
  };
}

void sort_by_comparator(Arrays operands, Arrays results, const Rows& rows, ScalarFn compare) {
  const int64_t n = rows.length;
  auto task = [&](int64_t begin, int64_t end) {
    std::vector<uint32_t> positions(n), scratch(n);
    std::vector<std::byte> spare;
    for (int64_t row = begin; row < end; ++row) {
      std::iota(positions.begin(), positions.end(), 0u);
      const int64_t start = rows.start(row);
      sort_positions(positions, scratch, [&] { return make_less(operands, start, rows.stride, compare); });
      for (size_t o = 0; o < operands.size(); ++o)
        permute(operands[o], results[o], start, rows.stride, positions, spare);
    }
  };
  if (rows.count >= num_threads() || n < 1024)
    return parallel_for(rows.count, std::max<int64_t>(1, 1024 / n), task);
  for (int64_t row = 0; row < rows.count; ++row) task(row, row + 1);
}

}  // namespace

void sort(std::span<const ArrayRef> operands, std::span<const ArrayRef> results, const SortSpec& spec) {
  ARM_CHECK(!operands.empty() && operands.size() == results.size());
  if (operands[0].size() == 0) return;
  const Rows rows = rows_of(operands[0], spec.dimension);
  if (rows.length >= int64_t{1} << 32) throw unsupported_error("sort of {} elements in a row", rows.length);
  if (!spec.by_first) return sort_by_comparator(operands, results, rows, spec.compare);
  if (KeyReader(operands[0].dtype, *spec.by_first).wide())
    return sort_by_key<WideEntry>(operands, results, rows, *spec.by_first);
  sort_by_key<NarrowEntry>(operands, results, rows, *spec.by_first);
}

}  // namespace armillary::native
