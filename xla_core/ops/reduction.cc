// Rows of reduce and reduce-window: a computation of scalars folds many elements into one.
#include "xla_core/ops/rows.h"

namespace armillary {
namespace {

// n arrays, then n initial scalars.
int reduce_inputs(Op op, const OpContext& c) {
  if (c.operands.empty() || c.operands.size() % 2 != 0)
    throw user_error("{} has {} operands, but needs n arrays and n initial values", to_string(op),
                     c.operands.size());
  const int n = static_cast<int>(c.operands.size() / 2);
  for (int i = 0; i < n; ++i) {
    need_array(op, c, i);
    need_same_dims(op, c, i, 0);
    need_scalar(op, c, n + i, kAnyType);
  }
  return n;
}

// The accumulators' types are the initial values'; they may be wider than the elements.
Shape folded(const OpContext& c, int n, const Dims& dims) {
  if (n == 1) return array_result(c, c.operand(1).dtype, dims);
  std::vector<Shape> results;
  for (int i = 0; i < n; ++i) {
    OpContext part = c;
    part.stated =
        c.stated != nullptr && c.stated->is_tuple() && c.stated->tuple.size() == static_cast<size_t>(n)
            ? &c.stated->tuple[i]
            : nullptr;
    results.push_back(array_result(part, c.operand(n + i).dtype, dims));
  }
  return Shape::make_tuple(std::move(results));
}

Shape reduce_shape(const OpContext& c) {
  check_signature(Op::reduce, c);
  const int n = reduce_inputs(Op::reduce, c);
  const Dims& over = c.attrs.ints(Attr::dimensions);
  const Shape& x = c.operand(0);
  need_dims(Op::reduce, "dimensions", over, x.rank());
  Dims dims;
  for (int64_t d = 0; d < x.rank(); ++d)
    if (!contains_dim(over, d)) dims.push_back(x.dims[d]);
  return folded(c, n, dims);
}

Shape reduce_window_shape(const OpContext& c) {
  check_signature(Op::reduce_window, c);
  const int n = reduce_inputs(Op::reduce_window, c);
  return folded(c, n, windowed_dims(Op::reduce_window, c.operand(0).dims, c.attrs.window()));
}

// 1: to_apply takes n accumulators and n elements, gives n accumulators.
template <Op kOp>
void fold_check(const OpContext& c) {
  const int n = static_cast<int>(c.operands.size() / 2);
  need_callee_count(kOp, c, 1);
  std::vector<Shape> accumulators, parameters;
  for (int i = 0; i < n; ++i) accumulators.push_back(Shape::scalar(c.operand(n + i).dtype));
  parameters = accumulators;
  for (int i = 0; i < n; ++i) parameters.push_back(Shape::scalar(c.operand(i).dtype));
  const Shape result = n == 1 ? accumulators[0] : Shape::make_tuple(accumulators);
  const bool tuple_of_one = n == 1 && !c.callees.empty() && c.callees[0].result.is_tuple();
  const Shape wrapped = tuple_of_one ? Shape::make_tuple(accumulators) : result;
  need_callee(kOp, c, 0, parameters, &wrapped);
}

// Accumulators come first: the initial values'.
int fold_parameter(const OpContext& c, int operand) {
  const int n = static_cast<int>(c.operands.size() / 2);
  return operand < n ? n + operand : operand - n;
}

bool is_initial(const OpContext& c, int operand) {
  return operand >= static_cast<int>(c.operands.size() / 2);
}

double reduce_reads(const OpContext& c, int operand) {
  double terms = 1;
  if (is_initial(c, operand)) return terms;
  for (int64_t d : c.attrs.ints(Attr::dimensions)) terms *= static_cast<double>(c.operand(operand).dims[d]);
  return terms;
}

double window_reads(const OpContext& c, int operand) {
  double terms = 1;
  if (is_initial(c, operand)) return terms;
  for (const WindowDim& w : c.attrs.window().dims) terms *= static_cast<double>(w.size);
  return terms;
}

// n elements are folded by n - 1 calls: the initial value costs none.
template <double (*kReads)(const OpContext&, int)>
double folds(const OpContext& c, const Shape& result) {
  const Shape& one = result.is_tuple() ? result.tuple[0] : result;
  return static_cast<double>(one.num_elements()) * std::max(0.0, kReads(c, 0) - 1);
}

}  // namespace

std::vector<OpDef> reduction_rows() {
  return {
      {.op = Op::reduce,
       .stablehlo = "reduce",
       .arity = kVariadic,
       .traits = kCallsEmbedded | kExpensive,
       .attrs = {Attr::dimensions, Attr::to_apply},
       .doc = "Folds the elements along `dimensions` with to_apply, in any order.",
       .infer = reduce_shape,
       .check = fold_check<Op::reduce>,
       .parameter_of = fold_parameter,
       .meaning = Meaning::kFactors,
       .factors = "ik,->i",
       .body_runs = folds<reduce_reads>,
       .reads = reduce_reads},
  };
}

std::vector<OpDef> window_rows() {
  return {
      {.op = Op::reduce_window,
       .stablehlo = "reduce_window",
       .arity = kVariadic,
       .traits = kCallsEmbedded | kExpensive,
       .attrs = {Attr::to_apply},
       .optional = {Attr::window},
       .doc = "Folds the elements in each window with to_apply; padding counts as the initial value.",
       .infer = reduce_window_shape,
       .check = fold_check<Op::reduce_window>,
       .parameter_of = fold_parameter,
       .meaning = Meaning::kFactors,
       .factors = "sw,->s",
       .body_runs = folds<window_reads>,
       .reads = window_reads},
  };
}

}  // namespace armillary
