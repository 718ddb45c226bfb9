#include "xla_core/backends/cpu/native/sort.h"

#include <limits>
#include <numeric>

#include <gtest/gtest.h>

#include "xla_core/backends/cpu/native/test_arrays.h"
#include "xla_core/backends/cpu/native/topk.h"
#include "xla_core/base/parallel_for.h"

namespace armillary::native {
namespace {

// JAX's order on values: NaNs last and equal, zeros equal.
bool jax_less(long double a, long double b) { return std::isnan(a) ? false : std::isnan(b) ? true : a < b; }

Array special_array(DType d, Dims dims, uint32_t seed) {
  Array a = random_array(d, std::move(dims), seed);
  std::mt19937 rng(seed + 1);
  for (int64_t i = 0; i < a.size() && is_float(d); ++i) {
    const double specials[] = {0.0, -0.0, INFINITY, -INFINITY, NAN, -NAN, 0.5, 0.5};
    if (rng() % 3 == 0) a.set(i, specials[rng() % 8]);
  }
  return a;
}

void check_sort(DType d, const Dims& dims, int64_t dimension, bool descending) {
  Array keys = special_array(d, dims, 3), payload(DType::kS32, dims), out(d, dims), moved(DType::kS32, dims);
  std::iota(payload.as<int32_t>(), payload.as<int32_t>() + payload.size(), 0);
  const ArrayRef in[] = {keys.ref(), payload.ref()}, to[] = {out.ref(), moved.ref()};
  const int64_t n = dims[dimension];
  for (int threads : {1, 4}) {
    set_num_threads(threads);
    sort(in, to, {.dimension = dimension, .by_first = KeyOrder{.descending = descending}});
    Dims others = dims;
    others[dimension] = 1;
    for_each_index(others, [&](const Dims& at) {
      std::vector<int64_t> order(n);
      std::iota(order.begin(), order.end(), 0);
      auto index = [&](int64_t i) {
        Dims where = at;
        where[dimension] = i;
        return keys.linear(where);
      };
      auto value = [&](int64_t i) -> long double {
        const int64_t whole = is_integral(d) ? keys.literal().get_int(index(i)) : 0;
        if (d == DType::kU64) return static_cast<uint64_t>(whole);
        return is_integral(d) ? static_cast<long double>(whole)
                              : static_cast<long double>(keys.value(index(i)).real());
      };
      std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
        return descending ? jax_less(value(b), value(a)) : jax_less(value(a), value(b));
      });
      for (int64_t i = 0; i < n; ++i) {
        ASSERT_EQ(moved.as<int32_t>()[index(i)], payload.as<int32_t>()[index(order[i])])
            << "row element " << i;
        ASSERT_EQ(0, std::memcmp(out.ref().data + index(i) * byte_size(d),
                                 keys.ref().data + index(order[i]) * byte_size(d), byte_size(d)));
      }
    });
  }
}

TEST(Sort, every_dtype_in_jax_order) {
  for (int i = 0; i < kNumDTypes; ++i) {
    const DType d = static_cast<DType>(i);
    if (!KeyReader::supports(d) || d == DType::kF4E2M1FN || d == DType::kF8E8M0FNU) continue;
    SCOPED_TRACE(std::string(to_string(d)));
    check_sort(d, {3, 40}, 1, false);
    check_sort(d, {70, 5}, 0, true);
    check_sort(d, {2, 1000}, 1, false);
  }
}

TEST(Sort, long_rows_and_strided_rows) {
  check_sort(DType::kF32, {200000}, 0, false);
  check_sort(DType::kF64, {200000}, 0, true);
  check_sort(DType::kS32, {700, 37}, 0, false);
  check_sort(DType::kBF16, {3, 600, 9}, 1, false);
  check_sort(DType::kF32, {1, 1}, 0, false);
}

// By the sum of both operands.
void less_by_sum(std::byte* const* b, int64_t, int64_t) {
  auto f = [&](int i) { return *reinterpret_cast<float*>(b[i]); };
  *reinterpret_cast<bool*>(b[4]) = f(0) + f(2) < f(1) + f(3);
}
// No order at all: claims that everything comes before everything.
void always(std::byte* const* b, int64_t, int64_t) { *reinterpret_cast<bool*>(b[2]) = true; }

