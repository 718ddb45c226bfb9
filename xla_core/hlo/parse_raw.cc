// Attributes kept as text: how far they reach, and the sanity that even kept text must have.
#include <algorithm>

#include "xla_core/hlo/parse_parts.h"

namespace armillary {
namespace {

// Brackets that continue a value: [2,4]<=[4,2]T(1,0) and mesh['x'=2] {'x'}.
void read_continuations(Scanner& in) {
  while (true) {
    if (in.accept("<=")) {
      in.balanced("a tile assignment");
    } else if (in.raw_peek() == 'T' && in.text().substr(in.position(), 2) == "T(") {
      in.advance();
      in.balanced("a transposition");
    } else if (in.peek() == '{' || in.peek() == '[') {
      in.balanced("a list");
    } else {
      return;
    }
  }
}

// What one number after another says in `[2,4]` or `{0,1}`; a missing partner ends it.
Dims numbers_in(Scanner& in, char close) {
  Dims values;
  while (in.at_integer()) {
    values.push_back(in.integer("a number"));
    if (!in.accept(',')) break;
  }
  in.accept(close);
  return values;
}

// The product of sizes, or -1 when one is not positive or the product is absurd.
int64_t checked_product(const Dims& sizes) {
  int64_t product = 1;
  for (const int64_t size : sizes)
    if (size <= 0 || __builtin_mul_overflow(product, size, &product) || product > (int64_t{1} << 40))
      return -1;
  return product;
}

// The tail <=[4,2]T(1,0) of an iota assignment to `total` places.
void check_iota(Scanner& in, int64_t total) {
  in.expect('[', "in an iota assignment");
  const Dims reshape = numbers_in(in, ']');
  if (checked_product(reshape) != total)
    throw user_error("the iota assignment covers {} places, the tiles are {}", checked_product(reshape),
                     total);
  if (in.raw_peek() != 'T') return;
  in.advance();
  in.expect('(', "after T");
  Dims permutation = numbers_in(in, ')');
  std::sort(permutation.begin(), permutation.end());
  for (size_t d = 0; d < permutation.size(); ++d)
    if (permutation[d] != static_cast<int64_t>(d) || permutation.size() != reshape.size())
      throw user_error("the transposition of an iota assignment must be a permutation of {} dimensions",
                       reshape.size());
}

// devices=[2,2]0,1,2,3 or devices=[2,2]<=[4]
void check_tiles(Scanner& in) {
  in.expect('[', "after devices=");
  const Dims tiles = numbers_in(in, ']');
  const int64_t total = checked_product(tiles);
  if (total < 0) throw user_error("tile sizes must be positive and cover at most 2^40 places");
  if (in.accept("<=")) return check_iota(in, total);
  Dims devices = numbers_in(in, ' ');
  if (static_cast<int64_t>(devices.size()) != total)
    throw user_error("devices=[...] has {} places, but {} devices are listed", total, devices.size());
  std::sort(devices.begin(), devices.end());
  if (std::adjacent_find(devices.begin(), devices.end()) != devices.end())
    throw user_error("a device is listed twice");
  if (devices.front() < 0) throw user_error("device {} is negative", devices.front());
}

// One sharding in braces, or a tuple of them.
void check_sharding(Scanner& in) {
  Scanner::Nest nest(in, "shardings");
  in.expect('{', "before a sharding");
  if (in.accept('}')) return;
  if (in.peek() == '{') {
    do check_sharding(in);
    while (in.accept(','));
    in.expect('}', "after a tuple of shardings");
    return;
  }
  const std::string_view word = in.accept('@') ? std::string_view("mesh") : in.identifier("a sharding");
  static constexpr std::string_view kKnown[] = {"replicated", "manual",     "unknown", "unreduced",
                                                "maximal",    "devices",    "mesh",    "maximal_mesh",
                                                "shard_as",   "shard_like", "metadata"};
  if (std::find(std::begin(kKnown), std::end(kKnown), word) == std::end(kKnown))
    throw user_error(
        "expected replicated, manual, unknown, unreduced, maximal, devices=, mesh or a tuple of shardings, "
        "found '{}'",
        word);
  if (word == "devices") {
    in.expect('=', "after devices");
    check_tiles(in);
  }
  // The rest (subgroups, shard_as, metadata, axes) up to the closing brace.
  while (!in.accept('}')) {
    const char c = in.peek();
    if (c == '{' || c == '[' || c == '(')
      in.balanced("a sharding");
    else if (c == '"')
      in.quoted("a string");
    else if (c == '\0')
      throw in.expected("'}' after a sharding");
    else
      in.advance();
  }
}

void refuse_twice(Dims devices, std::string_view what) {
  std::sort(devices.begin(), devices.end());
  const auto twice = std::adjacent_find(devices.begin(), devices.end());
  if (twice != devices.end()) throw user_error("device {} {}", *twice, what);
}

// {{0,1},{2,3}}, {}, [2,4]<=[4,2]T(1,0): no id twice, none negative.
void check_groups(Scanner& in, bool pairs) {
  if (in.accept('[')) {
    const Dims sizes = numbers_in(in, ']');
    in.expect("<=", "in replica groups");
    return check_iota(in, checked_product(sizes));
  }
  if (in.peek() != '{') return;  // mesh form: the partitioner reads it
  in.expect('{', "before groups");
  Dims ids, targets;
  while (in.accept('{')) {
    const Dims group = numbers_in(in, '}');
    if (pairs && group.size() != 2)
      throw user_error("a source-target pair needs two devices, found {}", group.size());
    if (pairs) targets.push_back(group[1]);
    ids.insert(ids.end(), group.begin(), pairs ? group.begin() + 1 : group.end());
    if (!group.empty() && *std::min_element(group.begin(), group.end()) < 0)
      throw user_error("a device is negative");
    in.accept(',');
  }
  in.expect('}', "after groups");
  refuse_twice(std::move(ids), pairs ? "sends twice" : "is in two groups");
  refuse_twice(std::move(targets), "receives twice");
}

// {name="text",name={text}}
void check_frontend_attributes(Scanner& in) {
  in.expect('{', "before frontend attributes");
  in.list('}', "between frontend attributes", [&] {
    if (in.peek() == '"')
      in.quoted("a name");
    else
      in.identifier("a name");
    in.expect('=', "after the name of a frontend attribute");
    if (in.peek() == '{')
      in.balanced("a value");
    else
      in.quoted("a string or a text in braces");
  });
}

}  // namespace

RawText read_raw(Scanner& in, std::string_view what) {
  const char c = in.peek();
  if (c == '"') return {std::string(in.quoted(what)), true};
  const size_t begin = in.next_position();
  if (c == '{' || c == '(') {
    in.balanced(what);
  } else if (c == '[') {
    in.balanced(what);
    read_continuations(in);
  } else if (at_shape(in) && dtype_from_name(in.peek_identifier())) {  // literal=s32[2] {1,2}
    read_shape(in);
    if (in.peek() == '{' || in.peek() == '(')
      in.balanced(what);
    else if (in.peek() != ',')
      in.at_integer() || in.raw_peek() == '-' ? static_cast<void>(in.real(what))
                                              : static_cast<void>(in.identifier(what));
  } else {
    in.accept('@');
    const bool negative = in.accept('-');
    while (is_name_char(in.raw_peek())) in.advance();
    if (in.position() == begin + (negative ? 1 : 0)) throw in.expected(what);
    if (in.raw_peek() == '[') read_continuations(in);
  }
  std::string_view text = in.since(begin);
  while (!text.empty() &&
         (text.back() == ' ' || text.back() == '\n' || text.back() == '\t' || text.back() == '\r'))
    text.remove_suffix(1);
  return {std::string(text), false};
}

void check_raw(const Scanner& in, size_t position, Attr attr, const RawText& raw) {
  if (raw.quoted) return;
  constexpr int kLevels = 50;
  Scanner value(raw.text, "", kLevels);
  try {
    if (attr == Attr::sharding)
      check_sharding(value);
    else if (attr == Attr::replica_groups)
      check_groups(value, false);
    else if (attr == Attr::source_target_pairs)
      check_groups(value, true);
    else if (attr == Attr::frontend_attributes)
      check_frontend_attributes(value);
    else
      return;
    if (raw.text.front() == '{' && !value.at_end()) throw value.expected("the end");
  } catch (const Error& e) {
    throw in.error(position, "{}: {}", to_string(attr), e.message());
  }
}

}  // namespace armillary
