#include "xla_core/backends/cpu/native/select_and_scatter.h"

#include <gtest/gtest.h>

#include "xla_core/backends/cpu/native/test_arrays.h"
#include "xla_core/base/parallel_for.h"

namespace armillary::native {
namespace {

void greater_equal(std::byte* const* b, int64_t, int64_t) {
  *reinterpret_cast<bool*>(b[2]) = *reinterpret_cast<double*>(b[0]) >= *reinterpret_cast<double*>(b[1]);
}
void add(std::byte* const* b, int64_t, int64_t) {
  *reinterpret_cast<double*>(b[2]) = *reinterpret_cast<double*>(b[0]) + *reinterpret_cast<double*>(b[1]);
}

void check(const Dims& dims, const Window& window, bool with_functions) {
  Dims source_dims, sizes;
  for (size_t d = 0; d < dims.size(); ++d) {
    const WindowDim& w = window.dims[d];
    source_dims.push_back((dims[d] + w.pad_low + w.pad_high - w.size) / w.stride + 1);
    sizes.push_back(w.size);
  }
  Array operand = random_array(DType::kF64, dims, 1), source = random_array(DType::kF64, source_dims, 2),
        result(DType::kF64, dims), want(DType::kF64, dims);
  Array init(DType::kF64, {});
  init.set(0, 0.5);
  for (int64_t i = 0; i < want.size(); ++i) want.set(i, 0.5);
  for_each_index(source_dims, [&](const Dims& at) {
    Dims best;
    for_each_index(sizes, [&](const Dims& w) {
      Dims place;
      for (size_t d = 0; d < w.size(); ++d) {
        place.push_back(at[d] * window.dims[d].stride - window.dims[d].pad_low + w[d]);
        if (place[d] < 0 || place[d] >= dims[d]) return;
      }
      if (best.empty() || !(operand.value(best).real() >= operand.value(place).real())) best = place;
    });
    if (!best.empty()) want.set(best, want.value(best) + source.value(at));
  });
  SelectAndScatterSpec spec{.window = window};
  if (with_functions) {
    spec.select_function = greater_equal;
    spec.combine_function = add;
  } else {
    spec.select = SelectAndScatterSpec::kGreaterEqual;
    spec.combine = Combiner::kAdd;
  }
  for (int threads : {1, 3}) {
    set_num_threads(threads);
    select_and_scatter(operand.ref(), source.ref(), init.ref(), spec, result.ref());
    ASSERT_EQ(result.bytes(), want.bytes());
  }
}

TEST(SelectAndScatter, pooling_windows_match_the_definition) {
  const WindowDim none{}, two{.size = 2, .stride = 2},
      three{.size = 3, .stride = 2, .pad_low = 1, .pad_high = 1}, far{.size = 2, .stride = 3, .pad_low = 4};
  for (bool functions : {false, true}) {
    check({3, 8, 10, 20}, {{none, two, two, none}}, functions);
    check({2, 5, 9, 9}, {{none, none, three, three}}, functions);
    check({7}, {{three}}, functions);
    check({6, 4}, {{far, two}}, functions);
  }
}

}  // namespace
}  // namespace armillary::native
