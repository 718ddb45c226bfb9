// Rows of the dense factorisations and the Fourier transform.
#include <cmath>

#include "xla_core/ops/rows.h"

namespace armillary {
namespace {

void need_square(Op op, const OpContext& c) {
  need_array(op, c, 0, kInexactType);
  const Shape& a = c.operand(0);
  if (a.rank() < 2 || !same_size(a.dims[a.rank() - 1], a.dims[a.rank() - 2]))
    throw user_error("operand 0 is {}, but {} needs square matrices in the last two dimensions", to_string(a),
                     to_string(op));
}

Shape cholesky_shape(const OpContext& c) {
  check_signature(Op::cholesky, c);
  need_square(Op::cholesky, c);
  return array_result(c, c.operand(0).dtype, c.operand(0).dims);
}

Shape triangular_solve_shape(const OpContext& c) {
  check_signature(Op::triangular_solve, c);
  need_square(Op::triangular_solve, c);
  need_array(Op::triangular_solve, c, 1, kInexactType);
  need_same_dtype(Op::triangular_solve, c, 1, 0);
  const Shape &a = c.operand(0), &b = c.operand(1);
  need_rank(Op::triangular_solve, c, 1, a.rank());
  const bool left = c.attrs.flag(Attr::left_side);
  const int64_t meets = b.rank() - (left ? 2 : 1);
  bool fits = same_size(b.dims[meets], a.dims.back());
  for (int64_t d = 0; d + 2 < b.rank(); ++d) fits &= same_size(b.dims[d], a.dims[d]);
  if (!fits)
    throw user_error(
        "operand 1 is {}, but triangular-solve with left_side={} needs {} in dimension {} and the batch of "
        "{}",
        to_string(b), left, a.dims.back(), meets, to_string(a));
  return array_result(c, b.dtype, b.dims);
}

// 1: the transposition is known.
void triangular_solve_check(const OpContext& c) {
  const std::string mode = c.attrs.text(Attr::transpose_a, "NO_TRANSPOSE");
  if (mode != "NO_TRANSPOSE" && mode != "TRANSPOSE" && mode != "ADJOINT")
    throw user_error("transpose_a={} of triangular-solve is none of NO_TRANSPOSE, TRANSPOSE, ADJOINT", mode);
}

// 1: the kind is known; 2: one to three lengths, which the last dimensions have; 3: real or complex operands
// as the kind wants.
Shape fft_shape(const OpContext& c) {
  check_signature(Op::fft, c);
  const std::string& kind = c.attrs.text(Attr::fft_type);
  const Dims& lengths = c.attrs.ints(Attr::fft_length);
  const bool from_real = kind == "RFFT", to_real = kind == "IRFFT";
  if (!from_real && !to_real && kind != "FFT" && kind != "IFFT")
    throw user_error("fft_type={} of fft is none of FFT, IFFT, RFFT, IRFFT", kind);
  need_array(Op::fft, c, 0, from_real ? kFloatType : kComplexType);
  const Shape& x = c.operand(0);
  const DType result = from_real ? complex_of(x.dtype) : to_real ? real_part_of(x.dtype) : x.dtype;
  if (result == DType::kInvalid) throw user_error("operand 0 is {}, but fft needs f32 or f64", to_string(x));
  const int64_t n = static_cast<int64_t>(lengths.size());
  if (n < 1 || n > 3 || n > x.rank())
    throw user_error(
        "fft_length={} of fft must have one to three lengths, at most as many as {} has dimensions",
        list(lengths), to_string(x));
  Dims dims = x.dims;
  for (int64_t i = 0; i < n; ++i) {
    const int64_t d = x.rank() - n + i;
    const int64_t half = lengths[i] > 0 ? lengths[i] / 2 + 1 : 0;
    const int64_t expected = to_real && i == n - 1 ? half : lengths[i];
    if (lengths[i] < 0 || !same_size(x.dims[d], expected))
      throw user_error("operand 0 is {}, but fft with fft_length={} needs {} in dimension {}", to_string(x),
                       list(lengths), expected, d);
    dims[d] = from_real && i == n - 1 ? half : lengths[i];
  }
  return array_result(c, result, std::move(dims));
}

double fft_flops(const OpContext& c, const Shape&) {
  double length = 1;
  for (int64_t n : c.attrs.ints(Attr::fft_length)) length *= static_cast<double>(n);
  return length > 1 ? 5 * std::log2(length) : 0;  // the usual count of a radix-2 transform
}
double solve_flops(const OpContext& c, const Shape&) { return static_cast<double>(c.operand(0).dims.back()); }
double cholesky_flops(const OpContext& c, const Shape&) {
  return static_cast<double>(c.operand(0).dims.back()) / 3;
}

}  // namespace

std::vector<OpDef> linear_algebra_rows() {
  return {
      {.op = Op::cholesky,
       .stablehlo = "cholesky",
       .arity = 1,
       .traits = kExpensive,
       .optional = {Attr::lower},
       .doc = "The triangular factor of Hermitian positive definite matrices; NaN where there is none.",
       .infer = cholesky_shape,
       .flops = cholesky_flops},
      {.op = Op::triangular_solve,
       .stablehlo = "triangular_solve",
       .arity = 2,
       .traits = kExpensive,
       .optional = {Attr::left_side, Attr::lower, Attr::unit_diagonal, Attr::transpose_a},
       .doc = "Solves systems with a triangular matrix by substitution.",
       .infer = triangular_solve_shape,
       .check = triangular_solve_check,
       .flops = solve_flops},
      {.op = Op::fft,
       .stablehlo = "fft",
       .arity = 1,
       .traits = kExpensive,
       .attrs = {Attr::fft_type, Attr::fft_length},
       .doc = "The discrete Fourier transform over the last dimensions.",
       .infer = fft_shape,
       .flops = fft_flops},
  };
}

}  // namespace armillary
