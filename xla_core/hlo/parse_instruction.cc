// One instruction: name = shape op(operands), attributes.
#include "xla_core/hlo/parser.h"

namespace armillary {

// [ROOT] %name = ...
Instruction* Parser::read_instruction(Scope& scope) {
  Draft draft;
  draft.begin = in_.next_position();
  bool is_root = false;
  if (in_.accept_keyword("ROOT")) {
    is_root = in_.peek() != '=';  // an instruction may be called ROOT
    if (!is_root) in_.seek(draft.begin);
  }
  if (is_root && scope.root != nullptr)
    throw in_.error(draft.begin, "computation %{} has two roots, the first is %{}", scope.computation->name(),
                    scope.root->name());
  draft.begin = in_.next_position();
  draft.name = in_.name("an instruction or '}'");
  const auto earlier = scope.names.find(draft.name);
  if (earlier != scope.names.end()) {
    const Instruction& first = *earlier->second;
    throw in_.error(draft.begin, "%{} is defined twice, first at line {}, column {}", draft.name,
                    first.text_line(), first.text_column());
  }
  in_.expect('=', fmt::format("after %{}", draft.name));
  Instruction* made = read_right_side(scope, draft);
  if (is_root) scope.root = made;
  return made;
}

Instruction* Parser::read_right_side(Scope& scope, Draft& draft) {
  if (at_shape(in_)) draft.shape = read_shape(in_);
  read_opcode(draft);
  in_.expect('(', "before the operands");
  read_operands(scope, draft);
  in_.expect(')', "after the operands");
  read_attributes(scope, draft);
  return finish(scope, draft);
}

// An op of the table, or X-start, X-update, X-done of one that has no pair of its own.
void Parser::read_opcode(Draft& draft) {
  const size_t begin = in_.next_position();
  const std::string_view word = in_.identifier("an op");
  draft.op = op_from_name(word);
  if (draft.op != nullptr) return;
  static constexpr std::pair<std::string_view, Op> kSuffixes[] = {
      {"-start", Op::async_start}, {"-update", Op::async_update}, {"-done", Op::async_done}};
  for (const auto& [suffix, op] : kSuffixes) {
    if (!word.ends_with(suffix)) continue;
    draft.wrapped = op_from_name(word.substr(0, word.size() - suffix.size()));
    if (draft.wrapped == nullptr) continue;
    draft.op = &def(op);
    return;
  }
  const std::string nearest = nearest_op_name(word.substr(0, 60));
  throw in_.error(begin, "unknown op '{}'{}", word.substr(0, 60),
                  nearest.empty() ? "" : fmt::format("; the nearest is '{}'", nearest));
}

void Parser::read_operands(Scope& scope, Draft& draft) {
  if (draft.op->op == Op::parameter) return read_parameter_number(draft);
  if (draft.op->op == Op::constant) {
    if (!draft.shape) throw in_.error(draft.begin, "the shape of a constant must be stated");
    draft.literal =
        std::make_shared<const Literal>(read_literal(in_, *draft.shape, options_.fill_elided_constants));
    return;
  }
  if (in_.peek() == ')') return;
  do draft.operands.push_back(read_operand(scope));
  while (in_.accept(','));
}

void Parser::read_parameter_number(Draft& draft) {
  const size_t begin = in_.next_position();
  draft.parameter_number = in_.integer("a parameter number");
  // Every parameter needs some text of its own, so a number beyond the text's length has holes before it.
  if (draft.parameter_number < 0 || draft.parameter_number >= static_cast<int64_t>(in_.text().size()))
    throw in_.error(begin, "parameter number {} is out of range", draft.parameter_number);
}

// [shape] %name, or a nested instruction: [shape] op(operands).
Instruction* Parser::read_operand(Scope& scope) {
  Scanner::Nest nest(in_, "operands");
  Draft draft;
  draft.begin = in_.next_position();
  if (at_shape(in_)) draft.shape = read_shape(in_);
  if (in_.peek() == '%' || !draft.shape || is_letter(in_.peek())) {
    const size_t position = in_.next_position();
    const std::string_view name = in_.name("an operand");
    if (in_.peek() != '(' || in_.text()[position] == '%') {
      if (scope.create_parameters && draft.shape && scope.names.count(name) == 0) {
        draft.name = name;
      } else {
        Instruction* operand = lookup(scope, name, position);
        if (draft.shape && !same_array(*draft.shape, operand->shape()))
          throw in_.error(draft.begin, "operand %{} is written with shape {}, but it is {}", name,
                          to_string(*draft.shape), to_string(operand->shape()));
        return operand;
      }
    } else {
      in_.seek(position);
      read_opcode(draft);
      in_.expect('(', "before the operands");
      read_operands(scope, draft);
      in_.expect(')', "after the operands");
      return finish(scope, draft);
    }
  } else if (!scope.create_parameters) {
    throw in_.expected("an operand's name");
  }
  draft.op = &def(Op::parameter);
  draft.parameter_number = static_cast<int64_t>(scope.computation->parameters().size());
  return finish(scope, draft);
}

Instruction* Parser::lookup(Scope& scope, std::string_view name, size_t position) {
  const auto found = scope.names.find(name);
  if (found != scope.names.end()) return found->second;
  throw in_.error(position, "unknown instruction %{}; operands stand before their users", name);
}

Instruction* Parser::finish(Scope& scope, Draft& draft) {
  if (draft.wrapped != nullptr) wrap_async(draft);
  if (draft.op->arity != kVariadic && draft.op->arity != static_cast<int>(draft.operands.size()))
    throw in_.error(draft.begin, "{} needs {} operands, found {}", draft.op->name, draft.op->arity,
                    draft.operands.size());
  check_required(draft);
  if (!draft.shape) draft.shape = infer_shape(draft);
  check_agreement(in_, draft.begin, draft.op->op, *draft.shape, draft.operands, draft.attrs);
  std::string name =
      draft.name.empty() ? fresh_name(std::string(draft.op->name) + ".anon") : fresh_name(draft.name);
  Instruction* made = nullptr;
  if (draft.op->op == Op::parameter) {
    const auto& parameters = scope.computation->parameters();
    const auto number = static_cast<size_t>(draft.parameter_number);
    if (number < parameters.size() && parameters[number] != nullptr)
      throw in_.error(draft.begin, "parameter {} is defined twice, first as %{}", number,
                      parameters[number]->name());
    made = scope.computation->add_parameter(draft.parameter_number, std::move(*draft.shape), name);
    made->set_name(std::move(name));
    made->attrs() = std::move(draft.attrs);
  } else {
    made = scope.computation->add(draft.op->op, std::move(*draft.shape), std::move(draft.operands),
                                  std::move(draft.attrs), nullptr, std::move(name));
  }
  define(scope, draft, made);
  return made;
}

void Parser::define(Scope& scope, const Draft& draft, Instruction* made) {
  const Scanner::Place at = in_.place(draft.begin);
  made->set_text_position(at.line, at.column);
  made->set_metadata(draft.metadata);
  if (draft.literal) made->set_shared_literal(draft.literal);
  for (Instruction* before : draft.control_predecessors) made->add_control_predecessor(before);
  if (!draft.name.empty()) scope.names.emplace(draft.name, made);
}

Shape Parser::infer_shape(const Draft& draft) {
  if (draft.op->infer == nullptr || draft.op->has(kNeedsShape))
    throw in_.error(draft.begin, "the shape of {} must be stated, it does not follow from the operands",
                    draft.op->name);
  Instruction::ContextStorage storage;
  for (const Instruction* operand : draft.operands) storage.operands.push_back(&operand->shape());
  for (const auto& [attr, value] : draft.attrs) {
    if (auto* one = std::get_if<Computation*>(&value)) storage.callees.push_back((*one)->program_shape());
    if (auto* many = std::get_if<std::vector<Computation*>>(&value))
      for (const Computation* callee : *many) storage.callees.push_back(callee->program_shape());
  }
  try {
    return draft.op->infer(storage.context(draft.attrs, nullptr));
  } catch (const Error& e) {
    if (!e.where().empty()) throw;
    throw Error(e.kind(), in_.where(draft.begin) + ": " + in_.line_text(draft.begin), e.message());
  }
}

// The name as wanted, or with a number when another computation has it already.
std::string Parser::fresh_name(std::string_view wanted) {
  if (!is_letter(wanted.front())) return fresh_name("_" + std::string(wanted));  // XLA reads no %0
  if (dtype_from_name(wanted)) return fresh_name(std::string(wanted) + "_");     // and no %f32
  if (taken_.count(wanted) == 0) {
    if (wanted.data() >= in_.text().data() && wanted.data() < in_.text().data() + in_.text().size()) {
      taken_.insert(wanted);
    } else {
      taken_.insert(made_names_.emplace_back(wanted));
    }
    return std::string(wanted);
  }
  size_t stem = wanted.size();
  while (stem > 0 && is_digit(wanted[stem - 1])) --stem;
  if (stem == wanted.size() || stem < 2 || wanted[stem - 1] != '.') stem = wanted.size() + 1;
  const std::string base(wanted.substr(0, stem - 1));
  for (int64_t& n = next_suffix_[base];;) {
    std::string candidate = fmt::format("{}.{}", base, ++n);
    if (taken_.count(candidate) == 0) return fresh_name(candidate);
  }
}

}  // namespace armillary
