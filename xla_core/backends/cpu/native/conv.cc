#include "xla_core/backends/cpu/native/conv.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>

#include "xla_core/backends/cpu/native/convert.h"
#include "xla_core/backends/cpu/native/dot.h"
#include "xla_core/base/parallel_for.h"

namespace armillary::native {
namespace {

// The outputs of one spatial dimension that meet the same taps, and where they read.
struct Phase {
  std::vector<int64_t> outputs;  // output coordinates
  std::vector<int64_t> starts;   // input coordinate of each output, before the tap is added
  std::vector<int64_t> taps;     // kernel coordinates
  std::vector<int64_t> steps;    // input coordinates added by each tap
};

int64_t floor_mod(int64_t a, int64_t b) { return ((a % b) + b) % b; }

// Output o and tap t read position o * stride - pad + t * rhs_dilate of the dilated input, whose elements lie
// lhs_dilate apart. Outputs are grouped by that position modulo lhs_dilate.
std::vector<Phase> phases_of(const WindowDim& w, int64_t output_size) {
  std::vector<Phase> phases;
  for (int64_t r = 0; r < w.lhs_dilate; ++r) {
    Phase p;
    for (int64_t o = 0; o < output_size; ++o) {
      const int64_t at = o * w.stride - w.pad_low;
      if (floor_mod(at, w.lhs_dilate) != r) continue;
      p.outputs.push_back(o);
      p.starts.push_back((at - r) / w.lhs_dilate);
    }
    if (p.outputs.empty()) continue;
    for (int64_t t = 0; t < w.size; ++t) {
      if ((r + t * w.rhs_dilate) % w.lhs_dilate != 0) continue;
      p.taps.push_back(w.reversal ? w.size - 1 - t : t);
      p.steps.push_back((r + t * w.rhs_dilate) / w.lhs_dilate);
    }
    phases.push_back(std::move(p));
  }
  return phases;
}

// Offsets of one role (a dimension of rows, depth or columns) in the two arrays that share it.
struct Part {
  int64_t order;  // stride in the array that is packed: the smallest goes innermost
  std::vector<int64_t> first, second;
};

std::vector<int64_t> scaled(const std::vector<int64_t>& at, int64_t stride, int64_t shift = 0) {
  std::vector<int64_t> out;
  for (int64_t i : at) out.push_back((i + shift) * stride);
  return out;
}
std::vector<int64_t> range(int64_t n, int64_t stride) {
  std::vector<int64_t> out(n);
  for (int64_t i = 0; i < n; ++i) out[i] = i * stride;
  return out;
}

std::pair<Axis, Axis> combine(std::vector<Part> parts) {
  std::ranges::stable_sort(parts, std::ranges::greater{}, &Part::order);
  std::vector<std::vector<int64_t>> first, second;
  for (Part& p : parts) {
    first.push_back(std::move(p.first));
    second.push_back(std::move(p.second));
  }
  return {Axis::sums(first), Axis::sums(second)};
}

// Copies `from` into the middle of `to`, whose margins are zero; all-zero bytes are a zero of every dtype
// that reaches this place.
void copy_with_margin(const ArrayRef& from, const Dims& padded, const std::vector<int64_t>& low,
                      std::byte* to) {
  const int64_t rank = from.rank(), width = byte_size(from.dtype);
  std::memset(static_cast<void*>(to), 0, product(padded) * width);
  if (from.size() == 0) return;
  const Dims strides = strides_of(padded);
  const int64_t row = rank > 0 ? from.dims[rank - 1] : 1;
  parallel_for(from.size() / row, std::max<int64_t>(1, 16384 / row), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      int64_t at = rank > 0 ? low[rank - 1] : 0, rest = r;
      for (int64_t d = rank - 2; d >= 0; --d) {
        at += (rest % from.dims[d] + low[d]) * strides[d];
        rest /= from.dims[d];
      }
      std::memcpy(to + at * width, from.data + r * row * width, row * width);
    }
  });
}

