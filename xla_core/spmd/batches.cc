// call(join(x)) = join(call(x)) for code from outside that says that it works on each batch alone.
#include <algorithm>
#include <charconv>

#include "xla_core/hlo/parse_parts.h"
#include "xla_core/hlo/scanner.h"
#include "xla_core/spmd/batches.h"
#include "xla_core/spmd/mesh.h"

namespace armillary {
namespace {

// So many leading dimensions of operands and results are batches; JAX says it.
int64_t batch_dims(const Instruction& call) {
  const std::string text = frontend_attribute(call.attrs().raw(Attr::frontend_attributes), "num_batch_dims");
  int64_t n = 0;
  std::from_chars(text.data(), text.data() + text.size(), n);
  return n;
}

// The cut of an array's batches that `s` is of another one's.
Sharding of_batches(const Sharding& s, int64_t batches, int64_t rank) {
  auto leading = [&](const Dims& values, int64_t fill) {
    Dims out(rank, fill);
    std::copy_n(values.begin(), batches, out.begin());
    return out;
  };
  return s.mapped(leading(s.tiles, 1), [&](const Dims& c) { return leading(c, 0); });
}

bool has_batches(const Shape& shape, const Sharding& s, int64_t batches) {
  if (!shape.is_array() || shape.rank() < batches) return false;
  return of_batches(s, batches, shape.rank()).divides(shape);
}

// {f32[8,4]{0,1}} with the dimensions of the tiles.
void localise_layouts(Instruction* call) {
  const std::string text = call->attrs().raw(Attr::operand_layout_constraints);
  if (text.empty()) return;
  Scanner in(text, "operand_layout_constraints", 100);
  std::string out;
  in.expect('{', "before layouts");
  for (const Instruction* operand : call->operands()) {
    Shape shape = read_shape(in);
    shape.dims = operand->dims();
    out += (out.empty() ? "{" : ", ") + to_string(shape, true);
    in.accept(',');
  }
  call->attrs().set(Attr::operand_layout_constraints, RawText{out + "}", false});
}

const Sharding* cut_operand(const Marks& marks, const Instruction& call, int64_t batches) {
  for (const Instruction* o : call.operands()) {
    const Sharding* s = marks.joined(o);
    if (s && s->summands == 1 && o->shape().rank() >= batches) return s;
  }
  return nullptr;
}

}  // namespace

Instruction* call_on_batches(Marks& marks, Instruction* call) {
  const int64_t batches = batch_dims(*call);
  const Sharding* found = batches > 0 && !call->has_effect() ? cut_operand(marks, *call, batches) : nullptr;
  if (!found) return nullptr;
  const Sharding s = of_batches(*found, batches, batches);
  const std::vector<const Shape*> results = leaves_of(call->shape());
  if (s.is_replicated()) return nullptr;
  for (const Instruction* o : call->operands())
    if (!has_batches(o->shape(), s, batches)) return nullptr;
  for (const Shape* r : results)
    if (!has_batches(*r, s, batches)) return nullptr;

  Build b(call);
  std::vector<Instruction*> operands;
  for (Instruction* o : call->operands())
    operands.push_back(marks.cut(b, o, of_batches(s, batches, o->shape().rank())));
  Instruction* tile = b.clone(*call, std::move(operands));
  auto cut_of = [&](const Shape& shape) { return of_batches(s, batches, shape.rank()); };
  if (call->shape().is_array()) {
    tile->set_shape(cut_of(call->shape()).local(call->shape()));
    localise_layouts(tile);
    return marks.join(b, tile, cut_of(call->shape()), call->shape());
  }
  Shape local = call->shape();
  for (Shape& element : local.tuple) element = cut_of(element).local(element);
  tile->set_shape(local);
  localise_layouts(tile);
  std::vector<Instruction*> wholes;
  for (size_t k = 0; k < results.size(); ++k)
    wholes.push_back(
        marks.join(b, b.element(tile, static_cast<int64_t>(k)), cut_of(*results[k]), *results[k]));
  return b.tuple(wholes);
}

}  // namespace armillary
