// The row of convolution.
#include <algorithm>

#include "xla_core/ops/rows.h"

namespace armillary {
namespace {

// Check 1: dim_labels names every dimension of an operand once.
void check_labels(std::string_view which, const Shape& shape, Dims roles, int64_t spatial) {
  if (shape.rank() != spatial + 2)
    throw user_error("{} is {}, but convolution needs {} dimensions by its window", which, to_string(shape),
                     spatial + 2);
  std::sort(roles.begin(), roles.end());
  for (int64_t d = 0; d < static_cast<int64_t>(roles.size()); ++d)
    if (roles[d] != d || static_cast<int64_t>(roles.size()) != shape.rank())
      throw user_error("dim_labels of convolution must name each of the {} dimensions of {} once",
                       shape.rank(), which);
}

Dims roles(int64_t first, int64_t second, const Dims& spatial) {
  Dims all = spatial;
  all.push_back(first);
  all.push_back(second);
  return all;
}

// Checks 2 to 5: groups divide what they group, and features meet.
void check_groups(const OpContext& c, int64_t feature_groups, int64_t batch_groups) {
  const ConvDims& d = c.attrs.conv_dims();
  const Shape &x = c.operand(0), &kernel = c.operand(1);
  if (feature_groups < 1 || batch_groups < 1)
    throw user_error("feature_group_count={} and batch_group_count={} of convolution must be at least 1",
                     feature_groups, batch_groups);
  if (feature_groups > 1 && batch_groups > 1)
    throw user_error("convolution may group features or batch, but not both");
  const int64_t in = x.dims[d.input_feature], kernel_in = kernel.dims[d.kernel_input_feature],
                out = kernel.dims[d.kernel_output_feature];
  if (in != Shape::kUnbounded && kernel_in != Shape::kUnbounded &&
      (in % feature_groups != 0 || in / feature_groups != kernel_in))
    throw user_error(
        "operand 1 is {}, but convolution needs {} input features a group ({} features in {} groups)",
        to_string(kernel), in / feature_groups, in, feature_groups);
  if (out % feature_groups != 0 || out % batch_groups != 0)
    throw user_error("operand 1 is {}, but convolution needs output features that {} groups divide",
                     to_string(kernel), std::max(feature_groups, batch_groups));
  const int64_t batch = x.dims[d.input_batch];
  if (batch != Shape::kUnbounded && batch % batch_groups != 0)
    throw user_error("operand 0 is {}, but convolution needs a batch that {} groups divide", to_string(x),
                     batch_groups);
}

DType convolution_dtype(const OpContext& c) {
  return c.stated != nullptr && c.stated->is_array() ? c.stated->dtype : c.operand(0).dtype;
}

Shape convolution_shape(const OpContext& c) {
  check_signature(Op::convolution, c);
  need_array(Op::convolution, c, 0, kAnyType);
  need_array(Op::convolution, c, 1, kAnyType);
  const ConvDims& d = c.attrs.conv_dims();
  const Shape &x = c.operand(0), &kernel = c.operand(1);
  const int64_t spatial = static_cast<int64_t>(d.input_spatial.size());
  if (d.kernel_spatial.size() != d.input_spatial.size() || d.output_spatial.size() != d.input_spatial.size())
    throw user_error(
        "dim_labels of convolution must have as many spatial dimensions in the input, the kernel and the "
        "output");
  check_labels("operand 0", x, roles(d.input_batch, d.input_feature, d.input_spatial), spatial);
  check_labels("operand 1", kernel, roles(d.kernel_input_feature, d.kernel_output_feature, d.kernel_spatial),
               spatial);
  check_labels("the result", Shape(x.dtype, Dims(spatial + 2)),
               roles(d.output_batch, d.output_feature, d.output_spatial), spatial);
  const int64_t batch_groups = c.attrs.integer(Attr::batch_group_count, 1);
  check_groups(c, c.attrs.integer(Attr::feature_group_count, 1), batch_groups);
  const Window& window = c.attrs.window();
  Dims input;
  for (int64_t s : d.input_spatial) input.push_back(x.dims[s]);
  const Dims output = windowed_dims(Op::convolution, input, window);
  Dims dims(spatial + 2);
  for (int64_t s = 0; s < spatial; ++s) {
    if (!same_size(window.dims[s].size, kernel.dims[d.kernel_spatial[s]]))
      throw user_error("operand 1 is {}, but convolution needs {} in dimension {} by its window",
                       to_string(kernel), window.dims[s].size, d.kernel_spatial[s]);
    dims[d.output_spatial[s]] = output[s];
  }
  const int64_t batch = x.dims[d.input_batch];
  dims[d.output_batch] = batch == Shape::kUnbounded ? batch : batch / batch_groups;
  dims[d.output_feature] = kernel.dims[d.kernel_output_feature];
  return array_result(c, convolution_dtype(c), std::move(dims));
}

double convolution_flops(const OpContext& c, const Shape& result) {
  const ConvDims& d = c.attrs.conv_dims();
  double terms = is_complex(result.dtype) ? 8 : 2;
  terms *= static_cast<double>(c.operand(1).dims[d.kernel_input_feature]);
  for (int64_t s : d.kernel_spatial) terms *= static_cast<double>(c.operand(1).dims[s]);
  return terms;
}

}  // namespace

std::vector<OpDef> convolution_rows() {
  return {
      {.op = Op::convolution,
       .stablehlo = "convolution",
       .arity = 2,
       .traits = kExpensive,
       .attrs = {Attr::dim_labels},
       .optional = {Attr::window, Attr::feature_group_count, Attr::batch_group_count, Attr::operand_precision,
                    Attr::algorithm},
       .doc = "Slides operand 1 over operand 0 and sums the products, in groups of features or batch.",
       .infer = convolution_shape,
       .meaning = Meaning::kFactors,
       .factors = "bsi,sio->bso",
       .flops = convolution_flops},
  };
}

}  // namespace armillary
