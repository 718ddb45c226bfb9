// The pieces of the printer that need no options: the head of a module, attribute values, metadata. Internal
// to the printer.
#pragma once

#include <string>

#include "xla_core/hlo/module.h"
#include "xla_core/hlo/scanner.h"

namespace armillary {

void append_header(std::string& out, const Module& module);  // with its stack frame tables
void append_attr_value(std::string& out, Attr attr, const AttrValue& value,
                       bool layouts);  // all kinds but callees
void append_metadata(std::string& out, const Metadata& metadata);

}  // namespace armillary
