// convolution with every attribute: both operands are laid out so that an inner product over features
// remains.
#include "xla_core/base/parallel_for.h"
#include "xla_core/interp/dense.h"
#include "xla_core/interp/evaluation.h"
#include "xla_core/interp/windows.h"
#include "xla_core/shape/permutation.h"

namespace armillary {
namespace {

// Sizes in roles: input [N, spatial, C], kernel [O, spatial, C / groups], output [N, spatial, O].
struct Geometry {
  ConvDims dims;
  const Window& window;
  int64_t batch, features, outputs, kernel_features, feature_groups, batch_groups;
  Dims input, kernel, output;  // spatial sizes

  Geometry(const Instruction& i, Operands operands)
      : dims(i.attrs().conv_dims()),
        window(i.attrs().window()),
        feature_groups(i.attrs().integer(Attr::feature_group_count, 1)),
        batch_groups(i.attrs().integer(Attr::batch_group_count, 1)) {
    const Dims &lhs = operands[0].shape().dims, &rhs = operands[1].shape().dims;
    batch = lhs.at(static_cast<size_t>(dims.input_batch)) / batch_groups;
    features = lhs.at(static_cast<size_t>(dims.input_feature));
    kernel_features = rhs.at(static_cast<size_t>(dims.kernel_input_feature));
    outputs = rhs.at(static_cast<size_t>(dims.kernel_output_feature));
    input = selected(lhs, dims.input_spatial);
    kernel = selected(rhs, dims.kernel_spatial);
    output = selected(i.dims(), dims.output_spatial);
  }

  // The dimension of the kernel's element `tap` counts from the other end when the window is reversed.
  int64_t kernel_index(size_t d, int64_t tap) const {
    return d < window.dims.size() && window.dims[d].reversal ? kernel[d] - 1 - tap : tap;
  }
};

// Which input and kernel positions meet at an output position.
struct Meeting {
  int64_t input, kernel;
};

void find_meetings(const Geometry& g, std::span<const int64_t> position, std::vector<Meeting>& meetings) {
  meetings.clear();
  for_each_index(g.kernel, [&](std::span<const int64_t> tap) {
    Meeting m{0, 0};
    for (size_t d = 0; d < g.kernel.size(); ++d) {
      const auto source = window_source(d < g.window.dims.size() ? g.window.dims[d] : WindowDim(),
                                        position[d], tap[d], g.input[d]);
      if (!source) return;
      m.input = m.input * g.input[d] + *source;
      m.kernel = m.kernel * g.kernel[d] + g.kernel_index(d, tap[d]);
    }
    meetings.push_back(m);
  });
}

template <class T>
T product_of(T a, T b) {
  if constexpr (std::is_same_v<T, int64_t>)
    return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  else
    return a * b;
}

// One output position: all batch elements and output features.
template <class T>
void convolve_at(const Geometry& g, int64_t position, const std::vector<Meeting>& meetings,
                 const std::vector<T>& input, const std::vector<T>& kernel, Literal& result) {
  const int64_t input_size = product(g.input), kernel_size = product(g.kernel),
                output_size = product(g.output);
  const int64_t per_feature_group = g.outputs / g.feature_groups,
                per_batch_group = g.outputs / g.batch_groups;
  for (int64_t n = 0; n < g.batch; ++n)
    for (int64_t o = 0; o < g.outputs; ++o) {
      const int64_t image = o / per_batch_group * g.batch + n,
                    channel = o / per_feature_group * g.kernel_features;
      T sum = 0;
      for (const Meeting& m : meetings) {
        const T* a = input.data() + (image * input_size + m.input) * g.features + channel;
        const T* b = kernel.data() + (o * kernel_size + m.kernel) * g.kernel_features;
        for (int64_t c = 0; c < g.kernel_features; ++c) sum = static_cast<T>(sum + product_of(a[c], b[c]));
      }
      set_element<T>(result, (n * output_size + position) * g.outputs + o, sum);
    }
}

template <class T>
void convolve(const Geometry& g, const Literal& lhs, const Literal& rhs, Literal& result) {
  const std::vector<T> input = values_of<T>(lhs), kernel = values_of<T>(rhs);
  parallel_for(product(g.output), 1, [&](int64_t begin, int64_t end) {
    std::vector<Meeting> meetings;
    Dims position(g.output.size());
    for (int64_t p = begin; p < end; ++p) {
      delinearize(p, g.output, position);
      find_meetings(g, position, meetings);
      convolve_at<T>(g, p, meetings, input, kernel, result);
    }
  });
}

// Dimension order[r] of the HLO array plays role r.
Literal convolution(Evaluation&, const Instruction& i, Operands operands) {
  const Geometry g(i, operands);
  const Literal lhs =
      permuted(operands[0],
               concatenated({Dims{g.dims.input_batch}, g.dims.input_spatial, Dims{g.dims.input_feature}}));
  const Literal rhs =
      permuted(operands[1], concatenated({Dims{g.dims.kernel_output_feature}, g.dims.kernel_spatial,
                                          Dims{g.dims.kernel_input_feature}}));
  const Dims order =
      concatenated({Dims{g.dims.output_batch}, g.dims.output_spatial, Dims{g.dims.output_feature}});
  Literal result(Shape(i.dtype(), selected(i.dims(), order)));
  if (result.size() > 0) {
    const DType kind = is_complex(i.dtype())                          ? DType::kC128
                       : is_float(i.dtype()) || is_float(lhs.dtype()) ? DType::kF64
                                                                      : DType::kS64;
    with_number_type(kind, [&](auto zero) { convolve<decltype(zero)>(g, lhs, rhs, result); });
  }
  return with_shape(permuted(result, inverse(order)), i.shape());
}

}  // namespace

std::span<const HandlerRow> convolution_handlers() {
  static constexpr HandlerRow rows[] = {{Op::convolution, convolution}};
  return rows;
}

}  // namespace armillary
