// HloModuleProto -> Module. Everything is checked before it is used: ids, numbers, sizes, the order of
// operands and callees.
#include <algorithm>
#include <climits>
#include <unordered_map>
#include <unordered_set>

#include <google/protobuf/stubs/logging.h>

#include "xla_core/hlo/mixed_precision.h"
#include "xla_core/io/attr_proto.h"
#include "xla_core/io/literal_proto.h"
#include "xla_core/io/metadata_proto.h"
#include "xla_core/io/proto.h"
#include "xla_core/io/shape_proto.h"

namespace armillary {
namespace {

using InstructionById = std::unordered_map<int64_t, Instruction*>;

// Runs body; an error without a place gets this one.
template <class Body>
auto at_place(const std::string& place, Body&& body) {
  try {
    return body();
  } catch (const Error& e) {
    if (!e.where().empty()) throw;
    throw Error(e.kind(), place, e.message());
  }
}

class Reader {
 public:
  explicit Reader(proto::HloModuleProto& p) : p_(p), module_(std::make_unique<Module>(p.name())) {}

  std::unique_ptr<Module> read() {
    reserve_names();
    for (auto& computation : *p_.mutable_computations()) read_computation(computation);
    at_place("HLO proto", [&] { read_header(); });
    write_out_reducer_conversions(*module_);
    return std::move(module_);
  }

 private:
  // Names that the module makes up while we build it must not take one that is still to come.
  void reserve_names() {
    for (const auto& computation : p_.computations()) {
      module_->reserve_name(computation.name());
      for (const auto& instruction : computation.instructions()) module_->reserve_name(instruction.name());
    }
  }

  std::string fresh_name(const std::string& name, std::string_view fallback,
                         std::unordered_set<std::string>& used) {
    if (!name.empty() && used.insert(name).second) return name;
    return module_->unique_name(name.empty() ? fallback : name);
  }

  void read_computation(proto::HloComputationProto& p) {
    Computation* c = module_->add_computation(p.name());
    c->set_name(fresh_name(p.name(), "computation", computation_names_));
    const std::string where = "HLO proto: computation " + c->name();
    int64_t parameters = 0;
    for (const auto& instruction : p.instructions()) parameters += instruction.opcode() == "parameter";
    at_place(where, [&] { check_order(p); });
    InstructionById by_id;
    for (proto::HloInstructionProto* instruction : in_creation_order(p))
      at_place(
          fmt::format("HLO proto: %{} = {} in {}", instruction->name(), instruction->opcode(), c->name()),
          [&] { read_instruction(*instruction, *c, parameters, by_id); });
    std::vector<Instruction*> order;
    for (const auto& instruction : p.instructions()) order.push_back(by_id.at(instruction.id()));
    c->reorder(order);
    at_place(where, [&] {
      const auto root = by_id.find(p.root_id());
      if (root == by_id.end()) throw user_error("the root, instruction {}, does not exist", p.root_id());
      c->set_root(root->second);
      c->execution_thread = p.execution_thread() == "main" ? "" : p.execution_thread();
      if (!computations_.emplace(p.id(), c).second)
        throw user_error("two computations have the id {}", p.id());
      read_schedule(p.id(), *c, by_id);
    });
  }

  // Operands and control predecessors stand before their users; no id is given twice.
  static void check_order(const proto::HloComputationProto& p) {
    std::unordered_set<int64_t> seen;
    for (const auto& instruction : p.instructions()) {
      for (int64_t id : instruction.operand_ids())
        if (!seen.count(id))
          throw user_error("%{}: operand {} does not stand before it in the same computation",
                           instruction.name(), id);
      for (int64_t id : instruction.control_predecessor_ids())
        if (!seen.count(id))
          throw user_error("%{}: control predecessor {} does not stand before it in the same computation",
                           instruction.name(), id);
      if (!seen.insert(instruction.id()).second)
        throw user_error("two instructions have the id {}", instruction.id());
    }
  }

  // By id, which tells when the writer made an instruction; some of what XLA prints depends on that. By place
  // when operands would come after users.
  static std::vector<proto::HloInstructionProto*> in_creation_order(proto::HloComputationProto& p) {
    std::vector<proto::HloInstructionProto*> by_place, by_id;
    for (auto& instruction : *p.mutable_instructions()) by_place.push_back(&instruction);
    by_id = by_place;
    std::sort(by_id.begin(), by_id.end(), [](const auto* a, const auto* b) { return a->id() < b->id(); });
    for (const auto* instruction : by_id) {
      auto later = [&](int64_t id) { return id >= instruction->id(); };
      const auto& operands = instruction->operand_ids();
      const auto& before = instruction->control_predecessor_ids();
      if (std::any_of(operands.begin(), operands.end(), later) ||
          std::any_of(before.begin(), before.end(), later))
        return by_place;
    }
    return by_id;
  }