// What every phase of one convolution shares.
struct Geometry {
  const ConvSpec& spec;
  Dims in, kernel, out;  // strides
  int64_t batch, features, columns, groups;
  DType accumulator, input_dtype, kernel_dtype, result_dtype;

  // The product that makes the outputs of one phase in each spatial dimension; input coordinates are shifted
  // by `low`.
  GemmPlan plan(const std::vector<const Phase*>& phases, const std::vector<int64_t>& low) const {
    const ConvDims& n = spec.dims;
    std::vector<Part> rows = {
        {in[n.input_batch], range(batch, in[n.input_batch]), range(batch, out[n.output_batch])}};
    std::vector<Part> depth = {{in[n.input_feature], range(features, in[n.input_feature]),
                                range(features, kernel[n.kernel_input_feature])}};
    for (size_t d = 0; d < phases.size(); ++d) {
      const Phase& p = *phases[d];
      const int64_t step = in[n.input_spatial[d]];
      rows.push_back({step, scaled(p.starts, step, low[n.input_spatial[d]]),
                      scaled(p.outputs, out[n.output_spatial[d]])});
      depth.push_back({step, scaled(p.steps, step), scaled(p.taps, kernel[n.kernel_spatial[d]])});
    }
    auto [a_rows, c_rows] = combine(std::move(rows));
    auto [a_depth, b_depth] = combine(std::move(depth));
    const int64_t group_step =
        spec.feature_groups > 1 ? features * in[n.input_feature] : batch * in[n.input_batch];
    const int64_t kernel_step = kernel[n.kernel_output_feature], out_step = out[n.output_feature];
    return {accumulator,
            {input_dtype, std::move(a_rows), std::move(a_depth), Axis::of(range(groups, group_step))},
            {kernel_dtype, Axis::of(range(columns, kernel_step)), std::move(b_depth),
             Axis::of(range(groups, columns * kernel_step))},
            {result_dtype, std::move(c_rows), Axis::of(range(columns, out_step)),
             Axis::of(range(groups, columns * out_step))}};
  }

  // One feature a group, and features side by side everywhere.
  bool is_depthwise() const {
    const ConvDims& n = spec.dims;
    const DType f32 = DType::kF32;
    return columns == 1 && features == 1 && groups > 1 && spec.batch_groups == 1 && accumulator == f32 &&
           input_dtype == f32 && kernel_dtype == f32 && result_dtype == f32 && in[n.input_feature] == 1 &&
           kernel[n.kernel_output_feature] == 1 && out[n.output_feature] == 1;
  }
};

// Calls body for every way to choose one phase per dimension.
template <class Body>
void for_each_choice(const std::vector<std::vector<Phase>>& phases, std::vector<const Phase*>& chosen,
                     const Body& body) {
  if (chosen.size() == phases.size()) return body();
  for (const Phase& p : phases[chosen.size()]) {
    chosen.push_back(&p);
    for_each_choice(phases, chosen, body);
    chosen.pop_back();
  }
}

}  // namespace

