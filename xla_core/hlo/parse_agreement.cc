// Kept text that must agree with its instruction: shardings with the shape, layout constraints with operands.
#include "xla_core/hlo/parse_parts.h"

namespace armillary {
namespace {

constexpr int kLevels = 50;

// A list of shardings is for a tuple. Whether it is as long as the tuple matters to the partitioner only.
void check_sharding(const Scanner& in, size_t position, const Shape& shape, std::string_view text) {
  Scanner value(text, "", kLevels);
  value.expect('{', "before a sharding");
  if (value.peek() == '{' && !shape.is_tuple())
    throw in.error(position, "sharding: a list is for a tuple, but the shape is {}", to_string(shape));
}

std::vector<Shape> listed_shapes(std::string_view text) {
  Scanner in(text, "", kLevels);
  std::vector<Shape> shapes;
  in.expect('{', "before the constraints");
  if (in.accept('}')) return shapes;
  do shapes.push_back(read_shape(in));
  while (in.accept(','));
  in.expect('}', "after the constraints");
  return shapes;
}

void check_constraints(const Scanner& in, size_t position, const std::vector<Instruction*>& operands,
                       std::string_view text) {
  std::vector<Shape> shapes;
  try {
    shapes = listed_shapes(text);
  } catch (const Error& e) {
    throw in.error(position, "operand_layout_constraints: {}", e.message());
  }
  if (shapes.size() != operands.size())
    throw in.error(position, "operand_layout_constraints: {} shapes for {} operands", shapes.size(),
                   operands.size());
  for (size_t k = 0; k < shapes.size(); ++k)
    if (!shapes[k].without_layout().compatible(operands[k]->shape().without_layout()))
      throw in.error(position, "operand_layout_constraints: operand {} is {}, its constraint {}", k,
                     to_string(operands[k]->shape()), to_string(shapes[k]));
}

}  // namespace

void check_agreement(const Scanner& in, size_t position, Op op, const Shape& shape,
                     const std::vector<Instruction*>& operands, const Attrs& attrs) {
  // Transfers say how what they move is sharded, which is not always what they return.
  const bool transfers = op == Op::outfeed || op == Op::infeed || op == Op::send || op == Op::recv;
  if (!transfers && attrs.has(Attr::sharding)) check_sharding(in, position, shape, attrs.raw(Attr::sharding));
  if (attrs.has(Attr::operand_layout_constraints))
    check_constraints(in, position, operands, attrs.raw(Attr::operand_layout_constraints));
}

}  // namespace armillary
