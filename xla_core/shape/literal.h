// A value known at compile time: dense, row-major in logical order whatever its shape's layout says.
#pragma once

#include <complex>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "xla_core/shape/shape.h"

namespace armillary {

class Literal {
 public:
  Literal() = default;
  explicit Literal(Shape shape);  // zero-filled
  static Literal make_tuple(std::vector<Literal> elements);
  // A literal over memory that somebody else keeps alive through `owner`.
  static Literal view(Shape shape, std::byte* data, std::shared_ptr<void> owner);

  template <class T>
  static Literal scalar(DType dtype, T value);
  template <class T>
  static Literal array(DType dtype, Dims dims, std::span<const T> values);

  const Shape& shape() const { return shape_; }
  DType dtype() const { return shape_.dtype; }
  int64_t size() const { return shape_.num_elements(); }
  bool is_tuple() const { return shape_.is_tuple(); }
  const std::vector<Literal>& tuple() const { return tuple_; }
  std::vector<Literal>& tuple() { return tuple_; }

  // Raw storage; size_bytes() = size() * byte_size(dtype()).
  const std::byte* bytes() const { return data_; }
  std::byte* bytes() { return data_; }
  const std::shared_ptr<void>& owner() const { return owner_; }  // keeps the storage alive
  int64_t size_bytes() const { return shape_.byte_size(); }
  template <class T>
  std::span<const T> data() const {
    return {reinterpret_cast<const T*>(data_), static_cast<size_t>(size())};
  }
  template <class T>
  std::span<T> data() {
    return {reinterpret_cast<T*>(data_), static_cast<size_t>(size())};
  }

  // Element access by linear index, converting: integers (any integral dtype), floats (any real dtype),
  // complex.
  int64_t get_int(int64_t i) const;    // u64 is returned by its bits
  double get_double(int64_t i) const;  // exact for every real dtype up to f64; integers are converted
  std::complex<double> get_complex(int64_t i) const;
  void set_int(int64_t i, int64_t value);    // wraps; on float dtypes: converts
  void set_double(int64_t i, double value);  // rounds to nearest even; on integers: saturates, NaN gives 0
  void set_complex(int64_t i, std::complex<double> value);

  Literal clone() const;                   // deep copy
  Literal reshaped(Shape shape) const;     // shares the storage; same element count and dtype
  bool is_splat() const;                   // all elements have the same bits (and there is one)
  bool elided() const { return elided_; }  // parsed from `{...}`: the value is unknown
  void set_elided(bool elided) { elided_ = elided; }

  // Same shape (layouts aside) and same bits.
  friend bool operator==(const Literal& a, const Literal& b);

 private:
  void check_element_count(int64_t count) const;  // throws a user error when it is not size()

  Shape shape_;
  std::byte* data_ = nullptr;
  std::shared_ptr<void> owner_;
  std::vector<Literal> tuple_;
  bool elided_ = false;
};

// Bits <-> value for one element of any real dtype. encode rounds to nearest even and saturates as the dtype
// demands.
double decode_float(DType dtype, uint64_t bits);
uint64_t encode_float(DType dtype, double value);

// HLO text of the value: `1.5`, `{1, 2}`, `{ { 1, 2 }, { 3, 4 } }`; shortest floats that read back to the
// same bits.
std::string to_string(const Literal& literal);
std::string element_to_string(const Literal& literal, int64_t i);

template <class T>
Literal Literal::scalar(DType dtype, T value) {
  return array<T>(dtype, {}, std::span<const T>(&value, 1));
}

template <class T>
Literal Literal::array(DType dtype, Dims dims, std::span<const T> values) {
  Literal literal(Shape(dtype, std::move(dims)));
  literal.check_element_count(static_cast<int64_t>(values.size()));
  for (size_t i = 0; i < values.size(); ++i) {
    if constexpr (std::is_integral_v<T>)
      literal.set_int(static_cast<int64_t>(i), static_cast<int64_t>(values[i]));
    else if constexpr (std::is_floating_point_v<T>)
      literal.set_double(static_cast<int64_t>(i), values[i]);
    else
      literal.set_complex(static_cast<int64_t>(i), values[i]);
  }
  return literal;
}

}  // namespace armillary
