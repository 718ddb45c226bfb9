// Offsets in one arena: interval packing, large blocks first, each into the tightest gap that its neighbours
// in time leave.
#include <algorithm>
#include <limits>
#include <numeric>

#include "xla_core/buffers/assign.h"

namespace armillary {
namespace {

int64_t aligned(int64_t size) { return (size + kBufferAlignment - 1) / kBufferAlignment * kBufferAlignment; }

// Blocks indexed by time, so that a block's neighbours are found without looking at all.
class TimeIndex {
 public:
  TimeIndex(int64_t last_tick, size_t buckets)
      : width_(last_tick / static_cast<int64_t>(buckets) + 1), buckets_(buckets + 1) {}
  template <class F>
  void for_buckets(const Block& b, F f) {
    int64_t previous = -1;
    for (const Segment& s : b.segments)
      for (int64_t k = std::max(s.begin / width_, previous + 1); k <= s.end / width_; ++k)
        f(buckets_[previous = k]);
  }

 private:
  int64_t width_;
  std::vector<std::vector<int>> buckets_;
};

// The smallest offset gap between busy ranges that holds `size`; ties go to the lowest.
int64_t best_fit(std::vector<std::pair<int64_t, int64_t>>& busy, int64_t size) {
  std::sort(busy.begin(), busy.end());
  int64_t best = -1, best_gap = std::numeric_limits<int64_t>::max(), end = 0;
  for (const auto& [from, to] : busy) {
    if (from - end >= size && from - end < best_gap) best = end, best_gap = from - end;
    end = std::max(end, to);
  }
  return best >= 0 ? best : end;
}

int64_t pack_in_order(std::vector<Block>& blocks, const std::vector<int>& order) {
  int64_t last = 0, total = 0;
  for (const Block& b : blocks) last = std::max(last, b.segments.back().end);
  TimeIndex index(last, std::min<size_t>(4096, blocks.size() + 1));
  std::vector<int> seen(blocks.size(), -1);
  std::vector<std::pair<int64_t, int64_t>> busy;
  for (int at : order) {
    Block& block = blocks[at];
    busy.clear();
    index.for_buckets(block, [&](std::vector<int>& bucket) {
      for (int other : bucket)
        if (seen[other] != at && (seen[other] = at, overlap(blocks[other].segments, block.segments)))
          busy.emplace_back(blocks[other].offset, blocks[other].offset + aligned(blocks[other].size));
    });
    block.offset = best_fit(busy, aligned(block.size));
    total = std::max(total, block.offset + aligned(block.size));
    index.for_buckets(block, [&](std::vector<int>& bucket) { bucket.push_back(at); });
  }
  return total;
}

}  // namespace

bool overlap(const std::vector<Segment>& a, const std::vector<Segment>& b) {
  for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    if (a[i].end < b[j].begin) {
      ++i;
    } else if (b[j].end < a[i].begin) {
      ++j;
    } else {
      return true;
    }
  }
  return false;
}

int64_t max_live_bytes(const std::vector<Block>& blocks) {
  std::vector<std::pair<int64_t, int64_t>> events;  // tick, change
  for (const Block& b : blocks)
    for (const Segment& s : b.segments) {
      events.emplace_back(s.begin, aligned(b.size));
      events.emplace_back(s.end + 1, -aligned(b.size));
    }
  std::sort(events.begin(), events.end());
  int64_t live = 0, peak = 0;
  for (const auto& [tick, change] : events) peak = std::max(peak, live += change);
  return peak;
}

int64_t pack_blocks(std::vector<Block>& blocks) {
  if (blocks.empty()) return 0;
  std::vector<int> by_size(blocks.size());
  std::iota(by_size.begin(), by_size.end(), 0);
  std::vector<int> by_time = by_size;
  auto lifetime = [&](int b) { return blocks[b].segments.back().end - blocks[b].segments.front().begin; };
  std::stable_sort(by_size.begin(), by_size.end(), [&](int a, int b) {
    return blocks[a].size != blocks[b].size ? blocks[a].size > blocks[b].size : lifetime(a) > lifetime(b);
  });
  std::stable_sort(by_time.begin(), by_time.end(), [&](int a, int b) {
    return blocks[a].segments.front().begin < blocks[b].segments.front().begin;
  });
  std::vector<Block> other = blocks;
  const int64_t size_first = pack_in_order(blocks, by_size);
  if (size_first <= max_live_bytes(blocks)) return size_first;
  const int64_t time_first = pack_in_order(other, by_time);
  if (time_first < size_first) blocks = std::move(other);
  return std::min(size_first, time_first);
}

}  // namespace armillary
