// Literals as HLO text: the shortest numbers that read back to the same bits, in time linear in the size.
#include <charconv>
#include <cmath>
#include <cstring>

#include "xla_core/base/error.h"
#include "xla_core/shape/literal.h"

namespace armillary {
namespace {

uint64_t raw_bits(const std::byte* at, int bytes) {
  uint64_t bits = 0;
  std::memcpy(&bits, at, static_cast<size_t>(bytes));
  return bits;
}

// "nan(0x1)" where the payload is not the one a fresh quiet NaN has; formats with a single NaN have no
// payload.
void append_nan(std::string& out, const DTypeInfo& d, uint64_t bits) {
  const bool one_nan = d.style != FloatStyle::kIeee;
  if (d.style != FloatStyle::kE8M0 && d.style != FloatStyle::kFnuz && (bits >> (d.bits - 1)) & 1) out += '-';
  out += "nan";
  if (one_nan) return;
  const uint64_t payload = bits & ((uint64_t{1} << d.mantissa_bits) - 1);
  if (payload != uint64_t{1} << (d.mantissa_bits - 1)) out += fmt::format("(0x{:x})", payload);
}

void append_float(std::string& out, DType dtype, const std::byte* at) {
  const DTypeInfo& d = info(dtype);
  const uint64_t bits = raw_bits(at, d.bytes);
  const double value = decode_float(dtype, bits);
  if (std::isnan(value)) return append_nan(out, d, bits);
  if (std::isinf(value)) {
    out += value < 0 ? "-inf" : "inf";
    return;
  }
  char text[40];
  std::to_chars_result end{};
  if (dtype == DType::kF64) {
    end = std::to_chars(text, text + sizeof text, value, std::chars_format::general);
  } else if (dtype == DType::kF32) {
    end = std::to_chars(text, text + sizeof text, static_cast<float>(value), std::chars_format::general);
  } else {
    for (int digits = 1; digits <= 17; ++digits) {
      end = std::to_chars(text, text + sizeof text, value, std::chars_format::general, digits);
      double back = 0;
      std::from_chars(text, end.ptr, back);
      if (encode_float(dtype, back) == bits) break;
    }
  }
  out.append(text, end.ptr);
}

void append_element(std::string& out, const Literal& literal, int64_t i) {
  const DType dtype = literal.dtype();
  const std::byte* at = literal.bytes() + i * byte_size(dtype);
  if (is_pred(dtype)) {
    out += literal.get_int(i) ? "true" : "false";
  } else if (is_float(dtype)) {
    append_float(out, dtype, at);
  } else if (is_complex(dtype)) {
    const DType part = real_part_of(dtype);
    out += '(';
    append_float(out, part, at);
    out += ", ";
    append_float(out, part, at + byte_size(part));
    out += ')';
  } else {
    char text[24];
    const int64_t value = literal.get_int(i);
    const auto end = dtype == DType::kU64
                         ? std::to_chars(text, text + sizeof text, static_cast<uint64_t>(value))
                         : std::to_chars(text, text + sizeof text, value);
    out.append(text, end.ptr);
  }
}

// Braces around dimension `dim`; `position` counts the elements written so far.
void append_dimension(std::string& out, const Literal& literal, size_t dim, int64_t& position) {
  const Dims& dims = literal.shape().dims;
  const char* space = dims.size() > 1 ? " " : "";
  out += '{';
  out += space;
  for (int64_t i = 0; i < dims[dim]; ++i) {
    if (i) out += ", ";
    if (dim + 1 == dims.size())
      append_element(out, literal, position++);
    else if (literal.size() == 0 && dims[dim + 1] == 0)
      out += "{ }";
    else
      append_dimension(out, literal, dim + 1, position);
  }
  if (dims[dim] > 0) out += space;
  out += '}';
}

void append_literal(std::string& out, const Literal& literal) {
  if (literal.is_tuple()) {
    out += '(';
    for (size_t i = 0; i < literal.tuple().size(); ++i) {
      out += i ? ", " : " ";
      append_literal(out, literal.tuple()[i]);
    }
    out += " )";
  } else if (literal.elided()) {
    out += "{...}";
  } else if (!literal.shape().is_array()) {
    out += to_string(literal.shape());
  } else if (literal.shape().dims.empty()) {
    append_element(out, literal, 0);
  } else {
    int64_t position = 0;
    append_dimension(out, literal, 0, position);
  }
}

}  // namespace

std::string to_string(const Literal& literal) {
  std::string out;
  append_literal(out, literal);
  return out;
}

std::string element_to_string(const Literal& literal, int64_t i) {
  std::string out;
  append_element(out, literal, i);
  return out;
}

}  // namespace armillary
