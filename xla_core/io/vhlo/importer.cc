#include "xla_core/io/vhlo/importer.h"

#include <algorithm>

#include "xla_core/io/device_proto.h"
#include "xla_core/io/metadata_proto.h"
#include "xla_core/io/vhlo/quantized.h"

namespace armillary::vhlo {
namespace {

constexpr int kMaxNesting = 300;  // of regions and of functions that call each other

bool is_constant(const Value& value) { return value.owner != nullptr && value.owner->name == "constant_v1"; }
bool is_terminator(const Operation& op) {
  return op.name == "return_v1" || (op.dialect == "sdy" && op.name == "return");
}

const Operation& terminator_of(const Block& block) {
  if (block.operations.empty() || !is_terminator(*block.operations.back()))
    throw user_error("a region does not end in return");
  return *block.operations.back();
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

// Puts back what stood for values outside once a region is built.
class Restore {
 public:
  explicit Restore(const std::vector<Value*>& values) : values_(values) {
    for (const Value* v : values) before_.push_back(v->now);
  }
  ~Restore() {
    for (size_t i = 0; i < before_.size(); ++i) values_[i]->now = before_[i];
  }

 private:
  const std::vector<Value*>& values_;
  std::vector<Instruction*> before_;
};

}  // namespace

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

namespace {

// One dictionary an argument or result, in a list; nullptr where there is none.
const Attribute* dictionary_at(const Operation& function, std::string_view list, size_t i) {
  const Attribute* all = function.find(list);
  if (all == nullptr || items_of(*all).size() <= i) return nullptr;
  const Attribute* one = items_of(*all)[i];
  if (one->kind != AttributeKind::kDictionary)
    throw user_error("{} holds something that is no dictionary", list);
  return one;
}

// mhlo.sharding, or at the program's edge Shardy's.
Sharding sharding_at(const Attribute* dictionary, const Meshes& meshes) {
  if (dictionary == nullptr) return std::nullopt;
  if (const Attribute* text = dictionary->find("mhlo.sharding")) return read_sharding(bytes_of(*text));
  if (const Attribute* sharding = dictionary->find("sdy.sharding")) return hlo_sharding(*sharding, meshes);
  return std::nullopt;
}

void set_sharding(Instruction* i, const Sharding& sharding) {
  if (sharding) i->attrs().set(Attr::sharding, RawText{sharding_text(*sharding), false});
}

void set_frontend_attributes(Instruction* i, const proto::FrontendAttributes& attributes) {
  if (!attributes.map().empty())
    i->attrs().set(Attr::frontend_attributes, RawText{frontend_attributes_text(attributes), false});
}

}  // namespace

void add_frontend_attributes(const Attribute& dictionary, proto::FrontendAttributes& out) {
  if (dictionary.kind != AttributeKind::kDictionary)
    throw user_error("mhlo.frontend_attributes is no dictionary");
  for (size_t i = 0; i + 1 < dictionary.items.size(); i += 2)
    if (dictionary.items[i + 1]->kind == AttributeKind::kString)
      (*out.mutable_map())[std::string(dictionary.items[i]->text)] =
          std::string(text_of(*dictionary.items[i + 1]));
}

void Importer::add_parameters(const Operation& function, const Block& block, Computation& into,
                              bool is_entry) {
  for (size_t i = 0; i < block.arguments.size(); ++i) {
    Value& value = *block.arguments[i];
    const auto number = static_cast<int64_t>(i);
    Place place = places_.of_argument(value.location);
    const std::string name = place.name.empty() ? fmt::format("Arg_{}", i) : place.name;
    Instruction* p = into.add_parameter(number, shape_of(*value.type), name);
    if (!place.metadata.empty()) p->set_metadata(std::move(place.metadata));
    value.now = p;
    const Attribute* notes = dictionary_at(function, "arg_attrs", i);
    if (notes == nullptr) continue;
    set_sharding(p, sharding_at(notes, meshes_));
    proto::FrontendAttributes attributes;
    if (const Attribute* given = notes->find("mhlo.frontend_attributes"))
      add_frontend_attributes(*given, attributes);
    if (const Attribute* sharding = notes->find("sdy.sharding"))
      (*attributes.mutable_map())["xla.sdy.sharding"] = mlir_text(*sharding);
    set_frontend_attributes(p, attributes);
    if (!is_entry) continue;
    if (const Attribute* same = notes->find("mhlo.is_same_data_across_replicas"); same && integer_of(*same))
      p->attrs().set(Attr::parameter_replication, RawText{"{true}", false});
    if (notes->find("jax.buffer_donor")) module_.donors.push_back({number, {}});
    if (const Attribute* alias = notes->find("tf.aliasing_output")) {
      const int64_t output = integer_of(*alias);
      const size_t results = terminator_of(block).operands.size();
      if (output < 0 || output >= static_cast<int64_t>(results))
        throw user_error("argument {} is aliased with result {} of {}", i, output, results);
      module_.aliases.push_back({results == 1 ? Dims{} : Dims{output}, number, {}, false});
    }
  }
}

Computation* Importer::region(const Block& block, const RegionForm& form) {
  if (block.operations.empty()) throw user_error("a region is empty");
  Computation* into = module_.add_computation(fmt::format("region_{}", regions_++));
  const Restore restore(form.captured);
  add_region_arguments(block, form, *into);
  import_block(block, *into);
  const Operation& last = terminator_of(block);
  std::vector<Instruction*> results;
  const auto skips = [&](size_t i) {
    return form.returns_captured && i < form.skipped.size() && form.skipped[i];
  };
  for (size_t i = 0; i < last.operands.size(); ++i)
    if (!skips(i)) results.push_back(instruction(*last.operands[i], *into));
  if (form.returns_captured)
    for (Value* value : form.captured) results.push_back(instruction(*value, *into));
  Sharding sharding;
  if (!form.results.empty()) {
    std::vector<const proto::OpSharding*> list;
    for (const Sharding& one : form.results) list.push_back(one ? &*one : nullptr);
    sharding = tuple_sharding(list);
  }
  into->set_root(results.size() == 1 ? results[0] : add_tuple(*into, std::move(results), sharding));
  return into;
}

// Values that a region takes: the block's own, then captured ones; alone, side by side, or in a tuple.
void Importer::add_region_arguments(const Block& block, const RegionForm& form, Computation& into) {
  std::vector<Value*> values;
  for (size_t i = 0; i < block.arguments.size(); ++i)
    if (i >= form.skipped.size() || !form.skipped[i]) values.push_back(block.arguments[i]);
  values.insert(values.end(), form.captured.begin(), form.captured.end());
  auto sharding_of = [&](size_t i) { return i < form.arguments.size() ? form.arguments[i] : std::nullopt; };
  if (form.one_argument && values.size() != 1) {
    std::vector<Shape> shapes;
    for (const Value* value : values) shapes.push_back(shape_of(*value->type));
    Instruction* tuple = into.add_parameter(0, Shape::make_tuple(std::move(shapes)),
                                            values.empty() ? "arg_empty_tuple" : "arg_tuple");
    if (!form.arguments.empty()) {
      std::vector<const proto::OpSharding*> list;
      for (const Sharding& one : form.arguments) list.push_back(one ? &*one : nullptr);
      set_sharding(tuple, tuple_sharding(list));
    }
    for (size_t i = 0; i < values.size(); ++i) {
      Attrs attrs;
      attrs.set(Attr::index, static_cast<int64_t>(i));
      values[i]->now = into.add(Op::get_tuple_element, shape_of(*values[i]->type), {tuple}, std::move(attrs));
      set_sharding(values[i]->now, sharding_of(i));
    }
    return;
  }
  for (size_t i = 0; i < values.size(); ++i) {
    Place place = places_.of_argument(values[i]->location);
    const std::string name = place.name.empty() ? fmt::format("Arg_{}", i) : place.name;
    Instruction* p = into.add_parameter(static_cast<int64_t>(i), shape_of(*values[i]->type), name);
    if (!place.metadata.empty()) p->set_metadata(std::move(place.metadata));
    set_sharding(p, sharding_of(i));
    values[i]->now = p;
  }
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

Instruction* Importer::add_tuple(Computation& into, std::vector<Instruction*> elements,
                                 const Sharding& sharding) {
  std::vector<Shape> shapes;
  for (const Instruction* i : elements) shapes.push_back(i->shape());
  Instruction* tuple = into.add(Op::tuple, Shape::make_tuple(std::move(shapes)), std::move(elements));
  set_sharding(tuple, sharding);
  return tuple;
}

// Results with a sharding of Shardy's pass through a custom call that remembers it.
void Importer::finish(const Operation& function, const Block& block, Computation& into, bool is_entry) {
  const Operation& last = terminator_of(block);
  std::vector<Instruction*> results;
  std::vector<Sharding> shardings;
  for (size_t i = 0; i < last.operands.size(); ++i) {
    Instruction* result = instruction(*last.operands[i], into);
    const Attribute* notes = dictionary_at(function, "res_attrs", i);
    const Attribute* shardy = notes ? notes->find("sdy.sharding") : nullptr;
    if (shardy != nullptr) {
      Attribute per_value;
      per_value.kind = AttributeKind::kShardingPerValue;
      per_value.items = {shardy};
      if (shardy->kind != AttributeKind::kSharding)
        throw user_error("sdy.sharding of a result is no sharding");
      Attrs attrs;
      attrs.set(Attr::custom_call_target, std::string("xla.sdy.FuncResultSharding"));
      attrs.set(Attr::custom_call_has_side_effect, true);
      const Metadata metadata = places_.of_operation(last.operands[i]->location).metadata;
      result = into.add(Op::custom_call, result->shape(), {result}, std::move(attrs));
      result->set_metadata(metadata);
      proto::FrontendAttributes attributes;
      (*attributes.mutable_map())["xla.sdy.sharding"] = mlir_text(per_value);
      set_frontend_attributes(result, attributes);
    }
    results.push_back(result);
    shardings.push_back(sharding_at(notes, meshes_));
  }
  const bool any =
      std::any_of(shardings.begin(), shardings.end(), [](const Sharding& s) { return s.has_value(); });
  Sharding tuple;
  if (any) {
    std::vector<const proto::OpSharding*> list;
    for (const Sharding& one : shardings) list.push_back(one ? &*one : nullptr);
    tuple = tuple_sharding(list);
  }
  if (results.size() != 1) {
    into.set_root(add_tuple(into, std::move(results), tuple));
  } else if (any) {
    // XLA keeps the sharding of a single result apart from the instruction that makes it.
    Instruction* one = results[0];
    const Shape shape = one->shape();
    Sharding its_own;
    if (!shape.is_token() && one->has(Attr::sharding))
      its_own = read_sharding(one->attrs().raw(Attr::sharding));
    Attrs attrs;
    attrs.set(Attr::index, int64_t{0});
    Instruction* root =
        into.add(Op::get_tuple_element, shape, {add_tuple(into, {one}, its_own)}, std::move(attrs));
    set_sharding(root, shardings[0]);
    into.set_root(root);
  } else {
    into.set_root(results[0]);
  }
  if (is_entry) finish_entry(into);
}

// Parameters and result lie row by row; donated ones are known already.
void Importer::finish_entry(Computation& entry) {
  ProgramShape shape = entry.program_shape();
  auto lay_out = [](auto& self, Shape& s) -> void {
    for (Shape& element : s.tuple) self(self, element);
    if (s.is_array()) s.layout = Layout::row_major(s.rank());
  };
  for (Shape& parameter : shape.parameters) lay_out(lay_out, parameter);
  lay_out(lay_out, shape.result);
  module_.entry_layout = std::move(shape);
}

OpImport::OpImport(Importer& importer, Operation& op, Computation& into)
    : importer_(importer), op_(op), into_(into) {
  if (op.attributes == nullptr) return;
  const Attribute* shardy = op.attributes->find("sdy.sharding");
  if (const Attribute* given = op.attributes->find("mhlo.sharding"))
    sharding = read_sharding(bytes_of(*given));
  else if (shardy != nullptr)
    sharding = hlo_sharding_per_value(*shardy, importer.meshes(), op.results.size());
  if (const Attribute* given = op.attributes->find("mhlo.frontend_attributes"))
    add_frontend_attributes(*given, frontend_attributes);
  if (shardy != nullptr) (*frontend_attributes.mutable_map())["xla.sdy.sharding"] = mlir_text(*shardy);
  if (const Attribute* rule = op.attributes->find("sdy.sharding_rule"))
    (*frontend_attributes.mutable_map())["xla.sdy.sharding_rule"] = mlir_text(*rule);
}

Instruction* OpImport::operand(int i) {
  if (i < 0 || i >= num_operands()) throw user_error("it has {} operands, not {}", num_operands(), i + 1);
  return importer_.instruction(*op_.operands[i], into_);
}

std::vector<Instruction*> OpImport::operands(int begin, int end) {
  std::vector<Instruction*> list;
  for (int i = begin; i < end; ++i) list.push_back(operand(i));
  return list;
}

const Shape& OpImport::shape(int i) const {
  if (i >= num_results()) throw user_error("it has {} results, not {}", num_results(), i + 1);
  return shape_of(*op_.results[i]->type);
}

Shape OpImport::tuple_shape() const {
  if (num_results() == 1) return shape(0);
  std::vector<Shape> shapes;
  for (int i = 0; i < num_results(); ++i) shapes.push_back(shape(i));
  return Shape::make_tuple(std::move(shapes));
}

const Block& OpImport::region(int i) const {
  if (i >= static_cast<int>(op_.regions.size()))
    throw user_error("it has {} regions, not {}", op_.regions.size(), i + 1);
  return op_.regions[i];
}

const Attribute* OpImport::find(std::string_view name) const { return op_.find(name); }

const Attribute& OpImport::attribute(std::string_view name) const {
  const Attribute* found = op_.find(name);
  if (found == nullptr) throw user_error("it lacks the attribute {}", name);
  return *found;
}

bool OpImport::flag(std::string_view name) const {
  const Attribute* found = op_.find(name);
  return found != nullptr && (found->kind == AttributeKind::kUnit || integer_of(*found) != 0);
}

Instruction* OpImport::emit(Op op, Shape shape, std::vector<Instruction*> operands, Attrs attrs) {
  const Place& place = importer_.places().of_operation(op_.location);
  std::string name;
  if (!place.name.empty()) name = into_.module()->unique_name(place.name);
  Instruction* made =
      into_.add(op, std::move(shape), std::move(operands), std::move(attrs), nullptr, std::move(name));
  if (!place.metadata.empty()) made->set_metadata(place.metadata);
  set_sharding(made, sharding);
  set_frontend_attributes(made, frontend_attributes);
  return made;
}

Instruction* OpImport::emit_tuple(std::vector<Instruction*> elements) {
  std::vector<Shape> shapes;
  for (const Instruction* i : elements) shapes.push_back(i->shape());
  return emit(Op::tuple, Shape::make_tuple(std::move(shapes)), std::move(elements));
}

Instruction* OpImport::emit_one(std::vector<Instruction*> elements) {
  return elements.size() == 1 ? elements[0] : emit_tuple(std::move(elements));
}

Instruction* OpImport::emit_element(Instruction* tuple, int64_t index) {
  const Shape& shape = tuple->shape();
  if (index < 0 || index >= static_cast<int64_t>(shape.tuple.size()))
    throw user_error("{} has no element {}", to_string(shape), index);
  Attrs attrs;
  attrs.set(Attr::index, index);
  const Sharding whole = sharding;
  if (whole && whole->type() == proto::OpSharding::TUPLE) {
    if (index < whole->tuple_shardings_size())
      sharding = whole->tuple_shardings(static_cast<int>(index));
    else
      sharding.reset();
  }
  Instruction* element = emit(Op::get_tuple_element, shape.tuple[index], {tuple}, std::move(attrs));
  sharding = whole;
  return element;
}

void OpImport::give(int result, Instruction* value) {
  if (result >= num_results()) throw user_error("it has {} results, not {}", num_results(), result + 1);
  op_.results[result]->now = value;
}

void OpImport::give_elements(Instruction* value, bool even_of_one) {
  if (num_results() == 1 && !even_of_one) return give(value);
  for (int i = 0; i < num_results(); ++i) give(i, emit_element(value, i));
}

}  // namespace armillary::vhlo
