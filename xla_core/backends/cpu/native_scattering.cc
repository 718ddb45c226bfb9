// scatter and select-and-scatter.
#include "xla_core/backends/cpu/native/scatter.h"
#include "xla_core/backends/cpu/native/select_and_scatter.h"
#include "xla_core/backends/cpu/native_parts.h"
#include "xla_core/kernels/lower.h"

namespace armillary::cpu {
namespace {

bool is_parameter(const Instruction& i, int64_t number) {
  return i.is(Op::parameter) && i.parameter_number() == number;
}

}  // namespace

native::Combiner combiner_of(const Computation& c) {
  using native::Combiner;
  static constexpr std::pair<Op, Combiner> kKnown[] = {
      {Op::add, Combiner::kAdd},         {Op::multiply, Combiner::kMultiply},
      {Op::minimum, Combiner::kMinimum}, {Op::maximum, Combiner::kMaximum},
      {Op::and_, Combiner::kAnd},        {Op::or_, Combiner::kOr}};
  const Instruction& root = *c.root();
  const auto operands = static_cast<int64_t>(c.parameters().size()) / 2;
  if (operands == 1 && is_parameter(root, 1)) return Combiner::kAssign;
  if (root.is(Op::tuple)) {
    bool assigns = root.num_operands() == operands;
    for (int64_t k = 0; assigns && k < operands; ++k) assigns = is_parameter(*root.operand(k), operands + k);
    if (assigns) return Combiner::kAssign;
  }
  if (operands != 1 || root.num_operands() != 2 || !root.operand(0)->is(Op::parameter) ||
      !root.operand(1)->is(Op::parameter) || root.operand(0) == root.operand(1))
    return Combiner::kFunction;
  for (const auto& [op, combiner] : kKnown)
    if (root.is(op)) return combiner;
  return Combiner::kFunction;
}

namespace {

bool runs_without_function(const Instruction& i, native::Combiner combiner) {
  return combiner == native::Combiner::kAssign || native::scatter_knows(combiner, i.operand(0)->dtype());
}

bool can_scatter(const Instruction& i, std::string* why) {
  const Computation& c = *i.attrs().callee(Attr::to_apply);
  return runs_without_function(i, combiner_of(c)) || kernels::can_lower_scalar(c, why);
}

NativeFunction make_scatter(const Instruction& i, FunctionTable& functions) {
  const Attrs& a = i.attrs();
  native::ScatterSpec spec;
  spec.update_window_dims = a.ints(Attr::update_window_dims);
  spec.inserted_window_dims = a.ints(Attr::inserted_window_dims);
  spec.scatter_dims_to_operand_dims = a.ints(Attr::scatter_dims_to_operand_dims);
  spec.input_batching_dims = a.ints(Attr::input_batching_dims);
  spec.scatter_indices_batching_dims = a.ints(Attr::scatter_indices_batching_dims);
  spec.index_vector_dim = a.integer(Attr::index_vector_dim);
  spec.unique_indices = a.flag(Attr::unique_indices);
  const Computation& c = *a.callee(Attr::to_apply);
  spec.combine = combiner_of(c);
  int function = -1;
  if (!runs_without_function(i, spec.combine)) {
    spec.combine = native::Combiner::kFunction;
    function = add_scalar_function(c, functions);
  }
  const auto operands = static_cast<size_t>(i.num_operands() / 2);
  return
      [arrays = Arrays(i), spec, function, operands, table = functions.pointers](std::byte* const* buffers) {
        const std::vector<native::ArrayRef> bound = arrays.bound(buffers);
        native::ScatterSpec ready = spec;
        if (function >= 0) ready.function = (*table)[function];
        const std::span all(bound);
        native::scatter(all.first(operands), bound[operands], all.subspan(operands + 1, operands), ready,
                        all.subspan(arrays.inputs()));
      };
}

bool scatters_in_place(const Instruction& i, int64_t operand, int64_t leaf) {
  return operand == leaf && operand < i.num_operands() / 2;
}

native::SelectAndScatterSpec::Select select_of(const Computation& c) {
  using Spec = native::SelectAndScatterSpec;
  const Instruction& root = *c.root();
  if (!root.is(Op::compare) || !is_parameter(*root.operand(0), 0) || !is_parameter(*root.operand(1), 1))
    return Spec::kSelectFunction;
  const std::string& direction = root.attrs().text(Attr::direction);
  if (root.attrs().text(Attr::type, "FLOAT") == "TOTALORDER") return Spec::kSelectFunction;
  return direction == "GE"   ? Spec::kGreaterEqual
         : direction == "LE" ? Spec::kLessEqual
                             : Spec::kSelectFunction;
}

bool can_select_and_scatter(const Instruction& i, std::string* why) {
  const Attrs& a = i.attrs();
  return kernels::can_lower_scalar(*a.callee(Attr::select), why) &&
         kernels::can_lower_scalar(*a.callee(Attr::scatter), why);
}

NativeFunction make_select_and_scatter(const Instruction& i, FunctionTable& functions) {
  const Attrs& a = i.attrs();
  native::SelectAndScatterSpec spec;
  spec.window = a.window();
  spec.select = select_of(*a.callee(Attr::select));
  spec.combine = combiner_of(*a.callee(Attr::scatter));
  const int select = native::select_is_typed(spec.select, i.dtype())
                         ? -1
                         : add_scalar_function(*a.callee(Attr::select), functions);
  int combine = -1;
  if (!native::scatter_knows(spec.combine, i.dtype())) {
    spec.combine = native::Combiner::kFunction;
    combine = add_scalar_function(*a.callee(Attr::scatter), functions);
  }
  if (select >= 0) spec.select = native::SelectAndScatterSpec::kSelectFunction;
  return [arrays = Arrays(i), spec, select, combine, table = functions.pointers](std::byte* const* buffers) {
    const std::vector<native::ArrayRef> bound = arrays.bound(buffers);
    native::SelectAndScatterSpec ready = spec;
    if (select >= 0) ready.select_function = (*table)[select];
    if (combine >= 0) ready.combine_function = (*table)[combine];
    native::select_and_scatter(bound[0], bound[1], bound[2], ready, bound[3]);
  };
}

constexpr NativeRow kRows[] = {{Op::scatter, make_scatter, can_scatter, scatters_in_place},
                               {Op::select_and_scatter, make_select_and_scatter, can_select_and_scatter}};

}  // namespace

std::span<const NativeRow> scattering_rows() { return kRows; }

}  // namespace armillary::cpu
