// Literals from HLO text. Elements are gathered as they are read and counted against the shape, so a shape of
// 10^12 elements with two numbers behind it costs two numbers.
#include <sys/mman.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "xla_core/hlo/parse_parts.h"
#include "xla_core/hlo/text.h"

namespace armillary {
namespace {

constexpr int64_t kMaxLiteralBytes = int64_t{16} << 30;

class LiteralReader {
 public:
  LiteralReader(Scanner& in, const Shape& shape)
      : in_(in), shape_(shape), dtype_(shape.dtype), part_(real_part_of(dtype_)), info_(info(part_)) {}

  Literal read() {
    const size_t begin = in_.next_position();
    if (!shape_.dims.empty() && in_.peek() != '{') return read_first_element(begin);
    read_dimension(0);
    if (static_cast<int64_t>(bytes_.size()) != shape_.byte_size())
      throw in_.error(begin, "expected {} elements for {}, found {}", shape_.num_elements(),
                      to_string(shape_), bytes_.size() / static_cast<size_t>(byte_size(dtype_)));
    Literal literal(shape_);
    if (!bytes_.empty()) std::memcpy(literal.bytes(), bytes_.data(), bytes_.size());
    return literal;
  }

 private:
  // `f32[3] constant(1)`: XLA sets the first element and leaves the others zero, so that is what the text
  // means.
  Literal read_first_element(size_t begin) {
    constexpr int64_t kMaxElements = int64_t{1} << 25;  // a few characters must not cost gigabytes
    if (shape_.num_elements() > kMaxElements || shape_.num_elements() == 0)
      throw in_.error(begin, "expected '{{' before the elements of {}", to_string(shape_));
    read_element();
    Literal literal(shape_);
    std::memcpy(literal.bytes(), bytes_.data(), bytes_.size());
    return literal;
  }

  void read_dimension(size_t d) {
    if (d == shape_.dims.size()) return read_element();
    Scanner::Nest nest(in_, "braces of a literal");
    const size_t begin = in_.next_position();
    if (!in_.accept('{'))
      throw in_.expected(fmt::format("'{{' before the elements of dimension {} of {}", d, to_string(shape_)));
    int64_t count = 0;
    while (in_.peek() != '}') {
      read_dimension(d + 1);
      ++count;
      if (!in_.accept(',') && in_.peek() != '{') break;  // XLA needs no comma before a brace
    }
    if (!in_.accept('}'))
      throw in_.expected(fmt::format("',' or '}}' after an element of {}", to_string(shape_)));
    if (count != shape_.dims[d] && !(count == 0 && empty()))
      throw in_.error(begin, "expected {} elements in dimension {} of {}, found {}", shape_.dims[d], d,
                      to_string(shape_), count);
  }

  // An array without elements may close its braces at any level.
  bool empty() const {
    return std::find(shape_.dims.begin(), shape_.dims.end(), int64_t{0}) != shape_.dims.end();
  }

  void read_element() {
    if (!is_complex(dtype_)) return read_real();
    if (!in_.accept('(')) {
      read_real();
      bytes_.append(static_cast<size_t>(info_.bytes), '\0');
      return;
    }
    read_real();
    in_.expect(',', "between the parts of a complex number");
    read_real();
    in_.expect(')', "after the parts of a complex number");
  }

  void read_real() {
    switch (info_.cls) {
      case DTypeClass::kPred:
        return append(read_pred());
      case DTypeClass::kSigned:
      case DTypeClass::kUnsigned:
        return append(read_integer());
      default:
        return append(read_float());
    }
  }

  void append(uint64_t bits) {
    bytes_.append(reinterpret_cast<const char*>(&bits), static_cast<size_t>(info_.bytes));
  }

  uint64_t read_pred() {
    if (in_.at_integer()) {
      const size_t begin = in_.position();
      const int64_t value = in_.integer("a pred");
      if (value != 0 && value != 1) throw in_.error(begin, "{} is out of range for pred", value);
      return static_cast<uint64_t>(value);
    }
    return in_.boolean("a pred");
  }

  uint64_t read_integer() {
    const std::string_view name = to_string(part_);
    if (in_.accept_keyword("true")) return 1;
    if (in_.accept_keyword("false")) return 0;
    if (!in_.at_integer()) throw in_.expected(fmt::format("an integer of {}", name));
    const size_t begin = in_.position();
    const char* first = in_.text().data() + begin;
    const char* last = in_.text().data() + in_.text().size();
    std::from_chars_result result{};
    uint64_t bits = 0;
    bool fits = true;
    if (info_.cls == DTypeClass::kUnsigned && *first != '-') {
      result = std::from_chars(first, last, bits);
      fits = info_.bits == 64 || bits >> info_.bits == 0;
    } else {
      int64_t value = 0;
      result = std::from_chars(first, last, value);
      const int64_t half = info_.bits == 64 ? 0 : int64_t{1} << (info_.bits - 1);
      if (info_.cls == DTypeClass::kUnsigned)
        fits = value == 0 || info_.bits == 64;  // XLA lets u64 wrap
      else if (half != 0)
        fits = value >= -half && value < half;
      bits = static_cast<uint64_t>(value);
    }
    in_.seek(result.ptr - in_.text().data());
    const char next = in_.raw_peek();
    if (next == '.' || next == 'e' || next == 'E')
      throw in_.error(begin, "expected an integer of {}, found a number with a fraction", name);
    if (result.ec != std::errc() || !fits)
      throw in_.error(begin, "{} is out of range for {}", in_.since(begin), name);
    return bits;
  }

