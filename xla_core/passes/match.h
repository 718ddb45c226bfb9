// The pattern language of the rewrite rules: patterns are plain values that match, build and can be walked by
// tests.
#pragma once

#include <array>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "xla_core/passes/build.h"

namespace armillary {

// An op on patterns; a name that binds an instruction; or a scalar constant, alone or broadcast.
struct Pat {
  enum Kind : uint8_t { kAny, kOp, kNumber, kSplat } kind = kAny;
  char name = 0;             // what it is bound to; 0: to nothing
  Op op = Op::parameter;     // kOp
  double number = 0;         // kNumber: this value, sign of zero included
  std::vector<Pat> in = {};  // operands; empty on kOp means: whatever they are
};

inline Pat any(char name) { return {.kind = Pat::kAny, .name = name}; }
inline Pat num(double value) { return {.kind = Pat::kNumber, .number = value}; }
inline Pat splat(char name) {
  return {.kind = Pat::kSplat, .name = name};
}  // any scalar constant, alone or broadcast
inline Pat of(Op op, std::initializer_list<Pat> in) { return {.kind = Pat::kOp, .op = op, .in = in}; }
inline Pat as(char name, Pat pat) {
  pat.name = name;
  return pat;
}

// A successful match; builds the replacement in front of the matched root.
class Match : public Build {
 public:
  explicit Match(Instruction* root) : Build(root), root_(root) {}
  Instruction* root() const { return root_; }
  Instruction* operator[](char name) const { return bound_[name - 'a']; }
  DType dtype() const { return root_->dtype(); }
  const Dims& dims() const { return root_->dims(); }
  const Dims& dimensions(char name) const { return (*this)[name]->attrs().ints(Attr::dimensions); }
  const Dims& dimensions() const { return root_->attrs().ints(Attr::dimensions); }

  bool try_bind(const Pat& pat, Instruction* i);
  Instruction* build(const Pat& pat);

 private:
  bool try_operands(const Pat& pat, Instruction* i, bool swapped);

  Instruction* root_;
  std::array<Instruction*, 26> bound_{};
};

// The scalar literal behind a scalar constant or a broadcast of one; nullptr for others.
const Literal* scalar_behind(const Instruction& i);
bool is_number(const Instruction& i, double value);  // with the sign of zero

struct Replacement {
  Replacement(Pat pattern) : pat(std::move(pattern)) {}  // NOLINT: rows are written with both kinds
  template <class F>
    requires std::is_convertible_v<F, Instruction* (*)(Match&)>
  Replacement(F build) : make(build) {}  // NOLINT
  Pat pat;
  Instruction* (*make)(Match&) = nullptr;  // may return nullptr before it has built anything: no rewrite
};

// One rewrite: name, from, to, guard. Commuted forms are the matcher's business.
struct Rule {
  std::string_view name;
  Pat from;
  Replacement to;
  bool (*guard)(const Match&) = nullptr;
};

// A rule may change the last bits of a floating point result in one way: by leaving a reduction's order to
// chance, as HLO does.
inline constexpr std::string_view kReassociates = "reassociates:";  // prefix of such a rule's name

std::span<const Rule> arithmetic_rules();
std::span<const Rule> logic_rules();
std::span<const Rule> shape_rules();
std::span<const Rule> slice_rules();
std::span<const Rule> dynamic_rules();
std::span<const Rule> contraction_rules();
std::vector<const Rule*> all_rules();

struct PassContext;
// What stands for `root` when the rule applies, built in front of it; nullptr when it does not. Nothing is
// replaced yet.
Instruction* apply_rule(const Rule& rule, Instruction* root, const PassContext& context);

}  // namespace armillary
