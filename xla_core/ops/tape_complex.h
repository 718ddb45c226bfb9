// Complex functions written out in real arithmetic, for the builder only. For c64 the parts are computed in
// f64 and rounded once at the end, which is the simplest way to full accuracy and keeps squares from
// overflowing; for c128 the formulas themselves take care.
#pragma once

#include "xla_core/ops/tape.h"

namespace armillary {

Val complex_mul(TapeBuilder& b, Val x, Val y);
Val complex_div(TapeBuilder& b, Val x, Val y);
Val complex_min(TapeBuilder& b, Val x, Val y);
Val complex_max(TapeBuilder& b, Val x, Val y);
Val complex_compare(TapeBuilder& b, Prim direction, Val x, Val y);
Val complex_abs(TapeBuilder& b, Val x);  // -> real
Val complex_sign(TapeBuilder& b, Val x);
Val complex_sqrt(TapeBuilder& b, Val x);
Val complex_rsqrt(TapeBuilder& b, Val x);
Val complex_cbrt(TapeBuilder& b, Val x);
Val complex_exp(TapeBuilder& b, Val x);
Val complex_expm1(TapeBuilder& b, Val x);
Val complex_log(TapeBuilder& b, Val x);
Val complex_log1p(TapeBuilder& b, Val x);
Val complex_pow(TapeBuilder& b, Val x, Val y);
Val complex_sin(TapeBuilder& b, Val x);
Val complex_cos(TapeBuilder& b, Val x);
Val complex_tan(TapeBuilder& b, Val x);
Val complex_sinh(TapeBuilder& b, Val x);
Val complex_cosh(TapeBuilder& b, Val x);
Val complex_tanh(TapeBuilder& b, Val x);
Val complex_asin(TapeBuilder& b, Val x);
Val complex_acos(TapeBuilder& b, Val x);
Val complex_atan(TapeBuilder& b, Val x);
Val complex_asinh(TapeBuilder& b, Val x);
Val complex_acosh(TapeBuilder& b, Val x);
Val complex_atanh(TapeBuilder& b, Val x);

}  // namespace armillary
