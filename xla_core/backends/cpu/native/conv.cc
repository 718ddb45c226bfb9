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

}  // namespace

ConvPlan::ConvPlan(const ArrayRef& input, const ArrayRef& kernel, const ConvSpec& spec,
                   const ArrayRef& result)
    : input_{input.dtype, input.dims, nullptr},
      kernel_{kernel.dtype, kernel.dims, nullptr},
      margins_(input.rank()),
      padded_dims_(input.dims) {
  const DType accumulator = accumulator_of(result.dtype);
  auto reads = [&](DType d) {
    return gemm_reads(accumulator, d) && d != DType::kF8E8M0FNU ? d : accumulator;
  };
  input_reads_ = reads(input.dtype);
  kernel_reads_ = reads(kernel.dtype);
  const ConvDims& n = spec.dims;
  const size_t spatial = n.input_spatial.size();

  std::vector<std::vector<Phase>> phases(spatial);
  for (size_t d = 0; d < spatial; ++d) {
    const int64_t dim = n.input_spatial[d];
    phases[d] = phases_of(spec.window.dims[d], result.dims[n.output_spatial[d]]);
    for (const Phase& p : phases[d]) {
      if (p.steps.empty()) continue;
      const auto [first, last] = std::ranges::minmax(p.starts);
      margins_[dim].low = std::max(margins_[dim].low, -(first + std::ranges::min(p.steps)));
      margins_[dim].high =
          std::max(margins_[dim].high, last + std::ranges::max(p.steps) - (input.dims[dim] - 1));
    }
    padded_ |= margins_[dim].low > 0 || margins_[dim].high > 0;
    padded_dims_[dim] += margins_[dim].low + margins_[dim].high;
  }

  const Dims in = strides_of(padded_dims_), ker = strides_of(kernel.dims), out = strides_of(result.dims);
  const int64_t groups = spec.feature_groups * spec.batch_groups;
  const int64_t batch = result.dims[n.output_batch], features = kernel.dims[n.kernel_input_feature];
  const int64_t columns = result.dims[n.output_feature] / std::max<int64_t>(1, groups);
  const int64_t group_step =
      spec.feature_groups > 1 ? features * in[n.input_feature] : batch * in[n.input_batch];

  // One plan for each combination of phases.
  std::vector<size_t> at(spatial, 0);
  for (size_t d = 0; d < spatial; ++d)
    if (phases[d].empty()) return;  // no outputs at all
  for (bool more = true; more;) {
    std::vector<Part> rows = {
        {in[n.input_batch], range(batch, in[n.input_batch]), range(batch, out[n.output_batch])}};
    std::vector<Part> depth = {{in[n.input_feature], range(features, in[n.input_feature]),
                                range(features, ker[n.kernel_input_feature])}};
    for (size_t d = 0; d < spatial; ++d) {
      const Phase& p = phases[d][at[d]];
      const int64_t step = in[n.input_spatial[d]], low = margins_[n.input_spatial[d]].low;
      rows.push_back({step, scaled(p.starts, step, low), scaled(p.outputs, out[n.output_spatial[d]])});
      depth.push_back({step, scaled(p.steps, step), scaled(p.taps, ker[n.kernel_spatial[d]])});
    }
    auto [a_rows, c_rows] = combine(std::move(rows));
    auto [a_depth, b_depth] = combine(std::move(depth));
    phases_.push_back(
        {accumulator,
         {input_reads_, std::move(a_rows), std::move(a_depth), Axis::of(range(groups, group_step))},
         {kernel_reads_, Axis::of(range(columns, ker[n.kernel_output_feature])), std::move(b_depth),
          Axis::of(range(groups, columns * ker[n.kernel_output_feature]))},
         {result.dtype, std::move(c_rows), Axis::of(range(columns, out[n.output_feature])),
          Axis::of(range(groups, columns * out[n.output_feature]))}});
    more = false;
    for (size_t d = 0; d < spatial && !more; ++d) {
      more = ++at[d] < phases[d].size();
      if (!more) at[d] = 0;
    }
  }

  depthwise_ = columns == 1 && features == 1 && groups > 1 && spec.batch_groups == 1 && phases_.size() == 1 &&
               accumulator == DType::kF32 && input_reads_ == DType::kF32 && kernel_reads_ == DType::kF32 &&
               result.dtype == DType::kF32 && in[n.input_feature] == 1 && ker[n.kernel_output_feature] == 1 &&
               out[n.output_feature] == 1;
  // Where positions lie side by side and features do not (NCHW), the product is turned so that vectors run
  // along positions.
  swapped_ = !is_complex(accumulator) && !depthwise_ && (columns == 1 || out[n.output_feature] != 1);
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
  if (padded_) {
    std::vector<int64_t> low;
    for (const Margin& m : margins_) low.push_back(m.low);
    margin_storage = std::make_unique_for_overwrite<std::byte[]>(
        std::max<int64_t>(1, product(padded_dims_) * byte_size(in.dtype)));
    copy_with_margin(in, padded_dims_, low, margin_storage.get());
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
