// One-dimensional complex transforms of any length: mixed radix where the factors are small, Bluestein's
// method otherwise.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace armillary::native {

template <class R>
class FftPlan {
 public:
  // Plans are made once per length and live as long as the process.
  static const FftPlan& of(int64_t n);

  // Transforms `lines` lines at once, forwards and unscaled. Point k of line l lies at [k * lines + l];
  // scratch has scratch_size(lines) values. Swapping re and im gives the backward transform.
  void run(R* re, R* im, R* scratch, int64_t lines) const;
  int64_t scratch_size(int64_t lines) const;

  explicit FftPlan(int64_t n);

 private:
  struct Stage {
    int64_t radix, m;
    std::vector<R> twiddles, roots;
  };

  void run_bluestein(R* re, R* im, R* scratch, int64_t lines) const;

  int64_t n_;
  std::vector<Stage> stages_;
  // Bluestein: x[k] chirp[k], convolved with conj(chirp), times chirp[k] again; the convolution is done by
  // transforms of a power of two.
  const FftPlan* inner_ = nullptr;
  int64_t inner_size_ = 0;
  std::vector<R> chirp_re_, chirp_im_, filter_re_, filter_im_;
};

}  // namespace armillary::native
