// The pieces of HLO text that know nothing of modules: shapes, literals, attribute values, metadata. For
// the parser, and for who reads text that was kept.
#pragma once

#include "xla_core/hlo/instruction.h"
#include "xla_core/hlo/scanner.h"

namespace armillary {

// True before `f32[`, `(`, `b(`: what can only begin a shape where an op or a name could stand as well.
bool at_shape(Scanner& in);
Shape read_shape(Scanner& in);
// Compatible, whatever is dynamic: what XLA asks of a shape that is written where it is known already.
bool same_array(const Shape& a, const Shape& b);

// The value between the parentheses of constant(...). Memory grows with the text, never with the shape alone.
Literal read_literal(Scanner& in, const Shape& shape, bool fill_elided);

// Values of all kinds but callees.
AttrValue read_attr_value(Scanner& in, Attr attr);
// Text kept as written, with its brackets checked: {..}, [..]<=[..]T(..), "..", or a bare word.
RawText read_raw(Scanner& in, std::string_view what);
Metadata read_metadata(Scanner& in);

// {1,2,3}
Dims read_ints(Scanner& in, std::string_view what);

// The rules that kept text must obey; throws at `position`.
void check_raw(const Scanner& in, size_t position, Attr attr, const RawText& raw);
// Kept text must agree with the shape and the operands it speaks of.
void check_agreement(const Scanner& in, size_t position, Op op, const Shape& shape,
                     const std::vector<Instruction*>& operands, const Attrs& attrs);

}  // namespace armillary
