// Attributes as MLIR prints them: XLA hands some to the runtime as text, and Shardy's go through HLO as text.
#include <algorithm>
#include <cctype>
#include <cmath>

#include "xla_core/io/vhlo/values.h"

namespace armillary::vhlo {
namespace {

template <class List, class Append>
void append_list(std::string& out, const List& list, Append append) {
  bool first = true;
  for (const auto& item : list) {
    if (!first) out += ", ";
    first = false;
    append(item);
  }
}

// MLIR escapes what is not printable as two hexadecimal digits.
std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '\\')
      out += "\\\\";
    else if (c >= 0x20 && c < 0x7f && c != '"')
      out += c;
    else
      out += fmt::format("\\{:02X}", static_cast<unsigned char>(c));
  }
  return out + '"';
}

bool is_bare(std::string_view name) {
  if (name.empty() || !(std::isalpha(static_cast<unsigned char>(name[0])) || name[0] == '_')) return false;
  for (const char c : name)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_' && c != '$' && c != '.') return false;
  return true;
}

std::string element_name(DType dtype) {
  switch (dtype) {
    case DType::kPred:
      return "i1";
    case DType::kC64:
      return "complex<f32>";
    case DType::kC128:
      return "complex<f64>";
    default:
      break;
  }
  const std::string name(to_string(dtype));
  if (is_signed(dtype)) return "i" + name.substr(1);
  if (is_unsigned(dtype)) return "ui" + name.substr(1);
  if (!name.starts_with("f8") && !name.starts_with("f4")) return name;
  std::string upper = name;  // f8e4m3fn is f8E4M3FN there
  for (size_t i = 1; i < upper.size(); ++i) upper[i] = static_cast<char>(std::toupper(upper[i]));
  return upper;
}

std::string type_text(const Type& type) {
  switch (type.kind) {
    case TypeKind::kElement:
      return element_name(type.shape.dtype);
    case TypeKind::kIndex:
      return "index";
    case TypeKind::kNone:
      return "none";
    case TypeKind::kToken:
      return "!stablehlo.token";
    case TypeKind::kTensor: {
      std::string out = "tensor<";
      for (const int64_t d : type.shape.dims) out += d < 0 ? "?x" : std::to_string(d) + "x";
      return out + element_name(type.shape.dtype) + ">";
    }
    default:
      throw unsupported_error("the text of a type of kind {}", static_cast<int>(type.kind));
  }
}

