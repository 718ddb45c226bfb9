#include "xla_core/backends/cpu/native/conv.h"

#include <gtest/gtest.h>

#include "xla_core/backends/cpu/native/test_arrays.h"
#include "xla_core/base/parallel_for.h"

namespace armillary::native {
namespace {

int64_t output_size(int64_t input, const WindowDim& w) {
  const int64_t base = input == 0 ? 0 : (input - 1) * w.lhs_dilate + 1,
                window = (w.size - 1) * w.rhs_dilate + 1;
  const int64_t padded = base + w.pad_low + w.pad_high;
  return w.size == 0 || padded < window ? 0 : (padded - window) / w.stride + 1;
}

struct Case {
  Dims input, kernel;  // in the order of `spec.dims`
  ConvSpec spec;
};

Dims result_dims(const Case& c) {
  const ConvDims& n = c.spec.dims;
  Dims out(c.input.size());
  out[n.output_batch] = c.input[n.input_batch] / c.spec.batch_groups;
  out[n.output_feature] = c.kernel[n.kernel_output_feature];
  for (size_t d = 0; d < n.input_spatial.size(); ++d)
    out[n.output_spatial[d]] = output_size(c.input[n.input_spatial[d]], c.spec.window.dims[d]);
  return out;
}

// The definition, one multiplication at a time.
void naive(const Case& c, const Array& x, const Array& w, Array& y) {
  const ConvDims& n = c.spec.dims;
  const int64_t out_features = c.kernel[n.kernel_output_feature], batch = y.dims()[n.output_batch];
  Dims taps;
  for (const WindowDim& d : c.spec.window.dims) taps.push_back(d.size);
  for_each_index(y.dims(), [&](const Dims& at) {
    std::complex<double> sum = 0;
    uint64_t whole = 0;
    const int64_t o = at[n.output_feature];
    const int64_t group = o / (out_features / (c.spec.feature_groups * c.spec.batch_groups));
    for (int64_t f = 0; f < c.kernel[n.kernel_input_feature]; ++f) {
      for_each_index(taps, [&](const Dims& t) {
        Dims xi(at.size()), wi(at.size());
        xi[n.input_batch] = at[n.output_batch] + (c.spec.batch_groups > 1 ? group * batch : 0);
        xi[n.input_feature] = f + (c.spec.feature_groups > 1 ? group * c.kernel[n.kernel_input_feature] : 0);
        wi[n.kernel_input_feature] = f;
        wi[n.kernel_output_feature] = o;
        for (size_t d = 0; d < t.size(); ++d) {
          const WindowDim& win = c.spec.window.dims[d];
          const int64_t p = at[n.output_spatial[d]] * win.stride - win.pad_low + t[d] * win.rhs_dilate;
          if (p < 0 || p % win.lhs_dilate != 0 || p / win.lhs_dilate >= c.input[n.input_spatial[d]]) return;
          xi[n.input_spatial[d]] = p / win.lhs_dilate;
          wi[n.kernel_spatial[d]] = win.reversal ? win.size - 1 - t[d] : t[d];
        }
        if (is_integral(y.dtype()))
          whole += static_cast<uint64_t>(x.integer(xi)) * static_cast<uint64_t>(w.integer(wi));
        else
          sum += x.value(xi) * w.value(wi);
      });
    }
    if (is_integral(y.dtype()))
      y.set_integer(at, static_cast<int64_t>(y.dtype() == DType::kPred ? whole != 0 : whole));
    else
      y.set(at, sum);
  });
}

void check(const Case& c, DType in = DType::kF32, DType ker = DType::kF32, DType out = DType::kF32) {
  Array x = random_array(in, c.input, 5), w = random_array(ker, c.kernel, 6), y(out, result_dims(c)),
        want(out, result_dims(c));
  naive(c, x, w, want);
  for (int threads : {1, 3}) {
    set_num_threads(threads);
    y.fill_garbage();
    convolution(x.ref(), w.ref(), c.spec, y.ref());
    expect_near(y, want, is_integral(out) ? 0 : 1e-5 + 2 * epsilon_of(out));
  }
}

ConvDims nhwc(int64_t spatial) {
  ConvDims n{.input_batch = 0,
             .input_feature = spatial + 1,
             .kernel_input_feature = spatial,
             .kernel_output_feature = spatial + 1,
             .output_batch = 0,
             .output_feature = spatial + 1};
  for (int64_t d = 0; d < spatial; ++d)
    n.input_spatial.push_back(d + 1), n.kernel_spatial.push_back(d), n.output_spatial.push_back(d + 1);
  return n;
}
ConvDims nchw(int64_t spatial) {
  ConvDims n{.input_batch = 0,
             .input_feature = 1,
             .kernel_input_feature = 1,
             .kernel_output_feature = 0,
             .output_batch = 0,
             .output_feature = 1};
  for (int64_t d = 0; d < spatial; ++d)
    n.input_spatial.push_back(d + 2), n.kernel_spatial.push_back(d + 2), n.output_spatial.push_back(d + 2);
  return n;
}

TEST(Conv, plain_convolutions_of_both_common_layouts) {
  const WindowDim three{.size = 3, .pad_low = 1, .pad_high = 1},
      strided{.size = 3, .stride = 2, .pad_low = 0, .pad_high = 1};
  check({{2, 9, 10, 5}, {3, 3, 5, 40}, {{{three, three}}, nhwc(2)}});
  check({{2, 5, 9, 10}, {40, 5, 3, 3}, {{{three, three}}, nchw(2)}});
  check({{2, 9, 10, 5}, {3, 3, 5, 40}, {{{strided, three}}, nhwc(2)}});
  check({{2, 5, 9, 40}, {7, 5, 3, 3}, {{{strided, strided}}, nchw(2)}});
  check({{2, 5, 9, 40}, {1, 5, 3, 3}, {{{three, strided}}, nchw(2)}});
  check({{3, 7, 7, 33}, {1, 1, 33, 20}, {{{WindowDim{}, WindowDim{}}}, nhwc(2)}});
}

TEST(Conv, depthwise_and_grouped_convolutions) {
  const WindowDim three{.size = 3, .pad_low = 1, .pad_high = 1};
  check({{2, 9, 10, 70}, {3, 3, 1, 70}, {{{three, three}}, nhwc(2), 70}});
  check({{2, 9, 10, 6}, {3, 3, 1, 12}, {{{three, three}}, nhwc(2), 6}});
  check({{2, 6, 9, 10}, {6, 1, 3, 3}, {{{three, three}}, nchw(2), 6}});
  check({{2, 9, 10, 8}, {3, 3, 4, 6}, {{{three, three}}, nhwc(2), 2}});
  check({{6, 9, 10, 8}, {3, 3, 8, 9}, {{{three, three}}, nhwc(2), 1, 3}});
  check({{4, 9, 10, 4}, {3, 3, 4, 4}, {{{three, three}}, nhwc(2), 1, 4}});
}

TEST(Conv, every_dtype_matches_the_definition) {
  const WindowDim w{.size = 3, .stride = 1, .pad_low = 1, .pad_high = 2, .lhs_dilate = 2};
  for (int i = 0; i < kNumDTypes; ++i) {
    const DType d = static_cast<DType>(i);
    if (!is_array_dtype(d) || d == DType::kF4E2M1FN || d == DType::kF8E8M0FNU) continue;
    SCOPED_TRACE(std::string(to_string(d)));
    check({{2, 6, 3}, {3, 3, 4}, {{{w}}, nhwc(1)}}, d, d, d);
    check({{2, 3, 6}, {4, 3, 3}, {{{w}}, nchw(1)}}, d, d, d);
  }
  check({{2, 6, 3}, {3, 3, 4}, {{{w}}, nhwc(1)}}, DType::kS8, DType::kS8, DType::kS32);
  check({{2, 6, 3}, {3, 3, 4}, {{{w}}, nhwc(1)}}, DType::kBF16, DType::kBF16, DType::kF32);
}

TEST(Conv, random_attributes_match_the_definition) {
  std::mt19937 rng(7);
  auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(rng);
  };
  for (int round = 0; round < 600; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const int64_t spatial = pick(0, 3);
    Case c;
    c.spec.feature_groups = pick(0, 2) == 0 ? pick(1, 3) : 1;
    c.spec.batch_groups = c.spec.feature_groups == 1 && pick(0, 2) == 0 ? pick(1, 3) : 1;
    std::vector<int64_t> order[3];
    for (auto& o : order) {
      for (int64_t d = 0; d < spatial + 2; ++d) o.push_back(d);
      std::shuffle(o.begin(), o.end(), rng);
    }
    ConvDims& n = c.spec.dims;
    n = {.input_batch = order[0][0],
         .input_feature = order[0][1],
         .kernel_input_feature = order[1][0],
         .kernel_output_feature = order[1][1],
         .output_batch = order[2][0],
         .output_feature = order[2][1]};
    c.input.resize(spatial + 2);
    c.kernel.resize(spatial + 2);
    const int64_t features = pick(1, 3);
    c.input[n.input_batch] = pick(1, 2) * c.spec.batch_groups;
    c.input[n.input_feature] = features * c.spec.feature_groups;
    c.kernel[n.kernel_input_feature] = features;
    c.kernel[n.kernel_output_feature] = pick(1, 20) * c.spec.feature_groups * c.spec.batch_groups;
    for (int64_t d = 0; d < spatial; ++d) {
      n.input_spatial.push_back(order[0][d + 2]);
      n.kernel_spatial.push_back(order[1][d + 2]);
      n.output_spatial.push_back(order[2][d + 2]);
      WindowDim w{.size = pick(1, 4),
                  .stride = pick(1, 3),
                  .pad_low = pick(-2, 4),
                  .pad_high = pick(-2, 4),
                  .lhs_dilate = pick(1, 3),
                  .rhs_dilate = pick(1, 3),
                  .reversal = pick(0, 1) == 1};
      c.input[n.input_spatial[d]] = pick(1, 7);
      c.kernel[n.kernel_spatial[d]] = w.size;
      c.spec.window.dims.push_back(w);
    }
    check(c);
    if (HasFatalFailure()) return;
  }
}

TEST(Conv, empty_inputs_give_zeros) {
  const WindowDim w{.size = 3, .pad_low = 2, .pad_high = 2};
  check({{2, 0, 3}, {3, 3, 4}, {{{w}}, nhwc(1)}});
  check({{2, 5, 0}, {3, 0, 4}, {{{w}}, nhwc(1)}});
  check({{0, 5, 3}, {3, 3, 4}, {{{w}}, nhwc(1)}});
}

}  // namespace
}  // namespace armillary::native
