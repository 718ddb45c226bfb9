// NumPy arrays <-> literals. Sub-byte types take one byte an element on both sides.
#pragma once

#include <pybind11/numpy.h>

#include "xla_core/shape/literal.h"

namespace armillary {

// numpy.float32, ml_dtypes.bfloat16, ...; throws for types that arrays cannot have.
pybind11::dtype numpy_dtype(DType dtype);
// Throws a user error that names the dtype when HLO has none like it.
DType dtype_of(const pybind11::dtype& dtype);

// A view of the array's memory when it is C-contiguous and its elements are aligned, else a copy. Holds the
// array.
Literal literal_of(const pybind11::array& array);

// An array over the literal's memory, which it keeps alive.
pybind11::array array_of(const Literal& literal);
// Tuples become Python tuples; a token becomes None.
pybind11::object value_of(const Literal& literal);

// The literal a parameter of this shape wants, from arrays for its leaves, taken from `next` on.
Literal nest(const Shape& shape, const std::vector<Literal>& leaves, size_t& next);

}  // namespace armillary
