// HLO text of instructions, computations and modules, in XLA's form.
#include "xla_core/hlo/print_parts.h"
#include "xla_core/hlo/text.h"

namespace armillary {
namespace {

class Printer {
 public:
  explicit Printer(const PrintOptions& options) : options_(options) {}

  void module(const Module& m);
  void computation(const Computation& c);
  void instruction(const Instruction& i);
  std::string take() { return std::move(out_); }

 private:
  std::string_view percent() const { return options_.percent ? "%" : ""; }
  void name(const std::string& name) { (out_ += percent()) += name; }
  void signature(const Computation& c);
  void operands(const Instruction& i);
  void literal(const Literal& literal);
  void attributes(const Instruction& i);
  void attribute(Attr attr, const AttrValue& value);
  void callees(Attr attr, const std::vector<Computation*>& callees);
  void control_predecessors(const Instruction& i);

  const PrintOptions& options_;
  std::string out_;
};

void Printer::literal(const Literal& literal) {
  const bool elide = options_.max_constant_elements >= 0 && literal.shape().is_array() &&
                     literal.size() > options_.max_constant_elements;
  out_ += elide ? "{...}" : to_string(literal);
}

void Printer::operands(const Instruction& i) {
  if (i.is(Op::parameter)) {
    out_ += std::to_string(i.parameter_number());
    return;
  }
  if (i.is(Op::constant)) return literal(i.literal());
  for (int64_t n = 0; n < i.num_operands(); ++n) {
    if (n) out_ += ", ";
    if (n && n % 5 == 0) out_ += fmt::format("/*index={}*/", n);  // XLA's aid for readers of long lists
    if (options_.operand_shapes) (out_ += to_string(i.operand(n)->shape(), options_.layouts)) += ' ';
    name(i.operand(n)->name());
  }
}

void Printer::callees(Attr attr, const std::vector<Computation*>& callees) {
  const bool list = attr != Attr::calls || callees.size() != 1;
  if (list) out_ += '{';
  for (size_t n = 0; n < callees.size(); ++n) {
    if (n) out_ += ", ";
    name(callees[n]->name());
  }
  if (list) out_ += '}';
}

void Printer::attribute(Attr attr, const AttrValue& value) {
  ((out_ += ", ") += to_string(attr)) += '=';
  if (auto* one = std::get_if<Computation*>(&value)) return name((*one)->name());
  if (auto* many = std::get_if<std::vector<Computation*>>(&value)) return callees(attr, *many);
  append_attr_value(out_, attr, value, options_.layouts);
}

void Printer::control_predecessors(const Instruction& i) {
  if (i.control_predecessors().empty()) return;
  out_ += ", control-predecessors={";
  for (size_t n = 0; n < i.control_predecessors().size(); ++n) {
    if (n) out_ += ", ";
    name(i.control_predecessors()[n]->name());
  }
  out_ += '}';
}

// The op's own, then its callees, then what every instruction may carry.
void Printer::attributes(const Instruction& i) {
  auto is_callee = [](Attr a) { return kind_of(a) == AttrKind::Callee || kind_of(a) == AttrKind::Callees; };
  auto is_common = [](Attr a) { return a <= Attr::result_accuracy; };
  for (const auto& [attr, value] : i.attrs())
    if (!is_common(attr) && !is_callee(attr)) attribute(attr, value);
  for (const auto& [attr, value] : i.attrs())
    if (is_callee(attr)) attribute(attr, value);
  for (const auto& [attr, value] : i.attrs())
    if (is_common(attr) && attr != Attr::backend_config) attribute(attr, value);
  control_predecessors(i);
  if (options_.metadata) append_metadata(out_, i.metadata());
  if (const AttrValue* config = i.attrs().find(Attr::backend_config))
    attribute(Attr::backend_config, *config);
}

void Printer::instruction(const Instruction& i) {
  name(i.name());
  (((out_ += " = ") += to_string(i.shape(), options_.layouts)) += ' ') += to_string(i.op());
  out_ += '(';
  operands(i);
  out_ += ')';
  attributes(i);
}

void Printer::signature(const Computation& c) {
  out_ += " (";
  for (size_t n = 0; n < c.parameters().size(); ++n) {
    if (n) out_ += ", ";
    if (n && n % 5 == 0) out_ += fmt::format("/*index={}*/", n);
    const Instruction& p = *c.parameter(static_cast<int64_t>(n));
    ((out_ += p.name()) += ": ") += to_string(p.shape());
  }
  (out_ += ") -> ") += to_string(c.root()->shape());
}

void Printer::computation(const Computation& c) {
  if (c.is_entry()) out_ += "ENTRY ";
  name(c.name());
  if (options_.percent && c.root() != nullptr) signature(c);
  out_ += " {\n";
  for (const Instruction* i : c.instructions()) {
    out_ += i->is_root() ? "  ROOT " : "  ";
    instruction(*i);
    out_ += '\n';
  }
  out_ += '}';
  if (!c.execution_thread.empty()) out_ += ", execution_thread=\"" + escape(c.execution_thread) + '"';
  if (!c.other_attributes.empty()) (out_ += ", ") += c.other_attributes;
}

void Printer::module(const Module& m) {
  append_header(out_, m);
  for (const Computation* c : m.computations()) {
    if (c->is_entry()) continue;
    out_ += '\n';
    computation(*c);
    out_ += '\n';
  }
  if (m.entry() == nullptr) return;
  out_ += '\n';
  computation(*m.entry());
  out_ += '\n';
}

}  // namespace

std::string print(const Module& module, const PrintOptions& options) {
  Printer printer(options);
  printer.module(module);
  return printer.take();
}

std::string print(const Computation& computation, const PrintOptions& options) {
  Printer printer(options);
  printer.computation(computation);
  return printer.take();
}

std::string print(const Instruction& instruction, const PrintOptions& options) {
  Printer printer(options);
  printer.instruction(instruction);
  return printer.take();
}

}  // namespace armillary
