#include "xla_core/passes/testing/values.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace armillary::testing {

int64_t pick(Rng& rng, int64_t low, int64_t high) {
  return low + static_cast<int64_t>(rng() % static_cast<uint64_t>(high - low + 1));
}
bool chance(Rng& rng, double p) { return std::uniform_real_distribution<>(0, 1)(rng) < p; }

namespace {

double random_real(Rng& rng, DType dtype) {
  const double inf = std::numeric_limits<double>::infinity();
  const int bias = info(dtype).exponent_bias;
  const double smallest = std::ldexp(1.0, 1 - bias), edges[] = {0.0,
                                                                -0.0,
                                                                1.0,
                                                                -1.0,
                                                                inf,
                                                                -inf,
                                                                std::nan(""),
                                                                smallest,
                                                                -smallest,
                                                                smallest / 2,
                                                                std::ldexp(1.9, bias),
                                                                -std::ldexp(1.9, bias),
                                                                0.5,
                                                                3.0};
  if (chance(rng, 0.5)) return edges[rng() % std::size(edges)];
  return std::normal_distribution<>(0, 4)(rng);
}

int64_t random_int(Rng& rng, DType dtype) {
  const int64_t edges[] = {0,
                           1,
                           -1,
                           2,
                           3,
                           std::numeric_limits<int64_t>::min() >> (64 - bit_width(dtype)),
                           std::numeric_limits<int64_t>::max() >> (64 - bit_width(dtype))};
  return chance(rng, 0.5) ? edges[rng() % std::size(edges)] : static_cast<int64_t>(rng());
}

template <class Fill>
Literal filled(const Shape& shape, Fill fill) {
  if (shape.is_tuple()) {
    std::vector<Literal> elements;
    for (const Shape& s : shape.tuple) elements.push_back(filled(s, fill));
    return Literal::make_tuple(std::move(elements));
  }
  Literal literal(shape.without_layout());
  if (shape.is_array())
    for (int64_t i = 0; i < literal.size(); ++i) fill(literal, i);
  return literal;
}

uint64_t bits_at(const Literal& l, int64_t i, int part, int bytes) {
  uint64_t bits = 0;
  std::memcpy(&bits, l.bytes() + i * byte_size(l.dtype()) + part * bytes, bytes);
  return bits;
}

// Distance in steps of the representation, through zero.
int64_t steps_between(uint64_t a, uint64_t b, int bytes) {
  const int64_t sign = bytes == 8 ? std::numeric_limits<int64_t>::min() : int64_t{1} << (8 * bytes - 1);
  auto ordered = [&](uint64_t x) {
    return static_cast<int64_t>(x) & sign ? -(static_cast<int64_t>(x) & ~sign) : static_cast<int64_t>(x);
  };
  return std::abs(ordered(a) - ordered(b));
}

bool same_real(uint64_t a, uint64_t b, DType dtype, int64_t ulps) {
  if (a == b) return true;
  if (!is_float(dtype)) return false;
  double x = decode_float(dtype, a), y = decode_float(dtype, b);
  if (std::isnan(x) || std::isnan(y)) return std::isnan(x) && std::isnan(y);
  return ulps > 0 && std::isfinite(x) && std::isfinite(y) && steps_between(a, b, byte_size(dtype)) <= ulps;
}

}  // namespace

Literal random_literal(Rng& rng, const Shape& shape) {
  return filled(shape, [&](Literal& l, int64_t i) {
    if (is_complex(l.dtype()))
      l.set_complex(i,
                    {random_real(rng, real_part_of(l.dtype())), random_real(rng, real_part_of(l.dtype()))});
    else if (is_float(l.dtype()))
      l.set_double(i, random_real(rng, l.dtype()));
    else if (is_pred(l.dtype()))
      l.set_int(i, chance(rng, 0.5));
    else
      l.set_int(i, random_int(rng, l.dtype()));
  });
}

Literal tame_literal(Rng& rng, const Shape& shape) {
  return filled(shape, [&](Literal& l, int64_t i) {
    int64_t value = is_pred(l.dtype())                                   ? pick(rng, 0, 1)
                    : is_unsigned(l.dtype()) || bit_width(l.dtype()) < 4 ? pick(rng, 0, 1)
                                                                         : pick(rng, -3, 3);
    if (is_integral(l.dtype()))
      l.set_int(i, value);
    else if (is_complex(l.dtype()))
      l.set_complex(i, {static_cast<double>(value), 1.0});
    else
      l.set_double(i, static_cast<double>(value));
  });
}

bool same_result(const Literal& a, const Literal& b, int64_t ulps) {
  if (a.is_tuple()) {
    for (size_t i = 0; i < a.tuple().size(); ++i)
      if (!same_result(a.tuple()[i], b.tuple()[i], ulps)) return false;
    return true;
  }
  if (!a.shape().compatible(b.shape())) return false;
  if (!a.shape().is_array()) return true;
  const int parts = is_complex(a.dtype()) ? 2 : 1, bytes = byte_size(a.dtype()) / parts;
  for (int64_t i = 0; i < a.size(); ++i)
    for (int part = 0; part < parts; ++part)
      if (!same_real(bits_at(a, i, part, bytes), bits_at(b, i, part, bytes), real_part_of(a.dtype()), ulps))
        return false;
  return true;
}

std::vector<Literal> arguments_for(Rng& rng, const Module& module, bool tame) {
  std::vector<Literal> arguments;
  for (const Instruction* p : module.entry()->parameters())
    arguments.push_back(tame ? tame_literal(rng, p->shape()) : random_literal(rng, p->shape()));
  return arguments;
}

}  // namespace armillary::testing
