#include "xla_core/kernels/nest.h"

#include <algorithm>

namespace armillary::kernels {
namespace {

constexpr int64_t kLargestChunk = 4096;
constexpr int64_t kSmallestChunk = 256;
constexpr double kOperationsPerChunk = 16384;
constexpr int64_t kLaneMultiple = 64;  // no lane loop has more lanes

int64_t chunk_size(double cost) {
  return std::clamp(static_cast<int64_t>(kOperationsPerChunk / std::max(cost, 1.0)), kSmallestChunk,
                    kLargestChunk) /
         kLaneMultiple * kLaneMultiple;
}

// A chunk near `wanted`, that divides the extent if there is one: then all lanes are always busy.
int64_t divide(int64_t extent, int64_t wanted) {
  for (int64_t c = wanted; c >= wanted / 4 && c >= kLaneMultiple; c -= kLaneMultiple)
    if (extent % c == 0) return c;
  return wanted;
}

int64_t product_of(const std::vector<Factor>& factors) {
  int64_t n = 1;
  for (const Factor& f : factors) n *= f.extent;
  return n;
}

class Nest {
 public:
  Nest(KernelBuilder& b, const std::function<void(const Index&)>& body) : b_(b), body_(body) {}

  // `digits` so far, then a loop for each of factors[k..], the last one in lanes.
  void loops(std::vector<Digit> digits, const std::vector<Factor>& factors, size_t k) {
    if (k == factors.size()) return body_(Index(std::move(digits)));
    auto inner = [&](Val v) {
      digits.push_back({factors[k].extent, factors[k].stride, v});
      loops(digits, factors, k + 1);
      digits.pop_back();
    };
    if (k + 1 == factors.size()) return b_.lane_loop(factors[k].extent, inner);
    b_.loop(factors[k].extent, {}, [&](Val v, auto) {
      inner(v);
      return std::vector<Val>();
    });
  }

 private:
  KernelBuilder& b_;
  const std::function<void(const Index&)>& body_;
};

}  // namespace

std::vector<Factor> factors_of(int64_t total, const std::set<int64_t>& cuts, int64_t least) {
  std::vector<Factor> factors;
  int64_t end = total;
  for (auto cut = cuts.rbegin(); cut != cuts.rend(); ++cut) {
    if (end % *cut != 0) continue;
    factors.push_back({end / *cut, *cut});
    end = *cut;
  }
  if (end > 1 || factors.empty()) factors.push_back({end, 1});
  while (factors.size() > 1 && factors.back().extent < least) {
    const Factor last = factors.back();
    factors.pop_back();
    factors.back() = {factors.back().extent * last.extent, last.stride};
  }
  return factors;
}

std::vector<Digit> digits_of(KernelBuilder& b, const std::vector<Factor>& factors, Val linear) {
  Dims extents;
  for (const Factor& f : factors) extents.push_back(f.extent);
  const std::vector<Val> values = b.delinearize(linear, extents);
  std::vector<Digit> digits;
  for (size_t k = 0; k < factors.size(); ++k)
    digits.push_back({factors[k].extent, factors[k].stride, values[k]});
  return digits;
}

void loop_nest(KernelBuilder& b, std::vector<Factor> factors, double cost,
               const std::function<void(const Index&)>& body) {
  Nest nest(b, body);
  const int64_t wanted = chunk_size(cost);
  const Factor lanes = factors.back();
  if (lanes.extent >= 2 * wanted) {  // threads share the innermost loop
    factors.pop_back();
    const int64_t chunk = divide(lanes.extent, wanted), chunks = (lanes.extent + chunk - 1) / chunk;
    factors.push_back({chunks, lanes.stride * chunk});
    b.kernel().extent = product_of(factors);
    std::vector<Digit> digits = digits_of(b, factors, b.outer_index());
    auto inner = [&](Val v) {
      digits.push_back({chunk, lanes.stride, v});
      body(Index(digits));
    };
    if (lanes.extent % chunk == 0) return b.lane_loop(chunk, inner);
    const Val rest = b.sub(b.index_const(lanes.extent), b.mul(digits.back().value, b.index_const(chunk)));
    return b.lane_loop(b.min(rest, b.index_const(chunk)), chunk, inner);
  }
  std::vector<Factor> inside;
  int64_t elements = 1;
  while (!factors.empty() && (inside.empty() || elements * factors.back().extent <= wanted)) {
    elements *= factors.back().extent;
    inside.insert(inside.begin(), factors.back());
    factors.pop_back();
  }
  b.kernel().extent = product_of(factors);
  nest.loops(factors.empty() ? std::vector<Digit>() : digits_of(b, factors, b.outer_index()), inside, 0);
}

}  // namespace armillary::kernels
