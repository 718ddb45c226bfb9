// Linear algebra, transforms, normalisation, random numbers.
#include "xla_core/io/vhlo/op_import.h"

namespace armillary::vhlo {
namespace {

std::string one_of(std::span<const std::string_view> names, int64_t number) {
  if (number < 0 || number >= static_cast<int64_t>(names.size()) || names[number].empty())
    throw user_error("an enumeration holds {}", number);
  return std::string(names[number]);
}

void cholesky(OpImport& at) {
  Attrs attrs;
  if (at.flag("lower")) attrs.set(Attr::lower, true);
  at.give(at.emit(Op::cholesky, at.shape(), at.operands(), std::move(attrs)));
}

void triangular_solve(OpImport& at) {
  constexpr std::string_view kTransposes[] = {"TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"};
  Attrs attrs;
  if (at.flag("left_side")) attrs.set(Attr::left_side, true);
  if (at.flag("lower")) attrs.set(Attr::lower, true);
  if (at.flag("unit_diagonal")) attrs.set(Attr::unit_diagonal, true);
  attrs.set(Attr::transpose_a, one_of(kTransposes, at.integer("transpose_a")));
  at.give(at.emit(Op::triangular_solve, at.shape(), at.operands(), std::move(attrs)));
}

void fft(OpImport& at) {
  constexpr std::string_view kTypes[] = {"FFT", "IFFT", "RFFT", "IRFFT"};
  Attrs attrs;
  attrs.set(Attr::fft_type, one_of(kTypes, at.integer("fft_type")));
  attrs.set(Attr::fft_length, at.ints("fft_length"));
  at.give(at.emit(Op::fft, at.shape(), at.operands(), std::move(attrs)));
}

// The number people wrote: 0.001, not the double next to the float 0.001.
double written(double value) { return std::stod(fmt::format("{}", static_cast<float>(value))); }

template <Op kOp>
void batch_norm(OpImport& at) {
  Attrs attrs;
  attrs.set(Attr::epsilon, written(real_of(at.attribute("epsilon"))));
  attrs.set(Attr::feature_index, at.integer("feature_index"));
  at.give_elements(at.emit(kOp, at.tuple_shape(), at.operands(), std::move(attrs)));
}

// Operand 2 is the shape, which the result's type says, too.
void rng(OpImport& at) {
  constexpr std::string_view kDistributions[] = {"", "rng_uniform", "rng_normal"};
  Attrs attrs;
  attrs.set(Attr::distribution, one_of(kDistributions, at.integer("rng_distribution")));
  at.give(at.emit(Op::rng, at.shape(), at.operands(0, 2), std::move(attrs)));
}

void rng_bit_generator(OpImport& at) {
  constexpr std::string_view kAlgorithms[] = {"rng_default", "rng_three_fry", "rng_philox"};
  Attrs attrs;
  attrs.set(Attr::algorithm, one_of(kAlgorithms, at.integer("rng_algorithm")));
  at.give_elements(at.emit(Op::rng_bit_generator, at.tuple_shape(), at.operands(), std::move(attrs)));
}

}  // namespace

std::vector<OpRow> linear_rows() {
  return {
      {"vhlo", "batch_norm_grad_v1", {"epsilon", "feature_index"}, batch_norm<Op::batch_norm_grad>},
      {"vhlo", "batch_norm_inference_v1", {"epsilon", "feature_index"}, batch_norm<Op::batch_norm_inference>},
      {"vhlo", "batch_norm_training_v1", {"epsilon", "feature_index"}, batch_norm<Op::batch_norm_training>},
      {"vhlo", "cholesky_v1", {"lower"}, cholesky},
      {"vhlo", "fft_v1", {"fft_type", "fft_length"}, fft},
      {"vhlo", "rng_bit_generator_v1", {"rng_algorithm"}, rng_bit_generator},
      {"vhlo", "rng_v1", {"rng_distribution"}, rng},
      {"vhlo",
       "triangular_solve_v1",
       {"left_side", "lower", "unit_diagonal", "transpose_a"},
       triangular_solve},
  };
}

}  // namespace armillary::vhlo