  void read_instruction(proto::HloInstructionProto& p, Computation& c, int64_t parameters,
                        InstructionById& by_id) {
    const OpDef* row = op_from_name(p.opcode());
    if (row == nullptr) {
      const std::string nearest = nearest_op_name(p.opcode());
      throw user_error("unknown op {}{}", p.opcode(),
                       nearest.empty() ? "" : fmt::format(", did you mean {}?", nearest));
    }
    resolve_payload(p);
    std::vector<Instruction*> operands;
    for (int64_t id : p.operand_ids()) operands.push_back(by_id.at(id));
    Shape shape = shape_from_proto(p.shape());
    Attrs attrs = attrs_from_proto(p, row->op, operands);
    read_callees(p, *row, operands, attrs);
    Instruction* i;
    if (row->op == Op::parameter) {
      if (!operands.empty()) throw user_error("a parameter has no operands");
      check_parameter(p.parameter_number(), parameters, c);
      i = c.add_parameter(p.parameter_number(), std::move(shape));
      i->attrs() = std::move(attrs);
    } else {
      i = c.add(row->op, std::move(shape), std::move(operands), std::move(attrs));
    }
    if (row->op == Op::constant) read_constant(p, *i);
    for (int64_t id : p.control_predecessor_ids()) i->add_control_predecessor(by_id.at(id));
    i->set_name(fresh_name(p.name(), to_string(row->op), instruction_names_));
    Metadata metadata = metadata_from_proto(p.metadata());
    if (!metadata.empty()) i->set_metadata(std::move(metadata));
    by_id.emplace(p.id(), i);
  }

  // Newer writers may keep large backend configurations in a pool of the module.
  void resolve_payload(proto::HloInstructionProto& p) {
    const auto& payload = p.backend_config_payload();
    if (payload.where_case() == proto::Payload::kValue) p.set_backend_config(payload.value());
    if (payload.where_case() != proto::Payload::kId) return;
    if (payload.id() < 0 || payload.id() >= p_.payloads_size())
      throw user_error("backend config: there is no payload {}", payload.id());
    p.set_backend_config(p_.payloads(static_cast<int>(payload.id())));
  }

  void check_parameter(int64_t number, int64_t parameters, const Computation& c) {
    if (number < 0 || number >= parameters)
      throw user_error("parameter number {} of {} parameters", number, parameters);
    const auto& known = c.parameters();
    if (number < static_cast<int64_t>(known.size()) && known[number] != nullptr)
      throw user_error("a second parameter with the number {}", number);
  }

  void read_constant(const proto::HloInstructionProto& p, Instruction& i) {
    if (!p.has_literal()) throw user_error("a constant needs a literal");
    Literal literal = literal_from_proto(p.literal());
    if (!literal.shape().compatible(i.shape()))
      throw user_error("the constant is {}, but its literal is {}", to_string(i.shape()),
                       to_string(literal.shape()));
    i.set_literal(std::move(literal));
  }

  // Callees stand before their callers, so cycles cannot be written.
  void read_callees(const proto::HloInstructionProto& p, const OpDef& row,
                    const std::vector<Instruction*>& operands, Attrs& attrs) {
    std::vector<Computation*> callees;
    for (int64_t id : p.called_computation_ids()) {
      const auto found = computations_.find(id);
      if (found == computations_.end())
        throw user_error("calls computation {}, which does not stand before its caller", id);
      callees.push_back(found->second);
    }
    auto exactly = [&](size_t n) {
      if (callees.size() != n)
        throw user_error("{} calls {} computations, not {}", row.name, n, callees.size());
    };
    auto allows = [&](Attr attr) {
      return std::find(row.attrs.begin(), row.attrs.end(), attr) != row.attrs.end() ||
             std::find(row.optional.begin(), row.optional.end(), attr) != row.optional.end();
    };
    if (row.op == Op::while_) {
      exactly(2);
      attrs.set(Attr::body, callees[0]);
      attrs.set(Attr::condition, callees[1]);
    } else if (row.op == Op::select_and_scatter) {
      exactly(2);
      attrs.set(Attr::select, callees[0]);
      attrs.set(Attr::scatter, callees[1]);
    } else if (row.op == Op::conditional) {
      const bool by_pred = !operands.empty() && operands[0]->dtype() == DType::kPred && callees.size() == 2;
      if (!by_pred) return attrs.set(Attr::branch_computations, std::move(callees));
      attrs.set(Attr::true_computation, callees[0]);
      attrs.set(Attr::false_computation, callees[1]);
    } else if (allows(Attr::called_computations)) {
      if (!callees.empty()) attrs.set(Attr::called_computations, std::move(callees));
    } else if (allows(Attr::to_apply)) {
      if (callees.empty() && row.op == Op::topk) return;
      exactly(1);
      attrs.set(Attr::to_apply, callees[0]);
    } else if (row.op == Op::async_update || row.op == Op::async_done) {
      return;  // their async-start says it
    } else if (allows(Attr::calls)) {
      exactly(1);
      attrs.set(Attr::calls, std::move(callees));
    } else if (!callees.empty()) {
      throw user_error("{} calls no computation", row.name);
    }
  }

