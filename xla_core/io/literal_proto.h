// Values <-> their wire form.
#pragma once

#include "xla_core/io/hlo.pb.h"
#include "xla_core/shape/literal.h"

namespace armillary {

// Throws before anything is allocated when the data does not fill the shape.
Literal literal_from_proto(const proto::LiteralProto& p);
// `shape` is the constant's: the data is written in the order of its layout.
void literal_to_proto(const Literal& literal, const Shape& shape, proto::LiteralProto* p);

}  // namespace armillary
