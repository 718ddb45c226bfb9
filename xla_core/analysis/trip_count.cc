#include "xla_core/analysis/trip_count.h"

#include <limits>

#include "xla_core/hlo/module.h"

namespace armillary {
namespace {

using Wide = __int128;

// A scalar integer constant, behind copies and conversions of none.
std::optional<int64_t> constant_value(const Instruction* i) {
  while (i->is(Op::copy)) i = i->operand(0);
  bool known =
      i->is(Op::constant) && i->shape().is_scalar() && is_integer(i->dtype()) && !i->literal().elided();
  return known ? std::optional(i->literal().get_int(0)) : std::nullopt;
}

// The state element that `i` reads in a computation whose only parameter is the state.
std::optional<int64_t> state_element(const Instruction* i) {
  if (!i->is(Op::get_tuple_element) || !i->operand(0)->is(Op::parameter)) return std::nullopt;
  return i->attrs().integer(Attr::index);
}

// The value a state element has before the first round, when it is a constant and, if it must not change, the
// body hands it on.
std::optional<int64_t> initial_value(const Instruction& loop, int64_t element) {
  const Instruction* state = loop.operand(0);
  return state->is(Op::tuple) ? constant_value(state->operand(element)) : std::nullopt;
}

const Instruction* next_value(const Instruction& loop, int64_t element) {
  const Instruction* root = loop.attrs().callee(Attr::body)->root();
  return root->is(Op::tuple) ? root->operand(element) : nullptr;
}

// What computes a value, seen through the fusion that it may be a result of.
class Seen {
 public:
  explicit Seen(const Instruction* i) : what_(i) {
    const Instruction* from = i->is(Op::get_tuple_element) ? i->operand(0) : i;
    if (!from->is(Op::fusion)) return;
    fusion_ = from;
    what_ = from->callees()[0]->root();
    if (from != i) what_ = what_->operand(i->attrs().integer(Attr::index));
  }

  const Instruction* operator->() const { return what_; }
  // An operand, outside of the fusion where it comes from there.
  const Instruction* operand(int64_t k) const {
    const Instruction* o = what_->operand(k);
    return fusion_ != nullptr && o->is(Op::parameter) ? fusion_->operand(o->parameter_number()) : o;
  }

 private:
  const Instruction* what_;
  const Instruction* fusion_ = nullptr;
};

std::optional<int64_t> step_of(const Instruction& loop, int64_t element) {
  const Instruction* value = next_value(loop, element);
  if (!value) return std::nullopt;
  const Seen next(value);
  if (!next->is(Op::add) && !next->is(Op::subtract)) return std::nullopt;
  const Instruction *counter = next.operand(0), *by = next.operand(1);
  if (next->is(Op::add) && !state_element(counter)) std::swap(counter, by);
  std::optional<int64_t> step = constant_value(by);
  if (state_element(counter) != element || !step || *step == std::numeric_limits<int64_t>::min())
    return std::nullopt;
  return next->is(Op::add) ? *step : -*step;
}

std::optional<int64_t> bound_of(const Instruction& loop, const Instruction* i) {
  if (auto value = constant_value(i)) return value;
  std::optional<int64_t> element = state_element(i);
  if (!element) return std::nullopt;
  const Instruction* next = next_value(loop, *element);
  return next && state_element(next) == element ? initial_value(loop, *element) : std::nullopt;
}

// Rounds of: for (x = start; x < bound; x += step), with step > 0.
Wide rounds_up(Wide start, Wide bound, Wide step) {
  return start >= bound ? 0 : (bound - start + step - 1) / step;
}

std::optional<int64_t> count(std::string direction, Wide start, Wide bound, Wide step, DType dtype) {
  if (step == 0) return std::nullopt;
  if (direction == "NE") {
    if ((bound - start) % step != 0 || (bound - start) / step < 0) return std::nullopt;
    return static_cast<int64_t>((bound - start) / step);
  }
  bool upward = direction == "LT" || direction == "LE";
  if ((!upward && direction != "GT" && direction != "GE") || upward != (step > 0)) return std::nullopt;
  if (direction == "LE") ++bound;
  if (direction == "GE") --bound;
  Wide trips = upward ? rounds_up(start, bound, step) : rounds_up(-start, -bound, -step);
  // The last value of the counter must still be one of its type, or the loop counts around.
  int bits = bit_width(dtype) - is_signed(dtype);
  Wide last = start + trips * step, high = (Wide(1) << bits) - 1, low = is_signed(dtype) ? -high - 1 : 0;
  if (trips > 0 && (last > high || last < low)) return std::nullopt;
  return static_cast<int64_t>(trips);
}

std::string mirrored(const std::string& direction) {
  if (direction == "LT") return "GT";
  if (direction == "GT") return "LT";
  if (direction == "LE") return "GE";
  return direction == "GE" ? "LE" : direction;
}

}  // namespace

std::optional<Induction> induction_of(const Instruction& loop) {
  const Instruction* test = loop.attrs().callee(Attr::condition)->root();
  if (!test->is(Op::compare) || !test->operand(0)->shape().is_scalar() ||
      !is_integer(test->operand(0)->dtype()))
    return std::nullopt;
  for (bool swapped : {false, true}) {
    std::optional<int64_t> element = state_element(test->operand(swapped));
    if (!element) continue;
    auto start = initial_value(loop, *element), step = step_of(loop, *element),
         bound = bound_of(loop, test->operand(!swapped));
    if (!start || !step || !bound) continue;
    const DType dtype = test->operand(0)->dtype();
    if (dtype == DType::kU64 && (*start < 0 || *bound < 0))
      return std::nullopt;  // beyond s64: not worth the care
    std::string direction = test->attrs().text(Attr::direction);
    auto trips = count(swapped ? mirrored(direction) : direction, *start, *bound, *step, dtype);
    if (trips) return Induction{*element, *start, *step, *trips};
  }
  return std::nullopt;
}

}  // namespace armillary
