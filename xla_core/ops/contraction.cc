// Rows of dot and its relatives: sums of products over shared dimensions.
#include "xla_core/ops/rows.h"

namespace armillary {
namespace {

bool widens(DType from, DType to) {
  if (class_of(from) != class_of(to)) return class_of(from) < class_of(to);
  return bit_width(from) <= bit_width(to);
}

// A stated result type (the preferred one, such as s32 for s8 operands) wins over the wider operand type.
DType dot_dtype(const OpContext& c) {
  if (c.stated != nullptr && c.stated->is_array()) return c.stated->dtype;
  const DType a = c.operand(0).dtype, b = c.operand(1).dtype;
  return widens(a, b) ? b : a;
}

// Checks 1 to 4: lists are as long as their partners, in range, disjoint, and paired sizes are equal.
void check_pairs(Op op, const OpContext& c) {
  const Dims &lc = c.attrs.ints(Attr::lhs_contracting_dims), &rc = c.attrs.ints(Attr::rhs_contracting_dims);
  const Dims &lb = c.attrs.ints(Attr::lhs_batch_dims), &rb = c.attrs.ints(Attr::rhs_batch_dims);
  const Shape &lhs = c.operand(0), &rhs = c.operand(1);
  if (lc.size() != rc.size())
    throw user_error("lhs_contracting_dims={} and rhs_contracting_dims={} of {} must be equally long",
                     list(lc), list(rc), to_string(op));
  if (lb.size() != rb.size())
    throw user_error("lhs_batch_dims={} and rhs_batch_dims={} of {} must be equally long", list(lb), list(rb),
                     to_string(op));
  Dims left = lb, right = rb;
  left.insert(left.end(), lc.begin(), lc.end());
  right.insert(right.end(), rc.begin(), rc.end());
  need_dims(op, "lhs_batch_dims and lhs_contracting_dims", left, lhs.rank());
  need_dims(op, "rhs_batch_dims and rhs_contracting_dims", right, rhs.rank());
  for (size_t i = 0; i < left.size(); ++i)
    if (!same_size(lhs.dims[left[i]], rhs.dims[right[i]]))
      throw user_error(
          "dimension {} of operand 0 ({}) and dimension {} of operand 1 ({}) of {} must have one size, but "
          "have {} and {}",
          left[i], to_string(lhs), right[i], to_string(rhs), to_string(op), lhs.dims[left[i]],
          rhs.dims[right[i]]);
}

// Batch dimensions, then what is left of the lhs, then of the rhs (without its group dimensions).
Dims dot_dims(Op op, const OpContext& c, const Dims& rhs_groups = {}) {
  check_pairs(op, c);
  const Shape &lhs = c.operand(0), &rhs = c.operand(1);
  Dims dims;
  for (int64_t d : c.attrs.ints(Attr::lhs_batch_dims)) dims.push_back(lhs.dims[d]);
  for (int64_t d = 0; d < lhs.rank(); ++d)
    if (!contains_dim(c.attrs.ints(Attr::lhs_batch_dims), d) &&
        !contains_dim(c.attrs.ints(Attr::lhs_contracting_dims), d))
      dims.push_back(lhs.dims[d]);
  for (int64_t d = 0; d < rhs.rank(); ++d)
    if (!contains_dim(c.attrs.ints(Attr::rhs_batch_dims), d) &&
        !contains_dim(c.attrs.ints(Attr::rhs_contracting_dims), d) && !contains_dim(rhs_groups, d))
      dims.push_back(rhs.dims[d]);
  return dims;
}

Shape dot_shape(const OpContext& c) {
  check_signature(Op::dot, c);
  need_array(Op::dot, c, 0);
  need_array(Op::dot, c, 1);
  return array_result(c, dot_dtype(c), dot_dims(Op::dot, c));
}

// 5: operand_precision, when given, says one for each operand.
void dot_check(const OpContext& c) {
  const AttrValue* precision = c.attrs.find(Attr::operand_precision);
  const auto* names = precision ? std::get_if<std::vector<std::string>>(precision) : nullptr;
  if (names == nullptr) return;
  if (names->size() != 2)
    throw user_error("operand_precision of dot has {} entries, but needs 2", names->size());
  for (const std::string& name : *names) {
    std::string lower;  // XLA reads HIGH as well
    for (const char ch : name) lower += static_cast<char>(ch >= 'A' && ch <= 'Z' ? ch - 'A' + 'a' : ch);
    if (lower != "default" && lower != "high" && lower != "highest" && lower != "packed_nibble")
      throw user_error("operand_precision={} of dot is none of default, high, highest", name);
  }
}

double dot_flops(const OpContext& c, const Shape& result) {
  double terms = is_complex(result.dtype) ? 8 : 2;
  for (int64_t d : c.attrs.ints(Attr::lhs_contracting_dims))
    terms *= static_cast<double>(c.operand(0).dims[d]);
  return terms;
}

// The ragged dimension of the lhs is cut into groups of operand 2's sizes; each group meets its own slice of
// the rhs.
Shape ragged_dot_shape(const OpContext& c) {
  check_signature(Op::ragged_dot, c);
  need_array(Op::ragged_dot, c, 0);
  need_array(Op::ragged_dot, c, 1);
  need_array(Op::ragged_dot, c, 2, kIntegerType);
  const Dims &ragged = c.attrs.ints(Attr::lhs_ragged_dims), &groups = c.attrs.ints(Attr::rhs_group_dims);
  if (ragged.size() != 1)
    throw user_error("lhs_ragged_dims={} of ragged-dot must name one dimension", list(ragged));
  need_dims(Op::ragged_dot, "lhs_ragged_dims", ragged, c.operand(0).rank());
  need_dims(Op::ragged_dot, "rhs_group_dims", groups, c.operand(1).rank());
  if (c.operand(2).rank() < 1)
    throw user_error("operand 2 is {}, but ragged-dot needs the sizes of its groups",
                     to_string(c.operand(2)));
  const int64_t count = c.operand(2).dims.back();
  for (int64_t d : groups)
    if (const int64_t held = c.operand(1).dims[d];
        held != count && held != Shape::kUnbounded && count != Shape::kUnbounded)
      throw user_error(
          "operand 1 is {} and has {} groups in dimension {}, but operand 2 of ragged-dot has the sizes of "
          "{}",
          to_string(c.operand(1)), held, d, count);
  Dims dims = dot_dims(Op::ragged_dot, c, groups);
  if (contains_dim(c.attrs.ints(Attr::lhs_contracting_dims), ragged[0]))
    dims.insert(dims.begin(), c.operand(2).dims.back());  // one result a group
  return array_result(c, dot_dtype(c), std::move(dims));
}

}  // namespace

std::vector<OpDef> contraction_rows() {
  const std::vector<Attr> dims = {Attr::lhs_batch_dims,    Attr::lhs_contracting_dims,
                                  Attr::rhs_batch_dims,    Attr::rhs_contracting_dims,
                                  Attr::operand_precision, Attr::algorithm};
  std::vector<Attr> ragged = dims;
  ragged.insert(ragged.end(), {Attr::lhs_ragged_dims, Attr::rhs_group_dims});
  return {
      {.op = Op::dot,
       .stablehlo = "dot_general",
       .arity = 2,
       .traits = kExpensive,
       .optional = dims,
       .doc = "Sums of products over the contracting dimensions, for each index of the batch dimensions.",
       .infer = dot_shape,
       .check = dot_check,
       .meaning = Meaning::kFactors,
       .factors = "bik,bkj->bij",
       .flops = dot_flops},
      {.op = Op::ragged_dot,
       .arity = 3,
       .traits = kExpensive,
       .optional = ragged,
       .doc = "A dot whose lhs is cut into groups of the sizes in operand 2, each with its own rhs.",
       .infer = ragged_dot_shape,
       .flops = dot_flops},
      {.op = Op::scaled_dot,
       .arity = 4,
       .traits = kExpensive | kNeedsShape | kCannotRun,
       .optional = dims,
       .doc = "A dot of narrow operands with a scale for each block of them.",
       .flops = dot_flops},
  };
}

}  // namespace armillary
