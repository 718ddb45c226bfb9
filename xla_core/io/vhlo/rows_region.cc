// Operations that run a small computation on elements: reductions, windows, sorts, maps.
#include "xla_core/io/vhlo/op_import.h"

namespace armillary::vhlo {
namespace {

void reduce(OpImport& at) {
  Attrs attrs;
  attrs.set(Attr::dimensions, at.ints("dimensions"));
  attrs.set(Attr::to_apply, at.importer().region(at.region(0)));
  at.give_elements(at.emit(Op::reduce, at.tuple_shape(), at.operands(), std::move(attrs)));
}

// Fields that are empty are one everywhere.
Window window_of(OpImport& at, bool dilated) {
  const Dims size = at.ints("window_dimensions"), stride = at.ints("window_strides");
  Dims base, dilation;
  if (dilated) {
    base = at.ints("base_dilations");
    dilation = at.ints("window_dilations");
  }
  const std::vector<Dims> padding = rows_of(at.attribute("padding"));
  auto value = [&](const Dims& list, size_t d) {
    if (list.empty()) return int64_t{1};
    if (list.size() != size.size() || list[d] < 1) throw user_error("a field of the window does not fit it");
    return list[d];
  };
  if (!padding.empty() && padding.size() != size.size())
    throw user_error("a window whose padding does not fit it");
  Window window;
  for (size_t d = 0; d < size.size(); ++d) {
    if (!padding.empty() && padding[d].size() != 2) throw user_error("paddings are pairs");
    if (size[d] < 0) throw user_error("a window of size {}", size[d]);
    window.dims.push_back({.size = size[d],
                           .stride = value(stride, d),
                           .pad_low = padding.empty() ? 0 : padding[d][0],
                           .pad_high = padding.empty() ? 0 : padding[d][1],
                           .lhs_dilate = value(base, d),
                           .rhs_dilate = value(dilation, d)});
  }
  return window;
}

void reduce_window(OpImport& at) {
  Attrs attrs;
  Window window = window_of(at, true);
  if (!window.dims.empty()) attrs.set(Attr::window, std::move(window));
  attrs.set(Attr::to_apply, at.importer().region(at.region(0)));
  at.give_elements(at.emit(Op::reduce_window, at.tuple_shape(), at.operands(), std::move(attrs)));
}

void select_and_scatter(OpImport& at) {
  Attrs attrs;
  Window window = window_of(at, false);
  if (!window.dims.empty()) attrs.set(Attr::window, std::move(window));
  attrs.set(Attr::select, at.importer().region(at.region(0)));
  attrs.set(Attr::scatter, at.importer().region(at.region(1)));
  at.give(at.emit(Op::select_and_scatter, at.shape(), at.operands(), std::move(attrs)));
}

void sort(OpImport& at) {
  Attrs attrs;
  int64_t dimension = at.integer("dimension");
  if (dimension < 0) dimension += at.operand(0)->shape().rank();
  attrs.set(Attr::dimensions, Dims{dimension});
  if (at.flag("is_stable")) attrs.set(Attr::is_stable, true);
  attrs.set(Attr::to_apply, at.importer().region(at.region(0)));
  at.give_elements(at.emit(Op::sort, at.tuple_shape(), at.operands(), std::move(attrs)));
}

void map(OpImport& at) {
  Attrs attrs;
  attrs.set(Attr::dimensions, at.ints("dimensions"));
  attrs.set(Attr::to_apply, at.importer().region(at.region(0)));
  at.give(at.emit(Op::map, at.shape(), at.operands(), std::move(attrs)));
}

}  // namespace

std::vector<OpRow> region_rows() {
  return {
      {"vhlo", "map_v1", {"dimensions"}, map},
      {"vhlo", "reduce_v1", {"dimensions"}, reduce},
      {"vhlo",
       "reduce_window_v1",
       {"window_dimensions", "window_strides", "base_dilations", "window_dilations", "padding"},
       reduce_window},
      {"vhlo",
       "select_and_scatter_v1",
       {"window_dimensions", "window_strides", "padding"},
       select_and_scatter},
      {"vhlo", "sort_v1", {"dimension", "is_stable"}, sort},
  };
}

}  // namespace armillary::vhlo
