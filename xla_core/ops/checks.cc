#include "xla_core/ops/checks.h"

#include <algorithm>

#include <fmt/ranges.h>

namespace armillary {
namespace {

uint32_t set_of(DType dtype) {
  switch (class_of(dtype)) {
    case DTypeClass::kPred:
      return kPredType;
    case DTypeClass::kSigned:
      return kSignedType;
    case DTypeClass::kUnsigned:
      return kUnsignedType;
    case DTypeClass::kFloat:
      return kFloatType;
    case DTypeClass::kComplex:
      return kComplexType;
    case DTypeClass::kNone:
      return 0;
  }
  return 0;
}

}  // namespace

bool contains(uint32_t types, DType dtype) { return (types & set_of(dtype)) != 0; }

std::string describe(uint32_t types) {
  if ((types & kAnyType) == kAnyType) return "an array";
  std::vector<std::string_view> names;
  if (types & kPredType) names.push_back("pred");
  if ((types & kIntegerType) == kIntegerType)
    names.push_back("integer");
  else if (types & kSignedType)
    names.push_back("signed integer");
  else if (types & kUnsignedType)
    names.push_back("unsigned integer");
  if (types & kFloatType) names.push_back("floating-point");
  if (types & kComplexType) names.push_back("complex");
  std::string text = names[0].starts_with('i') || names[0].starts_with('u') ? "an " : "a ";
  for (size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == names.size() ? " or " : ", ";
    text += names[i];
  }
  return text + " array";
}

void check_signature(Op op, const OpContext& c) {
  const OpDef& row = def(op);
  if (row.arity != kVariadic && static_cast<int>(c.operands.size()) != row.arity)
    throw user_error("{} has {} operands, but needs {}", row.name, c.operands.size(), row.arity);
  for (Attr a : row.attrs)
    if (!c.attrs.has(a)) throw user_error("{} needs the attribute {}", row.name, to_string(a));
}

const Shape& stated_shape(Op op, const OpContext& c) {
  if (c.stated == nullptr)
    throw user_error("{} needs its shape stated, it cannot be inferred", to_string(op));
  return *c.stated;
}

void need_array(Op op, const OpContext& c, int i, uint32_t types) {
  if (static_cast<size_t>(i) >= c.operands.size())
    throw user_error("{} has {} operands, but needs at least {}", to_string(op), c.operands.size(), i + 1);
  if (!contains(types, c.operand(i).dtype))
    throw user_error("operand {} is {}, but {} needs {}", i, to_string(c.operand(i)), to_string(op),
                     describe(types));
}

void need_scalar(Op op, const OpContext& c, int i, uint32_t types) {
  need_array(op, c, i, types);
  if (!c.operand(i).dims.empty())
    throw user_error("operand {} is {}, but {} needs a scalar", i, to_string(c.operand(i)), to_string(op));
}

void need_token(Op op, const OpContext& c, int i) {
  if (static_cast<size_t>(i) >= c.operands.size())
    throw user_error("{} has {} operands, but needs at least {}", to_string(op), c.operands.size(), i + 1);
  if (!c.operand(i).is_token())
    throw user_error("operand {} is {}, but {} needs token[]", i, to_string(c.operand(i)), to_string(op));
}

void need_rank(Op op, const OpContext& c, int i, int64_t rank) {
  if (c.operand(i).rank() != rank)
    throw user_error("operand {} is {}, but {} needs {} dimensions", i, to_string(c.operand(i)),
                     to_string(op), rank);
}

void need_same_dtype(Op op, const OpContext& c, int i, int as) {
  if (c.operand(i).dtype != c.operand(as).dtype)
    throw user_error("operand {} is {}, but {} needs {}", i, to_string(c.operand(i)), to_string(op),
                     to_string(Shape(c.operand(as).dtype, c.operand(i).dims)));
}

void need_same_dims(Op op, const OpContext& c, int i, int as) {
  if (!same_sizes(c.operand(i), c.operand(as)))
    throw user_error("operand {} is {}, but {} needs {}", i, to_string(c.operand(i)), to_string(op),
                     to_string(Shape(c.operand(i).dtype, c.operand(as).dims)));
}

void need_same_shape(Op op, const OpContext& c, int i, int as) { need_shape(op, c, i, c.operand(as)); }

void need_shape(Op op, const OpContext& c, int i, const Shape& want) {
  if (static_cast<size_t>(i) >= c.operands.size())
    throw user_error("{} has {} operands, but needs at least {}", to_string(op), c.operands.size(), i + 1);
  if (!agree(c.operand(i), want))
    throw user_error("operand {} is {}, but {} needs {}", i, to_string(c.operand(i)), to_string(op),
                     to_string(want));
}

void need_dim(Op op, std::string_view attr, int64_t dim, int64_t rank) {
  if (dim < 0 || dim >= rank)
    throw user_error("{} of {} names dimension {}, but there are {} dimensions", attr, to_string(op), dim,
                     rank);
}

void need_dims(Op op, std::string_view attr, const Dims& dims, int64_t rank) {
  std::vector<bool> seen(static_cast<size_t>(std::max<int64_t>(rank, 0)));
  for (int64_t d : dims) {
    need_dim(op, attr, d, rank);
    if (seen[d]) throw user_error("{}={} of {} names dimension {} twice", attr, list(dims), to_string(op), d);
    seen[d] = true;
  }
}

void need_dims_sorted(Op op, std::string_view attr, const Dims& dims, int64_t rank) {
  need_dims(op, attr, dims, rank);
  if (!std::is_sorted(dims.begin(), dims.end()))
    throw user_error("{}={} of {} must be in ascending order", attr, list(dims), to_string(op));
}

void need_callee_count(Op op, const OpContext& c, int count) {
  if (static_cast<int>(c.callees.size()) != count)
    throw user_error("{} calls {} computations, but needs {}", to_string(op), c.callees.size(), count);
}

void need_callee(Op op, const OpContext& c, int callee, const std::vector<Shape>& parameters,
                 const Shape* result) {
  if (static_cast<size_t>(callee) >= c.callees.size())
    throw user_error("{} needs {} computations, but has {}", to_string(op), callee + 1, c.callees.size());
  const ProgramShape& got = c.callees[callee];
  if (got.parameters.size() != parameters.size())
    throw user_error("the computation of {} takes {} parameters, but it is given {}", to_string(op),
                     got.parameters.size(), parameters.size());
  for (size_t i = 0; i < parameters.size(); ++i)
    if (!agree(got.parameters[i], parameters[i]))
      throw user_error("parameter {} of the computation of {} is {}, but it is given {}", i, to_string(op),
                       to_string(got.parameters[i]), to_string(parameters[i]));
  if (result != nullptr && !agree(got.result, *result))
    throw user_error("the computation of {} returns {}, but must return {}", to_string(op),
                     to_string(got.result), to_string(*result));
}

bool same_size(int64_t a, int64_t b) { return a == b || a == Shape::kUnbounded || b == Shape::kUnbounded; }

bool same_sizes(const Shape& a, const Shape& b) {
  return a.dims.size() == b.dims.size() &&
         std::equal(a.dims.begin(), a.dims.end(), b.dims.begin(), same_size);
}

bool agree(const Shape& a, const Shape& b) {
  if (a.dtype != b.dtype) return false;
  if (a.is_tuple())
    return a.tuple.size() == b.tuple.size() &&
           std::equal(a.tuple.begin(), a.tuple.end(), b.tuple.begin(), agree);
  return same_sizes(a, b);
}

Shape array_result(const OpContext& c, DType dtype, Dims dims) {
  Shape result(dtype, std::move(dims));
  if (c.stated != nullptr && agree(result, *c.stated)) {
    result.dynamic = c.stated->dynamic;
    result.dims = c.stated->dims;  // `?` where the text says so
  } else if (std::find(result.dims.begin(), result.dims.end(), Shape::kUnbounded) != result.dims.end()) {
    for (int64_t d : result.dims) result.dynamic.push_back(d == Shape::kUnbounded);
  }
  const bool bounded =
      std::find(result.dims.begin(), result.dims.end(), Shape::kUnbounded) == result.dims.end();
  if (bounded) result.num_elements();  // throws on overflow
  return result;
}

Dims windowed_dims(Op op, const Dims& dims, const Window& window) {
  constexpr int64_t kHuge = int64_t{1} << 40;  // far beyond any array; keeps the arithmetic from overflowing
  if (window.dims.size() != dims.size())
    throw user_error("window of {} has {} dimensions, but there are {}", to_string(op), window.dims.size(),
                     dims.size());
  Dims result;
  for (size_t d = 0; d < dims.size(); ++d) {
    const WindowDim& w = window.dims[d];
    for (int64_t value : {w.size, w.stride, w.lhs_dilate, w.rhs_dilate})
      if (value < 1)
        throw user_error(
            "window of {} has {} in dimension {}, but sizes, strides and dilations must be at least 1",
            to_string(op), value, d);
    for (int64_t value : {w.size, w.stride, w.lhs_dilate, w.rhs_dilate, w.pad_low, w.pad_high})
      if (value > kHuge || value < -kHuge)
        throw user_error("window of {} has {} in dimension {}, which is out of any range", to_string(op),
                         value, d);
    const bool overflows =
        dims[d] != Shape::kUnbounded && (static_cast<__int128>(dims[d]) * w.lhs_dilate > (int64_t{1} << 60) ||
                                         static_cast<__int128>(w.size) * w.rhs_dilate > (int64_t{1} << 60));
    if (overflows) throw user_error("window of {} spreads dimension {} beyond 2^60", to_string(op), d);
    result.push_back(window_output_size(dims[d], w));
  }
  return result;
}

bool contains_dim(const Dims& dims, int64_t d) {
  return std::find(dims.begin(), dims.end(), d) != dims.end();
}

std::string list(const Dims& dims) { return fmt::format("{{{}}}", fmt::join(dims, ",")); }

}  // namespace armillary
