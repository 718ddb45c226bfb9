// Module -> HloModuleProto.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include "xla_core/io/attr_proto.h"
#include "xla_core/io/literal_proto.h"
#include "xla_core/io/metadata_proto.h"
#include "xla_core/io/proto.h"
#include "xla_core/io/shape_proto.h"

namespace armillary {
namespace {

// Wire readers want a layout wherever bytes lie; row-major where none is said.
Shape with_layouts(Shape shape) {
  for (Shape& element : shape.tuple) element = with_layouts(std::move(element));
  if (shape.is_array() && !shape.layout) shape.layout = Layout::row_major(shape.rank());
  return shape;
}

class Writer {
 public:
  explicit Writer(const Module& module) : module_(module) {
    std::vector<const Instruction*> all;
    for (const Computation* c : module.computations()) {
      computation_ids_[c] = static_cast<int64_t>(computation_ids_.size());
      for (const Instruction* i : c->instructions()) {
        all.push_back(i);
        if (i->is(Op::fusion))
          for (const Computation* callee : i->callees()) fusions_.insert(callee);
      }
    }
    // In the order in which they were made: some of what XLA prints depends on it.
    std::sort(all.begin(), all.end(), [](const auto* a, const auto* b) { return a->id() < b->id(); });
    for (const Instruction* i : all) ids_[i] = static_cast<int64_t>(ids_.size());
  }

  void write(proto::HloModuleProto* p) {
    const Computation* entry = module_.entry();
    if (entry == nullptr) throw internal_error("module {} has no entry computation", module_.name());
    p->set_name(module_.name());
    p->set_entry_computation_name(entry->name());
    p->set_entry_computation_id(computation_ids_.at(entry));
    for (const Computation* c : module_.computations()) write_computation(*c, p->add_computations());
    write_header(p);
    if (module_.is_scheduled) write_schedule(p->mutable_schedule());
  }

 private:
  void write_computation(const Computation& c, proto::HloComputationProto* p) {
    p->set_name(c.name());
    p->set_id(computation_ids_.at(&c));
    if (c.root() == nullptr) throw internal_error("computation {} has no root", c.name());
    p->set_root_id(ids_.at(c.root()));
    p->set_is_fusion_computation(fusions_.count(&c) > 0);
    p->set_execution_thread(c.execution_thread.empty() ? "main" : c.execution_thread);
    program_shape_to_proto(c.program_shape(), p->mutable_program_shape());
    for (const Instruction* parameter : c.parameters())
      p->mutable_program_shape()->add_parameter_names(parameter ? parameter->name() : "");
    for (const Instruction* i : c.instructions()) write_instruction(*i, p->add_instructions());
  }

  void write_instruction(const Instruction& i, proto::HloInstructionProto* p) {
    p->set_name(i.name());
    p->set_opcode(std::string(to_string(i.op())));
    p->set_id(ids_.at(&i));
    shape_to_proto(i.shape(), p->mutable_shape());
    if (!i.metadata().empty()) metadata_to_proto(i.metadata(), p->mutable_metadata());
    if (i.is(Op::parameter)) p->set_parameter_number(i.parameter_number());
    if (i.is(Op::constant)) literal_to_proto(i.literal(), with_layouts(i.shape()), p->mutable_literal());
    for (const Instruction* operand : i.operands()) p->add_operand_ids(ids_.at(operand));
    for (const Instruction* before : i.control_predecessors())
      p->add_control_predecessor_ids(ids_.at(before));
    for (const Computation* callee : callees_of(i))
      p->add_called_computation_ids(computation_ids_.at(callee));
    attrs_to_proto(i, p);
    // What the text leaves out because it is empty or the default.
    if (i.is(Op::dot)) p->mutable_dot_dimension_numbers();
    if (i.is(Op::convolution)) p->mutable_window();
    if (i.is(Op::pad)) p->mutable_padding_config();
    if (i.is(Op::custom_call) && !i.has(Attr::api_version))
      p->set_custom_call_api_version(proto::API_VERSION_ORIGINAL);
    if (i.is(Op::async_start) && !i.has(Attr::async_execution_thread)) p->set_async_execution_thread("main");
  }

  // In the order of the wire: a while's body comes before its condition.
  std::vector<Computation*> callees_of(const Instruction& i) {
    if (i.is(Op::while_)) return {i.attrs().callee(Attr::body), i.attrs().callee(Attr::condition)};
    return i.callees();
  }

  void write_header(proto::HloModuleProto* p) {
    ProgramShape shape = module_.entry_layout.value_or(module_.entry()->program_shape());
    for (Shape& parameter : shape.parameters) parameter = with_layouts(std::move(parameter));
    shape.result = with_layouts(std::move(shape.result));
    program_shape_to_proto(shape, p->mutable_host_program_shape());
    for (const Instruction* parameter : module_.entry()->parameters())
      p->mutable_host_program_shape()->add_parameter_names(parameter ? parameter->name() : "");
    for (const InputOutputAlias& alias : module_.aliases) {
      auto* e = p->mutable_input_output_alias()->add_entries();
      for (int64_t i : alias.output_index) e->add_output_shape_index(i);
      e->set_parameter_number(alias.parameter);
      for (int64_t i : alias.parameter_index) e->add_parameter_shape_index(i);
      e->set_kind(alias.must ? proto::HloInputOutputAliasProto::MUST_ALIAS
                             : proto::HloInputOutputAliasProto::MAY_ALIAS);
    }
    for (const BufferDonor& donor : module_.donors) {
      auto* e = p->mutable_buffer_donor()->add_entries();
      e->set_parameter_number(donor.parameter);
      for (int64_t i : donor.parameter_index) e->add_parameter_shape_index(i);
    }
    if (!module_.frontend_attributes.empty())
      frontend_attributes_from_text(module_.frontend_attributes, p->mutable_frontend_attributes());
    if (!module_.stack_frames.empty())
      stack_frames_to_proto(module_.stack_frames, p->mutable_stack_frame_index());
  }

  void write_schedule(proto::HloScheduleProto* p) {
    for (const Computation* c : module_.computations()) {
      if (fusions_.count(c)) continue;
      auto& sequence = (*p->mutable_sequences())[computation_ids_.at(c)];
      for (const Instruction* i : c->instructions()) sequence.add_instruction_ids(ids_.at(i));
    }
  }

  const Module& module_;
  std::unordered_map<const Computation*, int64_t> computation_ids_;
  std::unordered_map<const Instruction*, int64_t> ids_;
  std::unordered_set<const Computation*> fusions_;
};

}  // namespace

std::string to_proto(const Module& module) {
  google::protobuf::Arena arena;
  auto* p = google::protobuf::Arena::CreateMessage<proto::HloModuleProto>(&arena);
  Writer(module).write(p);
  if (p->ByteSizeLong() > INT32_MAX)
    throw resource_error("module {} takes {} bytes as a proto, more than 2 GiB", module.name(),
                         p->ByteSizeLong());
  std::string bytes;
  google::protobuf::io::StringOutputStream stream(&bytes);
  google::protobuf::io::CodedOutputStream out(&stream);
  out.SetSerializationDeterministic(true);  // maps by key
  p->SerializeToCodedStream(&out);
  out.Trim();
  return bytes;
}

}  // namespace armillary
