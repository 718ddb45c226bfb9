// Attributes of an artifact as values of the core: numbers, lists, texts, literals.
#pragma once

#include <string>

#include "xla_core/io/vhlo/ir.h"
#include "xla_core/shape/literal.h"

namespace armillary::vhlo {

int64_t integer_of(const Attribute& a);
double real_of(const Attribute& a);
std::string_view text_of(const Attribute& a);   // a string or symbol
std::string_view bytes_of(const Attribute& a);  // a string that may be no text
Dims ints_of(const Attribute& a);               // a tensor or array of integers, row-major
std::vector<Dims> rows_of(const Attribute& a);  // a tensor of two dimensions, row by row
const std::vector<const Attribute*>& items_of(const Attribute& a);
const Shape& shape_of(const Type& type);  // throws when it is no value of HLO

// The tensor holds one element that stands for all.
bool is_splat(const Attribute& tensor);
Literal literal_of(const Attribute& tensor);
Literal splat_element(const Attribute& tensor);

// As MLIR prints it: `{a = 1 : i64, b = "x"}`, `#sdy.sharding<@mesh, [{"x"}, {}]>`.
std::string mlir_text(const Attribute& a);

}  // namespace armillary::vhlo
