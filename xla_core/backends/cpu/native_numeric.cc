// Random bits, transforms and factorisations.
#include <atomic>
#include <cstring>

#include "xla_core/backends/cpu/native/fft.h"
#include "xla_core/backends/cpu/native/linalg.h"
#include "xla_core/backends/cpu/native/rng.h"
#include "xla_core/backends/cpu/native_parts.h"

namespace armillary::cpu {
namespace {

// Key and counter: two words, and for philox a third if the counter has all its bits.
void check_state(const Instruction& i, std::string_view algorithm) {
  const Shape& state = i.operand(0)->shape();
  const int64_t bytes = state.byte_size(), most = algorithm == "rng_three_fry" ? 16 : 24;
  if (bytes % 8 != 0 || bytes < 16 || bytes > most)
    throw user_error(i, "{} is no state of {}", to_string(state), algorithm);
}

NativeFunction make_random_bits(const Instruction& i, FunctionTable&) {
  const std::string& name = i.attrs().text(Attr::algorithm);
  check_state(i, name);
  const auto algorithm =
      name == "rng_three_fry" ? native::RngAlgorithm::kThreeFry : native::RngAlgorithm::kPhilox;
  return [arrays = Arrays(i), algorithm](std::byte* const* buffers) {
    const std::vector<native::ArrayRef> bound = arrays.bound(buffers);
    if (bound.size() == 3) return native::rng_bit_generator(algorithm, bound[0], bound[1], bound[2]);
    std::vector<std::byte> unread(static_cast<size_t>(bound[0].bytes()));  // only the bits are asked for
    native::ArrayRef next = bound[0];
    next.data = unread.data();
    native::rng_bit_generator(algorithm, bound[0], next, bound[1]);
  };
}

// One generator for the process. Its state is a key and a counter; the key only keeps it apart from user's
// states.
NativeFunction make_generator_state(const Instruction& i, FunctionTable&) {
  static constexpr uint64_t kKey = 0x41726d696c6c6172;
  static std::atomic<uint64_t> counter = 0;
  return [delta = static_cast<uint64_t>(i.attrs().integer(Attr::delta, 1))](std::byte* const* buffers) {
    const uint64_t state[2] = {kKey, counter.fetch_add(delta)};
    std::memcpy(buffers[0], state, sizeof(state));
  };
}

bool one_partition(const Instruction& i, std::string* why) {
  if (i.module()->num_partitions <= 1) return true;
  *why = "partitions that draw their own numbers would disagree";
  return false;
}

NativeFunction make_fft(const Instruction& i, FunctionTable&) {
  using native::FftKind;
  const std::string& type = i.attrs().text(Attr::fft_type);
  const FftKind kind = type == "FFT"    ? FftKind::kFft
                       : type == "IFFT" ? FftKind::kIfft
                       : type == "RFFT" ? FftKind::kRfft
                                        : FftKind::kIrfft;
  return [arrays = Arrays(i), kind, lengths = i.attrs().ints(Attr::fft_length)](std::byte* const* buffers) {
    const std::vector<native::ArrayRef> bound = arrays.bound(buffers);
    native::fft(kind, lengths, bound[0], bound[1]);
  };
}

NativeFunction make_cholesky(const Instruction& i, FunctionTable&) {
  return [arrays = Arrays(i), lower = i.attrs().flag(Attr::lower)](std::byte* const* buffers) {
    const std::vector<native::ArrayRef> bound = arrays.bound(buffers);
    native::cholesky(bound[0], lower, bound[1]);
  };
}

NativeFunction make_triangular_solve(const Instruction& i, FunctionTable&) {
  using Solve = native::TriangularSolve;
  const Attrs& a = i.attrs();
  const std::string transpose = a.text(Attr::transpose_a, "NO_TRANSPOSE");
  Solve how;
  how.left_side = a.flag(Attr::left_side);
  how.lower = a.flag(Attr::lower);
  how.unit_diagonal = a.flag(Attr::unit_diagonal);
  how.transpose = transpose == "TRANSPOSE" ? Solve::kTranspose
                  : transpose == "ADJOINT" ? Solve::kAdjoint
                                           : Solve::kNone;
  return [arrays = Arrays(i), how](std::byte* const* buffers) {
    const std::vector<native::ArrayRef> bound = arrays.bound(buffers);
    native::triangular_solve(bound[0], bound[1], how, bound[2]);
  };
}

bool solves_in_place(const Instruction&, int64_t operand, int64_t) { return operand == 1; }

constexpr NativeRow kRows[] = {{Op::rng_bit_generator, make_random_bits},
                               {Op::rng_get_and_update_state, make_generator_state, one_partition},
                               {Op::fft, make_fft},
                               {Op::cholesky, make_cholesky},
                               {Op::triangular_solve, make_triangular_solve, nullptr, solves_in_place}};

}  // namespace

std::span<const NativeRow> numeric_rows() { return kRows; }

}  // namespace armillary::cpu
