// dot, ragged-dot and scaled-dot, in the accumulators that DESIGN names.
#include <algorithm>

#include "xla_core/base/parallel_for.h"
#include "xla_core/interp/dense.h"
#include "xla_core/interp/evaluation.h"

namespace armillary {
namespace {

struct DotDims {
  Dims lhs_batch, lhs_contracting, rhs_batch, rhs_contracting;
  explicit DotDims(const Attrs& a)
      : lhs_batch(a.ints(Attr::lhs_batch_dims)),
        lhs_contracting(a.ints(Attr::lhs_contracting_dims)),
        rhs_batch(a.ints(Attr::rhs_batch_dims)),
        rhs_contracting(a.ints(Attr::rhs_contracting_dims)) {}
};

// One side as [batch, free, contracted] numbers (the lhs), or [batch, contracted, free] (the rhs).
struct Side {
  Dims free;  // sizes
  int64_t batches, rows, depth;
  Literal sorted;
  Side(const Literal& literal, const Dims& batch, const Dims& contracting, bool is_rhs) {
    const Dims& dims = literal.shape().dims;
    const Dims others = other_dims(literal.shape().rank(), concatenated({batch, contracting}));
    free = selected(dims, others);
    batches = product(selected(dims, batch));
    rows = product(free);
    depth = product(selected(dims, contracting));
    sorted = permuted(literal, is_rhs ? concatenated({batch, contracting, others})
                                      : concatenated({batch, others, contracting}));
  }
};

using ComplexF32 = std::complex<float>;

float times(float a, float b) { return a * b; }
double times(double a, double b) { return a * b; }
int64_t times(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}
template <class F>
std::complex<F> times(std::complex<F> a,
                      std::complex<F> b) {  // without the library's care for infinities: as HLO's multiply
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}
template <class T>
T plus(T a, T b) {
  return a + b;
}
template <>
int64_t plus(int64_t a, int64_t b) {  // u64 and s64 wrap alike; narrower integers wrap when they are stored
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

// Terms are accumulated in T one by one, as the dtype demands; the partial sums of a long product meet in
// double, so that its error does not grow with its length.
constexpr int64_t kTermsInOrder = 32;
constexpr int64_t kColumns = 16;  // so many sums at once keep the processor busy

// kColumns columns of one row; `b` has a row of `stride` numbers for each term.
template <class T, class Wide>
void inner_products(const T* a, const T* b, int64_t depth, int64_t stride, Wide* total) {
  for (int64_t begin = 0; begin < depth; begin += kTermsInOrder) {
    T sum[kColumns] = {};
    for (int64_t k = begin; k < std::min(depth, begin + kTermsInOrder); ++k)
      for (int64_t c = 0; c < kColumns; ++c) sum[c] = plus(sum[c], times(a[k], b[k * stride + c]));
    for (int64_t c = 0; c < kColumns; ++c) total[c] = plus(total[c], static_cast<Wide>(sum[c]));
  }
}

// Rows of `cols` numbers, padded with zeros to `stride`.
template <class T>
std::vector<T> padded_rows(const std::vector<T>& values, int64_t cols, int64_t stride) {
  if (cols == stride) return values;
  const int64_t rows = static_cast<int64_t>(values.size()) / cols;
  std::vector<T> result(static_cast<size_t>(rows * stride));
  for (int64_t r = 0; r < rows; ++r)
    std::copy_n(values.begin() + r * cols, cols, result.begin() + r * stride);
  return result;
}

template <class T, class Wide>
void multiply(const Side& lhs, const Side& rhs, Literal& result) {
  const int64_t depth = lhs.depth, cols = rhs.rows, stride = (cols + kColumns - 1) / kColumns * kColumns;
  const std::vector<T> a = values_of<T>(lhs.sorted), b = padded_rows(values_of<T>(rhs.sorted), cols, stride);
  parallel_for(lhs.batches * lhs.rows, 1 + 100000 / (1 + depth * cols), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r)
      for (int64_t first = 0; first < cols; first += kColumns) {
        Wide total[kColumns] = {};
        const T* right = b.data() + r / lhs.rows * depth * stride + first;
        inner_products<T, Wide>(a.data() + r * depth, right, depth, stride, total);
        for (int64_t c = first; c < std::min(cols, first + kColumns); ++c)
          set_element<Wide>(result, r * cols + c, total[c - first]);
      }
  });
}

// The widest of the three types decides. Pred is an integer here: its sum of products is an "or of ands" once
// it is stored as pred.
void multiply_as_numbers(const Side& lhs, const Side& rhs, Literal& result) {
  bool any_complex = false, any_float = false, wide = false;
  for (DType d : {lhs.sorted.dtype(), rhs.sorted.dtype(), result.dtype()}) {
    any_complex |= is_complex(d);
    any_float |= is_float(d);
    wide |= real_part_of(d) == DType::kF64;
  }
  if (any_complex)
    return wide ? multiply<Complex, Complex>(lhs, rhs, result)
                : multiply<ComplexF32, Complex>(lhs, rhs, result);
  if (any_float)
    return wide ? multiply<double, double>(lhs, rhs, result) : multiply<float, double>(lhs, rhs, result);
  multiply<int64_t, int64_t>(lhs, rhs, result);
}

Literal dot_general(const Literal& a, const Literal& b, const DotDims& dims, DType result_dtype) {
  const Side lhs(a, dims.lhs_batch, dims.lhs_contracting, false),
      rhs(b, dims.rhs_batch, dims.rhs_contracting, true);
  if (lhs.depth != rhs.depth || lhs.batches != rhs.batches)
    throw user_error("{} and {} do not fit together in a dot", to_string(a.shape()), to_string(b.shape()));
  Literal result(
      Shape(result_dtype, concatenated({selected(a.shape().dims, dims.lhs_batch), lhs.free, rhs.free})));
  if (result.size() > 0) multiply_as_numbers(lhs, rhs, result);
  return result;
}

Literal dot(Evaluation&, const Instruction& i, Operands operands) {
  return with_shape(dot_general(operands[0], operands[1], DotDims(i.attrs()), i.dtype()), i.shape());
}

// A copy with zeros outside [begin, end) of dimension `dim`.
Literal masked(const Literal& literal, int64_t dim, int64_t begin, int64_t end) {
  Literal copy = literal.clone();
  const Dims& dims = literal.shape().dims;
  const int64_t stride = strides_of(dims)[static_cast<size_t>(dim)], bytes = byte_size(literal.dtype());
  for (int64_t k = 0; k < literal.size(); ++k) {
    const int64_t at = k / stride % dims[static_cast<size_t>(dim)];
    if (at < begin || at >= end) std::memset(copy.bytes() + k * bytes, 0, static_cast<size_t>(bytes));
  }
  return copy;
}

// Position `at` of dimension `dim`, which disappears.
Literal sliced(const Literal& literal, int64_t dim, int64_t at) {
  Dims dims = literal.shape().dims;
  const int64_t size = dims[static_cast<size_t>(dim)], stride = strides_of(dims)[static_cast<size_t>(dim)];
  dims.erase(dims.begin() + dim);
  Literal result(Shape(literal.dtype(), dims));
  copy_elements(byte_size(literal.dtype()), literal.bytes(), result.bytes(), result.size(),
                [&](int64_t k) { return (k / stride * size + at) * stride + k % stride; });
  return result;
}

// The number a dimension gets when dimension `removed` disappears.
Dims without_dim(const Dims& dims, int64_t removed) {
  Dims result;
  for (int64_t d : dims) result.push_back(d > removed ? d - 1 : d);
  return result;
}

void add_to(Literal& sum, const Literal& term, int64_t offset) {
  for (int64_t k = 0; k < term.size(); ++k)
    with_number_type(sum.dtype(), [&](auto zero) {
      using T = decltype(zero);
      set_element<T>(sum, offset + k,
                     static_cast<T>(element_as<T>(sum, offset + k) + element_as<T>(term, k)));
    });
}

// Groups of rows of lhs meet one matrix of rhs each (ragged free dimension), or groups of the depth make one
// result each (ragged contracting dimension). Elsewhere the raggedness changes nothing.
Literal ragged_dot(Evaluation&, const Instruction& i, Operands operands) {
  DotDims dims(i.attrs());
  const int64_t ragged = i.attrs().ints(Attr::lhs_ragged_dims).at(0);
  const Dims& group_dims = i.attrs().ints(Attr::rhs_group_dims);
  const Literal &lhs = operands[0], &rhs = operands[1], &sizes = operands[2];
  if (has_dim(dims.lhs_batch, ragged)) return with_shape(dot_general(lhs, rhs, dims, i.dtype()), i.shape());
  if (sizes.shape().rank() != 1)
    throw unsupported_error("unsupported: ragged-dot with group sizes {}", to_string(sizes.shape()));
  Literal result(i.shape());
  const bool contracting = has_dim(dims.lhs_contracting, ragged);
  DotDims inner = dims;
  if (!contracting) {
    inner.rhs_batch = without_dim(dims.rhs_batch, group_dims.at(0));
    inner.rhs_contracting = without_dim(dims.rhs_contracting, group_dims.at(0));
  }
  int64_t begin = 0;
  for (int64_t g = 0; g < sizes.size(); ++g) {
    const int64_t end = begin + sizes.get_int(g);
    const Literal part = masked(lhs, ragged, begin, end);
    const Literal term =
        dot_general(part, contracting ? rhs : sliced(rhs, group_dims[0], g), inner, i.dtype());
    add_to(result, term, contracting ? g * term.size() : 0);
    begin = end;
  }
  return result;
}

// Each scale stands for a block of its operand.
Literal scaled(const Literal& values, const Literal& scales) {
  const Dims &dims = values.shape().dims, &blocks = scales.shape().dims;
  if (blocks.empty()) return values;
  if (dims.size() != blocks.size())
    throw user_error("{} cannot scale {}", to_string(scales.shape()), to_string(values.shape()));
  Literal result(Shape(DType::kF64, dims));
  Dims at(dims.size());
  int64_t k = 0;
  for_each_index(dims, [&](std::span<const int64_t> index) {
    for (size_t d = 0; d < dims.size(); ++d) at[d] = index[d] * blocks[d] / dims[d];
    result.set_double(k, values.get_double(k) * scales.get_double(linear_index(blocks, at)));
    ++k;
  });
  return result;
}

Literal scaled_dot(Evaluation&, const Instruction& i, Operands operands) {
  return with_shape(dot_general(scaled(operands[0], operands[2]), scaled(operands[1], operands[3]),
                                DotDims(i.attrs()), i.dtype()),
                    i.shape());
}

}  // namespace

std::span<const HandlerRow> dot_handlers() {
  static constexpr HandlerRow rows[] = {
      {Op::dot, dot}, {Op::ragged_dot, ragged_dot}, {Op::scaled_dot, scaled_dot}};
  return rows;
}

}  // namespace armillary
