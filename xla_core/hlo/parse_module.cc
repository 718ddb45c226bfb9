// Computations: a whole module, a bare list of computations, or a single instruction.
#include "xla_core/hlo/mixed_precision.h"
#include "xla_core/hlo/parser.h"

namespace armillary {

Parser::Parser(std::string_view text, const ParseOptions& options)
    : in_(text, options.file, options.max_nesting),
      options_(options),
      module_(std::make_unique<Module>("_")) {
  module_->file = options.file;
}

std::unique_ptr<Module> Parser::parse() {
  if (in_.at_end()) throw in_.expected("HLO text");
  if (in_.accept_keyword("HloModule")) {
    read_header();
    read_computations();
  } else if (begins_computation()) {
    read_computations();
  } else {
    read_single_instruction();
  }
  for (const std::string_view name : taken_) module_->reserve_name(name);
  write_out_reducer_conversions(*module_);
  return std::move(module_);
}

// [ENTRY] name [(...)] [-> shape] {, looking ahead without moving.
bool Parser::begins_computation() {
  const size_t before = in_.next_position();
  bool result = in_.accept_keyword("ENTRY");
  if (!result && (in_.peek() == '%' || is_letter(in_.peek()))) {
    in_.name("a name");
    if (in_.peek() == '(') in_.balanced("a parameter list");
    result = in_.peek() == '{' || in_.accept("->");
  }
  in_.seek(before);
  return result;
}

void Parser::read_computations() {
  Computation* last = nullptr;
  if (in_.at_end()) throw in_.expected("a computation");
  while (!in_.at_end()) {
    const size_t begin = in_.next_position();
    in_.accept_keyword("ENTRY");
    const std::string_view name = in_.name("a computation's name");
    const auto known = computations_.find(name);
    if (known != computations_.end() && known->second.computation != nullptr) {
      if (known->second.begin != begin)
        throw in_.error(begin, "computation %{} is defined twice, first at {}", name,
                        in_.where(known->second.begin));
      last = known->second.computation;  // an earlier caller has read it already
      in_.seek(known->second.end);
      continue;
    }
    in_.seek(begin);
    last = read_computation();
  }
  if (module_->entry() == nullptr) module_->set_entry(last);
}

Computation* Parser::read_computation() {
  Scanner::Nest nest(in_, "computations");
  const size_t begin = in_.next_position();
  const bool is_entry = in_.accept_keyword("ENTRY");
  const std::string_view name = in_.name("a computation's name");
  Known& known = computations_[name];
  known.begin = begin;
  known.being_read = true;
  const std::optional<Shape> stated_result = read_signature();
  Computation* computation = read_body(name, begin);
  if (stated_result) check_result(*computation, *stated_result, begin);
  read_trailing_attributes(*computation);
  if (is_entry) {
    if (module_->entry() != nullptr)
      throw in_.error(begin, "ENTRY is given twice, first for %{}", module_->entry()->name());
    module_->set_entry(computation);
  }
  Known& done = computations_[name];
  done = {begin, in_.position(), computation, false};
  return computation;
}

Computation* Parser::read_body(std::string_view name, size_t begin) {
  Scope scope;
  scope.computation = module_->add_computation(std::string(name));
  scope.computation->set_name(std::string(name));
  in_.expect('{', "before the instructions of a computation");
  Instruction* last = nullptr;
  while (!in_.accept('}')) last = read_instruction(scope);
  if (last == nullptr) throw in_.error(begin, "computation %{} has no instructions", name);
  scope.computation->set_root(scope.root ? scope.root : last);
  check_parameters(*scope.computation, begin);
  return scope.computation;
}

// (x: f32[2], y: s32[]) -> f32[2]; the result. As in XLA, what it says of parameters is for the reader only:
// XLA's own test files leave some out and shape others wrongly.
std::optional<Shape> Parser::read_signature() {
  const bool has_parameters = in_.accept('(');
  if (has_parameters && in_.peek() != ')') {
    do {
      in_.name("a parameter's name");
      in_.accept(':');
      read_shape(in_);
    } while (in_.accept(','));
  }
  if (has_parameters) in_.expect(')', "after the parameters of a computation");
  if (!has_parameters && in_.peek() == '{') return std::nullopt;
  in_.expect("->", "before the shape of a computation's result");
  return read_shape(in_);
}

void Parser::check_result(const Computation& computation, const Shape& stated, size_t begin) {
  const Shape& root = computation.root()->shape();
  if (!same_array(stated, root))
    throw in_.error(begin, "computation %{} states the result {}, but its root %{} is {}", computation.name(),
                    to_string(stated), computation.root()->name(), to_string(root));
}

void Parser::check_parameters(const Computation& computation, size_t begin) {
  const auto& parameters = computation.parameters();
  for (size_t n = 0; n < parameters.size(); ++n)
    if (parameters[n] == nullptr)
      throw in_.error(begin, "computation %{} has parameter {}, but no parameter {}", computation.name(),
                      parameters.size() - 1, n);
}

void Parser::read_trailing_attributes(Computation& computation) {
  while (in_.accept(',')) {
    const size_t begin = in_.next_position();
    const std::string_view name = in_.identifier("an attribute of a computation");
    in_.expect('=', "after an attribute");
    if (name == "execution_thread") {
      computation.execution_thread = in_.string("a quoted string");
      continue;
    }
    read_raw(in_, "a value");
    if (!computation.other_attributes.empty()) computation.other_attributes += ", ";
    computation.other_attributes += in_.since(begin);
  }
}

// A computation by name. One that stands further down is read now; one that is being read calls itself.
Computation* Parser::find_computation(std::string_view name, size_t position) {
  auto known = computations_.find(name);
  if (known == computations_.end() && !indexed_) {
    index_computations();
    known = computations_.find(name);
  }
  if (known == computations_.end()) throw in_.error(position, "unknown computation %{}", name);
  if (known->second.computation != nullptr) return known->second.computation;
  if (known->second.being_read)
    throw in_.error(position,
                    "computation %{} calls itself, directly or through others; HLO has no recursion", name);
  const size_t back = in_.position();
  in_.seek(known->second.begin);
  Computation* computation = read_computation();
  in_.seek(back);
  return computation;
}

// Finds where the computations after the current one begin. Stops quietly where the text is broken: reading
// it will say so.
void Parser::index_computations() {
  indexed_ = true;
  const size_t back = in_.position();
  size_t at = 0;
  for (const auto& [name, known] : computations_)
    at = std::max(at, known.being_read ? known.begin : known.end);
  in_.seek(at);
  try {
    while (!in_.at_end()) {
      const size_t begin = in_.next_position();
      in_.accept_keyword("ENTRY");
      const std::string_view name = in_.name("a computation's name");
      read_signature();
      in_.balanced("a computation");
      Known& known = computations_[name];
      if (known.begin == 0 && known.computation == nullptr) known.begin = begin;
      while (in_.accept(',')) {
        in_.identifier("an attribute");
        in_.expect('=', "after an attribute");
        read_raw(in_, "a value");
      }
    }
  } catch (const Error&) {
  }
  in_.seek(back);
}

// `f32[2] add(f32[2] %x, f32[2] %y)`: operands become parameters of an entry computation around it.
void Parser::read_single_instruction() {
  Scope scope;
  const std::string name = inline_name();
  scope.computation = module_->add_computation(name);
  scope.computation->set_name(name);
  scope.create_parameters = true;
  const size_t begin = in_.next_position();
  in_.accept_keyword("ROOT");
  Draft draft;
  draft.begin = in_.next_position();
  if (!at_shape(in_)) {
    const size_t before = in_.position();
    draft.name = in_.name("an instruction, a computation or HloModule");
    if (!in_.accept('=')) {
      draft.name = {};
      in_.seek(before);
    }
  }
  Instruction* root = read_right_side(scope, draft);
  scope.computation->set_root(root);
  check_parameters(*scope.computation, begin);
  module_->set_entry(scope.computation);
  if (!in_.at_end()) throw in_.expected("the end of the text after a single instruction");
}

std::unique_ptr<Module> parse(std::string_view text, const ParseOptions& options) {
  return Parser(text, options).parse();
}

}  // namespace armillary