  // A schedule is a permutation in which operands stand before users.
  void read_schedule(int64_t id, Computation& c, const InstructionById& by_id) {
    const auto found = p_.schedule().sequences().find(id);
    if (found == p_.schedule().sequences().end()) return;
    std::vector<Instruction*> order;
    std::unordered_set<const Instruction*> done;
    for (int64_t instruction : found->second.instruction_ids()) {
      const auto at = by_id.find(instruction);
      if (at == by_id.end())
        throw user_error("the schedule names instruction {}, which does not exist", instruction);
      auto before = [&](const Instruction* i) {
        if (!done.count(i))
          throw user_error("the schedule has %{} before its operand %{}", at->second->name(), i->name());
      };
      for (const Instruction* i : at->second->operands()) before(i);
      for (const Instruction* i : at->second->control_predecessors()) before(i);
      if (!done.insert(at->second).second) throw user_error("the schedule has %{} twice", at->second->name());
      order.push_back(at->second);
    }
    if (static_cast<int64_t>(order.size()) != c.size())
      throw user_error("the schedule has {} of {} instructions", order.size(), c.size());
    c.reorder(order);
  }

  Computation* entry() {
    const auto found = computations_.find(p_.entry_computation_id());
    if (found != computations_.end()) return found->second;
    throw user_error("the entry, computation {}, does not exist", p_.entry_computation_id());
  }

  void read_header() {
    module_->set_entry(entry());
    module_->is_scheduled = p_.has_schedule() && !p_.schedule().sequences().empty();
    const ProgramShape shape = module_->entry()->program_shape();
    if (p_.has_host_program_shape()) {
      ProgramShape layout = program_shape_from_proto(p_.host_program_shape());
      bool same =
          layout.parameters.size() == shape.parameters.size() && layout.result.compatible(shape.result);
      for (size_t i = 0; same && i < shape.parameters.size(); ++i)
        same = layout.parameters[i].compatible(shape.parameters[i]);
      if (!same)
        throw user_error("the layout of the entry computation is for other parameters or another result");
      module_->entry_layout = std::move(layout);
    }
    auto leaf = [&](int64_t parameter, const Dims& index) {
      if (parameter < 0 || parameter >= static_cast<int64_t>(shape.parameters.size()))
        throw user_error("alias or donor: there is no parameter {}", parameter);
      shape.parameters[parameter].at(index);
    };
    for (const auto& e : p_.input_output_alias().entries()) {
      InputOutputAlias alias{dims_of(e.output_shape_index()), e.parameter_number(),
                             dims_of(e.parameter_shape_index()),
                             e.kind() == proto::HloInputOutputAliasProto::MUST_ALIAS};
      leaf(alias.parameter, alias.parameter_index);
      shape.result.at(alias.output_index);
      module_->aliases.push_back(std::move(alias));
    }
    for (const auto& e : p_.buffer_donor().entries()) {
      leaf(e.parameter_number(), dims_of(e.parameter_shape_index()));
      module_->donors.push_back({e.parameter_number(), dims_of(e.parameter_shape_index())});
    }
    if (!p_.frontend_attributes().map().empty())
      module_->frontend_attributes = frontend_attributes_text(p_.frontend_attributes());
    module_->stack_frames = stack_frames_from_proto(p_.stack_frame_index());
  }

  proto::HloModuleProto& p_;
  std::unique_ptr<Module> module_;
  std::unordered_map<int64_t, Computation*> computations_;
  std::unordered_set<std::string> computation_names_, instruction_names_;
};

}  // namespace

std::unique_ptr<Module> from_proto(std::string_view bytes) {
  if (bytes.size() > INT_MAX)
    throw resource_error("an HLO proto of {} bytes: at most 2 GiB can be read", bytes.size());
  const int size = static_cast<int>(bytes.size());
  const google::protobuf::LogSilencer silence;  // what is wrong is said in the error
  google::protobuf::Arena arena;
  auto* module = google::protobuf::Arena::CreateMessage<proto::HloModuleProto>(&arena);
  if (module->ParseFromArray(bytes.data(), size) && module->computations_size() > 0)
    return Reader(*module).read();
  auto* dump = google::protobuf::Arena::CreateMessage<proto::HloProto>(&arena);
  if (dump->ParseFromArray(bytes.data(), size) && dump->hlo_module().computations_size() > 0)
    return Reader(*dump->mutable_hlo_module()).read();
  throw user_error("{} bytes that are no HloModuleProto", bytes.size());
}

}  // namespace armillary
