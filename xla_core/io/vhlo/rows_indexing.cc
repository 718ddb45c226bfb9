// Gathers, scatters and slices at computed places.
#include "xla_core/io/vhlo/op_import.h"

namespace armillary::vhlo {
namespace {

void set_if_any(Attrs& attrs, Attr attr, const Attribute* list) {
  if (list == nullptr) return;
  if (Dims dims = ints_of(*list); !dims.empty()) attrs.set(attr, std::move(dims));
}

void set_flag(Attrs& attrs, Attr attr, bool value) {
  if (value) attrs.set(attr, true);
}

void dynamic_slice(OpImport& at) {
  Attrs attrs;
  attrs.set(Attr::dynamic_slice_sizes, at.ints("slice_sizes"));
  at.give(at.emit(Op::dynamic_slice, at.shape(), at.operands(), std::move(attrs)));
}

void dynamic_update_slice(OpImport& at) {
  at.give(at.emit(Op::dynamic_update_slice, at.shape(), at.operands()));
}

void gather(OpImport& at) {
  Attrs attrs;
  attrs.set(Attr::offset_dims, at.ints("offset_dims"));
  attrs.set(Attr::collapsed_slice_dims, at.ints("collapsed_slice_dims"));
  attrs.set(Attr::start_index_map, at.ints("start_index_map"));
  set_if_any(attrs, Attr::operand_batching_dims, at.find("operand_batching_dims"));
  set_if_any(attrs, Attr::start_indices_batching_dims, at.find("start_indices_batching_dims"));
  attrs.set(Attr::index_vector_dim, at.integer("index_vector_dim"));
  attrs.set(Attr::slice_sizes, RawText{fmt::format("{{{}}}", fmt::join(at.ints("slice_sizes"), ",")), false});
  set_flag(attrs, Attr::indices_are_sorted, at.flag("indices_are_sorted"));
  at.give(at.emit(Op::gather, at.shape(), at.operands(), std::move(attrs)));
}

void scatter(OpImport& at) {
  Attrs attrs;
  attrs.set(Attr::update_window_dims, at.ints("update_window_dims"));
  attrs.set(Attr::inserted_window_dims, at.ints("inserted_window_dims"));
  attrs.set(Attr::scatter_dims_to_operand_dims, at.ints("scatter_dims_to_operand_dims"));
  set_if_any(attrs, Attr::input_batching_dims, at.find("input_batching_dims"));
  set_if_any(attrs, Attr::scatter_indices_batching_dims, at.find("scatter_indices_batching_dims"));
  attrs.set(Attr::index_vector_dim, at.integer("index_vector_dim"));
  set_flag(attrs, Attr::indices_are_sorted, at.flag("indices_are_sorted"));
  set_flag(attrs, Attr::unique_indices, at.flag("unique_indices"));
  attrs.set(Attr::to_apply, at.importer().region(at.region(0)));
  at.give_elements(at.emit(Op::scatter, at.tuple_shape(), at.operands(), std::move(attrs)));
}

}  // namespace

std::vector<OpRow> indexing_rows() {
  return {
      {"vhlo", "dynamic_slice_v1", {"slice_sizes"}, dynamic_slice},
      {"vhlo", "dynamic_update_slice_v1", {}, dynamic_update_slice},
      {"vhlo",
       "gather_v1",
       {"offset_dims", "collapsed_slice_dims", "start_index_map", "index_vector_dim", "slice_sizes",
        "indices_are_sorted"},
       gather},
      {"vhlo",
       "gather_v2",
       {"offset_dims", "collapsed_slice_dims", "operand_batching_dims", "start_indices_batching_dims",
        "start_index_map", "index_vector_dim", "slice_sizes", "indices_are_sorted"},
       gather},
      {"vhlo",
       "scatter_v1",
       {"update_window_dims", "inserted_window_dims", "scatter_dims_to_operand_dims", "index_vector_dim",
        "indices_are_sorted", "unique_indices"},
       scatter},
      {"vhlo",
       "scatter_v2",
       {"update_window_dims", "inserted_window_dims", "input_batching_dims", "scatter_indices_batching_dims",
        "scatter_dims_to_operand_dims", "index_vector_dim", "indices_are_sorted", "unique_indices"},
       scatter},
  };
}

}  // namespace armillary::vhlo
