#include "xla_core/interp/evaluation.h"

#include <algorithm>
#include <array>

#include "xla_core/interp/interpreter.h"

namespace armillary {
namespace {

constexpr int kMaxDepth =
    500;  // computations inside each other; more than any program has, less than the stack holds
constexpr size_t kNumOps = 256;

// Handlers by op; nullptr where a recipe does it all, or nothing does.
const std::array<Handler, kNumOps>& handlers() {
  static const std::array<Handler, kNumOps> table = [] {
    std::array<Handler, kNumOps> t{};
    for (auto group : {structure_handlers(), data_movement_handlers(), control_handlers(),
                       reduction_handlers(), window_handlers(), sorting_handlers(), scatter_handlers(),
                       dot_handlers(), convolution_handlers(), fft_handlers(), linear_algebra_handlers(),
                       random_handlers(), batch_norm_handlers(), custom_call_handlers()})
      for (const HandlerRow& row : group) t[static_cast<size_t>(row.op)] = row.handler;
    return t;
  }();
  return table;
}

// The recipe as a program over the operands; the result's index is the lane's.
TapeProgram write_program(const Instruction& i) {
  TapeProgram program;
  TapeBuilder builder(program.tape);
  const auto storage = i.context_storage();
  const OpContext context = storage.context(i.attrs(), &i.shape());
  if (i.def().scalar) {
    std::vector<Val> x;
    for (const Instruction* o : i.operands())
      x.push_back(builder.arg(static_cast<int>(x.size()), o->dtype()));
    program.results = {i.def().scalar(builder, x, context, i.dtype())};
  } else {
    std::vector<Val> index;
    for (int64_t d = 0; d < i.shape().rank(); ++d)
      index.push_back({builder.push({Prim::kIndex, DType::kS64, 0, -1, -1, -1, d}), -1, DType::kS64});
    program.results = {i.def().element(builder, index, context, i.shape())};
  }
  return program;
}

// A dynamic dimension is taken at its bound.
bool fits(const Shape& argument, const Shape& parameter) {
  return argument.dtype == parameter.dtype && argument.dims == parameter.dims &&
         std::equal(argument.tuple.begin(), argument.tuple.end(), parameter.tuple.begin(),
                    parameter.tuple.end(), fits);
}

void check_arguments(const Computation& computation, Operands args) {
  const auto& parameters = computation.parameters();
  if (args.size() != parameters.size())
    throw user_error("{} takes {} arguments, but {} are given", computation.name(), parameters.size(),
                     args.size());
  for (size_t i = 0; i < args.size(); ++i)
    if (!fits(args[i].shape(), parameters[i]->shape()))
      throw user_error("argument {} of {} is {}, but the parameter is {}", i, computation.name(),
                       to_string(args[i].shape()), to_string(parameters[i]->shape()));
}

}  // namespace

// A computation's instructions that matter, operands as positions, and what dies after each.
struct Evaluation::Plan {
  struct Line {
    const Instruction* instruction;
    std::vector<int32_t> operands;
    std::vector<int32_t> dies;
  };
  std::vector<Line> lines;
  int32_t root = 0;
};

Evaluation::Evaluation() = default;
Evaluation::~Evaluation() = default;

const Evaluation::Plan& Evaluation::plan(const Computation& computation) {
  std::unique_ptr<Plan>& slot = plans_[&computation];
  if (slot) return *slot;
  slot = std::make_unique<Plan>();
  const std::vector<const Instruction*> order(computation.instructions().begin(),
                                              computation.instructions().end());
  std::unordered_map<const Instruction*, bool> needed;
  for (auto i = order.rbegin(); i != order.rend(); ++i) {
    if (*i != computation.root() && !(*i)->has_effect() && !needed[*i]) continue;
    needed[*i] = true;
    for (const Instruction* o : (*i)->operands()) needed[o] = true;
  }
  std::unordered_map<const Instruction*, int32_t> position;
  std::vector<int32_t> last_use;
  for (const Instruction* i : order) {
    if (!needed[i]) continue;
    const int32_t here = static_cast<int32_t>(slot->lines.size());
    position[i] = here;
    last_use.push_back(here);
    Plan::Line& line = slot->lines.emplace_back(Plan::Line{i, {}, {}});
    for (const Instruction* o : i->operands()) {
      line.operands.push_back(position.at(o));
      last_use[position.at(o)] = here;
    }
  }
  slot->root = position.at(computation.root());
  for (int32_t v = 0; v < static_cast<int32_t>(last_use.size()); ++v)
    if (v != slot->root) slot->lines[last_use[v]].dies.push_back(v);
  return *slot;
}

Literal Evaluation::run(const Computation& computation, Operands args) {
  struct Depth {
    int& depth;
    explicit Depth(int& d) : depth(d) { ++depth; }
    ~Depth() { --depth; }
  } guard(depth_);
  if (depth_ > kMaxDepth)
    throw resource_error("{} is called inside {} other computations", computation.name(), kMaxDepth);
  const Plan& plan = this->plan(computation);
  std::vector<Literal> values(plan.lines.size());
  std::vector<Literal> operands;
  for (size_t at = 0; at < plan.lines.size(); ++at) {
    const Plan::Line& line = plan.lines[at];
    if (line.instruction->is(Op::parameter)) {
      values[at] = args[static_cast<size_t>(line.instruction->parameter_number())];
    } else {
      operands.clear();
      for (int32_t o : line.operands) operands.push_back(values[o]);
      values[at] = run(*line.instruction, operands);
    }
    for (int32_t dead : line.dies) values[dead] = Literal();
  }
  return values[plan.root];
}

Literal Evaluation::run(const Instruction& i, Operands operands) {
  try {
    if (Handler handler = handlers()[static_cast<size_t>(i.op())]) return handler(*this, i, operands);
    if ((i.def().scalar || i.def().element) && i.shape().is_array()) {
      if (i.shape().num_elements() == 0) return Literal(i.shape());
      return with_shape(run_tape(program(i), operands, i.dims())[0], i.shape());
    }
  } catch (const Error& e) {
    if (!e.where().empty()) throw;
    throw make_error(e.kind(), i, e.message());  // whoever threw did not know the place
  } catch (const std::bad_alloc&) {
    throw make_error(ErrorKind::kResource, i, "out of memory");
  }
  throw unsupported_error(i, "unsupported: {}", to_string(i.op()));
}

ScalarFunction& Evaluation::function(const Computation& computation) {
  std::unique_ptr<ScalarFunction>& slot = functions_[&computation];
  if (!slot) slot = std::make_unique<ScalarFunction>(computation, *this);
  return *slot;
}

const TapeProgram& Evaluation::program(const Instruction& instruction) {
  const auto found = programs_.find(&instruction);
  if (found != programs_.end()) return found->second;
  return programs_.emplace(&instruction, write_program(instruction)).first->second;
}

Literal with_shape(Literal literal, const Shape& shape) {
  return literal.shape() == shape ? literal : literal.reshaped(shape);
}

Literal tuple_or_single(std::vector<Literal> results, const Shape& shape) {
  if (!shape.is_tuple()) return with_shape(std::move(results[0]), shape);
  for (size_t r = 0; r < results.size(); ++r) results[r] = with_shape(std::move(results[r]), shape.tuple[r]);
  return Literal::make_tuple(std::move(results));
}

Literal evaluate(const Module& module, Operands args) {
  if (!module.entry()) throw user_error("module {} has no entry computation", module.name());
  return evaluate(*module.entry(), args);
}

Literal evaluate(const Computation& computation, Operands args) {
  check_arguments(computation, args);
  return Evaluation().run(computation, args);
}

Literal evaluate_instruction(const Instruction& instruction, Operands operands) {
  return Evaluation().run(instruction, operands);
}

bool can_evaluate(Op op) {
  return op == Op::parameter || handlers()[static_cast<size_t>(op)] || def(op).scalar || def(op).element;
}

}  // namespace armillary
