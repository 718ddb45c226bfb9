// sort and topk.
#include <cmath>
#include <optional>

#include "xla_core/backends/cpu/native/sort.h"
#include "xla_core/backends/cpu/native/topk.h"
#include "xla_core/backends/cpu/native_parts.h"
#include "xla_core/kernels/lower.h"

namespace armillary::cpu {
namespace {

bool is_compare(const Instruction& i, std::string_view direction) {
  return i.is(Op::compare) && i.attrs().text(Attr::direction) == direction;
}

bool is_scalar_constant(const Instruction& i, bool nan) {
  if (!i.is(Op::constant) || !i.shape().is_scalar() || !is_float(i.dtype())) return false;
  const double value = i.literal().get_double(0);
  return nan ? std::isnan(value) : value == 0;
}

// The parameter behind JAX's canonical form of a float key, where zeros are equal and NaNs are too: select(x
// != x, nan, select(x == 0, 0, x)).
const Instruction* canonical_key(const Instruction& i) {
  if (!i.is(Op::select) || !is_compare(*i.operand(0), "NE") || !is_scalar_constant(*i.operand(1), true))
    return nullptr;
  const Instruction& zeros = *i.operand(2);
  if (!zeros.is(Op::select) || !is_compare(*zeros.operand(0), "EQ") ||
      !is_scalar_constant(*zeros.operand(1), false))
    return nullptr;
  const Instruction* x = zeros.operand(2);
  const Instruction &unequal = *i.operand(0), &equal = *zeros.operand(0);
  const bool same = unequal.operand(0) == x && unequal.operand(1) == x && equal.operand(0) == x &&
                    equal.operand(1) == zeros.operand(1);
  return x->is(Op::parameter) && same ? x : nullptr;
}

// The order of the first operand's elements, when the comparator asks for nothing else.
std::optional<native::KeyOrder> order_by_first(const Computation& c) {
  const Instruction& root = *c.root();
  const bool less = is_compare(root, "LT");
  if (!less && !is_compare(root, "GT")) return std::nullopt;
  const Instruction *left = root.operand(0), *right = root.operand(1);
  const bool canonical = left->is(Op::select);
  if (canonical) {
    left = canonical_key(*left);
    right = canonical_key(*right);
  }
  if (!left || !right || !left->is(Op::parameter) || !right->is(Op::parameter)) return std::nullopt;
  const int64_t first = left->parameter_number(), second = right->parameter_number();
  if (first + second != 1 || !native::KeyReader::supports(left->dtype())) return std::nullopt;
  // Without a total order, NaNs are neither before nor after anything; only a comparator can say what comes
  // of that.
  if (is_float(left->dtype()) && root.attrs().text(Attr::type, "FLOAT") != "TOTALORDER") return std::nullopt;
  return native::KeyOrder{.descending = less != (first == 0), .canonical = canonical};
}

bool can_sort(const Instruction& i, std::string* why) {
  const Computation& c = *i.attrs().callee(Attr::to_apply);
  return order_by_first(c).has_value() || kernels::can_lower_scalar(c, why);
}

NativeFunction make_sort(const Instruction& i, FunctionTable& functions) {
  const Computation& c = *i.attrs().callee(Attr::to_apply);
  native::SortSpec spec{.dimension = i.attrs().ints(Attr::dimensions)[0], .by_first = order_by_first(c)};
  const int compare = spec.by_first ? -1 : add_scalar_function(c, functions);
  return [arrays = Arrays(i), spec, compare, table = functions.pointers](std::byte* const* buffers) {
    const std::vector<native::ArrayRef> bound = arrays.bound(buffers);
    native::SortSpec ready = spec;
    if (compare >= 0) ready.compare = (*table)[compare];
    const std::span all(bound);
    native::sort(all.first(arrays.inputs()), all.subspan(arrays.inputs()), ready);
  };
}

bool sorts_in_place(const Instruction&, int64_t operand, int64_t leaf) { return operand == leaf; }

NativeFunction make_topk(const Instruction& i, FunctionTable&) {
  const int64_t k = i.attrs().integer(Attr::k);
  const bool largest = i.attrs().flag(Attr::largest, true);
  return [arrays = Arrays(i), k, largest](std::byte* const* buffers) {
    const std::vector<native::ArrayRef> bound = arrays.bound(buffers);
    native::topk(bound[0], k, largest, bound[1], bound[2]);
  };
}

constexpr NativeRow kRows[] = {{Op::sort, make_sort, can_sort, sorts_in_place}, {Op::topk, make_topk}};

}  // namespace

std::span<const NativeRow> ordering_rows() { return kRows; }

}  // namespace armillary::cpu
