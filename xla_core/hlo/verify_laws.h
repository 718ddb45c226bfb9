// The functions behind the table of laws in verify.cc. Internal to the verifier.
#pragma once

#include "xla_core/hlo/module.h"

namespace armillary {

// verify_structure.cc: what holds a module together.
void check_entry(const Module& m);
void check_names(const Module& m);
void check_call_graph(const Module& m);
void check_root_and_parameters(const Computation& c);
void check_order(const Computation& c);
void check_use_lists(const Computation& c);
void check_aliases(const Module& m);
void check_entry_layout(const Module& m);
void check_async_callers(const Module& m);

// verify_instruction.cc: what a row demands of an instruction.
void check_arity(const Instruction& i);
void check_attributes(const Instruction& i);
void check_literal(const Instruction& i);
void check_shape(const Instruction& i);
void check_row(const Instruction& i);
void check_async_done(const Instruction& i);

// verify_stage.cc: the stricter ones.
void check_expanded(const Instruction& i);
void check_partitioned(const Instruction& i);
void check_has_layout(const Instruction& i);
void check_keeps_layout(const Instruction& i);
void check_one_contraction(const Instruction& i);
void check_scheduled(const Module& m);
void check_start_has_done(const Instruction& i);

}  // namespace armillary
