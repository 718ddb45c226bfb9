// Shapes and layouts <-> their wire form.
#pragma once

#include "xla_core/io/hlo.pb.h"
#include "xla_core/shape/shape.h"

namespace armillary {

Shape shape_from_proto(const proto::ShapeProto& p);
void shape_to_proto(const Shape& shape, proto::ShapeProto* p);

ProgramShape program_shape_from_proto(const proto::ProgramShapeProto& p);
void program_shape_to_proto(const ProgramShape& shape, proto::ProgramShapeProto* p);

template <class Repeated>
Dims dims_of(const Repeated& values) {
  return Dims(values.begin(), values.end());
}

}  // namespace armillary
