// Rows of the ops in which the devices of a program meet.
#include <algorithm>

#include "xla_core/ops/rows.h"

namespace armillary {
namespace {

Shape operands_as_result(Op op, const OpContext& c) {
  check_signature(op, c);
  need_array(op, c, 0);
  if (c.operands.size() == 1) return array_result(c, c.operand(0).dtype, c.operand(0).dims);
  std::vector<Shape> results;
  for (int i = 0; i < static_cast<int>(c.operands.size()); ++i) {
    need_array(op, c, i);
    results.push_back(c.operand(i).without_layout());
  }
  return Shape::make_tuple(std::move(results));
}

template <Op kOp>
Shape like_operands(const OpContext& c) {
  return operands_as_result(kOp, c);
}

// Check: to_apply combines two scalars of the first operand's type (mixed operands are converted by nobody,
// so they must agree).
template <Op kOp>
void reducer_check(const OpContext& c) {
  need_callee_count(kOp, c, 1);
  // XLA promotes narrow floats inside the reducer only: bf16 arrays may be summed by an f32 computation.
  const DType dtype = c.operand(0).dtype;
  const bool promoted =
      is_float(dtype) && !c.callees[0].parameters.empty() && is_float(c.callees[0].parameters[0].dtype);
  const Shape scalar = Shape::scalar(promoted ? c.callees[0].parameters[0].dtype : dtype);
  need_callee(kOp, c, 0, {scalar, scalar}, &scalar);
}

// The stated array differs from the operand along one dimension, which is a multiple of the operand's (or
// divides it).
Shape resized(Op op, const OpContext& c, const Shape& x, const Shape& result, int64_t along, bool grows) {
  need_dim(op, "dimensions", along, x.rank());
  bool fits = result.dtype == x.dtype && result.rank() == x.rank();
  for (int64_t d = 0; fits && d < x.rank(); ++d) {
    const int64_t large = grows ? result.dims[d] : x.dims[d], small = grows ? x.dims[d] : result.dims[d];
    fits = same_size(large, small) || (d == along && small > 0 && large % small == 0);
  }
  if (!fits)
    throw user_error("{} gives {}, which does not fit {} along dimension {}", to_string(op),
                     to_string(result), to_string(x), along);
  return result.without_layout();
}

Shape resized_all(Op op, const OpContext& c, bool grows) {
  check_signature(op, c);
  const Dims& along = c.attrs.ints(Attr::dimensions);
  if (along.size() != 1)
    throw user_error("dimensions={} of {} must name one dimension", list(along), to_string(op));
  need_array(op, c, 0);
  const Shape& result = stated_shape(op, c);
  if (!result.is_tuple()) return resized(op, c, c.operand(0), result, along[0], grows);
  if (result.tuple.size() != c.operands.size())
    throw user_error("{} gives {}, but has {} operands", to_string(op), to_string(result), c.operands.size());
  for (int i = 0; i < static_cast<int>(c.operands.size()); ++i) {
    need_array(op, c, i);
    resized(op, c, c.operand(i), result.tuple[i], along[0], grows);
  }
  return result.without_layout();
}

Shape all_gather_shape(const OpContext& c) { return resized_all(Op::all_gather, c, true); }
Shape reduce_scatter_shape(const OpContext& c) { return resized_all(Op::reduce_scatter, c, false); }

// (operands, results), each an array or a tuple of them.
template <Op kOp>
Shape start_pair(const OpContext& c) {
  check_signature(kOp, c);
  const Shape& result = stated_shape(kOp, c);
  if (!result.is_tuple() || result.tuple.size() < 2)
    throw user_error("{} gives {}, but must give a pair of operands and results", to_string(kOp),
                     to_string(result));
  const Shape& first = result.tuple[0];
  const bool fits = !c.operands.empty() && (agree(first, c.operand(0)) || first.is_tuple());
  if (!fits)
    throw user_error("element 0 of {} is {}, but its operand is {}", to_string(kOp), to_string(first),
                     c.operands.empty() ? "missing" : to_string(c.operand(0)));
  return result.without_layout();
}

template <Op kOp, int kElement>
Shape element_of_start(const OpContext& c) {
  check_signature(kOp, c);
  const Shape& x = c.operand(0);
  if (!x.is_tuple() || x.tuple.size() <= kElement)
    throw user_error("operand 0 is {}, but {} needs what its start gives", to_string(x), to_string(kOp));
  return x.tuple[kElement].without_layout();
}

// All-to-all splits and joins one array along `dimensions`, or exchanges a tuple of equal arrays.
Shape all_to_all_shape(const OpContext& c) {
  const Shape same = operands_as_result(Op::all_to_all, c);
  for (int i = 1; i < static_cast<int>(c.operands.size()); ++i) need_same_shape(Op::all_to_all, c, i, 0);
  if (c.attrs.has(Attr::dimensions))
    need_dims(Op::all_to_all, "dimensions", c.attrs.ints(Attr::dimensions), c.operand(0).rank());
  if (c.operands.size() == 1 && c.stated != nullptr && c.stated->is_tuple() && c.stated->tuple.size() == 1)
    return Shape::make_tuple({same});
  return same;
}

// In place: (from, into, offsets, offsets) gives `into`; otherwise each operand as it is.
Shape collective_permute_shape(const OpContext& c) {
  check_signature(Op::collective_permute, c);
  if (c.operands.size() == 4 && c.attrs.has(Attr::slice_sizes)) return c.operand(1).without_layout();
  return operands_as_result(Op::collective_permute, c);
}

Shape ragged_all_to_all_shape(const OpContext& c) {
  check_signature(Op::ragged_all_to_all, c);
  need_array(Op::ragged_all_to_all, c, 0);
  need_array(Op::ragged_all_to_all, c, 1);
  need_same_dtype(Op::ragged_all_to_all, c, 1, 0);
  need_rank(Op::ragged_all_to_all, c, 1, c.operand(0).rank());
  for (int i = 2; i < 6; ++i) {
    need_array(Op::ragged_all_to_all, c, i, kIntegerType);
    need_same_dims(Op::ragged_all_to_all, c, i, 2);
  }
  return array_result(c, c.operand(1).dtype, c.operand(1).dims);
}

template <Op kOp>
Shape id_shape(const OpContext& c) {
  check_signature(kOp, c);
  return Shape::scalar(DType::kU32);
}

OpDef collective(Op op, std::string_view stablehlo, int arity, uint32_t traits, std::vector<Attr> attrs,
                 std::string_view doc, Shape (*infer)(const OpContext&)) {
  std::vector<Attr> optional;
  for (Attr a : {Attr::replica_groups, Attr::channel_id, Attr::use_global_device_ids, Attr::constrain_layout,
                 Attr::mode, Attr::dimensions, Attr::slice_sizes, Attr::source_target_pairs})
    if (std::find(attrs.begin(), attrs.end(), a) == attrs.end()) optional.push_back(a);
  return {.op = op,
          .stablehlo = stablehlo,
          .arity = arity,
          .traits = kCollective | kCannotRun | traits,
          .attrs = std::move(attrs),
          .optional = std::move(optional),
          .doc = doc,
          .infer = infer};
}
OpDef checked(OpDef row, void (*check)(const OpContext&)) {
  row.check = check;
  row.traits |= kCallsEmbedded;
  return row;
}
OpDef half_of(Op whole, OpDef row) {
  row.whole = whole;
  return row;
}
OpDef done(Op op, Op whole, std::string_view doc, Shape (*infer)(const OpContext&)) {
  return half_of(
      whole,
      {.op = op, .arity = 1, .traits = kCollective | kCannotRun | kAsyncDone, .doc = doc, .infer = infer});
}

}  // namespace

std::vector<OpDef> collective_rows() {
  constexpr int n = kVariadic;
  return {
      checked(collective(Op::all_reduce, "all_reduce", n, kGlobalDeviceIds, {Attr::to_apply},
                         "The devices' operands folded into one value that all receive.",
                         like_operands<Op::all_reduce>),
              reducer_check<Op::all_reduce>),
      half_of(Op::all_reduce, checked(collective(Op::all_reduce_start, "", n, kAsyncStart | kGlobalDeviceIds,
                                                 {Attr::to_apply}, "Starts an all-reduce.",
                                                 like_operands<Op::all_reduce_start>),
                                      reducer_check<Op::all_reduce_start>)),
      done(Op::all_reduce_done, Op::all_reduce, "Waits for an all-reduce.",
           [](const OpContext& c) {
             check_signature(Op::all_reduce_done, c);
             return c.operand(0).without_layout();
           }),
      collective(Op::all_gather, "all_gather", n, kNeedsShape | kGlobalDeviceIds, {Attr::dimensions},
                 "The devices' operands joined along one dimension.", all_gather_shape),
      half_of(Op::all_gather,
              collective(Op::all_gather_start, "", n, kAsyncStart | kNeedsShape | kGlobalDeviceIds,
                         {Attr::dimensions}, "Starts an all-gather.", start_pair<Op::all_gather_start>)),
      done(Op::all_gather_done, Op::all_gather, "Waits for an all-gather.",
           element_of_start<Op::all_gather_done, 1>),
      checked(
          collective(Op::reduce_scatter, "reduce_scatter", n, kNeedsShape | kGlobalDeviceIds,
                     {Attr::dimensions, Attr::to_apply},
                     "Folds the devices' operands and gives each device its slice.", reduce_scatter_shape),
          reducer_check<Op::reduce_scatter>),
      collective(Op::all_to_all, "all_to_all", n, 0, {}, "Each device sends a slice to every other.",
                 all_to_all_shape),
      collective(Op::ragged_all_to_all, "", 6, 0, {},
                 "Each device sends rows of given counts to given places of every other.",
                 ragged_all_to_all_shape),
      collective(Op::collective_broadcast, "collective_broadcast", n, 0, {},
                 "The first device of each group sends its operand to the others.",
                 like_operands<Op::collective_broadcast>),
      collective(Op::collective_reduce, "", n, 0, {},
                 "The devices' operands folded into one value for the first of each group.",
                 like_operands<Op::collective_reduce>),
      collective(Op::collective_permute, "collective_permute", n, 0, {Attr::source_target_pairs},
                 "Devices send their operand to another; who receives nothing has zeros.",
                 collective_permute_shape),
      half_of(Op::collective_permute,
              collective(Op::collective_permute_start, "", n, kAsyncStart | kNeedsShape,
                         {Attr::source_target_pairs}, "Starts a collective-permute.",
                         start_pair<Op::collective_permute_start>)),
      done(Op::collective_permute_done, Op::collective_permute, "Waits for a collective-permute.",
           element_of_start<Op::collective_permute_done, 1>),
      {.op = Op::partition_id,
       .stablehlo = "partition_id",
       .arity = 0,
       .traits = kNoTraffic,
       .doc = "The number of this device's partition.",
       .infer = id_shape<Op::partition_id>},
      {.op = Op::replica_id,
       .stablehlo = "replica_id",
       .arity = 0,
       .traits = kNoTraffic,
       .doc = "The number of this device's replica.",
       .infer = id_shape<Op::replica_id>},
      {.op = Op::shuffle,
       .arity = n,
       .traits = kNeedsShape | kCannotRun,
       .optional = {Attr::dimensions, Attr::mode, Attr::slice_sizes, Attr::source_target_pairs},
       .doc = "Exchanges elements between the lanes of a core."},
  };
}

}  // namespace armillary
