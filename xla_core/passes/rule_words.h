// The words that rule tables are written in.
#pragma once

#include "xla_core/passes/match.h"

namespace armillary::words {

using M = Match&;
using C = const Match&;

inline const Pat x = any('x'), y = any('y'), z = any('z');
inline const Pat c = splat('c'), d = splat('d');
inline const Pat zero = num(0), one = num(1), minus_one = num(-1), minus_zero = num(-0.0);

inline Pat operator+(Pat a, Pat b) { return of(Op::add, {a, b}); }
inline Pat operator-(Pat a, Pat b) { return of(Op::subtract, {a, b}); }
inline Pat operator*(Pat a, Pat b) { return of(Op::multiply, {a, b}); }
inline Pat operator/(Pat a, Pat b) { return of(Op::divide, {a, b}); }
inline Pat operator-(Pat a) { return of(Op::negate, {a}); }
inline Pat operator&(Pat a, Pat b) { return of(Op::and_, {a, b}); }
inline Pat operator|(Pat a, Pat b) { return of(Op::or_, {a, b}); }
inline Pat operator^(Pat a, Pat b) { return of(Op::xor_, {a, b}); }

// Guards, by the root's dtype.
inline bool integral(C m) { return is_integral(m.dtype()); }
inline bool integer(C m) { return is_integer(m.dtype()); }
inline bool floating(C m) { return is_float(m.dtype()); }
inline bool real_number(C m) { return !is_complex(m.dtype()); }
inline bool signed_number(C m) { return is_float(m.dtype()) || is_signed(m.dtype()); }

}  // namespace armillary::words
