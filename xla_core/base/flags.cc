#include "xla_core/base/flags.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <limits>
#include <optional>

#include <fmt/ranges.h>

#include "xla_core/base/error.h"
#include "xla_core/base/text.h"

namespace armillary {
namespace {

// The numbers that a flag takes: those listed, or those between two.
struct Values {
  int64_t least = std::numeric_limits<int64_t>::min();
  int64_t most = std::numeric_limits<int64_t>::max();
  std::vector<int64_t> listed = {};

  bool hold(int64_t x) const {
    return listed.empty() ? least <= x && x <= most
                          : std::find(listed.begin(), listed.end(), x) != listed.end();
  }
};
Values any() { return {}; }
Values at_least(int64_t least) { return {.least = least}; }
Values between(int64_t least, int64_t most) { return {.least = least, .most = most}; }
template <class... Numbers>
Values one_of(Numbers... listed) {
  return {.listed = {listed...}};
}

std::string describe(const Values& values) {
  const Values all;
  if (values.listed.size() > 1)
    return fmt::format("{} or {}", fmt::join(values.listed.begin(), values.listed.end() - 1, ", "),
                       values.listed.back());
  if (values.most != all.most) return fmt::format("{} to {}", values.least, values.most);
  return values.least == all.least ? "" : fmt::format("at least {}", values.least);
}

constexpr std::string_view kSeparators = ", \t\n";

std::string_view environment(const char* name) {
  const char* text = std::getenv(name);
  return text ? text : "";
}

std::string_view without_dashes(std::string_view text) {
  while (!text.empty() && text.front() == '-') text.remove_prefix(1);
  return text;
}

std::optional<bool> read_bool(std::string_view text) {
  if (text == "true" || text == "1" || text == "yes" || text == "on") return true;
  if (text == "false" || text == "0" || text == "no" || text == "off") return false;
  return std::nullopt;
}

std::optional<int64_t> read_int(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

void assign(bool& flag, std::string_view name, std::string_view text, const Values& = {}) {
  const auto value = read_bool(text);
  if (!value) throw user_error("flag {} is `{}`, but it is a switch: true or false", name, text);
  flag = *value;
}
void assign(int64_t& flag, std::string_view name, std::string_view text, const Values& values) {
  const auto value = read_int(text);
  if (!value) throw user_error("flag {} is `{}`, but it needs a whole number", name, text);
  if (!values.hold(*value))
    throw user_error("flag {} is `{}`, but it must be {}", name, text, describe(values));
  flag = *value;
}
void assign(std::string& flag, std::string_view, std::string_view text, const Values&) { flag = text; }

std::string show(bool value) { return value ? "true" : "false"; }
std::string show(int64_t value) { return std::to_string(value); }
std::string show(const std::string& value) { return value; }

[[noreturn]] void unknown_flag(std::string_view name) {
  const std::vector<std::string_view> known = {
#define ARM_FLAG(type, name, fallback, values, doc) #name,
#include "xla_core/base/flags.def"
#undef ARM_FLAG
  };
  const std::string nearest = nearest_name(name, known);
  throw user_error("there is no flag `{}`{}", name,
                   nearest.empty() ? "" : fmt::format("; did you mean `{}`?", nearest));
}

void assign_by_name(Flags& flags, std::string_view flag, std::string_view text) {
#define ARM_FLAG(type, name, fallback, values, doc) \
  if (flag == #name) return assign(flags.name, flag, text, values);
#include "xla_core/base/flags.def"
#undef ARM_FLAG
  unknown_flag(flag);
}

// A bare name switches a flag on.
void assign_all(Flags& flags, std::string_view text) {
  for (std::string_view item : split(text, kSeparators)) {
    item = without_dashes(item);
    const size_t equals = item.find('=');
    if (equals == std::string_view::npos)
      assign_by_name(flags, item, "true");
    else
      assign_by_name(flags, item.substr(0, equals), item.substr(equals + 1));
  }
}

Flags& mutable_flags() {
  static Flags flags = [] {
    Flags from_environment;
    assign_all(from_environment, environment("ARMILLARY_FLAGS"));
    return from_environment;
  }();
  return flags;
}

}  // namespace

const Flags& flags() { return mutable_flags(); }

void set_flag(std::string_view name, std::string_view text) {
  assign_by_name(mutable_flags(), without_dashes(name), text);
}

void set_flags(std::string_view text) {
  Flags changed = flags();  // all or nothing
  assign_all(changed, text);
  mutable_flags() = changed;
}

std::vector<FlagInfo> list_flags() {
  return {
#define ARM_FLAG(type, name, fallback, values, doc) \
  {#name, #type, #fallback, doc, describe(values), show(flags().name)},
#include "xla_core/base/flags.def"
#undef ARM_FLAG
  };
}

const XlaFlags& xla_flags() {
  static const XlaFlags flags = parse_xla_flags(environment("XLA_FLAGS"));
  return flags;
}

bool override_xla_flag(XlaFlags& flags, std::string_view name, std::string_view value) {
  if (name == "xla_dump_to")
    flags.dump_to = value;
  else if (name == "xla_dump_hlo_as_text")
    assign(flags.dump_text, name, value);
  else if (name == "xla_dump_hlo_as_dot")
    assign(flags.dump_dot, name, value);
  else if (name == "xla_dump_hlo_as_proto")
    assign(flags.dump_proto, name, value);
  else if (name == "xla_dump_hlo_as_html")
    assign(flags.dump_html, name, value);
  else if (name == "xla_dump_hlo_pass_re")
    flags.dump_pass_regex = value;
  else if (name == "xla_dump_hlo_module_re")
    flags.dump_module_regex = value;
  else if (name == "xla_force_host_platform_device_count")
    assign(flags.host_device_count, name, value, at_least(1));
  else if (name == "xla_disable_hlo_passes")
    for (std::string_view pass : split(value, ",")) flags.disabled_passes.emplace_back(pass);
  else
    return false;
  return true;
}

XlaFlags parse_xla_flags(std::string_view text) {
  XlaFlags flags;
  for (std::string_view item : split(text, " \t\n")) {
    item = without_dashes(item);
    const size_t equals = item.find('=');
    override_xla_flag(flags, item.substr(0, equals),
                      equals == std::string_view::npos ? "true" : item.substr(equals + 1));
  }
  return flags;
}

}  // namespace armillary
