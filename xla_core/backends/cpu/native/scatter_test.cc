#include "xla_core/backends/cpu/native/scatter.h"

#include <gtest/gtest.h>

#include "xla_core/backends/cpu/native/gather.h"
#include "xla_core/backends/cpu/native/test_arrays.h"
#include "xla_core/base/parallel_for.h"

namespace armillary::native {
namespace {

bool holds(const Dims& list, int64_t d) { return std::ranges::count(list, d) > 0; }

// A random gather or scatter: both are described by the same dimension numbers.
struct Case {
  Dims operand, indices, slices, result;
  Dims offset_dims, collapsed, batching, index_batching, index_map;
  int64_t vector_dim;
};

Case random_case(std::mt19937& rng) {
  auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(rng);
  };
  Case c;
  const int64_t rank = pick(1, 4), batch_rank = pick(0, 2);
  for (int64_t d = 0; d < rank; ++d) c.operand.push_back(pick(1, 6));
  Dims batch;
  for (int64_t d = 0; d < batch_rank; ++d) batch.push_back(pick(1, 5));
  for (int64_t d = 0; d < rank; ++d) {
    const int64_t role = pick(0, 3);
    if (role == 0 && static_cast<int64_t>(c.batching.size()) < batch_rank) {
      c.index_batching.push_back(static_cast<int64_t>(c.batching.size()));
      c.batching.push_back(d);
      batch[c.index_batching.back()] = c.operand[d];
      c.slices.push_back(1);
    } else {
      c.slices.push_back(role == 1 ? 1 : pick(1, c.operand[d]));
      if (role == 1) c.collapsed.push_back(d);
      if (pick(0, 2) > 0) c.index_map.push_back(d);
    }
  }
  std::shuffle(c.index_map.begin(), c.index_map.end(), rng);
  c.vector_dim = pick(0, batch_rank);
  c.indices = batch;
  if (c.index_map.size() == 1 && pick(0, 1) == 0)
    c.vector_dim = batch_rank;
  else
    c.indices.insert(c.indices.begin() + c.vector_dim, static_cast<int64_t>(c.index_map.size()));
  for (int64_t& d : c.index_batching)
    d += static_cast<int64_t>(c.indices.size()) > batch_rank && d >= c.vector_dim;
  Dims window;
  for (int64_t d = 0; d < rank; ++d)
    if (!holds(c.collapsed, d) && !holds(c.batching, d)) window.push_back(c.slices[d]);
  Dims order;
  for (size_t d = 0; d < window.size() + batch.size(); ++d) order.push_back(d);
  std::shuffle(order.begin(), order.end(), rng);
  c.offset_dims = Dims(order.begin(), order.begin() + window.size());
  std::ranges::sort(c.offset_dims);
  size_t w = 0, b = 0;
  for (size_t d = 0; d < order.size(); ++d)
    c.result.push_back(holds(c.offset_dims, d) ? window[w++] : batch[b++]);
  return c;
}

Array random_indices(const Case& c, DType d, uint32_t seed) {
  Array a(d, c.indices);
  std::mt19937 rng(seed);
  for (int64_t i = 0; i < a.size(); ++i)
    a.literal().set_int(i, static_cast<int64_t>(rng() % 9) - (is_signed(d) ? 2 : 0));
  return a;
}

// Where element `at` of the gather's result (the scatter's update) lies in the operand. False: dropped.
bool operand_index(const Case& c, const Array& indices, const Dims& at, bool clamp, Dims& out) {
  Dims batch, window;
  for (size_t d = 0; d < at.size(); ++d) (holds(c.offset_dims, d) ? window : batch).push_back(at[d]);
  Dims where = batch;
  const bool scalar = c.vector_dim == static_cast<int64_t>(c.indices.size());
  if (!scalar) where.insert(where.begin() + c.vector_dim, 0);
  out.assign(c.operand.size(), 0);
  for (size_t k = 0; k < c.index_map.size(); ++k) {
    if (!scalar) where[c.vector_dim] = k;
    const int64_t dim = c.index_map[k], value = indices.integer(where), last = c.operand[dim] - c.slices[dim];
    if (!clamp && (value < 0 || value > last)) return false;
    out[dim] = std::clamp<int64_t>(value, 0, last);
  }
  for (size_t k = 0; k < c.batching.size(); ++k) out[c.batching[k]] = where[c.index_batching[k]];
  size_t w = 0;
  for (size_t d = 0; d < c.operand.size(); ++d)
    if (!holds(c.collapsed, d) && !holds(c.batching, d)) out[d] += window[w++];
  return true;
}

TEST(Gather, random_dimension_numbers_match_the_definition) {
  std::mt19937 rng(11);
  for (int round = 0; round < 500; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const Case c = random_case(rng);
    const DType d = std::array{DType::kF32, DType::kS8, DType::kC128, DType::kBF16}[round % 4];
    Array operand = random_array(d, c.operand, round), result(d, c.result), want(d, c.result);
    Array indices = random_indices(c, std::array{DType::kS32, DType::kS64, DType::kU8}[round % 3], round);
    for_each_index(c.result, [&](const Dims& at) {
      Dims from;
      operand_index(c, indices, at, true, from);
      std::memcpy(want.ref().data + want.linear(at) * byte_size(d),
                  operand.ref().data + operand.linear(from) * byte_size(d), byte_size(d));
    });
    set_num_threads(1 + round % 3);
    gather(operand.ref(), indices.ref(),
           {c.offset_dims, c.collapsed, c.index_map, c.batching, c.index_batching, c.slices, c.vector_dim},
           result.ref());
    ASSERT_EQ(result.bytes(), want.bytes());
  }
}

TEST(Gather, large_row_gathers) {
  for (Dims dims : {Dims{1000, 64}, Dims{5, 70000}}) {
    Case c{.operand = dims,
           .indices = {3000 / dims[0] + 1, 1},
           .slices = {1, dims[1]},
           .result = {3000 / dims[0] + 1, dims[1]},
           .offset_dims = {1},
           .collapsed = {0},
           .batching = {},
           .index_batching = {},
           .index_map = {0},
           .vector_dim = 1};
    Array operand = random_array(DType::kF32, c.operand, 1), indices = random_indices(c, DType::kU32, 2),
          result(DType::kF32, c.result);
    for (int threads : {1, 4}) {
      set_num_threads(threads);
      gather(operand.ref(), indices.ref(),
             {c.offset_dims, c.collapsed, c.index_map, {}, {}, c.slices, c.vector_dim}, result.ref());
      for (int64_t i = 0; i < c.result[0]; ++i) {
        const int64_t row = std::min<int64_t>(indices.literal().get_int(i), dims[0] - 1);
        ASSERT_EQ(0, std::memcmp(result.as<float>() + i * dims[1], operand.as<float>() + row * dims[1],
                                 dims[1] * 4));
      }
    }
  }
}

double apply(Combiner c, double a, double b) {
  switch (c) {
    case Combiner::kAdd:
      return a + b;
    case Combiner::kMultiply:
      return a * b;
    case Combiner::kMinimum:
      return std::min(a, b);
    case Combiner::kMaximum:
      return std::max(a, b);
    default:
      return b;
  }
}

void check_scatter(const Case& c, DType d, Combiner combine, uint32_t seed, int threads) {
  Array operand = random_array(d, c.operand, seed), update = random_array(d, c.result, seed + 1),
        result(d, c.operand), want = random_array(d, c.operand, seed);
  Array indices = random_indices(c, DType::kS32, seed);
  ScatterSpec spec{c.offset_dims, c.collapsed, c.index_map, c.batching, c.index_batching,
                   c.vector_dim,  false,       combine,     nullptr};
  // In the order of the index array: batch dimensions outside, the window inside.
  Dims batch_sizes, window_sizes, batch_dims;
  for (size_t k = 0; k < c.result.size(); ++k) {
    if (holds(c.offset_dims, k)) {
      window_sizes.push_back(c.result[k]);
    } else {
      batch_dims.push_back(k);
      batch_sizes.push_back(c.result[k]);
    }
  }
  for_each_index(batch_sizes, [&](const Dims& b) {
    for_each_index(window_sizes, [&](const Dims& w) {
      Dims at(c.result.size()), to;
      for (size_t k = 0; k < b.size(); ++k) at[batch_dims[k]] = b[k];
      for (size_t k = 0; k < w.size(); ++k) at[c.offset_dims[k]] = w[k];
      if (operand_index(c, indices, at, false, to))
        want.set(to, apply(combine, want.value(to).real(), update.value(at).real()));
    });
  });
  set_num_threads(threads);
  const ArrayRef in[] = {operand.ref()}, from[] = {update.ref()}, out[] = {result.ref()};
  scatter(in, indices.ref(), from, spec, out);
  ASSERT_EQ(result.bytes(), want.bytes());
  scatter(in, indices.ref(), from, spec, in);
  ASSERT_EQ(operand.bytes(), want.bytes());
}

TEST(Scatter, random_dimension_numbers_match_the_definition) {
  std::mt19937 rng(12);
  for (int round = 0; round < 500; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const Combiner combine = static_cast<Combiner>(round % 5);
    check_scatter(random_case(rng), combine == Combiner::kMultiply ? DType::kF64 : DType::kBF16, combine,
                  round, 1 + round % 3);
    if (HasFatalFailure()) return;
  }
}

TEST(Scatter, large_scatters_are_the_same_on_any_number_of_threads) {
  Case rows{.operand = {9, 3000},
            .indices = {40, 1},
            .slices = {1, 3000},
            .result = {40, 3000},
            .offset_dims = {1},
            .collapsed = {0},
            .batching = {},
            .index_batching = {},
            .index_map = {0},
            .vector_dim = 1};
  Case scalars{.operand = {9},
               .indices = {50000, 1},
               .slices = {1},
               .result = {50000},
               .offset_dims = {},
               .collapsed = {0},
               .batching = {},
               .index_batching = {},
               .index_map = {0},
               .vector_dim = 1};
  Case overlapping{.operand = {30},
                   .indices = {20000, 1},
                   .slices = {4},
                   .result = {20000, 4},
                   .offset_dims = {1},
                   .collapsed = {},
                   .batching = {},
                   .index_batching = {},
                   .index_map = {0},
                   .vector_dim = 1};
  for (const Case& c : {rows, scalars, overlapping})
    for (int threads : {1, 2, 5})
      for (Combiner combine : {Combiner::kAssign, Combiner::kAdd})
        check_scatter(c, DType::kF64, combine, 3, threads);
}

// Two operands: the greater of the first kind wins, the second goes along.
void greater_pair(std::byte* const* b, int64_t, int64_t) {
  auto f = [&](int i) -> float& { return *reinterpret_cast<float*>(b[i]); };
  const bool take = f(2) > f(0);
  f(4) = take ? f(2) : f(0);
  f(5) = take ? f(3) : f(1);
}

TEST(Scatter, a_function_combines_several_operands) {
  Array a = random_array(DType::kF32, {50}, 1), b = random_array(DType::kF32, {50}, 2),
        x = random_array(DType::kF32, {20000}, 3), y = random_array(DType::kF32, {20000}, 4);
  Array indices(DType::kS32, {20000, 1}), ra(DType::kF32, {50}), rb(DType::kF32, {50});
  for (int i = 0; i < 20000; ++i) indices.as<int32_t>()[i] = (i * 7919) % 53;
  ScatterSpec spec{{}, {0}, {0}, {}, {}, 1, false, Combiner::kFunction, greater_pair};
  const ArrayRef in[] = {a.ref(), b.ref()}, from[] = {x.ref(), y.ref()}, out[] = {ra.ref(), rb.ref()};
  std::vector<float> wa(a.as<float>(), a.as<float>() + 50), wb(b.as<float>(), b.as<float>() + 50);
  for (int i = 0; i < 20000; ++i) {
    const int at = indices.as<int32_t>()[i];
    if (at < 50 && x.as<float>()[i] > wa[at]) wa[at] = x.as<float>()[i], wb[at] = y.as<float>()[i];
  }
  for (int threads : {1, 4}) {
    set_num_threads(threads);
    scatter(in, indices.ref(), from, spec, out);
    EXPECT_TRUE(std::equal(wa.begin(), wa.end(), ra.as<float>()) &&
                std::equal(wb.begin(), wb.end(), rb.as<float>()));
  }
}

TEST(Scatter, minimum_and_maximum_keep_nans_and_order_zeros) {
  for (auto [combine, zero] : {std::pair{Combiner::kMinimum, -0.0f}, std::pair{Combiner::kMaximum, 0.0f}}) {
    for (int order : {0, 1}) {
      float operand[] = {NAN, 1, order ? 0.0f : -0.0f}, update[] = {1, NAN, order ? -0.0f : 0.0f};
      int32_t at[] = {0, 1, 2};
      const ArrayRef in[] = {{DType::kF32, {3}, reinterpret_cast<std::byte*>(operand)}},
                     from[] = {{DType::kF32, {3}, reinterpret_cast<std::byte*>(update)}};
      scatter(in, {DType::kS32, {3, 1}, reinterpret_cast<std::byte*>(at)}, from,
              {{}, {0}, {0}, {}, {}, 1, false, combine, nullptr}, in);
      EXPECT_TRUE(std::isnan(operand[0]) && std::isnan(operand[1]));
      EXPECT_EQ(std::signbit(operand[2]), std::signbit(zero));
    }
  }
}

}  // namespace
}  // namespace armillary::native
