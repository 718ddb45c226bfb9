// Dots and convolutions.
#include "xla_core/io/vhlo/op_import.h"

namespace armillary::vhlo {
namespace {

constexpr std::string_view kPrecisions[] = {"default", "high", "highest"};

// Left out where every operand has the default.
void set_precision(OpImport& at, Attrs& attrs) {
  std::vector<std::string> names;
  bool all_default = true;
  for (const Attribute* one : items_of(at.attribute("precision_config"))) {
    const int64_t n = integer_of(*one);
    if (n < 0 || n > 2) throw user_error("an unknown precision, {}", n);
    names.emplace_back(kPrecisions[n]);
    all_default &= n == 0;
  }
  if (!all_default) attrs.set(Attr::operand_precision, std::move(names));
}

std::string type_name(const Attribute& a) {
  if (a.kind != AttributeKind::kType) throw user_error("an algorithm names something that is no type");
  if (a.type->kind == TypeKind::kTf32) return "tf32";
  if (a.type->kind != TypeKind::kElement) return "";
  return std::string(to_string(a.type->shape.dtype));
}

// XLA's names: the types, then how many products stand for one, or that sums may be coarse.
void set_algorithm(OpImport& at, Attrs& attrs) {
  const Attribute* lhs_type = at.find("lhs_precision_type");
  if (lhs_type == nullptr) return;
  const std::string lhs = type_name(*lhs_type);
  if (lhs.empty()) return;
  const std::string rhs = type_name(at.attribute("rhs_precision_type")),
                    sum = type_name(at.attribute("accumulation_type"));
  const int64_t products = at.integer("num_primitive_operations");
  const bool coarse = at.flag("allow_imprecise_accumulation");
  std::string name = fmt::format("dot_{}_{}_{}", lhs, rhs, sum);
  if (lhs.starts_with("f8")) name = fmt::format("dot_any_f8_any_f8_{}", sum);
  if (coarse) name += "_fast_accum";
  if (products > 1) name += fmt::format("_x{}", products);
  attrs.set(Attr::algorithm, std::move(name));
}

void set_if_any(Attrs& attrs, Attr attr, Dims dims) {
  if (!dims.empty()) attrs.set(attr, std::move(dims));
}

void dot_general(OpImport& at) {
  Attrs attrs;
  set_if_any(attrs, Attr::lhs_batch_dims, at.ints("lhs_batching_dimensions"));
  set_if_any(attrs, Attr::rhs_batch_dims, at.ints("rhs_batching_dimensions"));
  attrs.set(Attr::lhs_contracting_dims, at.ints("lhs_contracting_dimensions"));
  attrs.set(Attr::rhs_contracting_dims, at.ints("rhs_contracting_dimensions"));
  set_precision(at, attrs);
  set_algorithm(at, attrs);
  at.give(at.emit(Op::dot, at.shape(), at.operands(), std::move(attrs)));
}

void dot(OpImport& at) {
  Attrs attrs;
  attrs.set(Attr::lhs_contracting_dims, Dims{at.operand(0)->shape().rank() == 1 ? 0 : 1});
  attrs.set(Attr::rhs_contracting_dims, Dims{0});
  set_precision(at, attrs);
  at.give(at.emit(Op::dot, at.shape(), at.operands(), std::move(attrs)));
}

// One entry a spatial dimension; sizes are the kernel's.
Window window_of(OpImport& at, const ConvDims& dims) {
  const Dims stride = at.ints("window_strides"), lhs = at.ints("lhs_dilation"), rhs = at.ints("rhs_dilation"),
             reversal = at.ints("window_reversal");
  const std::vector<Dims> padding = rows_of(at.attribute("padding"));
  const Dims& kernel = at.operand(1)->dims();
  const size_t n = dims.kernel_spatial.size();
  if (stride.size() != n || lhs.size() != n || rhs.size() != n || reversal.size() != n || padding.size() != n)
    throw user_error("a window of {} dimensions whose fields have other lengths", n);
  Window window;
  for (size_t d = 0; d < n; ++d) {
    const int64_t k = dims.kernel_spatial[d];
    if (k < 0 || k >= static_cast<int64_t>(kernel.size()))
      throw user_error("the kernel has no dimension {}", k);
    if (padding[d].size() != 2 || stride[d] < 1 || lhs[d] < 1 || rhs[d] < 1)
      throw user_error("paddings are pairs, strides and dilations at least 1");
    window.dims.push_back(
        {kernel[k], stride[d], padding[d][0], padding[d][1], lhs[d], rhs[d], reversal[d] != 0});
  }
  return window;
}

// Each dimension of an array plays one role.
void check_roles(int64_t rank, int64_t first, int64_t second, Dims spatial) {
  spatial.insert(spatial.end(), {first, second});
  std::vector<bool> taken(static_cast<size_t>(rank), false);
  for (int64_t d : spatial) {
    if (d < 0 || d >= rank || taken[d])
      throw user_error("dimension {} of a convolution has no role of its own", d);
    taken[d] = true;
  }
}

void convolution(OpImport& at) {
  ConvDims d;
  d.input_batch = at.integer("input_batch_dimension");
  d.input_feature = at.integer("input_feature_dimension");
  d.input_spatial = at.ints("input_spatial_dimensions");
  d.kernel_input_feature = at.integer("kernel_input_feature_dimension");
  d.kernel_output_feature = at.integer("kernel_output_feature_dimension");
  d.kernel_spatial = at.ints("kernel_spatial_dimensions");
  d.output_batch = at.integer("output_batch_dimension");
  d.output_feature = at.integer("output_feature_dimension");
  d.output_spatial = at.ints("output_spatial_dimensions");
  check_roles(at.operand(0)->shape().rank(), d.input_batch, d.input_feature, d.input_spatial);
  check_roles(at.operand(1)->shape().rank(), d.kernel_input_feature, d.kernel_output_feature,
              d.kernel_spatial);
  check_roles(at.shape().rank(), d.output_batch, d.output_feature, d.output_spatial);
  Attrs attrs;
  Window window = window_of(at, d);
  if (!window.dims.empty()) attrs.set(Attr::window, std::move(window));
  attrs.set(Attr::dim_labels, std::move(d));
  if (const int64_t groups = at.integer("feature_group_count"); groups != 1)
    attrs.set(Attr::feature_group_count, groups);
  if (const int64_t groups = at.integer("batch_group_count"); groups != 1)
    attrs.set(Attr::batch_group_count, groups);
  set_precision(at, attrs);
  at.give(at.emit(Op::convolution, at.shape(), at.operands(0, 2), std::move(attrs)));
}

}  // namespace

std::vector<OpRow> contraction_rows() {
  return {
      {"vhlo",
       "convolution_v1",
       {"window_strides", "padding", "lhs_dilation", "rhs_dilation", "window_reversal",
        "input_batch_dimension", "input_feature_dimension", "input_spatial_dimensions",
        "kernel_input_feature_dimension", "kernel_output_feature_dimension", "kernel_spatial_dimensions",
        "output_batch_dimension", "output_feature_dimension", "output_spatial_dimensions",
        "feature_group_count", "batch_group_count", "precision_config"},
       convolution},
      {"vhlo",
       "dot_general_v1",
       {"lhs_batching_dimensions", "rhs_batching_dimensions", "lhs_contracting_dimensions",
        "rhs_contracting_dimensions", "precision_config"},
       dot_general},
      {"vhlo",
       "dot_general_v2",
       {"lhs_batching_dimensions", "rhs_batching_dimensions", "lhs_contracting_dimensions",
        "rhs_contracting_dimensions", "precision_config", "lhs_precision_type", "rhs_precision_type",
        "accumulation_type", "lhs_component_count", "rhs_component_count", "num_primitive_operations",
        "allow_imprecise_accumulation"},
       dot_general},
      {"vhlo", "dot_v1", {"precision_config"}, dot},
  };
}

}  // namespace armillary::vhlo
