#include "xla_core/passes/same_value.h"

#include <algorithm>
#include <unordered_map>

namespace armillary {
namespace {

// Attributes that say where an instruction comes from, not what it computes.
bool is_provenance(Attr a) { return a == Attr::origin || a == Attr::statistics; }

bool same_attrs(const Attrs& a, const Attrs& b) {
  auto skip = [](auto i, auto end) {
    while (i != end && is_provenance(i->first)) ++i;
    return i;
  };
  auto i = skip(a.begin(), a.end());
  auto j = skip(b.begin(), b.end());
  for (; i != a.end() && j != b.end(); i = skip(i + 1, a.end()), j = skip(j + 1, b.end()))
    if (*i != *j) return false;
  return i == a.end() && j == b.end();
}

bool same_literal(const Instruction& a, const Instruction& b) {
  if (!a.is(Op::constant) || a.shared_literal() == b.shared_literal()) return true;
  return !a.literal().elided() && !b.literal().elided() && a.literal() == b.literal();
}

bool is_commutative(const Instruction& i) { return i.has(kCommutative) && i.num_operands() == 2; }

bool same_operands(const Instruction& a, const Instruction& b) {
  if (std::ranges::equal(a.operands(), b.operands())) return true;
  return is_commutative(a) && b.num_operands() == 2 && a.operand(0) == b.operand(1) &&
         a.operand(1) == b.operand(0);
}

void mix(size_t& seed, size_t value) { seed ^= value + 0x9e3779b97f4a7c15ull + (seed << 6) + (seed >> 2); }

size_t hash_literal(const Literal& literal) {
  if (literal.is_tuple()) return literal.tuple().size();
  size_t head = std::min<size_t>(literal.size_bytes(), 256);
  return std::hash<std::string_view>()({reinterpret_cast<const char*>(literal.bytes()), head});
}

}  // namespace

bool same_value(const Instruction& a, const Instruction& b) {
  return a.op() == b.op() && a.shape() == b.shape() && same_operands(a, b) && same_literal(a, b) &&
         same_attrs(a.attrs(), b.attrs());
}

size_t hash_of(const Instruction& i) {
  size_t seed = static_cast<size_t>(i.op());
  mix(seed, static_cast<size_t>(i.dtype()));
  for (int64_t d : i.dims()) mix(seed, d);
  std::vector<int64_t> operands;
  for (const Instruction* o : i.operands()) operands.push_back(o->id());
  if (is_commutative(i)) std::sort(operands.begin(), operands.end());
  for (int64_t o : operands) mix(seed, o);
  if (i.is(Op::constant)) mix(seed, hash_literal(i.literal()));
  if (const AttrValue* index = i.attrs().find(Attr::index)) mix(seed, std::get<int64_t>(*index));
  return seed;
}

bool same_program(const Computation& a, const Computation& b) {
  if (&a == &b) return true;
  if (a.size() != b.size()) return false;
  std::unordered_map<const Instruction*, const Instruction*> twin;
  for (auto i = a.instructions().begin(), j = b.instructions().begin(); i != a.instructions().end();
       ++i, ++j) {
    const Instruction &x = **i, &y = **j;
    bool same = x.op() == y.op() && x.shape() == y.shape() && x.parameter_number() == y.parameter_number() &&
                same_literal(x, y) && same_attrs(x.attrs(), y.attrs()) && x.control_predecessors().empty() &&
                y.control_predecessors().empty();
    auto is_twin = [&](const Instruction* o, const Instruction* p) { return twin.at(o) == p; };
    if (!same || !std::ranges::equal(x.operands(), y.operands(), is_twin)) return false;
    twin[&x] = &y;
  }
  return twin.at(a.root()) == b.root();
}

size_t hash_of(const Computation& computation) {
  size_t seed = computation.size();
  for (const Instruction* i : computation.instructions()) {
    mix(seed, static_cast<size_t>(i->op()));
    mix(seed, static_cast<size_t>(i->dtype()));
    if (i->is(Op::constant)) mix(seed, hash_literal(i->literal()));
  }
  return seed;
}

}  // namespace armillary
