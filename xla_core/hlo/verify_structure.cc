// Laws of modules and computations: order, names, use lists, calls, aliases.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "xla_core/hlo/verify_laws.h"

namespace armillary {
namespace {

Error computation_error(const Computation& c, const std::string& message) {
  return Error(ErrorKind::kUser, fmt::format("computation %{}", c.name()), message);
}

template <class... Args>
Error module_error(const Module& m, fmt::format_string<Args...> text, Args&&... args) {
  return error_at(ErrorKind::kUser, m.file.empty() ? "module " + m.name() : m.file, text,
                  std::forward<Args>(args)...);
}

}  // namespace

void check_entry(const Module& m) {
  if (m.entry() == nullptr) throw module_error(m, "module {} has no entry computation", m.name());
}

void check_names(const Module& m) {
  std::unordered_map<std::string_view, const Instruction*> instructions;
  std::unordered_set<std::string_view> computations;
  for (const Computation* c : m.computations()) {
    if (!computations.insert(c->name()).second)
      throw computation_error(*c, "another computation has the same name");
    for (const Instruction* i : c->instructions()) {
      const auto [first, fresh] = instructions.emplace(i->name(), i);
      if (!fresh)
        throw user_error(*i, "the name %{} is taken by an instruction of %{}", i->name(),
                         first->second->parent()->name());
    }
  }
}

// Depth first over the calls, without recursion: a computation met again on the way down calls itself.
void check_call_graph(const Module& m) {
  enum Mark : uint8_t { kOpen, kDone };
  struct Visit {
    const Computation* at;
    std::vector<std::pair<const Instruction*, const Computation*>> calls;
    size_t next = 0;
  };
  std::unordered_map<const Computation*, Mark> marks;
  std::vector<Visit> stack;
  auto enter = [&](const Computation* c) {
    marks[c] = kOpen;
    stack.push_back({c, {}});
    for (const Instruction* i : c->instructions())
      for (const Computation* callee : i->callees()) stack.back().calls.emplace_back(i, callee);
  };
  for (const Computation* root : m.computations()) {
    if (marks.count(root)) continue;
    for (enter(root); !stack.empty();) {
      Visit& top = stack.back();
      if (top.next == top.calls.size()) {
        marks[top.at] = kDone;
        stack.pop_back();
        continue;
      }
      const auto [caller, callee] = top.calls[top.next++];
      if (callee == nullptr || callee->module() != &m)
        throw user_error(*caller, "calls a computation outside the module");
      const auto mark = marks.find(callee);
      if (mark == marks.end())
        enter(callee);
      else if (mark->second == kOpen)
        throw user_error(*caller, "computation %{} calls itself through this", callee->name());
    }
  }
}

void check_root_and_parameters(const Computation& c) {
  if (c.root() == nullptr || c.root()->parent() != &c)
    throw computation_error(c, "the root is missing or belongs elsewhere");
  int64_t parameters = 0;
  for (const Instruction* i : c.instructions()) {
    if (!i->is(Op::parameter)) continue;
    ++parameters;
    const int64_t n = i->parameter_number();
    if (n < 0 || n >= static_cast<int64_t>(c.parameters().size()) || c.parameter(n) != i)
      throw user_error(*i, "parameter number {} is not in the list of parameters", n);
  }
  if (parameters != static_cast<int64_t>(c.parameters().size()))
    throw computation_error(
        c, fmt::format("has {} parameters, but its list names {}", parameters, c.parameters().size()));
}

void check_order(const Computation& c) {
  std::unordered_set<const Instruction*> before;
  before.reserve(static_cast<size_t>(c.size()));
  auto check = [&](const Instruction& i, const Instruction* other, std::string_view role) {
    if (other == nullptr || other->dead()) throw user_error(i, "{} was removed", role);
    if (other->parent() != &c)
      throw user_error(i, "{} %{} belongs to computation %{}", role, other->name(), other->parent()->name());
    if (before.count(other) == 0) throw user_error(i, "{} %{} stands after its user", role, other->name());
  };
  for (const Instruction* i : c.instructions()) {
    if (i->parent() != &c) throw user_error(*i, "stands in computation %{}, but belongs elsewhere", c.name());
    for (const Instruction* operand : i->operands()) check(*i, operand, "operand");
    for (const Instruction* other : i->control_predecessors()) check(*i, other, "control predecessor");
    before.insert(i);
  }
}

void check_use_lists(const Computation& c) {
  using Use = std::pair<const Instruction*, const Instruction*>;  // operand, user
  std::vector<Use> real, listed;
  for (const Instruction* i : c.instructions()) {
    for (const Instruction* operand : i->operands()) real.emplace_back(operand, i);
    for (const Instruction* user : i->users()) listed.emplace_back(i, user);
  }
  std::sort(real.begin(), real.end());
  real.erase(std::unique(real.begin(), real.end()), real.end());
  std::sort(listed.begin(), listed.end());
  const auto [r, l] = std::mismatch(real.begin(), real.end(), listed.begin(), listed.end());
  if (l != listed.end() && (r == real.end() || *l < *r))
    throw user_error(*l->first, "its use list names {}, which does not use it",
                     l->second->dead() ? "an instruction that was removed" : "%" + l->second->name());
  if (r != real.end())
    throw user_error(*r->second, "the use list of operand %{} does not name this", r->first->name());
}

void check_async_callers(const Module& m) {
  std::unordered_map<const Computation*, const Instruction*> callers;
  for (const Computation* c : m.computations()) {
    for (const Instruction* i : c->instructions()) {
      if (!i->is(Op::async_start)) continue;
      for (const Computation* callee : i->callees()) {
        const auto [first, fresh] = callers.emplace(callee, i);
        if (!fresh)
          throw user_error(*i, "computation %{} is also called by %{}", callee->name(),
                           first->second->name());
      }
    }
  }
}

namespace {

// The leaf or tuple at an index, or a user error that says what was meant.
const Shape& shape_at(const Module& m, const Shape& shape, const Dims& index, std::string_view what) {
  try {
    return shape.at(index);
  } catch (const Error& e) {
    throw module_error(m, "{}: {}", what, e.message());
  }
}

const Shape& parameter_shape(const Module& m, int64_t number, const Dims& index, std::string_view what) {
  const auto& parameters = m.entry()->parameters();
  if (number < 0 || number >= static_cast<int64_t>(parameters.size()))
    throw module_error(m, "{} names parameter {}, but the entry has {}", what, number, parameters.size());
  return shape_at(m, parameters[number]->shape(), index, what);
}

}  // namespace

void check_aliases(const Module& m) {
  std::vector<Dims> results;
  for (const InputOutputAlias& a : m.aliases) {
    const Shape& result = shape_at(m, m.entry()->root()->shape(), a.output_index, "input_output_alias");
    const Shape& parameter = parameter_shape(m, a.parameter, a.parameter_index, "input_output_alias");
    if (result.is_array() && parameter.is_array() && result.dims != parameter.dims &&
        result.byte_size() != parameter.byte_size())
      throw module_error(m, "input_output_alias joins result {} with parameter {} of {}", to_string(result),
                         a.parameter, to_string(parameter));
    results.push_back(a.output_index);
  }
  std::sort(results.begin(), results.end());
  if (std::adjacent_find(results.begin(), results.end()) != results.end())
    throw module_error(m, "input_output_alias names a result twice");
  for (const BufferDonor& d : m.donors) parameter_shape(m, d.parameter, d.parameter_index, "buffer_donor");
}

void check_entry_layout(const Module& m) {
  if (!m.entry_layout) return;
  const ProgramShape actual = m.entry()->program_shape();
  const ProgramShape& stated = *m.entry_layout;
  if (stated.parameters.size() != actual.parameters.size())
    throw module_error(m, "entry_computation_layout has {} parameters, but the entry has {}",
                       stated.parameters.size(), actual.parameters.size());
  for (size_t n = 0; n < stated.parameters.size(); ++n)
    if (!stated.parameters[n].compatible(actual.parameters[n]))
      throw module_error(m, "entry_computation_layout gives parameter {} the shape {}, but it is {}", n,
                         to_string(stated.parameters[n]), to_string(actual.parameters[n]));
  if (!stated.result.compatible(actual.result))
    throw module_error(m, "entry_computation_layout gives the result the shape {}, but it is {}",
                       to_string(stated.result), to_string(actual.result));
}

}  // namespace armillary
