#include "xla_core/hlo/instruction.h"

#include <algorithm>
#include <unordered_set>

#include "xla_core/hlo/module.h"

namespace armillary {

bool Instruction::is_root() const { return parent_ != nullptr && parent_->root() == this; }

bool Instruction::has_effect() const {
  auto acts = [](const Instruction& i) {
    return i.has(kHasEffect) || i.attrs_.flag(Attr::custom_call_has_side_effect);
  };
  if (acts(*this)) return true;
  // Each computation once: callees that call the next one twice would double the work at every level.
  std::vector<const Computation*> pending;
  std::unordered_set<const Computation*> seen;
  auto enter = [&](const Instruction& i) {
    for (const Computation* c : i.callees())
      if (seen.insert(c).second) pending.push_back(c);
  };
  for (enter(*this); !pending.empty();) {
    const Computation* c = pending.back();
    pending.pop_back();
    for (const Instruction* i : c->instructions()) {
      if (acts(*i)) return true;
      enter(*i);
    }
  }
  return false;
}

// The shorter list tells: parameters have thousands of users, tuples thousands of operands.
bool Instruction::is_used_by(const Instruction& user) const {
  return user.operands_.size() < users_.size()
             ? std::find(user.operands_.begin(), user.operands_.end(), this) != user.operands_.end()
             : std::find(users_.begin(), users_.end(), &user) != users_.end();
}

void Instruction::remove_user(Instruction* user) {
  // A user stays while any of its operands is still this.
  if (std::find(user->operands_.begin(), user->operands_.end(), this) != user->operands_.end()) return;
  // Whoever takes users away one by one begins at one of the ends.
  const size_t count = users_.size();
  for (size_t k = 0; k < count; ++k)
    for (size_t at : {count - 1 - k, k})
      if (users_[at] == user) {
        users_.erase(users_.begin() + static_cast<ptrdiff_t>(at));
        return;
      }
}

void Instruction::replace_operand(int64_t i, Instruction* with) {
  Instruction* old = operands_[i];
  if (old == with) return;
  if (!with->is_used_by(*this)) with->users_.push_back(this);
  operands_[i] = with;
  old->remove_user(this);
}

void Instruction::replace_all_uses_with(Instruction* with) {
  if (with == this) return;
  std::vector<Instruction*> old_users = std::move(users_);
  users_.clear();
  for (Instruction* user : old_users) {
    if (user == with) {  // `with` is built on this: keep that one use
      users_.push_back(user);
      continue;
    }
    if (!with->is_used_by(*user)) with->users_.push_back(user);
    for (Instruction*& operand : user->operands_)
      if (operand == this) operand = with;
  }
  if (is_root()) parent_->set_root(with);
}

std::vector<Computation*> Instruction::callees() const {
  std::vector<Computation*> result;
  for (const auto& [attr, value] : attrs_) {
    if (auto* one = std::get_if<Computation*>(&value)) result.push_back(*one);
    if (auto* many = std::get_if<std::vector<Computation*>>(&value))
      result.insert(result.end(), many->begin(), many->end());
  }
  return result;
}

void Instruction::replace_callee(Computation* from, Computation* to) {
  for (auto& [attr, value] : attrs_) {
    if (auto* one = std::get_if<Computation*>(&value)) {
      if (*one == from) *one = to;
    } else if (auto* many = std::get_if<std::vector<Computation*>>(&value)) {
      std::replace(many->begin(), many->end(), from, to);
    }
  }
}

const Literal& Instruction::literal() const {
  if (!literal_) throw internal_error("{} has no literal", name_);
  return *literal_;
}

void Instruction::add_control_predecessor(Instruction* before) {
  auto& list = control_predecessors_;
  if (std::find(list.begin(), list.end(), before) == list.end()) list.push_back(before);
  before->is_control_predecessor_ = true;
}

const Metadata& Instruction::metadata() const {
  static const Metadata none;
  return metadata_ ? *metadata_ : none;
}

void Instruction::set_metadata(Metadata m) {
  metadata_ = m.empty() ? nullptr : std::make_shared<const Metadata>(std::move(m));
}

Module* Instruction::module() const { return parent_ ? parent_->module() : nullptr; }

Instruction::ContextStorage Instruction::context_storage() const {
  ContextStorage storage;
  storage.operands.reserve(operands_.size());
  for (const Instruction* operand : operands_) storage.operands.push_back(&operand->shape());
  for (const Computation* callee : callees()) storage.callees.push_back(callee->program_shape());
  return storage;
}

std::string Instruction::place() const {
  std::string text;
  if (line_ > 0) {
    const Module* m = module();
    text = fmt::format("{}:{}:{}: ", m && !m->file.empty() ? m->file : "hlo", line_, column_);
  }
  text += fmt::format("%{} = {}(", name_, to_string(op_));
  constexpr size_t kShown = 8;  // enough to recognise it; tuples can have thousands
  for (size_t i = 0; i < operands_.size() && i < kShown; ++i)
    text += (i ? ", %" : "%") + operands_[i]->name();
  if (operands_.size() > kShown) text += fmt::format(", ... {} more", operands_.size() - kShown);
  return text + ")";
}

namespace {

struct PythonPlace {
  std::string file, function;
  int64_t line = 0;
};

// The innermost frame of the stack, or what stands in the metadata itself.
PythonPlace place_of(const Metadata& m, const Module* owner) {
  PythonPlace place{m.source_file, {}, m.source_line};
  if (owner == nullptr || m.stack_frame_id <= 0) return place;
  const StackFrames& table = owner->stack_frames;
  auto within = [](int64_t id, const auto& list) {
    return id > 0 && id <= static_cast<int64_t>(list.size());
  };
  if (!within(m.stack_frame_id, table.frames)) return place;
  const int64_t location = table.frames[m.stack_frame_id - 1].location;
  if (!within(location, table.locations)) return place;
  const StackFrames::Location& at = table.locations[location - 1];
  if (within(at.file, table.files)) place.file = table.files[at.file - 1];
  if (within(at.function, table.functions)) place.function = table.functions[at.function - 1];
  place.line = at.line;
  return place;
}

}  // namespace

std::string Instruction::source_line() const {
  const PythonPlace place = place_of(metadata(), module());
  return place.file.empty() ? "" : fmt::format("{}:{}", place.file, place.line);
}

std::string Instruction::python_place() const {
  const PythonPlace place = place_of(metadata(), module());
  const std::string& op_name = metadata().op_name;
  std::string text;
  if (!place.file.empty()) text = fmt::format("from {}:{}", place.file, place.line);
  if (!place.function.empty()) text += " in " + place.function;
  if (!op_name.empty()) text += (text.empty() ? "from (" : " (") + op_name + ")";
  return text;
}

Error make_error(ErrorKind kind, const Instruction& at, const std::string& message) {
  const std::string python = at.python_place();
  return Error(kind, at.place(), python.empty() ? message : message + "\n  " + python);
}

}  // namespace armillary