  uint64_t read_float() {
    const size_t begin = in_.next_position();
    const char* first = in_.text().data() + begin;
    const char* last = in_.text().data() + in_.text().size();
    // The common dtypes directly, so that decimal text is rounded once.
    if (part_ == DType::kF32) {
      float value = 0;
      const auto result = std::from_chars(first, last, value);
      if (result.ec == std::errc() && std::isfinite(value)) {
        in_.seek(result.ptr - in_.text().data());
        uint32_t bits = 0;
        std::memcpy(&bits, &value, sizeof bits);
        return bits;
      }
    }
    return read_float_slowly(begin);
  }

  uint64_t read_float_slowly(size_t begin) {
    const bool negative = in_.accept('-');
    if (in_.accept_keyword("nan")) return read_nan(negative, begin);
    const std::string_view name = to_string(part_);
    if (in_.accept_keyword("inf") || in_.accept_keyword("infinity")) {
      if (info_.style != FloatStyle::kIeee) throw in_.error(begin, "{} has no infinity", name);
      return encode_float(part_, negative ? -HUGE_VAL : HUGE_VAL);
    }
    if (in_.accept_keyword("true")) return encode_float(part_, 1);
    if (in_.accept_keyword("false")) return encode_float(part_, 0);
    in_.seek(begin);
    const char* first = in_.text().data() + begin;
    const char* last = in_.text().data() + in_.text().size();
    double value = 0;
    const auto result = std::from_chars(first, last, value);
    if (result.ec == std::errc::invalid_argument) throw in_.expected(fmt::format("a number of {}", name));
    in_.seek(result.ptr - in_.text().data());
    if (result.ec == std::errc::result_out_of_range)  // both 1e999 and 1e-999 come here
      value = std::strtod(std::string(in_.since(begin)).c_str(), nullptr);
    return encode_in_range(value, begin);
  }

  uint64_t encode_in_range(double value, size_t begin) {
    if (part_ == DType::kF8E8M0FNU && value < 0)
      throw in_.error(begin, "{} is out of range for {}", in_.since(begin), to_string(part_));
    const uint64_t bits = encode_float(part_, value);
    if (part_ == DType::kF64 ? std::isinf(value) : std::fabs(value) >= overflow_limit())
      throw in_.error(begin, "{} is out of range for {}", in_.since(begin), to_string(part_));
    return bits;
  }

  // The smallest magnitude that rounds past the largest finite value: half a step beyond it.
  double overflow_limit() const {
    if (info_.style == FloatStyle::kE8M0) return std::ldexp(1.5, 127);
    int top_exponent = (1 << info_.exponent_bits) - 1 - info_.exponent_bias;  // of the all-ones exponent
    uint64_t top_mantissa = (uint64_t{1} << info_.mantissa_bits) - 1;
    if (info_.style == FloatStyle::kIeee) --top_exponent;
    if (info_.style == FloatStyle::kFn && info_.has_nan) --top_mantissa;  // all ones is NaN
    const double significand = 1 + std::ldexp(static_cast<double>(top_mantissa) + 0.5, -info_.mantissa_bits);
    return std::ldexp(significand, top_exponent);
  }

  // nan, -nan, nan(0x1): the payload fills the mantissa of IEEE-like types, the others have one NaN.
  uint64_t read_nan(bool negative, size_t begin) {
    const std::string_view name = to_string(part_);
    if (!info_.has_nan) throw in_.error(begin, "{} has no NaN", name);
    const uint64_t sign = negative ? uint64_t{1} << (info_.bits - 1) : 0;
    const bool has_payload = in_.raw_peek() == '(';
    if (info_.style != FloatStyle::kIeee) {
      if (has_payload) throw in_.error(begin, "the NaN of {} has no payload", name);
      if (info_.style == FloatStyle::kFnuz) return uint64_t{1} << (info_.bits - 1);
      if (info_.style == FloatStyle::kE8M0) return 0xff;
      return ((uint64_t{1} << (info_.bits - 1)) - 1) | sign;
    }
    const uint64_t exponent = ((uint64_t{1} << info_.exponent_bits) - 1) << info_.mantissa_bits;
    const uint64_t payload = has_payload ? read_payload() : uint64_t{1} << (info_.mantissa_bits - 1);
    return sign | exponent | payload;
  }