// Six digits where they are enough to read the number back, else the fewest that are; hexadecimal where a
// number has no digits.
std::string float_text(DType dtype, double value, uint64_t bits) {
  if (!std::isfinite(value)) return fmt::format("0x{:0{}X}", bits, bit_width(dtype) / 4);
  std::string text = fmt::format("{:.6e}", value);
  if (encode_float(dtype, std::stod(text)) == bits) return text;
  for (int digits : {9, 17}) {
    text = fmt::format("{:.{}g}", value, digits);
    if (encode_float(dtype, std::stod(text)) == bits) break;
  }
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string element_text(const Literal& literal, int64_t i) {
  const DType dtype = literal.dtype();
  if (is_pred(dtype)) return literal.get_int(i) ? "true" : "false";
  if (is_integral(dtype)) return fmt::format("{}", literal.get_int(i));
  if (is_float(dtype)) {
    const double value = literal.get_double(i);
    return float_text(dtype, value, encode_float(dtype, value));
  }
  throw unsupported_error("the text of a constant of {}", to_string(dtype));
}

void append_elements(std::string& out, const Literal& literal, size_t dim, int64_t& next) {
  if (dim == literal.shape().dims.size()) {
    out += element_text(literal, next++);
    return;
  }
  out += '[';
  for (int64_t i = 0; i < literal.shape().dims[dim]; ++i) {
    if (i) out += ", ";
    append_elements(out, literal, dim + 1, next);
  }
  out += ']';
}

void append_tensor(std::string& out, const Attribute& a) {
  out += "dense<";
  if (is_splat(a)) {
    out += element_text(splat_element(a), 0);
  } else {
    const Literal literal = literal_of(a);
    int64_t next = 0;
    if (literal.size() > 0) append_elements(out, literal, 0, next);
  }
  out += "> : " + type_text(*a.type);
}

void append(std::string& out, const Attribute& a, int depth);

void append_axis(std::string& out, const Attribute& ref) {
  out += quoted(ref.text);
  if (!ref.items.empty()) out += fmt::format(":({}){}", ref.items[0]->numbers[0], ref.items[0]->numbers[1]);
}

void append_axes(std::string& out, const std::vector<const Attribute*>& axes) {
  append_list(out, axes, [&](const Attribute* a) { append_axis(out, *a); });
}

void append_mesh(std::string& out, const Attribute& mesh) {
  out += "<[";
  append_list(out, mesh.items,
              [&](const Attribute* axis) { out += quoted(axis->text) + "=" + std::to_string(axis->number); });
  out += ']';
  if (!mesh.numbers.empty()) out += fmt::format(", device_ids=[{}]", fmt::join(mesh.numbers, ", "));
  out += '>';
}

void append_dim(std::string& out, const Attribute& dim) {
  out += '{';
  append_axes(out, dim.items);
  if (dim.number == 0) out += dim.items.empty() ? "?" : ", ?";
  out += '}';
  if (dim.other[0] >= 0) out += fmt::format("p{}", dim.other[0]);
}

// Without the name of the kind before it.
void append_sharding(std::string& out, const Attribute& sharding) {
  const Attribute& mesh = *sharding.items[0];
  out += '<';
  if (mesh.kind == AttributeKind::kMesh) {
    out += "mesh";
    append_mesh(out, mesh);
  } else {
    out += "@" + (is_bare(mesh.text) ? std::string(mesh.text) : quoted(mesh.text));
  }
  out += ", [";
  append_list(out, std::span(sharding.items).subspan(1), [&](const Attribute* d) { append_dim(out, *d); });
  out += ']';
  if (!sharding.replicated.empty()) {
    out += ", replicated={";
    append_axes(out, sharding.replicated);
    out += '}';
  }
  if (!sharding.unreduced.empty()) {
    constexpr std::string_view kReductions[] = {"", "max", "min"};
    out += ", unreduced=";
    if (sharding.number > 0 && sharding.number < 3) out += kReductions[sharding.number];
    out += '{';
    append_axes(out, sharding.unreduced);
    out += '}';
  }
  out += '>';
}

std::string factor(int64_t i) {
  return i < 18 ? std::string(1, static_cast<char>('i' + i)) : fmt::format("z_{}", i - 17);
}

void append_mapping(std::string& out, const Attribute& mapping) {
  out += '[';
  append_list(out, mapping.items, [&](const Attribute* dim) {
    for (int64_t f : dim->numbers) out += factor(f);
  });
  out += ']';
}

void append_rule(std::string& out, const Attribute& rule) {
  const std::span<const Attribute* const> mappings = rule.items;
  out += "#sdy.op_sharding_rule<(";
  append_list(out, mappings.first(rule.number), [&](const Attribute* m) { append_mapping(out, *m); });
  out += ")->(";
  append_list(out, mappings.subspan(rule.number), [&](const Attribute* m) { append_mapping(out, *m); });
  out += ')';
  if (!rule.lists[0].empty()) {
    out += " {";
    int64_t next = 0;
    append_list(out, rule.lists[0], [&](int64_t size) { out += fmt::format("{}={}", factor(next++), size); });
    out += '}';
  }
  constexpr std::string_view kKinds[] = {"", "reduction", "need_replication", "permutation",
                                         "blocked_propagation"};
  for (size_t k = 1; k < 5; ++k) {
    if (rule.lists[k].empty()) continue;
    out += fmt::format(" {}={{", kKinds[k]);
    append_list(out, rule.lists[k], [&](int64_t f) { out += factor(f); });
    out += '}';
  }
  out += rule.other[0] ? ", custom>" : ">";
}

void append_dictionary(std::string& out, const Attribute& a, int depth) {
  out += '{';
  for (size_t i = 0; i + 1 < a.items.size(); i += 2) {
    if (i) out += ", ";
    const std::string_view name = a.items[i]->text;
    out += is_bare(name) ? std::string(name) : quoted(name);
    if (a.items[i + 1]->kind == AttributeKind::kUnit) continue;
    out += " = ";
    append(out, *a.items[i + 1], depth);
  }
  out += '}';
}

void append_dense_array(std::string& out, const Attribute& a) {
  if (a.type->kind != TypeKind::kElement) throw user_error("an array of elements that are none");
  const Shape& element = a.type->shape;
  const int64_t size = byte_size(element.dtype);
  if (a.number < 0 || a.number * size != static_cast<int64_t>(a.data.size()))
    throw user_error("an array of {} elements in {} bytes", a.number, a.data.size());
  out += "array<" + element_name(element.dtype);
  for (int64_t i = 0; i < a.number; ++i) {
    Literal one(element);
    std::copy_n(a.data.begin() + i * size, size, one.bytes());
    out += (i ? ", " : ": ") + element_text(one, 0);
  }
  out += '>';
}

void append(std::string& out, const Attribute& a, int depth) {
  constexpr int kMaxDepth = 100;
  if (depth > kMaxDepth) throw user_error("an attribute nests deeper than {}", kMaxDepth);
  constexpr size_t kLongest = 64 << 20;  // what is shared in the file is repeated in the text
  if (out.size() > kLongest) throw resource_error("an attribute of more than {} characters", kLongest);
  switch (a.kind) {
    case AttributeKind::kArray:
      out += '[';
      append_list(out, a.items, [&](const Attribute* item) { append(out, *item, depth + 1); });
      out += ']';
      return;
    case AttributeKind::kDictionary:
      return append_dictionary(out, a, depth + 1);
    case AttributeKind::kString:
      out += quoted(a.text);
      return;
    case AttributeKind::kSymbol:
      out += "@" + (is_bare(a.text) ? std::string(a.text) : quoted(a.text));
      return;
    case AttributeKind::kType:
      out += type_text(*a.type);
      return;
    case AttributeKind::kUnit:
      out += "unit";
      return;
    case AttributeKind::kBool:
      out += a.number ? "true" : "false";
      return;
    case AttributeKind::kInteger:
      if (a.type->kind == TypeKind::kElement && is_unsigned(a.type->shape.dtype))
        out += fmt::format("{}", static_cast<uint64_t>(a.number));
      else
        out += fmt::format("{}", a.number);
      out += " : " + type_text(*a.type);
      return;
    case AttributeKind::kFloat:
      out += float_text(a.type->shape.dtype, real_of(a), static_cast<uint64_t>(a.number)) + " : " +
             type_text(*a.type);
      return;
    case AttributeKind::kTensor:
      return append_tensor(out, a);
    case AttributeKind::kDenseArray:
      return append_dense_array(out, a);
    case AttributeKind::kManualAxes:
      out += "#sdy<manual_axes{";
      append_list(out, a.items, [&](const Attribute* axis) { out += quoted(axis->text); });
      out += "}>";
      return;
    case AttributeKind::kMesh:
      out += "#sdy.mesh";
      return append_mesh(out, a);
    case AttributeKind::kSharding:
      out += "#sdy.sharding";
      return append_sharding(out, a);
    case AttributeKind::kShardingPerValue:
      out += "#sdy.sharding_per_value<[";
      append_list(out, a.items, [&](const Attribute* one) { append_sharding(out, *one); });
      out += "]>";
      return;
    case AttributeKind::kShardingRule:
      return append_rule(out, a);
    default:
      throw unsupported_error("the text of an attribute of kind {}", static_cast<int>(a.kind));
  }
}

}  // namespace

std::string mlir_text(const Attribute& a) {
  std::string out;
  append(out, a, 0);
  return out;
}

}  // namespace armillary::vhlo
