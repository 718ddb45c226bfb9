// What an HLO value looks like: element type, dimensions, layout; or a tuple of such.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "xla_core/shape/dtype.h"

namespace armillary {

using Dims = std::vector<int64_t>;

// How an array lies in memory. Fields we only carry (dim level types, split configs, ...) are kept as text.
struct Layout {
  Dims minor_to_major;
  std::vector<Dims> tiles;             // T(8,128)(2,1); kCombineDim stands for *
  int64_t memory_space = 0;            // S(n)
  int64_t element_bits = 0;            // E(n)
  int64_t tail_padding_alignment = 1;  // L(n)
  std::string other;                   // the remaining fields, verbatim and in the fixed order of the grammar

  static constexpr int64_t kCombineDim = std::numeric_limits<int64_t>::min();
  static Layout row_major(int64_t rank);
  bool is_row_major() const;
  friend bool operator==(const Layout&, const Layout&) = default;
};

struct Shape {
  static constexpr int64_t kUnbounded = std::numeric_limits<int64_t>::min();

  DType dtype = DType::kInvalid;
  Dims dims;                  // a bound where dynamic; kUnbounded for `?`
  std::vector<bool> dynamic;  // empty when no dimension is dynamic
  std::optional<Layout> layout;
  std::vector<Shape> tuple;  // elements, when dtype is kTuple
  bool is_buffer = false;    // b(f32[8,16])

  Shape() = default;
  Shape(DType d, Dims sizes) : dtype(d), dims(std::move(sizes)) {}
  static Shape scalar(DType d) { return Shape(d, {}); }
  static Shape make_tuple(std::vector<Shape> elements);
  static Shape token();

  bool is_tuple() const { return dtype == DType::kTuple; }
  bool is_token() const { return dtype == DType::kToken; }
  bool is_array() const { return is_array_dtype(dtype); }
  bool is_scalar() const { return is_array() && dims.empty(); }
  bool is_dynamic() const;
  int64_t rank() const { return static_cast<int64_t>(dims.size()); }
  int64_t num_elements() const;  // product of the dims; throws a user error on overflow
  int64_t byte_size() const;     // our memory: one byte for sub-byte types; tuples: the sum of the leaves
  const Shape& at(std::span<const int64_t> index) const;  // a subshape of a tuple

  // Same dtype, dims and dynamism, whatever the layouts.
  bool compatible(const Shape& other) const;
  bool same_dims(const Shape& other) const { return dims == other.dims; }
  Shape with_dtype(DType d) const;  // same dims and layout
  Shape without_layout() const;
  friend bool operator==(const Shape&, const Shape&) = default;
};

// "f32[2,<=8]{1,0:T(8,128)S(3)}"; without layout when with_layout is false.
std::string to_string(const Shape& shape, bool with_layout = false);
std::string to_string(const Layout& layout);

// Parameter and result shapes of a computation.
struct ProgramShape {
  std::vector<Shape> parameters;
  Shape result;
};

// Row-major strides in elements.
Dims strides_of(std::span<const int64_t> dims);

// The leaves of a shape in depth-first order; an array is its own only leaf.
std::vector<const Shape*> leaves_of(const Shape& shape);

}  // namespace armillary
