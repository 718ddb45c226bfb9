#include "xla_core/backends/cpu/native/dot.h"

#include <complex>
#include <functional>

#include <gtest/gtest.h>

#include "xla_core/backends/cpu/native/test_arrays.h"
#include "xla_core/base/parallel_for.h"

namespace armillary::native {
namespace {

// Sums in double (or in wrapping integers) over every index, one element at a time.
void check_dot(Array lhs, Array rhs, const DotDims& d, DType out, double tolerance) {
  Dims lhs_free, rhs_free, result_dims;
  auto is_free = [](const Dims& a, const Dims& b, int64_t d) {
    return !std::ranges::count(a, d) && !std::ranges::count(b, d);
  };
  for (int64_t b : d.lhs_batch) result_dims.push_back(lhs.dims()[b]);
  for (int64_t i = 0; i < lhs.rank(); ++i)
    if (is_free(d.lhs_batch, d.lhs_contracting, i))
      lhs_free.push_back(i), result_dims.push_back(lhs.dims()[i]);
  for (int64_t i = 0; i < rhs.rank(); ++i)
    if (is_free(d.rhs_batch, d.rhs_contracting, i))
      rhs_free.push_back(i), result_dims.push_back(rhs.dims()[i]);
  Dims depth_dims;
  for (int64_t k : d.lhs_contracting) depth_dims.push_back(lhs.dims()[k]);
  Array got(out, result_dims), want(out, result_dims);
  for_each_index(result_dims, [&](const Dims& at) {
    Dims li(lhs.rank()), ri(rhs.rank());
    size_t p = 0;
    for (size_t b = 0; b < d.lhs_batch.size(); ++b) li[d.lhs_batch[b]] = ri[d.rhs_batch[b]] = at[p++];
    for (int64_t f : lhs_free) li[f] = at[p++];
    for (int64_t f : rhs_free) ri[f] = at[p++];
    std::complex<double> sum = 0;
    uint64_t wrapped = 0;
    for_each_index(depth_dims, [&](const Dims& k) {
      for (size_t i = 0; i < k.size(); ++i) li[d.lhs_contracting[i]] = ri[d.rhs_contracting[i]] = k[i];
      if (is_integral(out))
        wrapped += static_cast<uint64_t>(lhs.integer(li)) * static_cast<uint64_t>(rhs.integer(ri));
      else
        sum += lhs.value(li) * rhs.value(ri);
    });
    if (is_integral(out))
      want.set_integer(at, static_cast<int64_t>(out == DType::kPred ? wrapped != 0 : wrapped));
    else
      want.set(at, sum);
  });
  for (int threads : {1, 3}) {
    set_num_threads(threads);
    got.fill_garbage();
    dot(lhs.ref(), rhs.ref(), d, got.ref());
    expect_near(got, want, tolerance);
  }
}

double tolerance_of(DType d) { return is_integral(d) ? 0 : 2e-5 + 2 * epsilon_of(d); }

TEST(Dot, plain_matrices_of_every_size_match_the_definition) {
  for (int64_t m : {1, 2, 5, 14, 33}) {
    for (int64_t n : {1, 3, 8, 31, 32, 70}) {
      for (int64_t k : {1, 7, 64, 400}) {
        check_dot(random_array(DType::kF32, {m, k}, 1), random_array(DType::kF32, {k, n}, 2),
                  {{}, {}, {1}, {0}}, DType::kF32, 2e-5);
        check_dot(random_array(DType::kF64, {k, m}, 1), random_array(DType::kF64, {n, k}, 2),
                  {{}, {}, {0}, {1}}, DType::kF64, 1e-12);
      }
    }
  }
}

// Plain matrices, with the sums of the definition over unpacked values.
void check_large(DType d, Dims lhs_dims, Dims rhs_dims, bool lhs_turned, bool rhs_turned, double tolerance) {
  Array lhs = random_array(d, lhs_dims, 1), rhs = random_array(d, rhs_dims, 2);
  std::vector<double> a, b;
  for (int64_t i = 0; i < lhs.size(); ++i) a.push_back(lhs.value(i).real());
  for (int64_t i = 0; i < rhs.size(); ++i) b.push_back(rhs.value(i).real());
  const int64_t m = lhs_dims[lhs_turned], k = lhs_dims[!lhs_turned], n = rhs_dims[!rhs_turned];
  Array got(d, {m, n}), want(d, {m, n});
  std::vector<double> row(n);
  for (int64_t i = 0; i < m; ++i) {
    std::fill(row.begin(), row.end(), 0);
    for (int64_t t = 0; t < k; ++t) {
      const double f = lhs_turned ? a[t * m + i] : a[i * k + t];
      for (int64_t j = 0; j < n; ++j) row[j] += f * (rhs_turned ? b[j * k + t] : b[t * n + j]);
    }
    for (int64_t j = 0; j < n; ++j) want.set(i * n + j, row[j]);
  }
  for (int threads : {1, 3}) {
    set_num_threads(threads);
    got.fill_garbage();
    dot(lhs.ref(), rhs.ref(), {{}, {}, {lhs_turned ? 0 : 1}, {rhs_turned ? 1 : 0}}, got.ref());
    expect_near(got, want, tolerance);
  }
}

TEST(Dot, large_matrices_cross_every_block_boundary) {
  check_large(DType::kF32, {203, 801}, {801, 1130}, false, false, 2e-5);
  check_large(DType::kF32, {801, 203}, {530, 801}, true, true, 2e-5);
  check_large(DType::kF64, {801, 500}, {801, 70}, true, false, 1e-13);
  check_large(DType::kBF16, {520, 500}, {600, 500}, false, true, 1e-2);
  check_large(DType::kF32, {30, 900}, {900, 2000}, false, false, 2e-5);
}

TEST(Dot, thin_products_match_the_definition) {
  for (int64_t n : {1, 2, 4}) {
    check_dot(random_array(DType::kF32, {n, 70000}, 1), random_array(DType::kF32, {3, 70000}, 2),
              {{}, {}, {1}, {1}}, DType::kF32, 2e-4);
    check_dot(random_array(DType::kF32, {300, 200}, 1), random_array(DType::kF32, {n, 200}, 2),
              {{}, {}, {1}, {1}}, DType::kF32, 2e-5);
    check_dot(random_array(DType::kF32, {200, 300}, 1), random_array(DType::kF32, {200, n}, 2),
              {{}, {}, {0}, {0}}, DType::kF32, 2e-5);
    check_dot(random_array(DType::kF32, {n, 200}, 1), random_array(DType::kF32, {200, 5000}, 2),
              {{}, {}, {1}, {0}}, DType::kF32, 2e-5);
  }
}

TEST(Dot, batch_and_contracting_dimensions_may_stand_anywhere) {
  for (DType d : {DType::kF32, DType::kC64, DType::kS32}) {
    const double t = tolerance_of(d);
    check_dot(random_array(d, {3, 4, 5, 2}, 1), random_array(d, {4, 2, 6, 3}, 2), {{3, 0}, {1, 3}, {1}, {0}},
              d, t);
    check_dot(random_array(d, {4, 5, 6}, 1), random_array(d, {6, 4, 3}, 2), {{}, {}, {0, 2}, {1, 0}}, d, t);
    check_dot(random_array(d, {7, 5, 6}, 1), random_array(d, {7, 6, 3}, 2), {{0}, {0}, {2}, {1}}, d, t);
    check_dot(random_array(d, {5}, 1), random_array(d, {4}, 2), {{}, {}, {}, {}}, d, t);
    check_dot(random_array(d, {}, 1), random_array(d, {}, 2), {{}, {}, {}, {}}, d, t);
  }
}

TEST(Dot, every_dtype_matches_the_definition) {
  for (int i = 0; i < kNumDTypes; ++i) {
    const DType d = static_cast<DType>(i);
    if (!is_array_dtype(d) || d == DType::kF4E2M1FN || d == DType::kF8E8M0FNU) continue;
    SCOPED_TRACE(std::string(to_string(d)));
    check_dot(random_array(d, {20, 19}, 1), random_array(d, {19, 40}, 2), {{}, {}, {1}, {0}}, d,
              tolerance_of(d));
  }
}

TEST(Dot, operands_are_converted_to_the_accumulator) {
  using enum DType;
  const std::tuple<DType, DType, DType> mixes[] = {
      {kS8, kS8, kS32},   {kBF16, kBF16, kF32}, {kF8E4M3FN, kF8E5M2, kF32}, {kF16, kF32, kF32},
      {kF32, kF64, kF64}, {kS8, kF32, kF32},    {kU8, kS8, kS32},           {kS32, kF32, kF32},
      {kF32, kC64, kC64}, {kS8, kS8, kS64},     {kBF16, kF32, kF64},        {kS4, kS4, kS32}};
  for (auto [l, r, out] : mixes) {
    SCOPED_TRACE(std::string(to_string(l)) + " x " + std::string(to_string(r)));
    check_dot(random_array(l, {17, 30}, 1), random_array(r, {45, 30}, 2), {{}, {}, {1}, {1}}, out,
              tolerance_of(out));
  }
}

// Two by two they are multiplied by one instruction.
TEST(Dot, narrow_integers_of_every_depth_and_order_match_the_definition) {
  using enum DType;
  const std::pair<DType, DType> kinds[] = {{kS8, kS8}, {kU8, kS8}, {kS16, kS16}, {kS4, kU8}, {kPred, kS16}};
  for (auto [l, r] : kinds)
    for (int64_t k : {1, 2, 3, 97, 384, 385, 770})
      for (bool turned : {false, true})
        for (auto [m, n] : {std::pair<int64_t, int64_t>{9, 33}, {16, 64}}) {
          SCOPED_TRACE(std::string(to_string(l)) + " x " + std::string(to_string(r)) + " " +
                       std::to_string(k));
          check_dot(random_array(l, turned ? Dims{k, m} : Dims{m, k}, 1),
                    random_array(r, turned ? Dims{n, k} : Dims{k, n}, 2),
                    {{}, {}, {turned ? 0 : 1}, {turned ? 1 : 0}}, kS32, 0);
        }
  check_dot(random_array(kS8, {5, 3, 11}, 1), random_array(kS8, {11, 40, 3}, 2), {{}, {}, {1, 2}, {2, 0}},
            kS32, 0);
}

TEST(Dot, products_of_the_least_numbers_wrap) {
  Array a(DType::kS16, {3, 4}), b(DType::kS16, {4, 40});
  for (int64_t i = 0; i < a.size(); ++i) a.set(i, -32768);
  for (int64_t i = 0; i < b.size(); ++i) b.set(i, -32768);
  check_dot(a, b, {{}, {}, {1}, {0}}, DType::kS32, 0);
  check_dot(a, b, {{}, {}, {1}, {0}}, DType::kS16, 0);
}

TEST(Dot, empty_dimensions_give_zeros_or_nothing) {
  for (DType d : {DType::kF32, DType::kBF16, DType::kC128, DType::kS8}) {
    check_dot(random_array(d, {3, 0}, 1), random_array(d, {0, 5}, 2), {{}, {}, {1}, {0}}, d, 0);
    check_dot(random_array(d, {0, 3}, 1), random_array(d, {3, 5}, 2), {{}, {}, {1}, {0}}, d, 0);
    check_dot(random_array(d, {3, 2}, 1), random_array(d, {2, 0}, 2), {{}, {}, {1}, {0}}, d, 0);
    check_dot(random_array(d, {0, 3, 2}, 1), random_array(d, {0, 2, 4}, 2), {{0}, {0}, {2}, {1}}, d, 0);
    check_dot(random_array(d, {40, 0}, 1), random_array(d, {0, 50}, 2), {{}, {}, {1}, {0}}, d, 0);
  }
}

TEST(Dot, results_do_not_depend_on_the_number_of_threads) {
  Array a = random_array(DType::kF32, {333, 1000}, 3), b = random_array(DType::kF32, {1000, 257}, 4);
  Array one(DType::kF32, {333, 257}), many(DType::kF32, {333, 257});
  set_num_threads(1);
  dot(a.ref(), b.ref(), {{}, {}, {1}, {0}}, one.ref());
  set_num_threads(7);
  dot(a.ref(), b.ref(), {{}, {}, {1}, {0}}, many.ref());
  EXPECT_EQ(one.bytes(), many.bytes());
}

TEST(Dot, the_epilogue_sees_every_element_once) {
  for (Dims m : {Dims{3, 5}, Dims{200, 90}, Dims{1, 5000}}) {
    for (DType d : {DType::kF32, DType::kBF16, DType::kC64}) {
      std::vector<std::atomic<int>> seen(m[0] * m[1]);
      Array a = random_array(d, {m[0], 40}, 1), b = random_array(d, {40, m[1]}, 2), c(d, m);
      dot(a.ref(), b.ref(), {{}, {}, {1}, {0}}, c.ref(), [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) seen[i]++;
      });
      for (auto& s : seen) ASSERT_EQ(s.load(), 1);
    }
  }
}

}  // namespace
}  // namespace armillary::native
