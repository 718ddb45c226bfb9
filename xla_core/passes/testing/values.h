// Values for tests: random ones with the edge cases of every dtype among them, and how results are compared.
#pragma once

#include <random>
#include <string>

#include "xla_core/hlo/module.h"

namespace armillary::testing {

using Rng = std::mt19937_64;

int64_t pick(Rng& rng, int64_t low, int64_t high);  // both included
bool chance(Rng& rng, double p);

// About half of the elements are edge values: NaN, infinities, signed zeros, denormals, integer extremes.
Literal random_literal(Rng& rng, const Shape& shape);
// Small whole numbers, so that sums in any order are exact.
Literal tame_literal(Rng& rng, const Shape& shape);

// Equal bits, any NaN being like any other; with `ulps` >= 0 floats may differ by so many.
bool same_result(const Literal& a, const Literal& b, int64_t ulps = 0);

std::vector<Literal> arguments_for(Rng& rng, const Module& module, bool tame);

}  // namespace armillary::testing
