// Building blocks in f64, good to about 1e-13: with f32 in and out they are as good as exact.
#pragma once

#include "xla_core/kernels/math_value.h"

namespace armillary::kernels {

X exp_wide(X x);    // |x| <= 700
X log_wide(X x);    // normal x > 0
X log1p_wide(X x);  // x > -1 and finite; relative to the result
X atan_wide(X x);   // x >= 0 or NaN
// sin, cos and tan of r, |r| <= pi/4.
X sin_wide(X r);
X cos_wide(X r);

// x = r + quadrant * pi/2 with |r| <= pi/4 (a bit more), for |x| up to kReducible; r in f64, quadrant in the
// low bits of an s64.
struct Reduced {
  X r, quadrant;
};
inline constexpr double kReducible = 1e9;
Reduced reduce_angle(X x);

}  // namespace armillary::kernels
