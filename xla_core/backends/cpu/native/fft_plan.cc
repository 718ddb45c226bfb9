#include "xla_core/backends/cpu/native/fft_plan.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <numbers>
#include <type_traits>

#include "xla_core/backends/cpu/native/fft_stages.h"
#include "xla_core/backends/cpu/native/isa.h"
#include "xla_core/base/parallel_for.h"

namespace armillary::native {
namespace {

const FftTable& table() {
  switch (best_isa()) {
    case Isa::kAvx512:
      return fft_table_avx512();
    case Isa::kAvx2:
      return fft_table_avx2();
    default:
      return fft_table_baseline();
  }
}

template <class R>
void run_stage(const FftStage<R>& s, int64_t begin, int64_t end) {
  if constexpr (std::is_same_v<R, float>)
    table().stage_f32(s, begin, end);
  else
    table().stage_f64(s, begin, end);
}

// exp(-2 pi i k / n), exact at quarter turns.
std::pair<double, double> root(int64_t k, int64_t n) {
  k %= n;
  if (8 * k > 7 * n) {  // mirror images
    auto [c, s] = root(n - k, n);
    return {c, -s};
  }
  if (4 * k == n) return {0, -1};
  if (2 * k == n) return {-1, 0};
  if (4 * k == 3 * n) return {0, 1};
  const double angle = 2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n);
  return {std::cos(angle), -std::sin(angle)};
}

// 4 first, then the primes; empty when a prime above kMaxRadix is left.
std::vector<int64_t> factors_of(int64_t n) {
  std::vector<int64_t> factors;
  for (int64_t f : {4, 2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31})
    for (; n % f == 0; n /= f) factors.push_back(f);
  if (n != 1) factors.clear();
  return factors;
}

}  // namespace

template <class R>
FftPlan<R>::FftPlan(int64_t n) : n_(n) {
  if (n <= 1) return;
  const std::vector<int64_t> factors = factors_of(n);
  if (factors.empty()) {
    inner_size_ = 1;
    while (inner_size_ < 2 * n - 1) inner_size_ *= 2;
    inner_ = &of(inner_size_);
    chirp_re_.resize(n), chirp_im_.resize(n);
    filter_re_.assign(inner_size_, 0), filter_im_.assign(inner_size_, 0);
    for (int64_t k = 0; k < n; ++k) {
      const auto [c, s] = root(static_cast<int64_t>(static_cast<unsigned __int128>(k) * k % (2 * n)), 2 * n);
      chirp_re_[k] = static_cast<R>(c), chirp_im_[k] = static_cast<R>(s);
      filter_re_[k] = filter_re_[(inner_size_ - k) % inner_size_] = static_cast<R>(c);
      filter_im_[k] = filter_im_[(inner_size_ - k) % inner_size_] = static_cast<R>(-s);
    }
    std::vector<R> scratch(inner_->scratch_size(1));
    inner_->run(filter_re_.data(), filter_im_.data(), scratch.data(), 1);
    for (int64_t k = 0; k < inner_size_; ++k) filter_re_[k] /= inner_size_, filter_im_[k] /= inner_size_;
    return;
  }
  int64_t length = n;
  for (int64_t r : factors) {
    Stage stage{r, length / r, {}, {}};
    for (int64_t p = 0; p < stage.m; ++p)
      for (int64_t j = 1; j < r; ++j) {
        const auto [c, s] = root(p * j, length);
        stage.twiddles.push_back(static_cast<R>(c));
        stage.twiddles.push_back(static_cast<R>(s));
      }
    for (int64_t j = 0; j < r; ++j) {
      const auto [c, s] = root(j, r);
      stage.roots.push_back(static_cast<R>(c));
      stage.roots.push_back(static_cast<R>(-s));
    }
    length /= r;
    stages_.push_back(std::move(stage));
  }
}

template <class R>
const FftPlan<R>& FftPlan<R>::of(int64_t n) {
  static std::recursive_mutex mutex;  // a Bluestein plan asks for another one
  static auto* const plans = new std::map<int64_t, std::unique_ptr<FftPlan>>;
  std::lock_guard<std::recursive_mutex> lock(mutex);
  auto it = plans->find(n);
  if (it == plans->end()) it = plans->emplace(n, std::make_unique<FftPlan>(n)).first;
  return *it->second;
}

template <class R>
int64_t FftPlan<R>::scratch_size(int64_t lines) const {
  return inner_ ? 2 * inner_size_ * lines + inner_->scratch_size(lines) : 2 * n_ * lines;
}

template <class R>
void FftPlan<R>::run(R* re, R* im, R* scratch, int64_t lines) const {
  if (inner_) return run_bluestein(re, im, scratch, lines);
  R* xr = re;
  R* xi = im;
  R* yr = scratch;
  R* yi = scratch + n_ * lines;
  int64_t stride = lines;
  for (const Stage& stage : stages_) {
    const FftStage<R> s{stage.radix,           stage.m,           stride, xr, xi, yr, yi,
                        stage.twiddles.data(), stage.roots.data()};
    const int64_t grain = std::max<int64_t>(1, 16384 / (stride * stage.radix));
    parallel_for(stage.m, grain, [&](int64_t begin, int64_t end) { run_stage(s, begin, end); });
    std::swap(xr, yr);
    std::swap(xi, yi);
    stride *= stage.radix;
  }
  if (xr == re) return;
  std::copy(xr, xr + n_ * lines, re);
  std::copy(xi, xi + n_ * lines, im);
}

template <class R>
void FftPlan<R>::run_bluestein(R* re, R* im, R* scratch, int64_t lines) const {
  R* ar = scratch;
  R* ai = scratch + inner_size_ * lines;
  R* rest = scratch + 2 * inner_size_ * lines;
  for (int64_t k = 0; k < n_; ++k) {
    const R c = chirp_re_[k], s = chirp_im_[k];
    for (int64_t l = k * lines; l < (k + 1) * lines; ++l) {
      ar[l] = re[l] * c - im[l] * s;
      ai[l] = re[l] * s + im[l] * c;
    }
  }
  std::fill(ar + n_ * lines, ar + inner_size_ * lines, R(0));
  std::fill(ai + n_ * lines, ai + inner_size_ * lines, R(0));
  inner_->run(ar, ai, rest, lines);
  for (int64_t k = 0; k < inner_size_; ++k) {
    const R c = filter_re_[k], s = filter_im_[k];
    for (int64_t l = k * lines; l < (k + 1) * lines; ++l) {
      const R r = ar[l] * c - ai[l] * s;
      ai[l] = ar[l] * s + ai[l] * c;
      ar[l] = r;
    }
  }
  inner_->run(ai, ar, rest, lines);  // backwards
  for (int64_t k = 0; k < n_; ++k) {
    const R c = chirp_re_[k], s = chirp_im_[k];
    for (int64_t l = k * lines; l < (k + 1) * lines; ++l) {
      re[l] = ar[l] * c - ai[l] * s;
      im[l] = ar[l] * s + ai[l] * c;
    }
  }
}

template class FftPlan<float>;
template class FftPlan<double>;

}  // namespace armillary::native