ConvPlan::ConvPlan(const ArrayRef& input, const ArrayRef& kernel, const ConvSpec& spec,
                   const ArrayRef& result)
    : input_{input.dtype, input.dims, nullptr},
      kernel_{kernel.dtype, kernel.dims, nullptr},
      margin_(input.rank(), 0),
      padded_dims_(input.dims) {
  const DType accumulator = accumulator_of(result.dtype);
  auto reads = [&](DType d) {
    return gemm_reads(accumulator, d) && d != DType::kF8E8M0FNU ? d : accumulator;
  };
  input_reads_ = reads(input.dtype);
  kernel_reads_ = reads(kernel.dtype);
  const ConvDims& n = spec.dims;
  std::vector<std::vector<Phase>> phases;
  for (size_t d = 0; d < n.input_spatial.size(); ++d) {
    phases.push_back(phases_of(spec.window.dims[d], result.dims[n.output_spatial[d]]));
    int64_t high = 0;
    for (const Phase& p : phases.back()) {
      if (p.steps.empty()) continue;
      const auto [first, last] = std::ranges::minmax(p.starts);
      margin_[n.input_spatial[d]] =
          std::max(margin_[n.input_spatial[d]], -(first + std::ranges::min(p.steps)));
      high = std::max(high, last + std::ranges::max(p.steps) - (input.dims[n.input_spatial[d]] - 1));
    }
    padded_dims_[n.input_spatial[d]] += margin_[n.input_spatial[d]] + high;
  }
  const int64_t groups = spec.feature_groups * spec.batch_groups;
  const Geometry g{spec,
                   strides_of(padded_dims_),
                   strides_of(kernel.dims),
                   strides_of(result.dims),
                   result.dims[n.output_batch],
                   kernel.dims[n.kernel_input_feature],
                   result.dims[n.output_feature] / std::max<int64_t>(1, groups),
                   groups,
                   accumulator,
                   input_reads_,
                   kernel_reads_,
                   result.dtype};
  std::vector<const Phase*> chosen;
  for_each_choice(phases, chosen, [&] { phases_.push_back(g.plan(chosen, margin_)); });
  depthwise_ = g.is_depthwise() && phases_.size() == 1;
  // Where positions lie side by side and features do not (NCHW), the product is turned so that vectors run
  // along positions.
  swapped_ = !is_complex(accumulator) && !depthwise_ && (g.columns == 1 || g.out[n.output_feature] != 1);
  if (swapped_)
    for (GemmPlan& plan : phases_) plan = transposed(plan);
}

void ConvPlan::run(const std::byte* input, const std::byte* kernel, std::byte* result,
                   const Epilogue& epilogue) const {
  std::unique_ptr<std::byte[]> input_storage, kernel_storage, margin_storage;
  ArrayRef in = input_, ker = kernel_;
  in.data = const_cast<std::byte*>(input);
  ker.data = const_cast<std::byte*>(kernel);
  if (in.dtype != input_reads_) in = converted(in, input_reads_, input_storage);
  if (ker.dtype != kernel_reads_) ker = converted(ker, kernel_reads_, kernel_storage);
  if (padded_dims_ != input_.dims) {
    margin_storage = std::make_unique_for_overwrite<std::byte[]>(
        std::max<int64_t>(1, product(padded_dims_) * byte_size(in.dtype)));
    copy_with_margin(in, padded_dims_, margin_, margin_storage.get());
    in.data = margin_storage.get();
  }
  if (depthwise_)
    return run_depthwise(in.as<float>(), ker.as<float>(), reinterpret_cast<float*>(result), epilogue);
  for (const GemmPlan& plan : phases_)
    swapped_ ? gemm(plan, ker.data, in.data, result, epilogue)
             : gemm(plan, in.data, ker.data, result, epilogue);
}

void convolution(const ArrayRef& input, const ArrayRef& kernel, const ConvSpec& spec, const ArrayRef& result,
                 const Epilogue& epilogue) {
  ConvPlan(input, kernel, spec, result).run(input.data, kernel.data, result.data, epilogue);
}

// Groups are channels that lie side by side: every position and tap is a short vector operation, without any
// packing.
void ConvPlan::run_depthwise(const float* input, const float* kernel, float* result,
                             const Epilogue& epilogue) const {
  const GemmPlan& plan = phases_[0];
  const int64_t channels = plan.c.batch.size(), rows = plan.c.rows.size(), depth = plan.a.depth.size();
  parallel_for(rows, std::max<int64_t>(1, (1 << 16) / std::max<int64_t>(1, channels * depth)),
               [&](int64_t begin, int64_t end) {
                 for (int64_t r = begin; r < end; ++r) {
                   const int64_t at = plan.c.rows.offsets[r];
                   gemm_table().f32.weighted_sum(depth, input + plan.a.outer.offsets[r],
                                                 plan.a.depth.offsets.data(), kernel,
                                                 plan.b.depth.offsets.data(), channels, result + at);
                   if (epilogue) epilogue(at, at + channels);
                 }
               });
}

}  // namespace armillary::native
