// What the rows' shape inference and numbered checks share: each throws a user error that shows both sides of
// the mismatch.
#pragma once

#include <string>
#include <string_view>

#include "xla_core/ops/op.h"

namespace armillary {

// Sets of element types, to say what an op takes.
enum TypeSet : uint32_t {
  kPredType = 1,
  kSignedType = 2,
  kUnsignedType = 4,
  kFloatType = 8,
  kComplexType = 16,
  kIntegerType = kSignedType | kUnsignedType,
  kIntegralType = kIntegerType | kPredType,
  kRealType = kIntegerType | kFloatType,
  kInexactType = kFloatType | kComplexType,
  kNumberType = kIntegerType | kInexactType,
  kAnyType = kNumberType | kPredType,
};
bool contains(uint32_t types, DType dtype);
std::string describe(uint32_t types);  // "a floating-point or complex array"

// The first line of every inference and check: operand count and required attributes of the row.
void check_signature(Op op, const OpContext& c);
const Shape& stated_shape(Op op, const OpContext& c);  // a user error when the text states none

void need_array(Op op, const OpContext& c, int i, uint32_t types = kAnyType);
void need_scalar(Op op, const OpContext& c, int i, uint32_t types);
void need_token(Op op, const OpContext& c, int i);
void need_rank(Op op, const OpContext& c, int i, int64_t rank);
void need_same_dtype(Op op, const OpContext& c, int i, int as);  // operand i has operand `as`'s dtype
void need_same_dims(Op op, const OpContext& c, int i, int as);
void need_same_shape(Op op, const OpContext& c, int i, int as);
// Operand i is `want`, layouts and dynamism aside.
void need_shape(Op op, const OpContext& c, int i, const Shape& want);

// Attribute dims: in [0, rank) and, unless said, distinct.
void need_dims(Op op, std::string_view attr, const Dims& dims, int64_t rank);
void need_dims_sorted(Op op, std::string_view attr, const Dims& dims, int64_t rank);
void need_dim(Op op, std::string_view attr, int64_t dim, int64_t rank);

// The callee takes `parameters` and returns `result`.
void need_callee(Op op, const OpContext& c, int callee, const std::vector<Shape>& parameters,
                 const Shape* result);
void need_callee_count(Op op, const OpContext& c, int count);

bool same_size(int64_t a, int64_t b);  // `?` agrees with every size
bool same_sizes(const Shape& a, const Shape& b);
bool agree(const Shape& a, const Shape& b);  // dtype and sizes, deep in tuples; dynamism and layouts aside

// An array result; takes the stated dynamism when the stated sizes agree (bounds are what inference knows).
// Refuses element counts over 2^63.
Shape array_result(const OpContext& c, DType dtype, Dims dims);
// Result dims of a window over `dims`; checks the window: a dimension each, sizes, strides and dilations of
// at least 1.
Dims windowed_dims(Op op, const Dims& dims, const Window& window);
bool contains_dim(const Dims& dims, int64_t d);
std::string list(const Dims& dims);  // "{0,2}"

}  // namespace armillary
