// Codecs of attributes with structure: windows, convolution dimensions, slices, paddings, shapes.
#include <algorithm>

#include "xla_core/io/attr_proto.h"
#include "xla_core/io/shape_proto.h"

namespace armillary {
namespace {

using MaybeValue = std::optional<AttrValue>;

MaybeValue read_window(const AttrSource& in) {
  Window window;
  for (const auto& d : in.p.window().dimensions())
    window.dims.push_back({.size = d.size(),
                           .stride = d.stride(),
                           .pad_low = d.padding_low(),
                           .pad_high = d.padding_high(),
                           .lhs_dilate = d.base_dilation(),
                           .rhs_dilate = d.window_dilation(),
                           .reversal = d.window_reversal()});
  for (const WindowDim& d : window.dims)
    if (d.size < 0 || d.stride < 1 || d.lhs_dilate < 1 || d.rhs_dilate < 1)
      throw user_error("window: sizes are at least 0, strides and dilations at least 1");
  if (window.dims.empty() && !in.required) return std::nullopt;
  return window;
}

void write_window(const AttrSink& out, const AttrValue& value) {
  for (const WindowDim& d : std::get<Window>(value).dims) {
    auto* p = out.p->mutable_window()->add_dimensions();
    p->set_size(d.size);
    p->set_stride(d.stride);
    p->set_padding_low(d.pad_low);
    p->set_padding_high(d.pad_high);
    p->set_base_dilation(d.lhs_dilate);
    p->set_window_dilation(d.rhs_dilate);
    p->set_window_reversal(d.reversal);
  }
}

// Each dimension of an array plays at most one role.
void check_roles(std::string_view array, int64_t first, int64_t second, const Dims& spatial) {
  constexpr int64_t kMaxRank = 64;
  Dims roles = spatial;
  roles.insert(roles.end(), {first, second});
  std::sort(roles.begin(), roles.end());
  if (roles.front() < 0 || roles.back() >= kMaxRank ||
      std::adjacent_find(roles.begin(), roles.end()) != roles.end())
    throw user_error("dim_labels: the dimensions {{{}}} of the {} are not distinct", fmt::join(roles, ","),
                     array);
}

MaybeValue read_conv_dims(const AttrSource& in) {
  if (!in.p.has_convolution_dimension_numbers()) {
    if (in.required) throw user_error("dim_labels are missing");
    return std::nullopt;
  }
  const auto& p = in.p.convolution_dimension_numbers();
  ConvDims d;
  d.input_batch = p.input_batch_dimension();
  d.input_feature = p.input_feature_dimension();
  d.input_spatial = dims_of(p.input_spatial_dimensions());
  d.kernel_input_feature = p.kernel_input_feature_dimension();
  d.kernel_output_feature = p.kernel_output_feature_dimension();
  d.kernel_spatial = dims_of(p.kernel_spatial_dimensions());
  d.output_batch = p.output_batch_dimension();
  d.output_feature = p.output_feature_dimension();
  d.output_spatial = dims_of(p.output_spatial_dimensions());
  if (d.input_spatial.size() != d.kernel_spatial.size() || d.input_spatial.size() != d.output_spatial.size())
    throw user_error("dim_labels: {} input, {} kernel and {} output spatial dimensions",
                     d.input_spatial.size(), d.kernel_spatial.size(), d.output_spatial.size());
  check_roles("input", d.input_batch, d.input_feature, d.input_spatial);
  check_roles("kernel", d.kernel_input_feature, d.kernel_output_feature, d.kernel_spatial);
  check_roles("output", d.output_batch, d.output_feature, d.output_spatial);
  return d;
}

void write_conv_dims(const AttrSink& out, const AttrValue& value) {
  const ConvDims& d = std::get<ConvDims>(value);
  auto* p = out.p->mutable_convolution_dimension_numbers();
  p->set_input_batch_dimension(d.input_batch);
  p->set_input_feature_dimension(d.input_feature);
  p->set_kernel_input_feature_dimension(d.kernel_input_feature);
  p->set_kernel_output_feature_dimension(d.kernel_output_feature);
  p->set_output_batch_dimension(d.output_batch);
  p->set_output_feature_dimension(d.output_feature);
  for (int64_t i : d.input_spatial) p->add_input_spatial_dimensions(i);
  for (int64_t i : d.kernel_spatial) p->add_kernel_spatial_dimensions(i);
  for (int64_t i : d.output_spatial) p->add_output_spatial_dimensions(i);
}

MaybeValue read_slices(const AttrSource& in) {
  Slices slices;
  for (const auto& d : in.p.slice_dimensions()) slices.push_back({d.start(), d.limit(), d.stride()});
  return slices;
}

void write_slices(const AttrSink& out, const AttrValue& value) {
  for (const SliceDim& d : std::get<Slices>(value)) {
    auto* p = out.p->add_slice_dimensions();
    p->set_start(d.start);
    p->set_limit(d.limit);
    p->set_stride(d.stride);
  }
}

MaybeValue read_padding(const AttrSource& in) {
  Padding padding;
  for (const auto& d : in.p.padding_config().dimensions())
    padding.push_back({d.edge_padding_low(), d.edge_padding_high(), d.interior_padding()});
  return padding;
}

void write_padding(const AttrSink& out, const AttrValue& value) {
  auto* config = out.p->mutable_padding_config();
  for (const PadDim& d : std::get<Padding>(value)) {
    auto* p = config->add_dimensions();
    p->set_edge_padding_low(d.low);
    p->set_edge_padding_high(d.high);
    p->set_interior_padding(d.interior);
  }
}

MaybeValue read_outfeed_shape(const AttrSource& in) {
  if (!in.p.has_outfeed_shape()) return std::nullopt;
  return shape_from_proto(in.p.outfeed_shape());
}

void write_outfeed_shape(const AttrSink& out, const AttrValue& value) {
  shape_to_proto(std::get<Shape>(value), out.p->mutable_outfeed_shape());
}

const AttrCodec kCodecs[] = {
    {Attr::window, read_window, write_window},
    {Attr::dim_labels, read_conv_dims, write_conv_dims},
    {Attr::slice, read_slices, write_slices},
    {Attr::padding, read_padding, write_padding},
    {Attr::outfeed_shape, read_outfeed_shape, write_outfeed_shape},
};

}  // namespace

std::span<const AttrCodec> structure_codecs() { return kCodecs; }

}  // namespace armillary
