// Random bits, transforms and factorisations.
#include "xla_core/backends/cpu/native/rng.h"
#include "xla_core/backends/cpu/native_parts.h"

namespace armillary::cpu {
namespace {

NativeFunction make_random_bits(const Instruction& i, FunctionTable&) {
  const std::string& name = i.attrs().text(Attr::algorithm);
  const auto algorithm = name == "rng_three_fry" ? native::RngAlgorithm::kThreeFry : native::RngAlgorithm::kPhilox;
  return [arrays = Arrays(i), algorithm](std::byte* const* buffers) {
    const std::vector<native::ArrayRef> bound = arrays.bound(buffers);
    native::rng_bit_generator(algorithm, bound[0], bound[1], bound[2]);
  };
}

constexpr NativeRow kRows[] = {{Op::rng_bit_generator, make_random_bits}};

}  // namespace

std::span<const NativeRow> numeric_rows() { return kRows; }

}  // namespace armillary::cpu
