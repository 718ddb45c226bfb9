// Layouts: row-major everywhere, the one layout that every kernel of the CPU reads.
#pragma once

#include "xla_core/hlo/module.h"

namespace armillary {

// Gives every array a row-major layout. A bitcast between other layouts means a permutation of the elements
// in logical order: it becomes transpose, reshape, transpose. Arguments and results are exchanged in logical
// order, so entry layouts only describe what a caller wished for.
bool assign_layouts(Module& m);

}  // namespace armillary
