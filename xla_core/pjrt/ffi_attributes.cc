#include "xla_core/pjrt/ffi_attributes.h"

#include <charconv>
#include <map>

#include "xla_core/hlo/scanner.h"

namespace armillary::pjrt {

// The attribute syntax of MLIR, as far as the FFI has words for it.
class FfiAttributeReader {
 public:
  FfiAttributeReader(std::string_view text, FfiAttributes& out)
      : in_(text, "backend_config", kNesting), out_(out) {}

  XLA_FFI_Attrs read() {
    const XLA_FFI_Attrs attrs = dictionary();
    if (!in_.at_end()) throw in_.expected("the end of the attributes");
    return attrs;
  }

 private:
  static constexpr int kNesting = 32;

  struct Value {
    XLA_FFI_AttrType type;
    void* pointer;
  };

  XLA_FFI_Attrs dictionary() {
    const Scanner::Nest nest(in_, "attributes");
    std::map<std::string, Value> entries;  // handlers look names up in order
    in_.expect('{', "to open the attributes");
    while (!in_.accept('}')) {
      std::string name = in_.peek() == '"' ? in_.string("a name") : std::string(in_.identifier("a name"));
      entries[std::move(name)] = in_.accept('=') ? value() : number("true", DType::kPred);
      if (in_.peek() != '}') in_.expect(',', "between attributes");
    }
    auto& types = out_.types_.emplace_back();
    auto& names = out_.names_.emplace_back();
    auto& pointers = out_.pointers_.emplace_back();
    for (const auto& [name, entry] : entries) {
      types.push_back(entry.type);
      names.push_back(span(name));
      pointers.push_back(entry.pointer);
    }
    return {XLA_FFI_Attrs_STRUCT_SIZE,
            nullptr,
            static_cast<int64_t>(entries.size()),
            types.data(),
            names.data(),
            pointers.data()};
  }

  Value value() {
    if (in_.peek() == '"') return {XLA_FFI_AttrType_STRING, span(in_.string("a string"))};
    if (in_.peek() == '{')
      return {XLA_FFI_AttrType_DICTIONARY, &out_.dictionaries_.emplace_back(dictionary())};
    if (in_.accept_keyword("array")) return dense_array();
    if (in_.accept_keyword("dense")) return dense_elements();
    if (in_.accept_keyword("true")) return number("true", DType::kPred);
    if (in_.accept_keyword("false")) return number("false", DType::kPred);
    const std::string text = word();
    return number(text, in_.accept(':') ? type() : default_type(text));
  }

  // array<i64: 1, 2>
  Value dense_array() {
    in_.expect('<', "to open an array");
    const DType dtype = type();
    std::vector<std::string> words;
    if (in_.accept(':')) {
      words.push_back(word());
      while (in_.accept(',')) words.push_back(word());
    }
    in_.expect('>', "to close an array");
    return array(words, dtype, static_cast<int64_t>(words.size()));
  }

  // dense<[1, 2]> : tensor<2xi64>, or one word for all elements
  Value dense_elements() {
    in_.expect('<', "to open the elements");
    std::vector<std::string> words;
    const bool splat = in_.peek() != '[' && in_.peek() != '>';
    if (in_.peek() == '"') return hexadecimal_elements();
    if (splat) words.push_back(word());
    if (in_.accept('['))
      while (!in_.accept(']')) {
        words.push_back(word());
        if (in_.peek() != ']') in_.expect(',', "between elements");
      }
    const auto [count, dtype] = end_of_elements();
    if (splat) words.assign(static_cast<size_t>(std::min(count, kMostSplat)), words[0]);
    if (static_cast<int64_t>(words.size()) != count)
      throw in_.error(in_.position(), "{} elements for {}", words.size(), count);
    return array(words, dtype, count);
  }
  static constexpr int64_t kMostSplat = 1 << 24;

