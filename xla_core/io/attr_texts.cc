// Codecs of attributes that the core keeps as text: shardings, device lists, notes, aliasing, backend
// configurations.
#include <algorithm>
#include <cctype>

#include "xla_core/hlo/scanner.h"
#include "xla_core/hlo/text.h"
#include "xla_core/io/attr_proto.h"
#include "xla_core/io/device_proto.h"
#include "xla_core/io/literal_proto.h"
#include "xla_core/io/metadata_proto.h"
#include "xla_core/io/shape_proto.h"

namespace armillary {
namespace {

using MaybeValue = std::optional<AttrValue>;
using In = AttrSource;
using Out = AttrSink;
constexpr int kNesting = 100;

RawText raw(std::string text) { return {std::move(text), false}; }
const std::string& text_of(const AttrValue& value) { return std::get<RawText>(value).text; }

// The bytes a kept text stands for.
std::string plain_text(const AttrValue& value) {
  const RawText& text = std::get<RawText>(value);
  if (!text.quoted) return text.text;
  const std::string quoted = "\"" + text.text + "\"";
  return Scanner(quoted, "string", kNesting).string("a string");
}

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

// Bytes of any kind; what is not plain text must stand in quotes, escaped.
MaybeValue read_backend_config(const In& in) {
  const std::string& bytes = in.p.backend_config();
  if (bytes.empty()) return std::nullopt;
  if (is_braced(bytes) && is_ascii(bytes)) return raw(bytes);
  return RawText{escape(bytes), true};
}

MaybeValue read_sharding(const In& in) {
  if (!in.p.has_sharding()) return std::nullopt;
  return raw(sharding_text(in.p.sharding()));
}

MaybeValue read_frontend_attributes(const In& in) {
  if (in.p.frontend_attributes().map().empty()) return std::nullopt;
  return raw(frontend_attributes_text(in.p.frontend_attributes()));
}

MaybeValue read_statistics(const In& in) {
  if (in.p.statistics_viz().statistics_size() == 0) return std::nullopt;
  return raw(statistics_text(in.p.statistics_viz()));
}

MaybeValue read_origin(const In& in) {
  if (!in.p.has_original_value()) return std::nullopt;
  return raw(origin_text(in.p.original_value()));
}

MaybeValue read_replication(const In& in) {
  const auto& flags = in.p.parameter_replication().replicated_at_leaf_buffers();
  if (flags.empty()) return std::nullopt;
  return raw(fmt::format("{{{}}}", fmt::join(flags, ",")));
}

void write_replication(const Out& out, const AttrValue& value) {
  Scanner in(text_of(value), "parameter_replication", kNesting);
  in.expect('{', "to open the list");
  auto* flags = out.p->mutable_parameter_replication();
  in.list('}', "between flags",
          [&] { flags->add_replicated_at_leaf_buffers(in.boolean("a parameter's leaf")); });
}

MaybeValue read_accuracy(const In& in) {
  const auto& p = in.p.result_accuracy();
  if (p.has_tolerance())
    return raw(fmt::format("{{tolerance={{atol={},rtol={},ulps={}}}}}", p.tolerance().atol(),
                           p.tolerance().rtol(), p.tolerance().ulps()));
  if (p.mode() == proto::ResultAccuracy::DEFAULT) return std::nullopt;
  std::string mode = proto::ResultAccuracy::Mode_Name(p.mode());
  for (char& c : mode) c = static_cast<char>(std::tolower(c));
  return raw("{mode=" + mode + "}");
}

void write_accuracy(const Out& out, const AttrValue& value) {
  Scanner in(text_of(value), "result_accuracy", kNesting);
  in.expect('{', "to open the accuracy");
  if (in.accept("mode=")) {
    std::string name(in.identifier("a mode"));
    for (char& c : name) c = static_cast<char>(std::toupper(c));
    proto::ResultAccuracy::Mode mode;
    if (!proto::ResultAccuracy::Mode_Parse(name, &mode)) throw in.expected("default or highest");
    out.p->mutable_result_accuracy()->set_mode(mode);
  } else {
    in.expect("tolerance={", "or a mode");
    auto* tolerance = out.p->mutable_result_accuracy()->mutable_tolerance();
    while (!in.accept('}')) {
      const std::string_view name = in.identifier("atol, rtol or ulps");
      in.expect('=', "after the name of a tolerance");
      if (name == "atol")
        tolerance->set_atol(in.real("a tolerance"));
      else if (name == "rtol")
        tolerance->set_rtol(in.real("a tolerance"));
      else
        tolerance->set_ulps(in.integer("a number of ulps"));
      in.accept(',');
    }
  }
  in.expect('}', "to close the accuracy");
}

// {1,128} of a gather; {{1,128},{2,64}} of an in-place collective-permute, whose sizes lie flat on the wire.
MaybeValue read_slice_sizes(const In& in) {
  if (in.op == Op::gather) return raw(fmt::format("{{{}}}", fmt::join(in.p.gather_slice_sizes(), ",")));
  if (in.p.dynamic_slice_sizes().empty() || in.operands.empty()) return std::nullopt;
  std::string out = "{";
  int next = 0;
  for (const Shape* leaf : leaves_of(in.operands[0]->shape())) {
    out += next ? ",{" : "{";
    for (int64_t d = 0; d < leaf->rank() && next < in.p.dynamic_slice_sizes_size(); ++d, ++next)
      out += fmt::format("{}{}", d ? "," : "", in.p.dynamic_slice_sizes(next));
    out += "}";
    if (next == in.p.dynamic_slice_sizes_size()) break;
  }
  return raw(out + "}");
}

void write_slice_sizes(const Out& out, const AttrValue& value) {
  if (out.at.is(Op::gather)) {
    for (int64_t size : parse_int_list(text_of(value))) out.p->add_gather_slice_sizes(size);
    return;
  }
  Scanner in(text_of(value), "slice_sizes", kNesting);
  in.expect('{', "to open the sizes");
  while (!in.accept('}')) {
    for (int64_t size : parse_int_list(in.balanced("sizes"))) out.p->add_dynamic_slice_sizes(size);
    in.accept(',');
  }
}

MaybeValue read_layout_constraints(const In& in) {
  if (in.op != Op::custom_call || !in.p.constrain_layout()) return std::nullopt;
  std::string out = "{";
  for (int i = 0; i < in.p.operand_shapes_with_layout_size(); ++i)
    out += (i ? ", " : "") + to_string(shape_from_proto(in.p.operand_shapes_with_layout(i)), true);
  return raw(out + "}");
}

// The shapes between the braces, cut at the commas outside of any bracket.
void write_layout_constraints(const Out& out, const AttrValue& value) {
  out.p->set_constrain_layout(true);
  std::string_view text = text_of(value);
  if (text.size() >= 2) text = text.substr(1, text.size() - 2);
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : ',';
    depth += (c == '{' || c == '[' || c == '(') - (c == '}' || c == ']' || c == ')');
    if (c != ',' || depth > 0) continue;
    const std::string_view one = text.substr(begin, i - begin);
    if (one.find_first_not_of(" \n") != std::string_view::npos)
      shape_to_proto(parse_shape(one), out.p->add_operand_shapes_with_layout());
    begin = i + 1;
  }
}

MaybeValue read_aliasing(const In& in) {
  if (in.p.output_operand_aliasing().empty()) return std::nullopt;
  std::string out = "{";
  for (int i = 0; i < in.p.output_operand_aliasing_size(); ++i) {
    const auto& a = in.p.output_operand_aliasing(i);
    out += fmt::format("{}{{{}}}: ({}, {{{}}})", i ? ", " : "", fmt::join(a.output_shape_index(), ", "),
                       a.operand_index(), fmt::join(a.operand_shape_index(), ", "));
  }
  return raw(out + "}");
}

void write_aliasing(const Out& out, const AttrValue& value) {
  Scanner in(text_of(value), "output_to_operand_aliasing", kNesting);
  in.expect('{', "to open the aliasing");
  in.list('}', "between aliases", [&] {
    auto* a = out.p->add_output_operand_aliasing();
    for (int64_t i : parse_int_list(in.balanced("an index into the output"))) a->add_output_shape_index(i);
    in.expect(':', "after an index into the output");
    in.expect('(', "before an operand");
    a->set_operand_index(in.integer("the number of an operand"));
    if (in.accept(','))
      for (int64_t i : parse_int_list(in.balanced("an index into the operand")))
        a->add_operand_shape_index(i);
    in.expect(')', "after an operand");
  });
}

MaybeValue read_literal(const In& in) {
  if (in.op != Op::custom_call || !in.p.has_literal()) return std::nullopt;
  const Literal literal = literal_from_proto(in.p.literal());
  return raw(to_string(literal.shape(), true) + " " + to_string(literal));
}

// A shape, a blank, a value: the shape ends where the value's braces or digits begin.
void write_literal(const Out& out, const AttrValue& value) {
  const std::string& text = text_of(value);
  const size_t blank = text.find(' ', text.find(']') == std::string::npos ? 0 : text.find(']'));
  if (blank == std::string::npos) throw user_error("literal: expected a shape and a value");
  const Shape shape = parse_shape(std::string_view(text).substr(0, blank));
  literal_to_proto(parse_literal(shape, std::string_view(text).substr(blank + 1)), shape,
                   out.p->mutable_literal());
}

// The text says which side of the domain, entering or leaving, the wire says which side of the instruction:
// crossed.
MaybeValue read_domain(const In& in) {
  return raw(fmt::format("{{kind=\"sharding\", entry={}, exit={}}}",
                         sharding_text(in.p.domain_exit_sharding()),
                         sharding_text(in.p.domain_entry_sharding())));
}

void write_domain(const Out& out, const AttrValue& value) {
  Scanner in(text_of(value), "domain", kNesting);
  in.expect('{', "to open the domain");
  while (!in.accept('}')) {
    const std::string_view name = in.identifier("kind, entry or exit");
    in.expect('=', "after the name of a field");
    if (name == "entry")
      sharding_from_text(in.balanced("a sharding"), out.p->mutable_domain_exit_sharding());
    else if (name == "exit")
      sharding_from_text(in.balanced("a sharding"), out.p->mutable_domain_entry_sharding());
    else
      in.string("a string");
    in.accept(',');
  }
}

// Permutes say who sends to whom, all other collectives who belongs together.
bool is_permute(Op op) {
  return op == Op::collective_permute || op == Op::collective_permute_start ||
         op == Op::collective_permute_done;
}

MaybeValue read_replica_groups(const In& in) {
  if (is_permute(in.op)) return std::nullopt;
  return raw(replica_groups_text(in.p));
}

MaybeValue read_source_target_pairs(const In& in) {
  if (!is_permute(in.op) && in.p.source_target_pairs().empty()) return std::nullopt;
  return raw(source_target_pairs_text(in.p));
}

const AttrCodec kCodecs[] = {
    {Attr::sharding, read_sharding,
     [](const Out& o, const AttrValue& v) { sharding_from_text(text_of(v), o.p->mutable_sharding()); }},
    {Attr::frontend_attributes, read_frontend_attributes,
     [](const Out& o, const AttrValue& v) {
       frontend_attributes_from_text(text_of(v), o.p->mutable_frontend_attributes());
     }},
    {Attr::statistics, read_statistics,
     [](const Out& o, const AttrValue& v) {
       statistics_from_text(text_of(v), o.p->mutable_statistics_viz());
     }},
    {Attr::parameter_replication, read_replication, write_replication},
    {Attr::origin, read_origin,
     [](const Out& o, const AttrValue& v) { origin_from_text(text_of(v), o.p->mutable_original_value()); }},
    {Attr::backend_config, read_backend_config,
     [](const Out& o, const AttrValue& v) { o.p->set_backend_config(plain_text(v)); }},
    {Attr::result_accuracy, read_accuracy, write_accuracy},
    {Attr::slice_sizes, read_slice_sizes, write_slice_sizes},
    {Attr::operand_layout_constraints, read_layout_constraints, write_layout_constraints},
    {Attr::output_to_operand_aliasing, read_aliasing, write_aliasing},
    {Attr::literal, read_literal, write_literal},
    {Attr::replica_groups, read_replica_groups,
     [](const Out& o, const AttrValue& v) { replica_groups_from_text(text_of(v), o.p); }},
    {Attr::source_target_pairs, read_source_target_pairs,
     [](const Out& o, const AttrValue& v) { source_target_pairs_from_text(text_of(v), o.p); }},
    {Attr::domain, read_domain, write_domain},
};

}  // namespace

std::span<const AttrCodec> text_codecs() { return kCodecs; }

}  // namespace armillary