  uint64_t read_payload() {
    const size_t begin = in_.position();
    in_.expect("(0x", "before the payload of a NaN");
    const char* last = in_.text().data() + in_.text().size();
    uint64_t payload = 0;
    const auto result = std::from_chars(in_.text().data() + in_.position(), last, payload, 16);
    if (result.ec == std::errc::invalid_argument) throw in_.expected("hexadecimal digits");
    in_.seek(result.ptr - in_.text().data());
    in_.expect(')', "after the payload of a NaN");
    if (result.ec != std::errc() || payload == 0 || payload >> info_.mantissa_bits != 0)
      throw in_.error(begin, "the payload of a NaN of {} must be between 1 and 0x{:x}", to_string(part_),
                      (uint64_t{1} << info_.mantissa_bits) - 1);
    return payload;
  }

  Scanner& in_;
  const Shape& shape_;
  DType dtype_, part_;
  const DTypeInfo& info_;
  std::string bytes_;
};

// Small values that repeat. Floats of a matrix have mean zero and shrink with the number of its rows, as the
// initial weights of a network do: products with it then keep their size, where growing ones would end in
// infinities, which hide every error.
void fill(Literal& literal) {
  constexpr int64_t kPeriod = 113;
  const DType d = literal.dtype();
  const Shape& shape = literal.shape();
  const bool matrix = shape.rank() >= 2 && literal.size() > 0;
  const double rows = matrix ? static_cast<double>(literal.size() / shape.dims.back()) : 1;
  const double scale = matrix ? std::sqrt(12 / rows) : 1, mean = matrix ? 0.5 : 0;
  for (int64_t i = 0; i < literal.size(); ++i) {
    if (is_integral(d))
      literal.set_int(i, is_pred(d) ? i & 1 : i % kPeriod);
    else
      literal.set_double(i, (static_cast<double>(i % kPeriod) / kPeriod - mean) * scale);
  }
}

// A value that the dump left out. Its pages are zeros that take no memory until somebody writes to them, so
// readers need no special case.
Literal elided_literal(Scanner& in, size_t begin, const Shape& shape, bool filled) {
  const int64_t size = shape.byte_size();
  if (size > kMaxLiteralBytes) throw in.error(begin, "a constant of {} bytes is too large", size);
  const size_t mapped = static_cast<size_t>(size) + 64;
  void* memory =
      mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw resource_error("out of memory for a constant of {} bytes", size);
  std::shared_ptr<void> owner(memory, [mapped](void* p) { munmap(p, mapped); });
  Literal literal = Literal::view(shape, static_cast<std::byte*>(memory), std::move(owner));
  if (!filled) {
    literal.set_elided(true);
    return literal;
  }
  fill(literal);
  return literal;
}

}  // namespace

Literal read_literal(Scanner& in, const Shape& shape, bool fill_elided) {
  Scanner::Nest nest(in, "literals");
  const size_t begin = in.next_position();
  if (shape.is_tuple()) {
    if (in.accept("{...}")) {
      std::vector<Literal> elements;
      for (const Shape& element : shape.tuple)
        elements.push_back(elided_literal(in, begin, element, fill_elided));
      return Literal::make_tuple(std::move(elements));
    }
    in.expect('(', "before the elements of a tuple literal");
    std::vector<Literal> elements;
    for (size_t i = 0; i < shape.tuple.size(); ++i) {
      if (i && !in.accept(','))
        throw in.expected(fmt::format("',' between the {} elements of a tuple literal", shape.tuple.size()));
      elements.push_back(read_literal(in, shape.tuple[i], fill_elided));
    }
    in.expect(')', fmt::format("after the {} elements of a tuple literal", shape.tuple.size()));
    return Literal::make_tuple(std::move(elements));
  }
  if (!shape.is_array()) throw in.error(begin, "a literal cannot have shape {}", to_string(shape));
  if (shape.is_dynamic())
    throw in.error(begin, "a literal cannot have the dynamic shape {}", to_string(shape));
  try {
    if (in.accept("{...}")) return elided_literal(in, begin, shape, fill_elided);
    return LiteralReader(in, shape).read();
  } catch (const Error& e) {
    if (!e.where().empty()) throw;
    throw Error(e.kind(), in.where(begin), e.message());
  }
}

Literal parse_literal(const Shape& shape, std::string_view text) {
  Scanner in(text, "literal", ParseOptions().max_nesting);
  Literal literal = read_literal(in, shape, false);
  if (!in.at_end()) throw in.expected("the end of the literal");
  return literal;
}

int64_t fill_elided_constants(Module& module) {
  int64_t filled = 0;
  for (const Computation* c : module.computations())
    for (Instruction* i : c->instructions()) {
      if (!i->is(Op::constant) || !i->literal().elided()) continue;
      Literal literal(i->literal().shape());
      fill(literal);
      i->set_literal(std::move(literal));
      ++filled;
    }
  return filled;
}

}  // namespace armillary
