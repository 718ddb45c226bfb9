// Calls: of functions, of composites that stand for an op of HLO, of code outside the program.
#include "xla_core/hlo/scanner.h"
#include "xla_core/io/metadata_proto.h"
#include "xla_core/io/vhlo/op_import.h"

namespace armillary::vhlo {
namespace {

void call(OpImport& at) {
  Attrs attrs;
  attrs.set(Attr::to_apply, at.importer().function(at.text("callee")));
  at.give_elements(at.emit(Op::call, at.tuple_shape(), at.operands(), std::move(attrs)));
}

void top_k(OpImport& at, const Attribute& options) {
  const Attribute *k = options.find("k"), *largest = options.find("largest");
  if (k == nullptr) throw user_error("top_k without k");
  Attrs attrs;
  attrs.set(Attr::k, integer_of(*k));
  attrs.set(Attr::largest, largest == nullptr || integer_of(*largest) != 0);
  at.give_elements(at.emit(Op::topk, at.tuple_shape(), at.operands(), std::move(attrs)));
}

void ragged_dot(OpImport& at, const Attribute& options) {
  constexpr Attr kDims[] = {Attr::lhs_batch_dims,       Attr::rhs_batch_dims,  Attr::lhs_contracting_dims,
                            Attr::rhs_contracting_dims, Attr::lhs_ragged_dims, Attr::rhs_group_dims};
  const Attribute* numbers = options.find("ragged_dot_dimension_numbers");
  if (numbers == nullptr || items_of(*numbers).size() != std::size(kDims))
    throw user_error("ragged_dot without its six lists of dimensions");
  Attrs attrs;
  for (size_t i = 0; i < std::size(kDims); ++i) {
    Dims dims = ints_of(*items_of(*numbers)[i]);
    const bool contracts = kDims[i] == Attr::lhs_contracting_dims || kDims[i] == Attr::rhs_contracting_dims;
    if (!dims.empty() || contracts) attrs.set(kDims[i], std::move(dims));
  }
  if (const Attribute* precision = options.find("precision_config"); precision != nullptr) {
    std::vector<std::string> names;
    bool all_default = true;
    for (const Attribute* one : items_of(*precision)) {
      std::string name(text_of(*one));
      for (char& c : name) c = static_cast<char>(std::tolower(c));
      all_default &= name == "default";
      names.push_back(std::move(name));
    }
    if (!all_default) attrs.set(Attr::operand_precision, std::move(names));
  }
  at.give(at.emit(Op::ragged_dot, at.shape(), at.operands(), std::move(attrs)));
}

template <Op kOp>
void unary(OpImport& at, const Attribute&) {
  at.give(at.emit(kOp, at.shape(), at.operands()));
}

// Higher operations that HLO has an op for. Composites of the others run their decomposition; older programs
// have custom calls, which bring none.
struct HighLevel {
  std::string_view composite, custom_call;
  void (*import)(OpImport&, const Attribute& options);
  bool complex_only =
      false;  // composites of real numbers run their decomposition, whose rounding is expected
};
constexpr HighLevel kHighLevel[] = {
    {"chlo.erf", "mhlo.erf", unary<Op::erf>},
    {"chlo.top_k", "mhlo.topk", top_k},
    {"chlo.ragged_dot", "mhlo.ragged_dot", ragged_dot},
    {"", "mhlo.acos", unary<Op::acos>},
    {"", "mhlo.acosh", unary<Op::acosh>},
    {"", "mhlo.asin", unary<Op::asin>},
    {"", "mhlo.asinh", unary<Op::asinh>},
    {"", "mhlo.atanh", unary<Op::atanh>},
    {"chlo.cosh", "mhlo.cosh", unary<Op::cosh>, true},
    {"chlo.sinh", "mhlo.sinh", unary<Op::sinh>, true},
    {"", "mhlo.tan", unary<Op::tan>},
};

void composite(OpImport& at) {
  const std::string_view name = at.text("name");
  const Attribute& options = at.attribute("composite_attributes");
  if (at.integer("version") == 1)
    for (const HighLevel& known : kHighLevel)
      if (known.composite == name && (!known.complex_only || is_complex(at.shape().dtype)))
        return known.import(at, options);
  Attrs attrs;
  attrs.set(Attr::to_apply, at.importer().function(at.text("decomposition")));
  if (name.starts_with("chlo."))
    return at.give_elements(at.emit(Op::call, at.tuple_shape(), at.operands(), std::move(attrs)));
  attrs.set(Attr::is_composite, true);
  Instruction* result = at.emit(Op::call, at.tuple_shape(), at.operands(), std::move(attrs));
  proto::FrontendAttributes notes = at.frontend_attributes;
  (*notes.mutable_map())["composite.name"] = std::string(name);
  (*notes.mutable_map())["composite.attributes"] = mlir_text(options);
  (*notes.mutable_map())["composite.version"] = std::to_string(at.integer("version"));
  result->attrs().set(Attr::frontend_attributes, RawText{frontend_attributes_text(notes), false});
  at.give_elements(result);
}

// Which memory lies where: minor to major, one list an operand or result.
Shape with_layout(Shape shape, const Attribute& layout) {
  const Dims order = ints_of(layout);
  if (!shape.is_array()) return shape;
  std::vector<bool> seen(shape.dims.size(), false);
  for (int64_t d : order) {
    if (d < 0 || d >= shape.rank() || seen[d])
      throw user_error("{{{}}} is no layout of {}", fmt::join(order, ","), to_string(shape));
    seen[d] = true;
  }
  if (order.size() != shape.dims.size())
    throw user_error("{{{}}} is no layout of {}", fmt::join(order, ","), to_string(shape));
  shape.layout = Layout::row_major(shape.rank());
  shape.layout->minor_to_major = order;
  return shape;
}

void set_layouts(OpImport& at, Attrs& attrs, Shape& result) {
  const Attribute *operands = at.find("operand_layouts"), *results = at.find("result_layouts");
  if (operands == nullptr || results == nullptr) return;
  const auto &of_operands = items_of(*operands), &of_results = items_of(*results);
  if (of_operands.empty() && of_results.empty()) return;
  if (static_cast<int>(of_operands.size()) != at.num_operands())
    throw user_error("{} layouts for {} operands", of_operands.size(), at.num_operands());
  for (const Value* value : at.op().operands)
    if (value->type->kind == TypeKind::kFuture) return;  // which has none
  std::string text = "{";
  for (int i = 0; i < at.num_operands(); ++i)
    text += (i ? ", " : "") + to_string(with_layout(at.operand(i)->shape(), *of_operands[i]), true);
  attrs.set(Attr::operand_layout_constraints, RawText{text + "}", false});
  if (!result.is_tuple() && of_results.size() == 1) {
    result = with_layout(result, *of_results[0]);
  } else {
    if (of_results.size() != result.tuple.size())
      throw user_error("{} layouts for {}", of_results.size(), to_string(result));
    for (size_t i = 0; i < of_results.size(); ++i)
      result.tuple[i] = with_layout(result.tuple[i], *of_results[i]);
  }
}

void set_aliases(OpImport& at, Attrs& attrs) {
  const Attribute* aliases = at.find("output_operand_aliases");
  if (aliases == nullptr || items_of(*aliases).empty()) return;
  std::string text = "{";
  for (const Attribute* a : items_of(*aliases)) {
    if (a->kind != AttributeKind::kAlias) throw user_error("output_operand_aliases holds something else");
    text += fmt::format("{}{{{}}}: ({}, {{{}}})", text.size() > 1 ? ", " : "", fmt::join(a->numbers, ", "),
                        a->number, fmt::join(a->other, ", "));
  }
  attrs.set(Attr::output_to_operand_aliasing, RawText{text + "}", false});
}

bool is_ascii(std::string_view text) {
  for (const char c : text)
    if (static_cast<unsigned char>(c) >= 0x80) return false;
  return true;
}

// A dictionary for the typed interface, printed; bytes for all others. The dictionary may stand beside an
// older version number, as what came before it had no place for one.
void set_backend_config(OpImport& at, Attrs& attrs) {
  constexpr std::string_view kVersions[] = {"", "", "API_VERSION_STATUS_RETURNING",
                                            "API_VERSION_STATUS_RETURNING_UNIFIED", "API_VERSION_TYPED_FFI"};
  constexpr int64_t kTyped = 4;
  int64_t version = at.integer("api_version");
  if (version < 0 || version > kTyped) throw user_error("api_version is {}", version);
  const Attribute* config = at.find("mhlo.backend_config");
  if (config != nullptr)
    version = kTyped;
  else
    config = &at.attribute("backend_config");
  if (!kVersions[version].empty()) attrs.set(Attr::api_version, std::string(kVersions[version]));
  std::string bytes;
  if (config->kind == AttributeKind::kDictionary)
    bytes = mlir_text(*config);
  else if (version != kTyped)
    bytes = bytes_of(*config);
  if (bytes.empty()) return;
  if (is_braced(bytes) && is_ascii(bytes))
    attrs.set(Attr::backend_config, RawText{std::move(bytes), false});
  else
    attrs.set(Attr::backend_config, RawText{escape(bytes), true});
}

const Attribute& dictionary_of(OpImport& at) {
  const Attribute* config = at.find("mhlo.backend_config");
  if (config == nullptr) config = &at.attribute("backend_config");
  if (config->kind != AttributeKind::kDictionary) throw user_error("its configuration is no dictionary");
  return *config;
}

// All of them in order, of which the first are kept: exact where less would do.
void approx_top_k(OpImport& at) {
  const Attribute* dimension = dictionary_of(at).find("reduction_dim");
  const auto& callees = items_of(at.attribute("called_computations"));
  const int n = at.num_results();
  if (dimension == nullptr || callees.size() != 1 || at.num_operands() != 2 * n)
    throw user_error("ApproxTopK lacks its dimension, comparator or operands");
  const int64_t along = integer_of(*dimension);
  Attrs attrs;
  attrs.set(Attr::dimensions, Dims{along});
  attrs.set(Attr::to_apply, at.importer().function(text_of(*callees[0])));
  std::vector<Shape> shapes;
  for (int i = 0; i < n; ++i) shapes.push_back(at.operand(i)->shape());
  Instruction* sorted =
      at.emit(Op::sort, n == 1 ? shapes[0] : Shape::make_tuple(shapes), at.operands(0, n), std::move(attrs));
  for (int i = 0; i < n; ++i) {
    Slices slices;
    for (size_t d = 0; d < at.shape(i).dims.size(); ++d) slices.push_back({0, at.shape(i).dims[d], 1});
    Attrs first;
    first.set(Attr::slice, std::move(slices));
    at.give(
        i, at.emit(Op::slice, at.shape(i), {n == 1 ? sorted : at.emit_element(sorted, i)}, std::move(first)));
  }
}

// Devices exchange rows of different numbers.
void ragged_all_to_all(OpImport& at) {
  const Attribute& config = dictionary_of(at);
  const Attribute *groups = config.find("replica_groups"), *channel = config.find("channel_id");
  if (groups == nullptr) throw user_error("ragged_all_to_all without replica groups");
  std::string text = "{";
  for (Dims group : rows_of(*groups)) {
    std::erase(group, -1);
    text += fmt::format("{}{{{}}}", text.size() > 1 ? "," : "", fmt::join(group, ","));
  }
  Attrs attrs;
  attrs.set(Attr::replica_groups, RawText{text + "}", false});
  if (channel != nullptr && integer_of(*channel) > 0) attrs.set(Attr::channel_id, integer_of(*channel));
  at.give(at.emit(Op::ragged_all_to_all, at.shape(), at.operands(), std::move(attrs)));
}

void custom_call(OpImport& at) {
  const std::string_view target = at.text("call_target_name");
  if (target == "ragged_all_to_all") return ragged_all_to_all(at);
  if (target == "ApproxTopK") return approx_top_k(at);
  if (const Attribute* options = at.find("mhlo.attributes"))
    for (const HighLevel& known : kHighLevel)
      if (known.custom_call == target && options->kind == AttributeKind::kDictionary)
        return known.import(at, *options);
  Attrs attrs;
  attrs.set(Attr::custom_call_target, std::string(target));
  if (at.flag("has_side_effect")) attrs.set(Attr::custom_call_has_side_effect, true);
  set_backend_config(at, attrs);
  set_aliases(at, attrs);
  const auto& callees = items_of(at.attribute("called_computations"));
  if (callees.size() > 1) throw unsupported_error("a custom call of {} computations", callees.size());
  if (!callees.empty())
    attrs.set(Attr::called_computations,
              std::vector<Computation*>{at.importer().function(text_of(*callees[0]))});
  Shape shape = at.tuple_shape();
  set_layouts(at, attrs, shape);
  Instruction* result = at.emit(Op::custom_call, std::move(shape), at.operands(), std::move(attrs));
  // What Shardy notes on its changes of shape is about the whole.
  if (target == "xla.sdy.GlobalToLocalShape" || target == "xla.sdy.LocalToGlobalShape")
    at.frontend_attributes.clear_map();
  at.give_elements(result);
}

}  // namespace

std::vector<OpRow> call_rows() {
  return {
      {"vhlo", "call_v1", {"callee"}, call},
      {"vhlo", "composite_v1", {"name", "composite_attributes", "decomposition", "version"}, composite},
      {"vhlo", "composite_v2", {"name", "composite_attributes", "decomposition", "version"}, composite},
      {"vhlo",
       "custom_call_v1",
       {"call_target_name", "has_side_effect", "backend_config", "api_version", "called_computations",
        "operand_layouts", "result_layouts", "output_operand_aliases"},
       custom_call},
      {"vhlo",
       "custom_call_v2",
       {"call_target_name", "has_side_effect", "backend_config", "api_version", "called_computations",
        "operand_layouts", "result_layouts", "output_operand_aliases", "result_tilings"},
       custom_call},
  };
}

}  // namespace armillary::vhlo
