// Laws of single instructions: what their op's row demands.
#include <algorithm>

#include "xla_core/hlo/async_operands.h"
#include "xla_core/hlo/verify_laws.h"

namespace armillary {
namespace {

// Rows blame nobody, because they do not see the instruction; here it is added.
template <class Check>
void blame(const Instruction& i, Check check) {
  try {
    check();
  } catch (const Error& e) {
    if (!e.where().empty()) throw;
    throw make_error(e.kind(), i, e.message());
  }
}

// Equal but for layouts; a dimension that is dynamic or unbounded on either side agrees with what can be it.
bool agree(const Shape& a, const Shape& b) {
  if (a.dtype != b.dtype || a.dims.size() != b.dims.size() || a.tuple.size() != b.tuple.size()) return false;
  for (size_t d = 0; d < a.dims.size(); ++d)
    if (a.dims[d] != b.dims[d] && a.dims[d] != Shape::kUnbounded && b.dims[d] != Shape::kUnbounded)
      return false;
  for (size_t i = 0; i < a.tuple.size(); ++i)
    if (!agree(a.tuple[i], b.tuple[i])) return false;
  return true;
}

}  // namespace

void check_arity(const Instruction& i) {
  const int arity = i.def().arity;
  if (arity != kVariadic && i.num_operands() != arity)
    throw user_error(i, "{} needs {} operands, found {}", i.def().name, arity, i.num_operands());
}

void check_attributes(const Instruction& i) {
  const OpDef& row = i.def();
  for (const Attr a : row.attrs)
    if (!i.has(a)) throw user_error(i, "{} needs attribute {}", row.name, to_string(a));
  for (const auto& [attr, value] : i.attrs()) {
    const bool known = attr <= Attr::result_accuracy ||
                       std::find(row.attrs.begin(), row.attrs.end(), attr) != row.attrs.end() ||
                       std::find(row.optional.begin(), row.optional.end(), attr) != row.optional.end();
    if (!known) throw user_error(i, "attribute {} is not allowed on {}", to_string(attr), row.name);
  }
}

void check_literal(const Instruction& i) {
  if (!i.is(Op::constant)) return;
  if (!i.shared_literal()) throw user_error(i, "the constant has no value");
  if (!i.literal().shape().compatible(i.shape()))
    throw user_error(i, "the constant is {}, but its value is {}", to_string(i.shape()),
                     to_string(i.literal().shape()));
}

void check_shape(const Instruction& i) {
  const OpDef& row = i.def();
  if (row.infer == nullptr) return;
  const Instruction::ContextStorage storage = i.context_storage();
  Shape inferred;
  blame(i, [&] { inferred = row.infer(storage.context(i.attrs(), &i.shape())); });
  if (!agree(inferred, i.shape()))
    throw user_error(i, "the shape is stated as {}, but {} gives {}", to_string(i.shape()), row.name,
                     to_string(inferred));
}

void check_row(const Instruction& i) {
  const OpDef& row = i.def();
  if (row.check == nullptr) return;
  const Instruction::ContextStorage storage = i.context_storage();
  blame(i, [&] { row.check(storage.context(i.attrs(), &i.shape())); });
}

// A start may leave operands to updates; at the end they are all there.
void check_bound_operands(const Instruction& done) {
  const Instruction* start = async_start_of(done);
  if (start == nullptr) return;
  const Computation& callee = *start->callees()[0];
  const std::vector<Instruction*> bound = async_operands(done);
  if (bound.size() != callee.parameters().size())
    throw user_error(done, "computation %{} takes {} operands, but {} were given to it", callee.name(),
                     callee.parameters().size(), bound.size());
  for (size_t k = 0; k < bound.size(); ++k)
    if (!agree(bound[k]->shape(), callee.parameter(k)->shape()))
      throw user_error(done, "computation %{} takes {} as parameter {}, but was given {}", callee.name(),
                       to_string(callee.parameter(k)->shape()), k, to_string(bound[k]->shape()));
}

void check_async_done(const Instruction& i) {
  if (!i.has(kAsyncDone) || i.num_operands() == 0) return;
  const Instruction& start = *i.operand(0);
  // A pipelined loop carries what a start made through its tuple.
  if (start.is(Op::get_tuple_element) || start.is(Op::parameter) || start.is(Op::opt_barrier)) return;
  if (!start.has(kAsyncStart) && !start.is(Op::async_update))
    throw user_error(i, "operand 0 is {}, but {} needs what a start made", start.def().name, i.def().name);
  if (i.is(Op::async_done)) check_bound_operands(i);
}

}  // namespace armillary
