// A module as a picture: Graphviz text, and a page that needs nothing but a browser.
#pragma once

#include <string>

#include "xla_core/hlo/module.h"

namespace armillary {

std::string to_dot(const Module& m);

// One self-contained page: the computations, each instruction linked to its operands, users and callees, with
// a filter.
std::string to_html(const Module& m);

}  // namespace armillary
