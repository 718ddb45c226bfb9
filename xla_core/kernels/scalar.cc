#include "xla_core/kernels/scalar.h"

#include <unordered_map>

#include "xla_core/kernels/estimate.h"
#include "xla_core/kernels/lower.h"

namespace armillary::kernels {
namespace {

// Ops that do nothing to a scalar.
bool passes_through(const Instruction& i) {
  if (i.def().meaning != Meaning::kIndex) return i.is(Op::opt_barrier);
  return i.num_operands() == 1 && i.dtype() == i.operand(0)->dtype();
}

bool calls(const Instruction& i) { return i.is(Op::call) || i.is(Op::map) || i.is(Op::fusion); }

std::string obstacle(const Computation& computation);

std::string obstacle(const Instruction& i) {
  for (const Shape* leaf : leaves_of(i.shape()))
    if (!leaf->is_array() || leaf->num_elements() != 1)
      return "%" + i.name() + " is " + to_string(i.shape()) + ", not a scalar";
  if (calls(i)) return obstacle(*i.callees().at(0));
  if (i.is(Op::conditional)) {
    for (const Computation* branch : i.callees())
      if (std::string why = obstacle(*branch); !why.empty()) return why;
    return "";
  }
  if (i.is(Op::parameter) || i.is(Op::constant) || i.is(Op::tuple) || i.is(Op::get_tuple_element) ||
      passes_through(i) || i.def().element || (i.def().meaning == Meaning::kScalar && i.def().scalar))
    return "";
  return "no scalar code for " + std::string(to_string(i.op()));
}

std::string obstacle(const Computation& computation) {
  for (const Instruction* i : computation.instructions())
    if (std::string why = obstacle(*i); !why.empty()) return why;
  return "";
}

Val constant_of(KernelBuilder& b, const Literal& literal) {
  const DType d = literal.dtype();
  if (is_complex(d)) {
    const std::complex<double> v = literal.get_complex(0);
    return b.complex(b.constant(real_part_of(d), v.real()), b.constant(real_part_of(d), v.imag()));
  }
  return is_float(d) ? b.constant(d, literal.get_double(0)) : b.constant_int(d, literal.get_int(0));
}

// The only element of what a row's recipe makes of single elements.
Val apply_element(KernelBuilder& b, const Instruction& instr, std::span<const Val> operands) {
  const auto storage = instr.context_storage();
  const std::vector<Val> origin(instr.dims().size(), b.index_const(0));
  const KernelBuilder::Loader loader = [&](int operand, std::span<const int64_t>, std::span<const Val>) {
    return operands[operand];
  };
  return b.with_loader(loader, [&] {
    return instr.def().element(b, origin, storage.context(instr.attrs(), &instr.shape()), instr.shape());
  });
}

// All branches are computed, and one is taken: the last, when no other is meant.
std::vector<Val> choose_branch(KernelBuilder& b, const Instruction& instr,
                               const std::vector<std::vector<Val>>& operands) {
  const Val which = operands[0][0];
  const auto branches = instr.callees();
  std::vector<Val> taken;
  for (size_t n = branches.size(); n-- > 0;) {
    const std::vector<Val> result = inline_scalar(b, *branches[n], operands[n + 1]);
    if (taken.empty()) {
      taken = result;
      continue;
    }
    const Val meant = is_pred(which.dtype)
                          ? which
                          : b.compare(Prim::kEq, which, b.constant_int(which.dtype, static_cast<int64_t>(n)));
    for (size_t k = 0; k < taken.size(); ++k) taken[k] = b.select(meant, result[k], taken[k]);
  }
  return taken;
}

}  // namespace

Val apply_scalar(KernelBuilder& b, const Instruction& instr, std::span<const Val> operands) {
  const auto storage = instr.context_storage();
  return instr.def().scalar(b, operands, storage.context(instr.attrs(), &instr.shape()), instr.dtype());
}

std::vector<Val> inline_scalar(KernelBuilder& b, const Computation& computation,
                               std::span<const Val> arguments) {
  std::unordered_map<const Instruction*, std::vector<Val>> values;
  for (const Instruction* i : computation.instructions()) {
    std::vector<Val> x;
    std::vector<std::vector<Val>> by_operand;
    for (const Instruction* operand : i->operands()) {
      by_operand.push_back(values.at(operand));
      x.insert(x.end(), by_operand.back().begin(), by_operand.back().end());
    }
    std::vector<Val>& out = values[i];
    if (i->is(Op::parameter))
      out = {arguments[i->parameter_number()]};
    else if (i->is(Op::constant))
      out = {constant_of(b, i->literal())};
    else if (i->is(Op::tuple) || passes_through(*i))
      out = x;
    else if (i->is(Op::get_tuple_element))
      out = {x[i->attrs().integer(Attr::index)]};
    else if (calls(*i))
      out = inline_scalar(b, *i->callees()[0], x);
    else if (i->is(Op::conditional))
      out = choose_branch(b, *i, by_operand);
    else if (!i->def().scalar)
      out = {apply_element(b, *i, x)};
    else
      out = {apply_scalar(b, *i, x)};
  }
  return values.at(computation.root());
}

bool can_lower_scalar(const Computation& computation, std::string* why) {
  std::string reason = obstacle(computation);
  for (const Instruction* p : computation.parameters())
    if (!p->shape().is_array()) reason = "parameter " + to_string(p->shape()) + " is not an array";
  if (why) *why = reason;
  return reason.empty();
}

Kernel lower_scalar_computation(const Computation& computation) {
  Kernel kernel;
  kernel.name = computation.name();
  KernelBuilder b(kernel);
  std::vector<Val> arguments;
  for (const Instruction* p : computation.parameters()) {
    const int buffer = b.add_buffer(p->dtype(), 1, false);
    kernel.buffers.back().may_share = true;  // a combiner may write its result over an operand
    arguments.push_back(b.load_at(buffer, b.index_const(0)));
  }
  const std::vector<Val> results = inline_scalar(b, computation, arguments);
  for (const Val& v : results) {
    const int buffer = b.add_buffer(v.dtype, 1, true);
    b.store_at(buffer, b.index_const(0), v);
  }
  kernel.work_per_iteration = estimate_work(kernel);
  return kernel;
}

}  // namespace armillary::kernels
