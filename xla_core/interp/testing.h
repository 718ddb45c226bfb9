// For tests: evaluates HLO text and compares with literals written as text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "xla_core/hlo/text.h"
#include "xla_core/hlo/verify.h"
#include "xla_core/interp/interpreter.h"

namespace armillary {

// The result of the entry, whose parameters are given as literals in text; an array's text, or a tuple's.
inline std::string run_text(std::string_view hlo, const std::vector<std::string>& args = {}) {
  const auto module = parse(hlo);
  verify(*module);
  std::vector<Literal> values;
  for (size_t i = 0; i < args.size(); ++i)
    values.push_back(parse_literal(module->entry()->parameter(static_cast<int64_t>(i))->shape(), args[i]));
  return to_string(evaluate(*module, values));
}

inline std::string error_of(std::string_view hlo, const std::vector<std::string>& args = {}) {
  try {
    run_text(hlo, args);
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

}  // namespace armillary
