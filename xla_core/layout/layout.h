// Layouts: row-major everywhere, the one layout that every kernel of the CPU reads.
#pragma once

#include "xla_core/hlo/module.h"

namespace armillary {

// A bitcast between layouts other than row-major means a permutation of the elements in logical order: it
// becomes transpose, reshape, transpose. First of all passes, since the others keep no layouts.
bool expand_bitcasts(Module& m);

// A custom call to code from outside that states layouts: the code finds its operands in them and leaves its
// results in them.
bool lay_out_custom_calls(Module& m);

// Gives every array a row-major layout. Arguments and results are exchanged in logical order, so entry
// layouts only describe what a caller wished for.
bool assign_layouts(Module& m);

}  // namespace armillary
