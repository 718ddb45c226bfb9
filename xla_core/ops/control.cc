// Rows that hold values together or run computations: parameters, constants, tuples, calls, loops, branches,
// fusions.
#include "xla_core/ops/rows.h"

namespace armillary {
namespace {

std::vector<Shape> operand_shapes(const OpContext& c) {
  std::vector<Shape> shapes;
  for (const Shape* x : c.operands) shapes.push_back(x->without_layout());
  return shapes;
}

template <Op kOp>
Shape same_as_first(const OpContext& c) {
  check_signature(kOp, c);
  return c.operand(0).without_layout();
}

Shape tuple_shape(const OpContext& c) { return Shape::make_tuple(operand_shapes(c)); }

Shape get_tuple_element_shape(const OpContext& c) {
  check_signature(Op::get_tuple_element, c);
  const Shape& x = c.operand(0);
  const int64_t i = c.attrs.integer(Attr::index);
  if (!x.is_tuple()) throw user_error("operand 0 is {}, but get-tuple-element needs a tuple", to_string(x));
  if (i < 0 || i >= static_cast<int64_t>(x.tuple.size()))
    throw user_error("index={} of get-tuple-element, but operand 0 is {} with {} elements", i, to_string(x),
                     x.tuple.size());
  return x.tuple[i].without_layout();
}

Shape token_shape(const OpContext& c) {
  for (int i = 0; i < static_cast<int>(c.operands.size()); ++i) need_token(Op::after_all, c, i);
  return Shape::token();
}

Shape add_dependency_shape(const OpContext& c) {
  check_signature(Op::add_dependency, c);
  need_token(Op::add_dependency, c, 1);
  return c.operand(0).without_layout();
}

template <Op kOp>
Shape callee_result(const OpContext& c) {
  check_signature(kOp, c);
  need_callee_count(kOp, c, 1);
  return c.callees[0].result.without_layout();
}

// 1: the operands are what the computation takes.
template <Op kOp>
void call_check(const OpContext& c) {
  need_callee(kOp, c, 0, operand_shapes(c), nullptr);
}

// 2: the kind is known.
void fusion_check(const OpContext& c) {
  call_check<Op::fusion>(c);
  const std::string& kind = c.attrs.text(Attr::kind);
  if (kind != "kLoop" && kind != "kInput" && kind != "kOutput" && kind != "kCustom")
    throw user_error("kind={} of fusion is none of kLoop, kInput, kOutput, kCustom", kind);
}

Shape while_shape(const OpContext& c) {
  check_signature(Op::while_, c);
  return c.operand(0).without_layout();
}

// 1: condition takes the state and gives pred[]; 2: body takes the state and gives the state.
void while_check(const OpContext& c) {
  need_callee_count(Op::while_, c, 2);
  const Shape state = c.operand(0), pred = Shape::scalar(DType::kPred);
  need_callee(Op::while_, c, 0, {state}, &pred);
  need_callee(Op::while_, c, 1, {state}, &state);
}

Shape conditional_shape(const OpContext& c) {
  check_signature(Op::conditional, c);
  need_scalar(Op::conditional, c, 0, kPredType | kIntegerType);
  if (c.callees.empty()) throw user_error("conditional needs at least one branch");
  return c.callees[0].result.without_layout();
}

// 1: pred chooses between two branches, s32 among branch_computations; 2: an operand a branch; 3: one result
// type.
void conditional_check(const OpContext& c) {
  const DType chooser = c.operand(0).dtype;
  if (!is_pred(chooser) && chooser != DType::kS32)
    throw user_error("operand 0 is {}, but conditional needs pred[] or s32[]", to_string(c.operand(0)));
  if (is_pred(chooser) && c.callees.size() != 2)
    throw user_error("conditional on pred[] has {} branches, but needs 2", c.callees.size());
  if (c.operands.size() != c.callees.size() + 1)
    throw user_error("conditional has {} operands, but {} branches need {}", c.operands.size(),
                     c.callees.size(), c.callees.size() + 1);
  for (size_t i = 0; i < c.callees.size(); ++i)
    need_callee(Op::conditional, c, static_cast<int>(i), {c.operand(static_cast<int>(i) + 1)},
                &c.callees[0].result);
}

Shape map_shape(const OpContext& c) {
  check_signature(Op::map, c);
  need_array(Op::map, c, 0);
  for (int i = 1; i < static_cast<int>(c.operands.size()); ++i) {
    need_array(Op::map, c, i);
    need_same_dims(Op::map, c, i, 0);
  }
  need_callee_count(Op::map, c, 1);
  return array_result(c, c.callees[0].result.dtype, c.operand(0).dims);
}

// 1: to_apply takes a scalar for each operand and gives one.
void map_check(const OpContext& c) {
  std::vector<Shape> scalars;
  for (const Shape* x : c.operands) scalars.push_back(Shape::scalar(x->dtype));
  const Shape result = Shape::scalar(c.callees[0].result.dtype);
  need_callee(Op::map, c, 0, scalars, &result);
}

void constant_check(const OpContext& c) {
  if (c.stated != nullptr && (c.stated->is_token() || c.stated->dtype == DType::kOpaque))
    throw user_error("constant cannot be {}", to_string(*c.stated));
}

}  // namespace

std::vector<OpDef> control_rows() {
  return {
      {.op = Op::parameter,
       .arity = 0,
       .traits = kNeedsShape | kNoTraffic,
       .optional = {Attr::parameter_replication},
       .doc = "An argument of the computation."},
      {.op = Op::constant,
       .stablehlo = "constant",
       .arity = 0,
       .traits = kNeedsShape | kNoTraffic | kFree,
       .doc = "A value written in the program.",
       .check = constant_check},
      {.op = Op::tuple,
       .stablehlo = "tuple",
       .arity = kVariadic,
       .traits = kRenames,
       .doc = "Holds its operands together.",
       .infer = tuple_shape},
      {.op = Op::get_tuple_element,
       .stablehlo = "get_tuple_element",
       .arity = 1,
       .traits = kRenames,
       .attrs = {Attr::index},
       .doc = "One element of a tuple.",
       .infer = get_tuple_element_shape},
      {.op = Op::after_all,
       .stablehlo = "after_all",
       .arity = kVariadic,
       .traits = kRenames,
       .doc = "A token that comes after all its operands.",
       .infer = token_shape},
      {.op = Op::add_dependency,
       .arity = 2,
       .traits = kRenames,
       .doc = "Operand 0, but not before the token in operand 1.",
       .infer = add_dependency_shape},
      {.op = Op::opt_barrier,
       .stablehlo = "optimization_barrier",
       .arity = 1,
       .traits = kRenames,
       .doc = "Its operand; nothing is moved across it.",
       .infer = same_as_first<Op::opt_barrier>},
      {.op = Op::domain,
       .arity = 1,
       .traits = kRenames,
       .optional = {Attr::domain},
       .doc = "Its operand; marks where one sharding ends and another begins.",
       .infer = same_as_first<Op::domain>},
      {.op = Op::call,
       .stablehlo = "call",
       .arity = kVariadic,
       .traits = kCallsControl,
       .attrs = {Attr::to_apply},
       .optional = {Attr::is_composite, Attr::output_to_operand_aliasing},
       .doc = "Runs a computation on its operands.",
       .infer = callee_result<Op::call>,
       .check = call_check<Op::call>},
      {.op = Op::fusion,
       .arity = kVariadic,
       .traits = kCallsEmbedded | kExpensive,
       .attrs = {Attr::kind, Attr::calls},
       .optional = {Attr::output_to_operand_aliasing},
       .doc = "Runs a computation as one kernel.",
       .infer = callee_result<Op::fusion>,
       .check = fusion_check},
      {.op = Op::while_,
       .stablehlo = "while",
       .arity = 1,
       .traits = kCallsControl,
       .attrs = {Attr::condition, Attr::body},
       .doc = "Runs `body` on the state as long as `condition` holds.",
       .infer = while_shape,
       .check = while_check},
      {.op = Op::conditional,
       .stablehlo = "case",
       .arity = kVariadic,
       .traits = kCallsControl,
       .optional = {Attr::true_computation, Attr::false_computation, Attr::branch_computations},
       .doc = "Runs one of several computations; an index out of range runs the last.",
       .infer = conditional_shape,
       .check = conditional_check},
      {.op = Op::map,
       .stablehlo = "map",
       .arity = kVariadic,
       .traits = kCallsEmbedded | kExpensive | kMapsCallee,
       .attrs = {Attr::to_apply},
       .optional = {Attr::dimensions},
       .doc = "Applies a computation of scalars to every element.",
       .infer = map_shape,
       .check = map_check,
       .parameter_of = [](const OpContext&, int operand) { return operand; },
       .body_runs = [](const OpContext&,
                       const Shape& result) { return static_cast<double>(result.num_elements()); }},
  };
}

}  // namespace armillary
