// The array whose weights stay and whose sums move down: weight stationary flow, and input stationary flow as
// the same thing on transposed matrices.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tpu_sim/systolic/arithmetic.h"
#include "tpu_sim/systolic/gemm.h"
#include "xla_core/base/error.h"

namespace armillary::sim {

// Computes out[S, H] += stream[S, D] x held[D, H]; rows of the array hold D, columns hold H.
//
// Held words enter at the top and move down a row each cycle until they reach their own. Streamed vectors
// enter at the left, row r one cycle after row r-1, and move right; the first of a tile carries a mark that
// makes each element take the waiting word as its weight. So a second set of words can move in behind the
// mark while a tile still streams.
template <class T, class Sum>
class MovingSumsArray {
 public:
  MovingSumsArray(const ArrayShape& shape, const Tiling& tiling, Overlap overlap, PaddedView<T> stream,
                  PaddedView<T> held, std::vector<Sum>& out)
      : rows_(shape.rows),
        cols_(shape.cols),
        tiling_(tiling),
        overlap_(overlap),
        stream_(stream),
        held_(held),
        out_(out),
        elements_(rows_ * cols_),
        arrived_(cols_, 0),
        entered_(rows_ + 1),
        pushed_(cols_) {}

  Cycles run() {
    const int64_t expected = tiling_.tiles() * tiling_.streamed * cols_;
    while (left_ < expected) {
      control();
      step();
      ++now_;
    }
    return now_;
  }

  int64_t multiplications() const { return multiplications_; }

 private:
  struct Word {  // of the held matrix, on its way down
    bool valid = false;
    int64_t destination = 0;
    T value{};
  };
  struct Vector {  // which streamed vector entered row 0 at some cycle
    bool valid = false;
    int64_t tile = 0, index = 0;
  };
  struct Element {
    T weight{};
    Word waiting;
    T operand{};
    bool operand_valid = false, operand_first = false;
    Sum sum{};
  };

  int64_t row_tile(int64_t t) const { return t % tiling_.row_tiles; }
  int64_t col_tile(int64_t t) const { return t / tiling_.row_tiles; }

  // Decides what enters row 0 and column 0 in this cycle; skewed copies of it enter the others later.
  void control() {
    Vector& entering = entered_[now_ % entered_.size()];
    entering = {};
    if (may_start()) {
      streaming_ = next_stream_++;
      position_ = 0;
      started_at_ = now_;
    }
    if (streaming_ >= 0 && position_ < tiling_.streamed) entering = {true, streaming_, position_++};
    if (may_load()) {
      loading_ = next_load_++;
      loaded_ = 0;
    }
    Vector& pushing = pushed_[now_ % pushed_.size()];
    pushing = {};
    if (loading_ >= 0 && loaded_ < rows_) pushing = {true, loading_, loaded_++};
  }

  bool may_start() const {
    const bool stream_free = streaming_ < 0 || position_ == tiling_.streamed;
    return stream_free && next_stream_ < tiling_.tiles() && loading_ == next_stream_ && loaded_ == rows_;
  }

  // A tile's words may follow as soon as the one before it has begun (its mark clears the way), or has wholly
  // left.
  bool may_load() const {
    if (next_load_ == tiling_.tiles()) return false;
    if (next_load_ == 0) return loading_ < 0;
    if (streaming_ != next_load_ - 1) return false;
    return overlap_ == Overlap::kTiles ? now_ >= started_at_ : left_ == next_load_ * tiling_.streamed * cols_;
  }

  // Bottom right first, so that each element still finds its neighbours' registers of the last cycle.
  void step() {
    for (int64_t r = rows_ - 1; r >= 0; --r) {
      for (int64_t c = cols_ - 1; c >= 0; --c) step_element(r, c);
    }
  }

  void step_element(int64_t r, int64_t c) {
    Element& e = elements_[r * cols_ + c];
    e.operand_valid = false;
    take_operand(e, r, c);
    if (e.operand_valid && e.operand_first) {
      ARM_CHECK(e.waiting.valid && e.waiting.destination == r);
      e.weight = e.waiting.value;
      e.waiting.valid = false;
    }
    take_word(e, r, c);
    if (!e.operand_valid) return;
    const Sum above = r == 0 ? Sum{} : elements_[(r - 1) * cols_ + c].sum;
    e.sum = multiply_add(above, e.operand, e.weight);
    ++multiplications_;
    if (r == rows_ - 1) leave(c, e.sum);
  }

  void take_operand(Element& e, int64_t r, int64_t c) {
    if (c > 0) {
      const Element& left = elements_[r * cols_ + c - 1];
      e.operand = left.operand;
      e.operand_valid = left.operand_valid;
      e.operand_first = left.operand_first;
      return;
    }
    if (now_ < r) return;
    const Vector& v = entered_[(now_ - r) % entered_.size()];
    if (!v.valid) return;
    e.operand_valid = true;
    e.operand_first = v.index == 0;
    e.operand = stream_.at(v.index, row_tile(v.tile) * rows_ + r);
  }

  void take_word(Element& e, int64_t r, int64_t c) {
    Word word;
    if (r > 0) {
      Word& above = elements_[(r - 1) * cols_ + c].waiting;
      if (above.valid && above.destination >= r) {
        word = above;
        above.valid = false;
      }
    } else if (now_ >= c) {
      const Vector& v = pushed_[(now_ - c) % pushed_.size()];
      const int64_t destination = rows_ - 1 - v.index;
      if (v.valid) {
        word = {true, destination,
                held_.at(row_tile(v.tile) * rows_ + destination, col_tile(v.tile) * cols_ + c)};
      }
    }
    if (!word.valid) return;
    ARM_CHECK(!e.waiting.valid);
    e.waiting = word;
  }

  // Sums leave a column in the order in which their vectors entered.
  void leave(int64_t c, Sum sum) {
    const int64_t order = arrived_[c]++;
    const int64_t index = order % tiling_.streamed;
    const int64_t column = col_tile(order / tiling_.streamed) * cols_ + c;
    ++left_;
    if (column >= held_.cols) return;
    Sum& target = out_[index * held_.cols + column];
    target = add(target, sum);
  }

  const int64_t rows_, cols_;
  const Tiling tiling_;
  const Overlap overlap_;
  const PaddedView<T> stream_, held_;
  std::vector<Sum>& out_;
  std::vector<Element> elements_;
  std::vector<int64_t> arrived_;          // sums that have left each column
  std::vector<Vector> entered_, pushed_;  // the last cycles' entries, one for each row or column of skew
  Cycles now_ = 0, started_at_ = 0;
  int64_t next_stream_ = 0, next_load_ = 0;
  int64_t streaming_ = -1, position_ = 0;  // tile that streams, vectors of it that have entered
  int64_t loading_ = -1, loaded_ = 0;      // tile whose words move in, and rows of them that have entered
  int64_t left_ = 0, multiplications_ = 0;
};

}  // namespace armillary::sim
