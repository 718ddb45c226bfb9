// The attributes behind an instruction's operands, checked against the op's row.
#include <algorithm>

#include "xla_core/base/text.h"
#include "xla_core/hlo/parser.h"

namespace armillary {
namespace {

// {%f} or {%f, %g}, which no body looks like.
bool at_names(Scanner& in) {
  const size_t before = in.next_position();
  in.expect('{', "before computations");
  bool result = false;
  if (in.peek() == '%' || is_letter(in.peek())) {
    in.name("a name");
    result = in.peek() == ',' || in.peek() == '}';
  }
  in.seek(before);
  return result;
}

}  // namespace

void Parser::read_attributes(Scope& scope, Draft& draft) {
  while (in_.accept(',')) {
    const size_t begin = in_.next_position();
    const std::string_view name = in_.identifier("an attribute");
    in_.expect('=', fmt::format("after attribute {}", name));
    Attr attr;
    if (name == "metadata") {
      draft.metadata = read_metadata(in_);
    } else if (name == "control-predecessors") {
      read_control_predecessors(scope, draft);
    } else if (attr_from_name(name, &attr)) {
      read_attribute(draft, attr, begin);
    } else {
      throw unknown_attribute(draft, name, begin);
    }
  }
}

void Parser::read_attribute(Draft& draft, Attr attr, size_t begin) {
  const std::string_view op = draft.wrapped ? draft.wrapped->name : draft.op->name;
  if (!allowed(draft, attr)) throw in_.error(begin, "attribute {} is not allowed on {}", to_string(attr), op);
  if (draft.attrs.has(attr)) throw in_.error(begin, "attribute {} is given twice", to_string(attr));
  switch (kind_of(attr)) {
    case AttrKind::Callee:
      draft.attrs.set(attr, read_callee());
      break;
    case AttrKind::Callees:
      draft.attrs.set(attr, read_callees());
      break;
    default:
      draft.attrs.set(attr, read_attr_value(in_, attr));
  }
}

void Parser::read_control_predecessors(Scope& scope, Draft& draft) {
  in_.expect('{', "before the control predecessors");
  if (in_.accept('}')) return;
  do {
    const size_t position = in_.next_position();
    draft.control_predecessors.push_back(lookup(scope, in_.name("an instruction"), position));
  } while (in_.accept(','));
  in_.expect('}', "after the control predecessors");
}

// %name, or a body in braces.
Computation* Parser::read_callee() {
  const size_t position = in_.next_position();
  if (in_.peek() != '{') return find_computation(in_.name("a computation's name or '{'"), position);
  if (at_names(in_)) throw in_.error(position, "expected one computation, found a list");
  Scanner::Nest nest(in_, "computations");
  return read_body(inline_name(), position);
}

std::vector<Computation*> Parser::read_callees() {
  if (in_.peek() != '{' || at_inline_body()) return {read_callee()};
  std::vector<Computation*> callees;
  in_.expect('{', "before a list of computations");
  if (in_.accept('}')) return callees;
  do callees.push_back(read_callee());
  while (in_.accept(','));
  in_.expect('}', "after a list of computations");
  return callees;
}

// `{ %x = ...` or `{ ROOT ...`, against `{%f, %g}`.
bool Parser::at_inline_body() {
  const size_t before = in_.next_position();
  in_.expect('{', "before computations");
  bool result = false;
  if (in_.peek() == '%' || is_letter(in_.peek())) {
    result = in_.name("a name") == "ROOT" && in_.peek() != ',' && in_.peek() != '}';
    result |= in_.peek() == '=';
  }
  in_.seek(before);
  return result;
}

// "_", "_.1", ... as XLA names bodies without a name.
std::string Parser::inline_name() {
  for (;;) {
    std::string name = inline_bodies_ == 0 ? "_" : fmt::format("_.{}", inline_bodies_);
    ++inline_bodies_;
    if (!indexed_) index_computations();
    if (computations_.count(name) == 0) return name;
  }
}

bool Parser::allowed(const Draft& draft, Attr attr) const {
  if (is_common(attr)) return true;
  auto lists = [attr](const OpDef* row) {
    return row != nullptr &&
           (std::find(row->attrs.begin(), row->attrs.end(), attr) != row->attrs.end() ||
            std::find(row->optional.begin(), row->optional.end(), attr) != row->optional.end());
  };
  return lists(draft.op) || lists(draft.wrapped);
}

Error Parser::unknown_attribute(const Draft& draft, std::string_view name, size_t begin) const {
  std::vector<std::string_view> candidates = {"metadata", "control-predecessors"};
  for (size_t i = 0; i <= static_cast<size_t>(Attr::result_accuracy); ++i)
    candidates.push_back(to_string(static_cast<Attr>(i)));
  for (const OpDef* row : {draft.op, draft.wrapped}) {
    if (row == nullptr) continue;
    for (const Attr a : row->attrs) candidates.push_back(to_string(a));
    for (const Attr a : row->optional) candidates.push_back(to_string(a));
  }
  const std::string near = nearest_name(name, candidates);
  const std::string_view op = draft.wrapped ? draft.wrapped->name : draft.op->name;
  if (near.empty()) return in_.error(begin, "unknown attribute '{}' on {}", name.substr(0, 60), op);
  return in_.error(begin, "unknown attribute '{}' on {}; did you mean '{}'?", name, op, near);
}

void Parser::check_required(const Draft& draft) {
  for (const Attr attr : draft.op->attrs)
    if (!draft.attrs.has(attr))
      throw in_.error(draft.begin, "{} needs attribute {}", draft.op->name, to_string(attr));
}

}  // namespace armillary