  // dense<"0x0000803F"> : tensor<1xf32>: long ones, as the bytes that lie in memory
  Value hexadecimal_elements() {
    const size_t at = in_.next_position();
    const std::string digits = in_.string("bytes");
    const auto [count, dtype] = end_of_elements();
    const size_t size = static_cast<size_t>(count) * byte_size(dtype);
    if (!digits.starts_with("0x") || digits.size() != 2 + 2 * size || count > kMostSplat)
      throw in_.error(at, "{} hexadecimal digits for {} elements", digits.size(), count);
    Literal& literal = out_.values_.emplace_back(Shape(dtype, {count}));
    for (size_t b = 0; b < size; ++b) {
      uint8_t byte = 0;
      const char* two = digits.data() + 2 + 2 * b;
      if (std::from_chars(two, two + 2, byte, 16).ptr != two + 2)
        throw in_.error(at, "bytes are written in hexadecimal digits");
      literal.bytes()[b] = std::byte{byte};
    }
    return kept_array(literal, dtype, count);
  }

  // > : tensor<2xf32>
  std::pair<int64_t, DType> end_of_elements() {
    in_.expect('>', "to close the elements");
    in_.expect(':', "before the type");
    in_.expect("tensor<", "before the type");
    const int64_t count = in_.at_integer() ? in_.integer("a size") : -1;
    if (count < 0) throw in_.expected("one dimension");
    in_.expect('x', "between the size and the type");
    const DType dtype = type();
    in_.expect('>', "after the type");
    return {count, dtype};
  }

  std::string word() {
    const size_t begin = in_.next_position();
    while (is_name_char(in_.raw_peek()) || in_.raw_peek() == '+') in_.advance();
    if (in_.position() == begin) throw in_.expected("a value");
    return std::string(in_.since(begin));
  }

  DType default_type(const std::string& text) {
    return text.find_first_of(".e") == std::string::npos ? DType::kS64 : DType::kF64;
  }

  // i32 ui8 f64 bf16 i1
  DType type() {
    static const std::map<std::string, DType, std::less<>> types = {
        {"i1", DType::kPred},  {"i8", DType::kS8},    {"i16", DType::kS16}, {"i32", DType::kS32},
        {"i64", DType::kS64},  {"si8", DType::kS8},   {"ui8", DType::kU8},  {"ui16", DType::kU16},
        {"ui32", DType::kU32}, {"ui64", DType::kU64}, {"f16", DType::kF16}, {"bf16", DType::kBF16},
        {"f32", DType::kF32},  {"f64", DType::kF64}};
    const size_t at = in_.next_position();
    const std::string name = word();
    const auto found = types.find(name);
    if (found == types.end()) throw in_.error(at, "there is no attribute of type {}", name);
    return found->second;
  }

  Value number(const std::string& text, DType dtype) {
    Literal& literal = out_.values_.emplace_back(Shape(dtype, {}));
    set(literal, 0, text);
    return {XLA_FFI_AttrType_SCALAR,
            &out_.scalars_.emplace_back(XLA_FFI_Scalar{ffi_type(dtype), literal.bytes()})};
  }

  Value array(const std::vector<std::string>& words, DType dtype, int64_t count) {
    Literal& literal = out_.values_.emplace_back(Shape(dtype, {count}));
    for (int64_t i = 0; i < count; ++i) set(literal, i, words[i]);
    return kept_array(literal, dtype, count);
  }

  Value kept_array(Literal& literal, DType dtype, int64_t count) {
    return {XLA_FFI_AttrType_ARRAY, &out_.arrays_.emplace_back(XLA_FFI_Array{
                                        ffi_type(dtype), static_cast<size_t>(count), literal.bytes()})};
  }

