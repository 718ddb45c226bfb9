#include "tpu_sim/isa.h"

namespace armillary::sim {
namespace {

constexpr std::array<std::string_view, kNumOpClasses> kClassNames = {
    "matmul",         "convolution", "elementwise", "reduction", "data movement",
    "gather/scatter", "sort",        "collective",  "control",   "other"};

}  // namespace

std::string_view to_string(OpClass op_class) { return kClassNames[static_cast<size_t>(op_class)]; }

}  // namespace armillary::sim
