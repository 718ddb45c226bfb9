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

// Gives every array a row-major layout, but for what lay_out_entry does.
bool assign_layouts(Module& m);

// After assign_layouts: parameters and results lie in memory as the entry layout says. Those in other orders
// than row-major pass through a bitcast and a transpose, which simplification merges with what is around
// them. Where the entry layout leaves the order of a result open, it is the one that its elements are
// computed in. Afterwards the entry layout is complete and true.
bool lay_out_entry(Module& m);

// The entry layout of a program whose arguments and results are exchanged in logical order.
void make_entry_row_major(Module& m);

}  // namespace armillary
