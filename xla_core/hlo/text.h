// HLO text both ways. print(parse(x)) is a fixpoint, and XLA reads what we print.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "xla_core/hlo/module.h"

namespace armillary {

struct PrintOptions {
  bool percent = true;  // %names
  bool operand_shapes = false;
  bool layouts = true;
  bool metadata = true;
  int64_t max_constant_elements = -1;  // larger ones are printed as {...}; -1: no limit
};

std::string print(const Module& module, const PrintOptions& options = {});
std::string print(const Computation& computation, const PrintOptions& options = {});
std::string print(const Instruction& instruction, const PrintOptions& options = {});

struct ParseOptions {
  std::string file;  // for messages
  int max_nesting = 500;
  bool fill_elided_constants = false;  // `{...}` gets a deterministic counter instead of an unknown value
};

// Throws Error{kUser} with "file:line:column" and what was expected.
std::unique_ptr<Module> parse(std::string_view text, const ParseOptions& options = {});
// Gives each constant that was elided as `{...}` the values that ParseOptions::fill_elided_constants gives;
// says how many there were.
int64_t fill_elided_constants(Module& module);

Shape parse_shape(std::string_view text);
Literal parse_literal(const Shape& shape, std::string_view text);

}  // namespace armillary
