// batch-norm-training, -inference and -grad, from their definitions, in double.
#include "xla_core/interp/dense.h"
#include "xla_core/interp/evaluation.h"

namespace armillary {
namespace {

// Which feature an element of the operand belongs to.
struct Features {
  int64_t count, stride, elements;
  Features(const Shape& operand, int64_t index)
      : count(operand.dims.at(static_cast<size_t>(index))),
        stride(strides_of(operand.dims)[static_cast<size_t>(index)]),
        elements(operand.num_elements()) {}
  size_t of(int64_t element) const { return static_cast<size_t>(element / stride % count); }
  double per_feature() const { return static_cast<double>(elements) / static_cast<double>(count); }
};

struct Moments {
  std::vector<double> mean, variance;
};

Moments moments_of(const std::vector<double>& x, const Features& f) {
  Moments m{std::vector<double>(static_cast<size_t>(f.count)),
            std::vector<double>(static_cast<size_t>(f.count))};
  for (int64_t i = 0; i < f.elements; ++i) m.mean[f.of(i)] += x[static_cast<size_t>(i)] / f.per_feature();
  for (int64_t i = 0; i < f.elements; ++i) {
    const double d = x[static_cast<size_t>(i)] - m.mean[f.of(i)];
    m.variance[f.of(i)] += d * d / f.per_feature();
  }
  return m;
}

std::vector<double> normalized(const std::vector<double>& x, const Moments& m, const Features& f,
                               double epsilon) {
  std::vector<double> y(x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    const size_t c = f.of(static_cast<int64_t>(i));
    y[i] = (x[i] - m.mean[c]) / std::sqrt(m.variance[c] + epsilon);
  }
  return y;
}

// y * scale + offset
std::vector<double> affine(std::vector<double> y, const Literal& scale, const Literal& offset,
                           const Features& f) {
  for (size_t i = 0; i < y.size(); ++i) {
    const int64_t c = static_cast<int64_t>(f.of(static_cast<int64_t>(i)));
    y[i] = y[i] * scale.get_double(c) + offset.get_double(c);
  }
  return y;
}

Literal training(Evaluation&, const Instruction& i, Operands x) {
  const Features f(x[0].shape(), i.attrs().integer(Attr::feature_index));
  const std::vector<double> values = values_of<double>(x[0]);
  const Moments m = moments_of(values, f);
  const std::vector<double> y =
      affine(normalized(values, m, f, i.attrs().real(Attr::epsilon)), x[1], x[2], f);
  const std::vector<Shape>& shapes = i.shape().tuple;
  return Literal::make_tuple(
      {literal_of(shapes[0], y), literal_of(shapes[1], m.mean), literal_of(shapes[2], m.variance)});
}

Literal inference(Evaluation&, const Instruction& i, Operands x) {
  const Features f(x[0].shape(), i.attrs().integer(Attr::feature_index));
  const Moments m{values_of<double>(x[3]), values_of<double>(x[4])};
  return literal_of(
      i.shape(),
      affine(normalized(values_of<double>(x[0]), m, f, i.attrs().real(Attr::epsilon)), x[1], x[2], f));
}

// grad_operand = scale / sqrt(var + eps) * (grad - mean(grad) - xhat * mean(grad * xhat))
Literal grad(Evaluation&, const Instruction& i, Operands x) {
  const Features f(x[0].shape(), i.attrs().integer(Attr::feature_index));
  const Moments m{values_of<double>(x[2]), values_of<double>(x[3])};
  const double epsilon = i.attrs().real(Attr::epsilon);
  const std::vector<double> xhat = normalized(values_of<double>(x[0]), m, f, epsilon),
                            dy = values_of<double>(x[4]);
  std::vector<double> grad_scale(static_cast<size_t>(f.count)), grad_offset(static_cast<size_t>(f.count)),
      grad_operand(xhat.size());
  for (size_t k = 0; k < xhat.size(); ++k) {
    const size_t c = f.of(static_cast<int64_t>(k));
    grad_scale[c] += dy[k] * xhat[k];
    grad_offset[c] += dy[k];
  }
  for (size_t k = 0; k < xhat.size(); ++k) {
    const size_t c = f.of(static_cast<int64_t>(k));
    const double n = f.per_feature(),
                 factor = x[1].get_double(static_cast<int64_t>(c)) / std::sqrt(m.variance[c] + epsilon);
    grad_operand[k] = factor * (dy[k] - grad_offset[c] / n - xhat[k] * grad_scale[c] / n);
  }
  const std::vector<Shape>& shapes = i.shape().tuple;
  return Literal::make_tuple({literal_of(shapes[0], grad_operand), literal_of(shapes[1], grad_scale),
                              literal_of(shapes[2], grad_offset)});
}

}  // namespace

std::span<const HandlerRow> batch_norm_handlers() {
  static constexpr HandlerRow rows[] = {{Op::batch_norm_training, training},
                                        {Op::batch_norm_inference, inference},
                                        {Op::batch_norm_grad, grad}};
  return rows;
}

}  // namespace armillary
