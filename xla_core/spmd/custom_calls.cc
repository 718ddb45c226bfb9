#include "xla_core/spmd/custom_calls.h"

#include <algorithm>

#include "xla_core/base/error.h"
#include "xla_core/hlo/verify.h"
#include "xla_core/passes/expand.h"
#include "xla_core/spmd/boundaries.h"
#include "xla_core/spmd/factors.h"

namespace armillary {
namespace {

thread_local PartitioningRules* rules_in_force = nullptr;

bool is_custom(const Instruction* i) {
  return i->is(Op::custom_call) && i->attrs().text(Attr::custom_call_target) == kCustomPartitioning;
}

// A copy of a computation of another module, with all it calls.
class Copier {
 public:
  // `for_call`: where the copies say that they come from; nullptr: as they did.
  Copier(Module& to, const Instruction* for_call)
      : to_(to), for_call_(for_call), first_channel_(next_channel(to)) {}

  Computation* copy(const Computation& from) {
    Computation*& made = done_[&from];
    if (made != nullptr) return made;
    Computation* out = to_.add_computation(from.name());
    std::unordered_map<const Instruction*, Instruction*> twins;
    for (const Instruction* i : from.instructions()) {
      std::vector<Instruction*> operands;
      for (const Instruction* o : i->operands()) operands.push_back(twins.at(o));
      Instruction* twin = out->clone(*i, std::move(operands));
      for (Computation* callee : i->callees()) twin->replace_callee(callee, copy(*callee));
      adapt(twin);
      twins[i] = twin;
    }
    out->set_root(twins.at(from.root()));
    done_[&from] = out;
    return out;
  }

 private:
  void adapt(Instruction* twin) const {
    const int64_t channel = twin->attrs().integer(Attr::channel_id, 0);
    if (channel > 0 && for_call_ != nullptr)
      twin->attrs().set(Attr::channel_id, first_channel_ - 1 + channel);
    if (for_call_ == nullptr) return;
    Metadata metadata = twin->metadata();  // its frames are those of another program
    metadata.stack_frame_id = for_call_->metadata().stack_frame_id;
    twin->set_metadata(std::move(metadata));
  }

