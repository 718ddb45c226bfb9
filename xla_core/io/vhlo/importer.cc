#include "xla_core/io/vhlo/importer.h"

#include "xla_core/io/metadata_proto.h"
#include "xla_core/io/vhlo/op_import.h"
#include "xla_core/io/vhlo/quantized.h"

namespace armillary::vhlo {
namespace {

constexpr int kMaxNesting = 300;  // of regions and of functions that call each other

bool is_constant(const Value& value) { return value.owner != nullptr && value.owner->name == "constant_v1"; }
bool is_terminator(const Operation& op) {
  return op.name == "return_v1" || (op.dialect == "sdy" && op.name == "return");
}

// "stablehlo.add"; versions are the artifact's own business.
std::string user_name(const Operation& op) {
  const size_t version = op.name.rfind("_v");
  const bool is_vhlo = op.dialect == "vhlo" && version != std::string_view::npos;
  return fmt::format("{}.{}", op.dialect == "vhlo" ? "stablehlo" : op.dialect,
                     is_vhlo ? op.name.substr(0, version) : op.name);
}

void find_captured(const Block& block, int64_t first, int64_t end, std::vector<Value*>& found,
                   std::unordered_set<const Value*>& seen) {
  for (const Operation* op : block.operations) {
    for (const Block& inner : op->regions) find_captured(inner, first, end, found, seen);
    for (Value* value : op->operands) {
      const bool inside = value->number >= first && value->number < end;
      if (!inside && !is_constant(*value) && seen.insert(value).second) found.push_back(value);
    }
  }
}

}  // namespace

const Operation& terminator_of(const Block& block) {
  if (block.operations.empty() || !is_terminator(*block.operations.back()))
    throw user_error("a region does not end in return");
  return *block.operations.back();
}

std::vector<Value*> captured_by(std::span<const Block> blocks) {
  std::vector<Value*> found;
  std::unordered_set<const Value*> seen;
  for (const Block& block : blocks) find_captured(block, block.first_value, block.end_value, found, seen);
  return found;
}

void Importer::run() {
  read_module();
  read_functions();
  if (functions_.count("main") == 0) throw user_error("the module has no function `main` to start from");
  module_.set_entry(function("main"));
  module_.erase_unreachable_computations();  // those of regions that became attributes of their operation
}

void Importer::read_module() {
  const Operation& op = *ir_.module;
  if (const Attribute* name = op.find("sym_name")) module_.set_name(name_of(text_of(*name)));
  auto count = [&](std::string_view name, int64_t& out) {
    const Attribute* n = op.find(name);
    if (n == nullptr) return;
    out = integer_of(*n);
    if (out < 1 || out > INT32_MAX) throw user_error("{} is {}", name, out);
  };
  count("mhlo.num_partitions", module_.num_partitions);
  count("mhlo.num_replicas", module_.replica_count);
  if (op.regions.size() != 1) throw user_error("the module has {} regions", op.regions.size());
}

void Importer::read_functions() {
  std::string meshes;
  for (const Operation* op : ir_.module->regions[0].operations) {
    const Attribute* symbol = op->find("sym_name");
    if (op->dialect == "sdy" && op->name == "mesh" && symbol != nullptr) {
      const Attribute* mesh = op->find("mesh");
      if (mesh == nullptr || mesh->kind != AttributeKind::kMesh) throw user_error("a mesh without axes");
      if (meshes_.emplace(text_of(*symbol), mesh).second)
        meshes += fmt::format("{}{} = {}", meshes.empty() ? "" : ", ", text_of(*symbol), mlir_text(*mesh));
    } else if (op->name == "func_v1" && symbol != nullptr) {
      if (!functions_.try_emplace(text_of(*symbol), Function{op}).second)
        throw user_error("two functions are named {}", text_of(*symbol));
    } else {
      throw unsupported_error("{} outside of functions", user_name(*op));
    }
  }
  proto::FrontendAttributes attributes;
  if (const Attribute* given = ir_.module->find("mhlo.frontend_attributes"))
    add_frontend_attributes(*given, attributes);
  if (!meshes.empty()) (*attributes.mutable_map())["xla.sdy.meshes"] = "{" + meshes + "}";
  if (!attributes.map().empty()) module_.frontend_attributes = frontend_attributes_text(attributes);
}

const Operation* Importer::find_function(std::string_view symbol) const {
  const auto found = functions_.find(symbol);
  return found == functions_.end() ? nullptr : found->second.op;
}

Computation* Importer::function(std::string_view symbol) {
  const auto found = functions_.find(symbol);
  if (found == functions_.end()) throw user_error("there is no function @{}", symbol);
  Function& f = found->second;
  if (f.computation != nullptr) return f.computation;
  if (f.open) throw user_error("the function @{} calls itself", symbol);
  f.open = true;
  f.computation = build(*f.op);
  return f.computation;
}

Computation* Importer::build(const Operation& function) {
  if (function.regions.size() != 1 || function.regions[0].operations.empty())
    throw user_error("the function @{} has no body", text_of(*function.find("sym_name")));
  const Block& block = function.regions[0];
  const std::string_view name = text_of(*function.find("sym_name"));
  const bool is_entry = name == "main";
  Computation* into = module_.add_computation(name_of(name));
  add_parameters(function, block, *into, is_entry);
  import_block(block, *into);
  finish(function, block, *into, is_entry);
  return into;
}

Computation* Importer::body(const Block& block, std::string_view name) {
  Computation* into = module_.add_computation(std::string(name));
  RegionForm form;
  add_region_arguments(block, form, *into);
  import_block(block, *into);
  finish(*ir_.module, block, *into, false);
  return into;
}

void Importer::import_block(const Block& block, Computation& into) {
  if (++depth_ > kMaxNesting) throw user_error("functions and regions nest deeper than {}", kMaxNesting);
  for (Operation* op : block.operations) {
    if (is_terminator(*op)) {
      if (op != block.operations.back()) throw user_error("operations follow a return");
      break;
    }
    if (op->name == "constant_v1" && op->dialect == "vhlo") continue;  // it appears where it is used
    import_operation(*op, into);
  }
  --depth_;
}

void Importer::import_operation(Operation& op, Computation& into) {
  try {
    if (op.row == nullptr || op.row->import == nullptr)
      throw unsupported_error("{} is an operation that HLO has no words for", user_name(op));
    import_row(*this, op, into);
  } catch (const Error& e) {
    if (!e.where().empty()) throw;
    // As an instruction there would say it: from train.py:41 in loss_fn (jit(step)/add).
    Instruction* stand_in = into.add(Op::after_all, Shape::token(), {});
    stand_in->set_metadata(places_.of_operation(op.location).metadata);
    const std::string python = stand_in->python_place();
    throw Error(e.kind(), "StableHLO: " + user_name(op),
                python.empty() ? e.message() : e.message() + "\n  " + python);
  }
}

Instruction* Importer::instruction(Value& value, Computation& into) {
  if (value.now != nullptr && value.now->parent() == &into) return value.now;
  if (is_constant(value)) {
    Instruction*& made = constants_[&into][&value];
    if (made == nullptr) made = materialize(*value.owner, into);
    return value.now = made;
  }
  throw user_error("a region uses a value from outside, which it cannot");
}

Instruction* Importer::materialize(const Operation& constant, Computation& into) {
  const Attribute* tensor = constant.find("value");
  if (tensor == nullptr) throw user_error("a constant has no value");
  if (tensor->kind != AttributeKind::kTensor) throw unsupported_error("a constant that is no plain tensor");
  Sharding sharding;
  if (constant.attributes) sharding = sharding_at(constant.attributes, meshes_);
  const Shape& shape = shape_of(*tensor->type);
  const Type& result = *constant.results[0]->type;
  if (result.quantization && result.shape != shape)
    throw user_error("{} stored in a quantized constant of {}", to_string(shape), to_string(result.shape));
  Instruction* made;
  if (is_splat(*tensor) && shape.num_elements() > 1) {  // a scalar that is broadcast, as XLA writes it
    Attrs attrs;
    attrs.set(Attr::dimensions, Dims{});
    Instruction* scalar = into.add_constant(splat_element(*tensor));
    made = into.add(Op::broadcast, shape, {scalar}, std::move(attrs));
    made->set_metadata(places_.of_operation(constant.location).metadata);
  } else {
    auto& known = literals_[tensor];
    if (known == nullptr) known = std::make_shared<const Literal>(literal_of(*tensor));
    made = into.add(Op::constant, shape, {});
    made->set_shared_literal(known);
  }
  set_sharding(made, sharding);
  return made;
}

}  // namespace armillary::vhlo