TEST(Sort, a_comparator_decides_and_ties_keep_their_order) {
  for (Dims dims : {Dims{5, 100}, Dims{40000}, Dims{30, 7}}) {
    for (int64_t dimension = 0; dimension < static_cast<int64_t>(dims.size()); ++dimension) {
      Array a = random_array(DType::kF32, dims, 1), b = random_array(DType::kF32, dims, 2),
            x(DType::kF32, dims), y(DType::kF32, dims);
      for (int64_t i = 0; i < a.size(); ++i)
        a.set(i, std::round(a.value(i).real() * 4)), b.set(i, std::round(b.value(i).real() * 4));
      const ArrayRef in[] = {a.ref(), b.ref()}, to[] = {x.ref(), y.ref()};
      for (int threads : {1, 4}) {
        set_num_threads(threads);
        sort(in, to, {.dimension = dimension, .compare = less_by_sum});
        Dims others = dims;
        others[dimension] = 1;
        for_each_index(others, [&](const Dims& at) {
          std::vector<int64_t> order;
          Dims where = at;
          for (int64_t i = 0; i < dims[dimension]; ++i)
            where[dimension] = i, order.push_back(a.linear(where));
          const std::vector<int64_t> places = order;
          std::stable_sort(order.begin(), order.end(), [&](int64_t p, int64_t q) {
            return a.value(p).real() + b.value(p).real() < a.value(q).real() + b.value(q).real();
          });
          for (size_t i = 0; i < order.size(); ++i) {
            ASSERT_EQ(x.value(places[i]), a.value(order[i]));
            ASSERT_EQ(y.value(places[i]), b.value(order[i]));
          }
        });
      }
    }
  }
}

TEST(Sort, a_comparator_without_sense_gives_some_permutation) {
  Array a = random_array(DType::kF32, {30000}, 1), out(DType::kF32, {30000});
  const ArrayRef in[] = {a.ref()}, to[] = {out.ref()};
  sort(in, to, {.dimension = 0, .compare = always});
  std::sort(a.as<float>(), a.as<float>() + 30000);
  std::sort(out.as<float>(), out.as<float>() + 30000);
  EXPECT_EQ(a.bytes(), out.bytes());
}

TEST(Sort, works_in_place_and_on_nothing) {
  Array a = random_array(DType::kS32, {9, 100}, 1);
  const ArrayRef both[] = {a.ref()};
  sort(both, both, {.dimension = 1, .by_first = KeyOrder{}});
  for (int r = 0; r < 9; ++r)
    EXPECT_TRUE(std::is_sorted(a.as<int32_t>() + r * 100, a.as<int32_t>() + r * 100 + 100));
  Array empty(DType::kS32, {0, 4});
  const ArrayRef none[] = {empty.ref()};
  sort(none, none, {.dimension = 0, .by_first = KeyOrder{}});
}

TEST(TopK, equals_a_stable_descending_sort) {
  for (DType d : {DType::kF32, DType::kBF16, DType::kS32, DType::kF64, DType::kU8}) {
    for (int64_t k : {0, 1, 7, 100, 300}) {
      for (bool largest : {true, false}) {
        Array a = random_array(d, {5, 300}, 8), values(d, {5, k}), indices(DType::kS32, {5, k});
        if (is_float(d)) a.set(3, NAN), a.set(10, INFINITY), a.set(12, -0.0), a.set(14, 0.0);
        topk(a.ref(), k, largest, values.ref(), indices.ref());
        Array order(DType::kS32, {5, 300}), sorted(d, {5, 300}), positions(DType::kS32, {5, 300});
        for (int i = 0; i < 1500; ++i) positions.as<int32_t>()[i] = i % 300;
        const ArrayRef in[] = {a.ref(), positions.ref()}, to[] = {sorted.ref(), order.ref()};
        sort(in, to, {.dimension = 1, .by_first = KeyOrder{.descending = largest, .canonical = false}});
        for (int64_t r = 0; r < 5; ++r)
          for (int64_t i = 0; i < k; ++i)
            ASSERT_EQ(indices.as<int32_t>()[r * k + i], order.as<int32_t>()[r * 300 + i]);
      }
    }
  }
}

}  // namespace
}  // namespace armillary::native
