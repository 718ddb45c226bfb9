#include "xla_core/io/vhlo/op_import.h"

#include "xla_core/io/metadata_proto.h"

namespace armillary::vhlo {

void add_frontend_attributes(const Attribute& dictionary, proto::FrontendAttributes& out) {
  if (dictionary.kind != AttributeKind::kDictionary)
    throw user_error("mhlo.frontend_attributes is no dictionary");
  for (size_t i = 0; i + 1 < dictionary.items.size(); i += 2)
    if (dictionary.items[i + 1]->kind == AttributeKind::kString)
      (*out.mutable_map())[std::string(dictionary.items[i]->text)] =
          std::string(text_of(*dictionary.items[i + 1]));
}

void set_frontend_attributes(Instruction* i, const proto::FrontendAttributes& attributes) {
  if (!attributes.map().empty())
    i->attrs().set(Attr::frontend_attributes, RawText{frontend_attributes_text(attributes), false});
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
