// Rows of sort, topk and scan: one dimension treated in order.
#include "xla_core/ops/rows.h"

#include <cmath>

namespace armillary {
namespace {

// Check 1: one dimension; older text leaves it out for vectors.
int64_t sort_dimension(const OpContext& c) {
  const Dims& dims = c.attrs.ints(Attr::dimensions);
  if (dims.empty() && c.operand(0).rank() == 1) return 0;
  if (dims.size() != 1) throw user_error("dimensions={} of sort must name one dimension", list(dims));
  need_dim(Op::sort, "dimensions", dims[0], c.operand(0).rank());
  return dims[0];
}

Shape sort_shape(const OpContext& c) {
  check_signature(Op::sort, c);
  need_array(Op::sort, c, 0);
  sort_dimension(c);
  std::vector<Shape> results;
  for (int i = 0; i < static_cast<int>(c.operands.size()); ++i) {
    need_array(Op::sort, c, i);
    need_same_dims(Op::sort, c, i, 0);
    results.push_back(c.operand(i).without_layout());
  }
  return results.size() == 1 ? array_result(c, results[0].dtype, results[0].dims)
                             : Shape::make_tuple(std::move(results));
}

// 2: the comparator takes a pair of scalars for each operand, side by side.
void sort_check(const OpContext& c) {
  need_callee_count(Op::sort, c, 1);
  std::vector<Shape> pairs;
  for (const Shape* x : c.operands) pairs.insert(pairs.end(), 2, Shape::scalar(x->dtype));
  const Shape pred = Shape::scalar(DType::kPred);
  need_callee(Op::sort, c, 0, pairs, &pred);
}

double comparisons(const OpContext& c, const Shape&) {
  const Shape& x = c.operand(0);
  const double length = static_cast<double>(x.dims[sort_dimension(c)]);
  return length > 1 ? static_cast<double>(x.num_elements()) * std::log2(length) : 0;
}

Shape topk_shape(const OpContext& c) {
  check_signature(Op::topk, c);
  need_array(Op::topk, c, 0, kRealType | kPredType);
  const Shape& x = c.operand(0);
  const int64_t k = c.attrs.integer(Attr::k);
  if (k < 0) throw user_error("k={} of topk is negative", k);
  if (x.rank() < 1 || (x.dims.back() != Shape::kUnbounded && k > x.dims.back()))
    throw user_error("operand 0 is {}, but topk needs at least k={} elements in the last dimension",
                     to_string(x), k);
  Dims dims = x.dims;
  dims.back() = k;
  return Shape::make_tuple({Shape(x.dtype, dims), Shape(DType::kS32, dims)});
}

// Operands are inputs, then `num_carries` initial carries; results are outputs, then final carries. The
// outputs' types are the body's.
Shape scan_shape(const OpContext& c) {
  check_signature(Op::scan, c);
  const int64_t carries = c.attrs.integer(Attr::num_carries),
                inputs = static_cast<int64_t>(c.operands.size()) - carries;
  if (carries < 0 || inputs < 0)
    throw user_error("num_carries={} of scan exceeds its {} operands", carries, c.operands.size());
  const Shape& result = stated_shape(Op::scan, c);
  if (result.is_tuple() && static_cast<int64_t>(result.tuple.size()) < carries)
    throw user_error("scan gives {}, but must give at least its {} carries", to_string(result), carries);
  for (int64_t i = 0; result.is_tuple() && i < carries; ++i) {
    const Shape& got = result.tuple[result.tuple.size() - carries + i];
    if (!agree(got, c.operand(static_cast<int>(inputs + i))))
      throw user_error("carry {} of scan is {}, but its initial value is {}", i, to_string(got),
                       to_string(c.operand(static_cast<int>(inputs + i))));
  }
  return result.without_layout();
}

}  // namespace

std::vector<OpDef> sorting_rows() {
  return {
      {.op = Op::sort,
       .stablehlo = "sort",
       .arity = kVariadic,
       .traits = kCallsEmbedded | kExpensive,
       .attrs = {Attr::to_apply},
       .optional = {Attr::dimensions, Attr::is_stable},
       .doc = "Sorts along one dimension by a comparator that sees all operands.",
       .infer = sort_shape,
       .check = sort_check,
       .body_runs = comparisons},
      {.op = Op::topk,
       .arity = 1,
       .traits = kExpensive,
       .attrs = {Attr::k},
       .optional = {Attr::largest, Attr::dimensions, Attr::is_stable},
       .doc = "The k largest (or least) elements of the last dimension in order, and their positions.",
       .infer = topk_shape},
      {.op = Op::scan,
       .arity = kVariadic,
       .traits = kCallsEmbedded | kExpensive | kNeedsShape,
       .attrs = {Attr::to_apply, Attr::num_carries},
       .optional = {Attr::dimensions, Attr::is_reverse, Attr::is_associative},
       .doc = "Runs along a dimension carrying values from slice to slice.",
       .infer = scan_shape},
  };
}

}  // namespace armillary
