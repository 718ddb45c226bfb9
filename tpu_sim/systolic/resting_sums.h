// The array whose sums stay while both matrices move: output stationary flow.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tpu_sim/systolic/arithmetic.h"
#include "tpu_sim/systolic/gemm.h"
#include "xla_core/base/error.h"

namespace armillary::sim {

// A enters at the left and moves right, B enters at the top and moves down, both skewed by one cycle a row or
// column. With the last pair of a tile an element puts its sum into its outgoing register and starts anew.
// When the bottom element of a column has done so, all sums of that column move down, one row a cycle, behind
// the next tile's back.
template <class T, class Sum>
class RestingSumsArray {
 public:
  RestingSumsArray(const ArrayShape& shape, const Tiling& tiling, Overlap overlap, PaddedView<T> a,
                   PaddedView<T> b, std::vector<Sum>& out)
      : rows_(shape.rows),
        cols_(shape.cols),
        tiling_(tiling),
        overlap_(overlap),
        a_(a),
        b_(b),
        out_(out),
        elements_(rows_ * cols_),
        leaving_(cols_, -1),
        entered_(std::max(rows_, cols_)) {}

  Cycles run() {
    const int64_t expected = tiling_.tiles() * rows_ * cols_;
    while (left_ < expected) {
      control();
      for (int64_t c = 0; c < cols_; ++c) shift_sums(c);
      step();
      ++now_;
    }
    return now_;
  }

  int64_t multiplications() const { return multiplications_; }

 private:
  struct Pair {  // which step of which tile entered row 0 and column 0 at some cycle
    bool valid = false;
    int64_t tile = 0, index = 0;
  };
  struct Outgoing {
    bool valid = false;
    int64_t tile = 0, row = 0;
    Sum sum{};
  };
  struct Element {
    T a{}, b{};
    Pair pair;
    Sum sum{};
    Outgoing outgoing;
  };

  int64_t row_tile(int64_t t) const { return t % tiling_.row_tiles; }
  int64_t col_tile(int64_t t) const { return t / tiling_.row_tiles; }

  void control() {
    Pair& entering = entered_[now_ % entered_.size()];
    entering = {};
    if (may_start()) {
      ++tile_;
      position_ = 0;
      started_at_ = now_;
    }
    if (tile_ >= 0 && position_ < tiling_.streamed) entering = {true, tile_, position_++};
  }

  // The outgoing registers hold one tile: the next one's sums must not be ready before they have moved on.
  bool may_start() const {
    if (tile_ + 1 == tiling_.tiles()) return false;
    if (tile_ < 0) return true;
    if (overlap_ == Overlap::kNone) return left_ == (tile_ + 1) * rows_ * cols_;
    return position_ == tiling_.streamed && now_ >= started_at_ + rows_;
  }

  // Bottom first: a register is free once the one below has taken from it.
  void shift_sums(int64_t c) {
    if (leaving_[c] < 0) return;
    bool any = false;
    for (int64_t r = rows_ - 1; r >= 0; --r) {
      Outgoing& here = elements_[r * cols_ + c].outgoing;
      if (!here.valid || here.tile != leaving_[c]) continue;
      any = true;
      if (r == rows_ - 1) {
        leave(c, here);
      } else {
        Outgoing& below = elements_[(r + 1) * cols_ + c].outgoing;
        ARM_CHECK(!below.valid);
        below = here;
        if (r + 1 == rows_ - 1) leave(c, below);
      }
      here.valid = false;
    }
    if (!any) leaving_[c] = -1;
  }

  void step() {
    for (int64_t r = rows_ - 1; r >= 0; --r) {
      for (int64_t c = cols_ - 1; c >= 0; --c) step_element(r, c);
    }
  }

  void step_element(int64_t r, int64_t c) {
    Element& e = elements_[r * cols_ + c];
    take_a(e, r, c);
    take_b(e, r, c);
    if (!e.pair.valid) return;
    e.sum = multiply_add(e.sum, e.a, e.b);
    ++multiplications_;
    if (e.pair.index != tiling_.streamed - 1) return;
    ARM_CHECK(!e.outgoing.valid);
    e.outgoing = {true, e.pair.tile, r, e.sum};
    e.sum = {};
    if (r == rows_ - 1) {
      ARM_CHECK(leaving_[c] < 0 || rows_ == 1);
      leave(c, e.outgoing);
      leaving_[c] = rows_ == 1 ? -1 : e.pair.tile;
    }
  }

  void take_a(Element& e, int64_t r, int64_t c) {
    if (c > 0) {
      const Element& left = elements_[r * cols_ + c - 1];
      e.a = left.a;
      e.pair = left.pair;
      return;
    }
    e.pair = now_ < r ? Pair{} : entered_[(now_ - r) % entered_.size()];
    if (e.pair.valid) e.a = a_.at(row_tile(e.pair.tile) * rows_ + r, e.pair.index);
  }

  void take_b(Element& e, int64_t r, int64_t c) {
    if (r > 0) {
      e.b = elements_[(r - 1) * cols_ + c].b;
    } else if (now_ >= c) {
      const Pair& p = entered_[(now_ - c) % entered_.size()];
      if (p.valid) e.b = b_.at(p.index, col_tile(p.tile) * cols_ + c);
    }
  }

  void leave(int64_t c, Outgoing& word) {
    word.valid = false;
    ++left_;
    const int64_t row = row_tile(word.tile) * rows_ + word.row;
    const int64_t column = col_tile(word.tile) * cols_ + c;
    if (row < a_.rows && column < b_.cols) out_[row * b_.cols + column] = word.sum;
  }

  const int64_t rows_, cols_;
  const Tiling tiling_;
  const Overlap overlap_;
  const PaddedView<T> a_, b_;
  std::vector<Sum>& out_;
  std::vector<Element> elements_;
  std::vector<int64_t> leaving_;  // for each column the tile whose sums move down, or -1
  std::vector<Pair> entered_;     // the last cycles' entries, one for each row or column of skew
  Cycles now_ = 0, started_at_ = 0;
  int64_t tile_ = -1, position_ = 0;
  int64_t left_ = 0, multiplications_ = 0;
};

}  // namespace armillary::sim
