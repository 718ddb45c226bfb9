#include "xla_core/interp/scalar_function.h"

#include <cstring>
#include <unordered_map>

#include "xla_core/interp/dense.h"
#include "xla_core/interp/evaluation.h"

namespace armillary {
namespace {

using Vals = std::vector<Val>;  // one an array, several a tuple

// Writes the recipes of a whole scalar computation onto one tape: each instruction's arguments are earlier
// nodes.
class InliningBuilder : public TapeBuilder {
 public:
  using TapeBuilder::TapeBuilder;

  // False when some instruction has no place on a tape.
  bool inline_computation(const Computation& computation, const std::vector<Vals>& arguments, Vals* result) {
    std::unordered_map<const Instruction*, Vals> values;
    for (const Instruction* i : computation.instructions()) {
      std::vector<Vals> operands;
      for (const Instruction* o : i->operands()) operands.push_back(values[o]);
      Vals& value = values[i];
      if (i->is(Op::parameter))
        value = arguments[static_cast<size_t>(i->parameter_number())];
      else if (!inline_instruction(*i, operands, &value))
        return false;
    }
    *result = values[computation.root()];
    return true;
  }

  Val load(int operand, DType, std::span<const int64_t>, std::span<const Val>) override {
    return operands_[operand];
  }

 private:
  bool inline_instruction(const Instruction& i, const std::vector<Vals>& operands, Vals* value) {
    if (i.is(Op::tuple)) {
      for (const Vals& v : operands) {
        if (v.size() != 1) return false;  // nested tuples are not worth the trouble
        value->push_back(v[0]);
      }
      return true;
    }
    if (i.is(Op::get_tuple_element))
      return *value = {operands[0][static_cast<size_t>(i.attrs().integer(Attr::index))]}, true;
    if (!i.shape().is_scalar()) return i.is(Op::call) && inline_computation(*i.callees()[0], operands, value);
    if (i.is(Op::constant)) return inline_constant(i, value);
    if (i.is(Op::call) || i.is(Op::fusion) || i.is(Op::map))
      return inline_computation(*i.callees()[0], operands, value);
    if (i.is(Op::copy) || i.is(Op::bitcast) || i.is(Op::reshape)) {
      if (!i.operand(0)->shape().is_scalar() || i.operand(0)->dtype() != i.dtype()) return false;
      return *value = operands[0], true;
    }
    return inline_recipe(i, operands, value);
  }

  bool inline_constant(const Instruction& i, Vals* value) {
    const Literal& literal = i.literal();
    if (literal.elided()) return false;
    const DType part = real_part_of(i.dtype());
    Val v{-1, -1, i.dtype()};
    for (int p = 0; p < (is_complex(i.dtype()) ? 2 : 1); ++p) {
      Lane lane;
      read_lanes(ArrayView::of(literal), p, 0, nullptr, 1, &lane);
      const int32_t node =
          push({Prim::kConst, part, 0, -1, -1, -1, static_cast<int64_t>(lane_bits(part, lane))});
      (p == 0 ? v.re : v.im) = node;
    }
    *value = {v};
    return true;
  }

  bool inline_recipe(const Instruction& i, const std::vector<Vals>& operands, Vals* value) {
    std::vector<Val> flat;
    for (size_t k = 0; k < operands.size(); ++k) {
      if (operands[k].size() != 1 || !i.operand(static_cast<int64_t>(k))->shape().is_scalar()) return false;
      flat.push_back(operands[k][0]);
    }
    const auto storage = i.context_storage();
    const OpContext context = storage.context(i.attrs(), &i.shape());
    if (i.def().scalar) {
      *value = {i.def().scalar(*this, flat, context, i.dtype())};
    } else if (i.def().element) {
      operands_ = flat;
      *value = {i.def().element(*this, {}, context, i.shape())};
    } else {
      return false;
    }
    return value->front().valid();
  }

  std::vector<Val> operands_;  // of the instruction whose `element` recipe runs
};

}  // namespace

ScalarFunction::ScalarFunction(const Computation& computation, Evaluation& evaluation)
    : computation_(computation), evaluation_(evaluation) {
  const Shape& root = computation.root()->shape();
  result_shapes_ = root.is_tuple() ? root.tuple : std::vector<Shape>{root};
  TapeProgram program;
  InliningBuilder builder(program.tape);
  std::vector<Vals> arguments;
  bool all_scalar = true;
  for (const Instruction* p : computation.parameters()) {
    all_scalar = all_scalar && p->shape().is_scalar();
    parameter_dtypes_.push_back(p->dtype());
    if (all_scalar) arguments.push_back({builder.arg(static_cast<int>(arguments.size()), p->dtype())});
  }
  has_program_ = all_scalar && builder.inline_computation(computation, arguments, &program.results);
  if (has_program_) program_ = std::move(program);
}

std::vector<Literal> ScalarFunction::map(std::span<const Literal> columns, int64_t count) {
  std::vector<Literal> inputs;
  for (size_t k = 0; k < columns.size(); ++k) inputs.push_back(converted(columns[k], parameter_dtypes_[k]));
  return has_program_ ? run_tape(program_, inputs, {count}) : map_slowly(inputs, count);
}

std::vector<Literal> ScalarFunction::map_slowly(std::span<const Literal> columns, int64_t count) {
  std::vector<Literal> results;
  for (const Shape& s : result_shapes_) results.emplace_back(Shape(s.dtype, {count}));
  std::vector<const std::byte*> arguments(columns.size());
  std::vector<std::byte*> outputs(results.size());
  for (int64_t i = 0; i < count; ++i) {
    for (size_t k = 0; k < columns.size(); ++k)
      arguments[k] = columns[k].bytes() + (columns[k].size() == 1 ? 0 : i * byte_size(columns[k].dtype()));
    for (size_t r = 0; r < results.size(); ++r)
      outputs[r] = results[r].bytes() + i * byte_size(results[r].dtype());
    apply(arguments, outputs);
  }
  return results;
}

void ScalarFunction::apply(std::span<const std::byte* const> arguments, std::span<std::byte* const> results) {
  if (has_program_) {
    if (!runner_) runner_ = std::make_unique<TapeRunner>(program_, 1);
    views_.clear();
    for (size_t k = 0; k < arguments.size(); ++k)
      views_.push_back({arguments[k], parameter_dtypes_[k], 1, true});
    return runner_->run(views_, {}, 0, 1, results);
  }
  std::vector<Literal> values;
  for (size_t k = 0; k < arguments.size(); ++k) {
    Literal& value = values.emplace_back(Shape::scalar(parameter_dtypes_[k]));
    std::memcpy(value.bytes(), arguments[k], static_cast<size_t>(value.size_bytes()));
  }
  const Literal result = evaluation_.run(computation_, values);
  for (size_t r = 0; r < results.size(); ++r) {
    const Literal& part = result.is_tuple() ? result.tuple()[r] : result;
    std::memcpy(results[r], part.bytes(), static_cast<size_t>(part.size_bytes()));
  }
}

bool ScalarFunction::test(std::span<const std::byte* const> arguments) {
  std::byte result{};
  std::byte* results[] = {&result};
  apply(arguments, results);
  return result != std::byte{};
}

}  // namespace armillary
