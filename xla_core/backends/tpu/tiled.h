// How arrays lie in HBM: in tiles of sublanes x lanes, padded.
#pragma once

#include "xla_core/shape/shape.h"

namespace armillary::tpu {

// Bytes of an array with the padding of its tiles. Which two dimensions are minor is chosen for least
// padding, as XLA's layout assignment would; below a tile's height the rows are rounded up to a power of two
// (tiles of 1, 2 and 4 rows exist). Throws a user error if that does not fit 64 bits.
int64_t tiled_bytes(const Shape& array);

// All leaves that are arrays.
int64_t tiled_bytes_of_leaves(const Shape& shape);

// Elements with padding over elements, at least 1.
double padding_factor(const Shape& array);

}  // namespace armillary::tpu
