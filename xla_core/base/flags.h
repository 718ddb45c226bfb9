// Switches: our own table (flags.def) and the few of XLA's that keep working.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace armillary {

struct Flags {
#define ARM_FLAG(type, name, fallback, values, doc) type name = fallback;
#include "xla_core/base/flags.def"
#undef ARM_FLAG
};

// The values in force. The first call reads ARMILLARY_FLAGS; a mistake in it is a user error.
const Flags& flags();

// Sets one flag from text ("true", "4"). Not meant to race with compilations.
void set_flag(std::string_view name, std::string_view text);
// Sets several, in the syntax of ARMILLARY_FLAGS.
void set_flags(std::string_view text);

struct FlagInfo {
  std::string_view name, type, fallback, doc;
  std::string values;  // that it takes: "at least 0"; empty when any
  std::string value;   // the one in force
};
std::vector<FlagInfo> list_flags();

// What we understand of XLA_FLAGS; the rest of it is other people's business.
struct XlaFlags {
  std::string dump_to;                       // --xla_dump_to
  bool dump_text = false;                    // --xla_dump_hlo_as_text; the format when none is asked for
  bool dump_dot = false;                     // --xla_dump_hlo_as_dot
  bool dump_proto = false;                   // --xla_dump_hlo_as_proto
  bool dump_html = false;                    // --xla_dump_hlo_as_html
  std::string dump_pass_regex;               // --xla_dump_hlo_pass_re: dump around the passes it matches
  std::string dump_module_regex;             // --xla_dump_hlo_module_re: dump only these modules
  std::vector<std::string> disabled_passes;  // --xla_disable_hlo_passes=a,b
  int64_t host_device_count = 1;             // --xla_force_host_platform_device_count
};

const XlaFlags& xla_flags();  // of the environment variable, read once
XlaFlags parse_xla_flags(std::string_view text);
bool override_xla_flag(XlaFlags& flags, std::string_view name,
                       std::string_view value);  // false: not one of these

}  // namespace armillary