  Module& to_;
  const Instruction* for_call_;
  const int64_t first_channel_;
  std::unordered_map<const Computation*, Computation*> done_;
};

template <class Body>
bool for_all_calls(Module& m, Body body) {
  bool changed = false;
  for (Computation* c : m.reachable())
    for (Instruction* i : c->snapshot())
      if (is_custom(i)) changed |= body(i);
  return changed;
}

void replace(Instruction* call, Instruction* with) {
  call->replace_all_uses_with(with);
  call->parent()->erase(call);
}

bool use(Instruction* call, Computation* body) {
  replace(call, inlined(call, body, call->operands()));
  return true;
}

// Nothing where some are no tiles.
std::optional<std::vector<Sharding>> read_tiles(const std::string& text, const Shape& shape,
                                                int64_t devices) {
  std::vector<Sharding> out;
  for (const Annotation& said : parse_sharding(text, ranks_of(shape), devices)) {
    if (said.kind != Annotation::kTiled) return {};
    out.push_back(said.sharding);
  }
  return out;
}

std::string text_of(const Shape& shape, const std::vector<std::optional<Sharding>>& shardings,
                    int64_t devices) {
  std::string text;
  const std::vector<int64_t> ranks = ranks_of(shape);
  for (size_t k = 0; k < shardings.size(); ++k)
    text += (k ? ", " : "") + to_string(shardings[k].value_or(Sharding::replicated(ranks[k], devices)));
  return shape.is_tuple() ? "{" + text + "}" : text;
}

bool any_cut(const std::vector<std::optional<Sharding>>& shardings) {
  return std::any_of(shardings.begin(), shardings.end(),
                     [](const auto& s) { return s && !s->is_replicated(); });
}

}  // namespace

RulesInForce::RulesInForce(PartitioningRules& rules) : before_(std::exchange(rules_in_force, &rules)) {}
RulesInForce::~RulesInForce() { rules_in_force = before_; }

bool replace_by_bodies(Module& m) {
  bool changed = false;
  const auto once = [&](Instruction* call) {
    return !call->callees().empty() && use(call, call->callees()[0]);
  };
  while (for_all_calls(m, once)) changed = true;  // bodies may hold others
  return changed;
}

void CustomCalls::take_bodies() {
  for_all_calls(m_, [&](Instruction* call) {
    if (call->callees().empty()) return false;
    Computation*& body = body_of_[call->attrs().raw(Attr::backend_config)];
    if (body == nullptr) body = Copier(bodies_, nullptr).copy(*call->callees()[0]);
    call->attrs().erase(Attr::called_computations);
    return true;
  });
}

bool CustomCalls::use_bodies() {
  const bool changed = for_all_calls(m_, [&](Instruction* call) {
    const auto body = body_of_.find(call->attrs().raw(Attr::backend_config));
    return body != body_of_.end() && use(call, Copier(m_, nullptr).copy(*body->second));
  });
  if (changed) take_bodies();
  return changed;
}

bool CustomCalls::cut(bool by_results) {
  if (rules_in_force == nullptr) return false;
  return for_all_calls(m_, [&](Instruction* call) {
    Instruction* with = refused_.contains(call) ? nullptr : by_rule(call, by_results);
    if (with != nullptr) replace(call, with);
    return with != nullptr;
  });
}

// How the first user that wants its tile of a result wants it.
std::vector<std::optional<Sharding>> CustomCalls::wanted(const Instruction& call) const {
  std::vector<std::optional<Sharding>> out(leaves_of(call.shape()).size());
  const auto look = [&](const Instruction& value, std::optional<Sharding>& wish) {
    for (const Instruction* user : value.users())
      if (const Sharding* s = marks_.is_cut(user); s != nullptr && s->summands == 1 && !wish) wish = *s;
  };
  if (!call.shape().is_tuple()) {
    look(call, out[0]);
    return out;
  }
  for (const Instruction* user : call.users())
    if (user->is(Op::get_tuple_element)) look(*user, out[user->attrs().integer(Attr::index)]);
  return out;
}

// Which operands are there in tiles, or whole because the program says so.
std::vector<std::optional<Sharding>> CustomCalls::known_operands(const Instruction& call) const {
  std::vector<std::optional<Sharding>> out;
  for (const Instruction* o : call.operands()) {
    const Sharding* s = marks_.joined(o);
    if (s != nullptr && s->summands == 1)
      out.emplace_back(*s);
    else if (o->is(Op::parameter) || marks_.is_whole(o))
      out.emplace_back(Sharding::replicated(o->shape().rank(), marks_.devices()));
    else
      out.emplace_back();
  }
  return out;
}

// What the rule is asked about: operands as they are, the result as it is wanted, or as they make it.
bool CustomCalls::choose_shardings(const Instruction& call, bool by_results, PartitioningRules::Call& asked,
                                   std::string& result) const {
  const int64_t devices = marks_.devices();
  Factors::Cuts cuts{known_operands(call), wanted(call)};
  const bool is_wanted = any_cut(cuts.results);
  if (!any_cut(cuts.operands) && !(by_results && is_wanted)) return false;
  const std::string wish = text_of(call.shape(), cuts.results, devices);
  const std::string rule =
      frontend_attribute(call.attrs().raw(Attr::frontend_attributes), "xla.sdy.sharding_rule");
  const bool is_shardy = !rule.empty() || !parse_meshes(m_.frontend_attributes).empty();
  if (!rule.empty()) {
    std::optional<Factors::Cuts> followed = Factors(rule).follow(cuts, devices);
    if (!followed) throw user_error(call, "{} does not fit the call", rule);
    cuts = std::move(*followed);
  }
  for (size_t k = 0; k < cuts.operands.size(); ++k) {
    const Shape& shape = call.operand(static_cast<int64_t>(k))->shape();
    asked.operands.push_back(shape.without_layout());
    asked.operand_shardings.push_back(text_of(shape, {cuts.operands[k]}, devices));
  }
  result = text_of(call.shape(), cuts.results, devices);
  if (is_shardy) return true;
  // Without Shardy, rules are functions as well.
  result = is_wanted ? rules_in_force->propagate(asked, wish) : rules_in_force->infer(asked);
  return true;
}

Instruction* CustomCalls::by_rule(Instruction* call, bool by_results) {
  for (const Shape* leaf : leaves_of(call->shape()))
    if (!leaf->is_array()) return nullptr;
  PartitioningRules::Call asked{.config = call->attrs().raw(Attr::backend_config), .result = call->shape()};
  std::string result;
  if (!choose_shardings(*call, by_results, asked, result) || !context_.spend(call)) return nullptr;
  PartitioningRules::Answer answer = rules_in_force->partition(asked, result);
  const auto wanted = read_tiles(result, call->shape(), marks_.devices());
  Instruction* with = splice(call, std::move(answer), wanted.value_or(std::vector<Sharding>()));
  if (with == nullptr) refused_.insert(call);
  return with;
}

// An array that the rule leaves in other tiles than it was asked for.
Instruction* CustomCalls::rejoin(Build& b, Instruction* tile, const Sharding& s, const Shape& whole,
                                 const Sharding* wanted) {
  Instruction* joined = marks_.join(b, tile, s, whole);
  if (wanted == nullptr || wanted->is_replicated() || *wanted == s || !wanted->divides(whole)) return joined;
  return marks_.join(b, marks_.cut(b, joined, *wanted), *wanted, whole);
}

// The program of one device in place of the call; nullptr where its tiles cannot be made.
Instruction* CustomCalls::splice(Instruction* call, PartitioningRules::Answer answer,
                                 const std::vector<Sharding>& wanted) {
  Module& program = *answer.program;
  const int64_t devices = marks_.devices();
  std::vector<Sharding> of_operands;
  if (static_cast<int64_t>(answer.operand_shardings.size()) != call->num_operands() ||
      static_cast<int64_t>(program.entry()->parameters().size()) != call->num_operands())
    throw user_error(
        *call, "the partitioning rule's program takes {} arrays and has {} shardings for {} operands",
        program.entry()->parameters().size(), answer.operand_shardings.size(), call->num_operands());
  for (int64_t k = 0; k < call->num_operands(); ++k) {
    const Shape& shape = call->operand(k)->shape();
    const auto tiles = read_tiles(answer.operand_shardings[k], shape, devices);
    if (!tiles || !(*tiles)[0].divides(shape) ||
        !(*tiles)[0].local(shape).compatible(program.entry()->parameter(k)->shape()))
      return nullptr;
    of_operands.push_back((*tiles)[0]);
  }
  const auto of_results = read_tiles(answer.result_sharding, call->shape(), devices);
  const std::vector<const Shape*> wholes = leaves_of(call->shape());
  const std::vector<const Shape*> tiles = leaves_of(program.entry()->root()->shape());
  if (!of_results || tiles.size() != wholes.size()) return nullptr;
  for (size_t r = 0; r < wholes.size(); ++r)
    if (!(*of_results)[r].divides(*wholes[r]) || !(*of_results)[r].local(*wholes[r]).compatible(*tiles[r]))
      return nullptr;

  Build b(call);
  const std::optional<std::vector<Instruction*>> operands = marks_.cut_operands(b, *call, of_operands);
  if (!operands) return nullptr;
  program.replica_count = m_.replica_count;
  program.num_partitions = m_.num_partitions;
  verify(program);
  run_pipeline(program, "expand-bitcasts,custom-call-layouts,inline-calls,expand,dce", context_, "rule");
  Instruction* tile = inlined(call, Copier(m_, call).copy(*program.entry()), *operands);
  const auto wanted_of = [&](size_t r) { return r < wanted.size() ? &wanted[r] : nullptr; };
  if (!call->shape().is_tuple()) {
    if (tile->shape().is_tuple()) tile = b.element(tile, 0);
    return rejoin(b, tile, (*of_results)[0], call->shape(), wanted_of(0));
  }
  std::vector<Instruction*> joined;
  for (size_t r = 0; r < wholes.size(); ++r)
    joined.push_back(
        rejoin(b, b.element(tile, static_cast<int64_t>(r)), (*of_results)[r], *wholes[r], wanted_of(r)));
  return b.tuple(joined);
}

}  // namespace armillary