  // Hexadecimal floats are bits.
  void set(Literal& literal, int64_t i, const std::string& text) {
    const char* end = text.data() + text.size();
    std::from_chars_result read{};
    const DType dtype = literal.dtype();
    if (text == "true" || text == "false") return literal.set_int(i, text == "true");
    if (text.starts_with("0x")) {
      uint64_t bits = 0;
      read = std::from_chars(text.data() + 2, end, bits, 16);
      is_float(dtype) ? literal.set_double(i, decode_float(dtype, bits))
                      : literal.set_int(i, static_cast<int64_t>(bits));
    } else if (is_float(dtype)) {
      double value = 0;
      read = std::from_chars(text.data(), end, value);
      literal.set_double(i, value);
    } else if (dtype == DType::kU64) {
      uint64_t value = 0;
      read = std::from_chars(text.data(), end, value);
      literal.set_int(i, static_cast<int64_t>(value));
    } else {
      int64_t value = 0;
      read = std::from_chars(text.data(), end, value);
      literal.set_int(i, value);
    }
    if (read.ec != std::errc() || read.ptr != end)
      throw in_.error(in_.position(), "{} is no value of type {}", text, to_string(dtype));
  }

  XLA_FFI_ByteSpan* span(std::string text) {
    const std::string& kept = out_.texts_.emplace_back(std::move(text));
    return &out_.spans_.emplace_back(XLA_FFI_ByteSpan{kept.data(), kept.size()});
  }

  Scanner in_;
  FfiAttributes& out_;
};

FfiAttributes::FfiAttributes(std::string_view text) {
  attrs_ = FfiAttributeReader(text.empty() ? "{}" : text, *this).read();
}

XLA_FFI_DataType ffi_type(DType dtype) {
  static const std::map<DType, XLA_FFI_DataType> types = {
      {DType::kPred, XLA_FFI_DataType_PRED},
      {DType::kS1, XLA_FFI_DataType_S1},
      {DType::kS2, XLA_FFI_DataType_S2},
      {DType::kS4, XLA_FFI_DataType_S4},
      {DType::kS8, XLA_FFI_DataType_S8},
      {DType::kS16, XLA_FFI_DataType_S16},
      {DType::kS32, XLA_FFI_DataType_S32},
      {DType::kS64, XLA_FFI_DataType_S64},
      {DType::kU1, XLA_FFI_DataType_U1},
      {DType::kU2, XLA_FFI_DataType_U2},
      {DType::kU4, XLA_FFI_DataType_U4},
      {DType::kU8, XLA_FFI_DataType_U8},
      {DType::kU16, XLA_FFI_DataType_U16},
      {DType::kU32, XLA_FFI_DataType_U32},
      {DType::kU64, XLA_FFI_DataType_U64},
      {DType::kF16, XLA_FFI_DataType_F16},
      {DType::kF32, XLA_FFI_DataType_F32},
      {DType::kF64, XLA_FFI_DataType_F64},
      {DType::kBF16, XLA_FFI_DataType_BF16},
      {DType::kC64, XLA_FFI_DataType_C64},
      {DType::kC128, XLA_FFI_DataType_C128},
      {DType::kToken, XLA_FFI_DataType_TOKEN},
      {DType::kF8E5M2, XLA_FFI_DataType_F8E5M2},
      {DType::kF8E3M4, XLA_FFI_DataType_F8E3M4},
      {DType::kF8E4M3, XLA_FFI_DataType_F8E4M3},
      {DType::kF8E4M3FN, XLA_FFI_DataType_F8E4M3FN},
      {DType::kF8E4M3B11FNUZ, XLA_FFI_DataType_F8E4M3B11FNUZ},
      {DType::kF8E5M2FNUZ, XLA_FFI_DataType_F8E5M2FNUZ},
      {DType::kF8E4M3FNUZ, XLA_FFI_DataType_F8E4M3FNUZ},
      {DType::kF4E2M1FN, XLA_FFI_DataType_F4E2M1FN},
      {DType::kF8E8M0FNU, XLA_FFI_DataType_F8E8M0FNU},
  };
  const auto found = types.find(dtype);
  if (found == types.end()) throw unsupported_error("the FFI has no type like {}", to_string(dtype));
  return found->second;
}

}  // namespace armillary::pjrt
