// The attributes an instruction may carry, each a named, typed value: parser, printer, proto, CSE and clone
// all walk them alike.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "xla_core/shape/shape.h"

namespace armillary {

class Computation;  // hlo/computation.h; rows see callees only through their ProgramShape

enum class Attr : uint8_t {
#define ARM_ATTR(id, text, kind) id,
#include "xla_core/ops/attr.def"
#undef ARM_ATTR
};

enum class AttrKind : uint8_t {
  Bool,
  Int,
  Float,
  Name,    // bare identifier: EQ, kLoop, FFT
  Names,   // {highest,default}
  String,  // "quoted"
  Ints,    // {0,2}
  Window,
  ConvDims,
  Slices,
  Padding,
  Raw,  // text kept as written, brace-balanced or quoted: {devices=[2,2]<=[4]}, "a string"
  Callee,
  Callees,
  Shape,
};

struct WindowDim {
  int64_t size = 1, stride = 1, pad_low = 0, pad_high = 0, lhs_dilate = 1, rhs_dilate = 1;
  bool reversal = false;
  friend bool operator==(const WindowDim&, const WindowDim&) = default;
};
struct Window {
  std::vector<WindowDim> dims;
  friend bool operator==(const Window&, const Window&) = default;
};

// dim_labels=b01f_01io->b01f. `?` dims are in neither role.
struct ConvDims {
  int64_t input_batch = 0, input_feature = 0;
  int64_t kernel_input_feature = 0, kernel_output_feature = 0;
  int64_t output_batch = 0, output_feature = 0;
  Dims input_spatial, kernel_spatial, output_spatial;
  friend bool operator==(const ConvDims&, const ConvDims&) = default;
};

struct SliceDim {
  int64_t start = 0, limit = 0, stride = 1;
  friend bool operator==(const SliceDim&, const SliceDim&) = default;
};
using Slices = std::vector<SliceDim>;

struct PadDim {
  int64_t low = 0, high = 0, interior = 0;
  friend bool operator==(const PadDim&, const PadDim&) = default;
};
using Padding = std::vector<PadDim>;

// Text kept as written. `quoted` says that the text stood between quotes (escapes untouched).
struct RawText {
  std::string text;
  bool quoted = false;
  friend bool operator==(const RawText&, const RawText&) = default;
};

// Name and String share std::string, the kind in attr.def tells them apart.
using AttrValue =
    std::variant<bool, int64_t, double, std::string, std::vector<std::string>, Dims, Window, ConvDims, Slices,
                 Padding, RawText, Computation*, std::vector<Computation*>, Shape>;

AttrKind kind_of(Attr attr);
std::string_view to_string(Attr attr);
bool attr_from_name(std::string_view name, Attr* attr);  // false when there is none

// A small map, sorted by Attr. Getters throw an internal error when the kind is wrong or a required attribute
// is missing.
class Attrs {
 public:
  bool has(Attr a) const { return find(a) != nullptr; }
  const AttrValue* find(Attr a) const;
  void set(Attr a, AttrValue value);
  void erase(Attr a);

  bool flag(Attr a, bool fallback = false) const;
  int64_t integer(Attr a) const;
  int64_t integer(Attr a, int64_t fallback) const;
  double real(Attr a) const;
  const std::string& text(Attr a) const;  // Name and String
  std::string text(Attr a, std::string fallback) const;
  const Dims& ints(Attr a) const;                     // empty when absent
  const Window& window(Attr a = Attr::window) const;  // no dims when absent
  const ConvDims& conv_dims() const;
  const Slices& slices() const;
  const Padding& padding() const;
  const std::string& raw(Attr a) const;                    // empty when absent
  Computation* callee(Attr a) const;                       // nullptr when absent
  const std::vector<Computation*>& callees(Attr a) const;  // empty when absent

  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }
  auto begin() { return entries_.begin(); }
  auto end() { return entries_.end(); }
  bool empty() const { return entries_.empty(); }
  friend bool operator==(const Attrs&, const Attrs&) = default;

 private:
  std::vector<std::pair<Attr, AttrValue>> entries_;
};

// slice_sizes={1,128} of a gather; the nested form of collective-permute is left to its row.
Dims parse_int_list(std::string_view braced);

}  // namespace armillary
