#include "xla_core/backends/cpu/native/isa.h"

#include <cstdlib>
#include <string_view>

namespace armillary::native {
namespace {

Isa detect() {
  const char* wish = std::getenv("ARMILLARY_ISA");
  const std::string_view isa = wish ? wish : "";
  const bool avx2 =
      __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c");
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
  if (isa == "baseline" || !avx2) return Isa::kBaseline;
  return isa == "avx2" || !avx512 ? Isa::kAvx2 : Isa::kAvx512;
}

}  // namespace

Isa best_isa() {
  static const Isa isa = detect();
  return isa;
}

bool has_vnni() { return best_isa() == Isa::kAvx512 && __builtin_cpu_supports("avx512vnni"); }

}  // namespace armillary::native
