#include "xla_core/io/metadata_proto.h"

#include <algorithm>
#include <map>
#include <vector>

#include "xla_core/hlo/scanner.h"

namespace armillary {
namespace {

constexpr int kNesting = 100;

int32_t narrow(int64_t value) { return static_cast<int32_t>(std::clamp<int64_t>(value, 0, INT32_MAX)); }

std::string profile_types(const proto::OpMetadata& p) {
  return p.profile_type_size() == 0 ? ""
                                    : fmt::format("profile_type={{{}}}", fmt::join(p.profile_type(), ","));
}

void read_profile_types(Scanner& in, proto::OpMetadata* p) {
  in.expect('{', "to open profile_type");
  while (!in.accept('}')) {
    p->add_profile_type(static_cast<int32_t>(in.integer("a profile type")));
    in.accept(',');
  }
}

}  // namespace

bool is_braced(std::string_view text) {
  if (text.size() < 2 || text.front() != '{' || text.back() != '}') return false;
  int depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        quoted = false;
      continue;
    }
    if (c == '"') quoted = true;
    depth += (c == '{') - (c == '}');
    if (depth == 0) return i + 1 == text.size();
  }
  return false;
}

Metadata metadata_from_proto(const proto::OpMetadata& p) {
  Metadata m;
  m.op_type = p.op_type();
  m.op_name = p.op_name();
  m.source_file = p.source_file();
  m.source_line = p.source_line();
  m.source_end_line = p.source_end_line();
  m.source_column = p.source_column();
  m.source_end_column = p.source_end_column();
  m.stack_frame_id = p.stack_frame_id();
  m.deduplicated_name = p.deduplicated_name();
  m.scheduling_name = p.scheduling_name();
  m.other = profile_types(p);
  return m;
}

void metadata_to_proto(const Metadata& m, proto::OpMetadata* p) {
  p->set_op_type(m.op_type);
  p->set_op_name(m.op_name);
  p->set_source_file(m.source_file);
  p->set_source_line(narrow(m.source_line));
  p->set_source_end_line(narrow(m.source_end_line));
  p->set_source_column(narrow(m.source_column));
  p->set_source_end_column(narrow(m.source_end_column));
  p->set_stack_frame_id(narrow(m.stack_frame_id));
  p->set_deduplicated_name(m.deduplicated_name);
  p->set_scheduling_name(m.scheduling_name);
  if (!m.other.empty()) metadata_from_text("{" + m.other + "}", p);
}

std::string metadata_text(const proto::OpMetadata& p) {
  std::vector<std::string> fields;
  auto text = [&](std::string_view name, const std::string& value) {
    if (!value.empty()) fields.push_back(fmt::format("{}=\"{}\"", name, escape(value)));
  };
  auto number = [&](std::string_view name, int64_t value) {
    if (value != 0) fields.push_back(fmt::format("{}={}", name, value));
  };
  text("op_type", p.op_type());
  text("op_name", p.op_name());
  text("source_file", p.source_file());
  number("source_line", p.source_line());
  number("source_end_line", p.source_end_line());
  number("source_column", p.source_column());
  number("source_end_column", p.source_end_column());
  if (p.profile_type_size() > 0) fields.push_back(profile_types(p));
  text("deduplicated_name", p.deduplicated_name());
  text("scheduling_name", p.scheduling_name());
  number("stack_frame_id", p.stack_frame_id());
  return fmt::format("{{{}}}", fmt::join(fields, " "));
}

void metadata_from_text(std::string_view text, proto::OpMetadata* p) {
  Scanner in(text, "metadata", kNesting);
  in.expect('{', "to open the metadata");
  while (!in.accept('}')) {
    const std::string_view name = in.identifier("a metadata field");
    in.expect('=', "after the name of a metadata field");
    if (name == "op_type")
      p->set_op_type(in.string("a string"));
    else if (name == "op_name")
      p->set_op_name(in.string("a string"));
    else if (name == "source_file")
      p->set_source_file(in.string("a string"));
    else if (name == "deduplicated_name")
      p->set_deduplicated_name(in.string("a string"));
    else if (name == "scheduling_name")
      p->set_scheduling_name(in.string("a string"));
    else if (name == "source_line")
      p->set_source_line(narrow(in.integer("a line")));
    else if (name == "source_end_line")
      p->set_source_end_line(narrow(in.integer("a line")));
    else if (name == "source_column")
      p->set_source_column(narrow(in.integer("a column")));
    else if (name == "source_end_column")
      p->set_source_end_column(narrow(in.integer("a column")));
    else if (name == "stack_frame_id")
      p->set_stack_frame_id(narrow(in.integer("a frame")));
    else if (name == "profile_type")
      read_profile_types(in, p);
    else if (in.peek() == '{')
      in.balanced("a value");  // a field without a place on the wire
    else if (in.peek() == '"')
      in.string("a string");
    else if (in.at_integer())
      in.integer("a number");
    else
      in.identifier("a value");
  }
}

StackFrames stack_frames_from_proto(const proto::StackFrameIndexProto& p) {
  StackFrames frames;
  frames.files.assign(p.file_names().begin(), p.file_names().end());
  frames.functions.assign(p.function_names().begin(), p.function_names().end());
  for (const auto& l : p.file_locations())
    frames.locations.push_back(
        {l.file_name_id(), l.function_name_id(), l.line(), l.end_line(), l.column(), l.end_column()});
  for (const auto& f : p.stack_frames()) frames.frames.push_back({f.file_location_id(), f.parent_frame_id()});
  return frames;
}

void stack_frames_to_proto(const StackFrames& frames, proto::StackFrameIndexProto* p) {
  for (const std::string& file : frames.files) p->add_file_names(file);
  for (const std::string& function : frames.functions) p->add_function_names(function);
  for (const StackFrames::Location& l : frames.locations) {
    auto* out = p->add_file_locations();
    out->set_file_name_id(narrow(l.file));
    out->set_function_name_id(narrow(l.function));
    out->set_line(narrow(l.line));
    out->set_end_line(narrow(l.end_line));
    out->set_column(narrow(l.column));
    out->set_end_column(narrow(l.end_column));
  }
  for (const StackFrames::Frame& f : frames.frames) {
    auto* out = p->add_stack_frames();
    out->set_file_location_id(narrow(f.location));
    out->set_parent_frame_id(narrow(f.parent));
  }
}

std::string frontend_attributes_text(const proto::FrontendAttributes& p) {
  const std::map<std::string, std::string> sorted(p.map().begin(), p.map().end());
  std::vector<std::string> entries;
  for (const auto& [key, value] : sorted)
    entries.push_back(is_braced(value) ? key + "=" + value : fmt::format("{}=\"{}\"", key, escape(value)));
  return fmt::format("{{{}}}", fmt::join(entries, ","));
}

void frontend_attributes_from_text(std::string_view text, proto::FrontendAttributes* p) {
  Scanner in(text, "frontend_attributes", kNesting);
  in.expect('{', "to open the frontend attributes");
  in.list('}', "between frontend attributes", [&] {
    const std::string key = in.peek() == '"' ? in.string("a name") : std::string(in.identifier("a name"));
    in.expect('=', "after the name of a frontend attribute");
    (*p->mutable_map())[key] =
        in.peek() == '{' ? std::string(in.balanced("a value")) : in.string("a string or a text in braces");
  });
}

std::string statistics_text(const proto::StatisticsViz& p) {
  std::string out = fmt::format("{{visualizing_index={}", p.stat_index_to_visualize());
  for (const auto& statistic : p.statistics())
    out += fmt::format(",{}={}", statistic.stat_name(), statistic.stat_val());
  return out + "}";
}

void statistics_from_text(std::string_view text, proto::StatisticsViz* p) {
  Scanner in(text, "statistics", kNesting);
  in.expect('{', "to open the statistics");
  in.list('}', "between statistics", [&] {
    const std::string_view name = in.identifier("the name of a statistic");
    in.expect('=', "after the name of a statistic");
    if (name == "visualizing_index") {
      p->set_stat_index_to_visualize(in.integer("an index"));
    } else {
      auto* statistic = p->add_statistics();
      statistic->set_stat_name(std::string(name));
      statistic->set_stat_val(in.real("a number"));
    }
  });
}

namespace {

using Elements = std::map<Dims, const proto::OriginalValueElementProto*>;

// An element is a leaf; what has elements below it, or none at all, is a tuple.
void append_origin(const Elements& elements, Dims& index, std::string& out) {
  const auto found = elements.find(index);
  if (found != elements.end()) {
    const auto& array = found->second->original_array();
    out += '{';
    if (found->second->has_original_array()) out += fmt::format("\"{}\"", escape(array.instruction_name()));
    if (array.shape_index_size() > 0) out += fmt::format(" {{{}}}", fmt::join(array.shape_index(), ","));
    out += '}';
    return;
  }
  // The last index below this node tells how many elements the tuple has.
  int64_t last = -1;
  for (const auto& [at, element] : elements)
    if (at.size() > index.size() && std::equal(index.begin(), index.end(), at.begin()))
      last = std::max(last, at[index.size()]);
  out += '(';
  for (int64_t i = 0; i <= last; ++i) {
    if (i) out += ", ";
    index.push_back(i);
    append_origin(elements, index, out);
    index.pop_back();
  }
  out += ')';
}

void read_origin(Scanner& in, Dims& index, proto::OriginalValueProto* p) {
  Scanner::Nest nest(in, "an origin");
  if (in.accept('(')) {
    for (int64_t i = 0; !in.accept(')'); ++i) {
      index.push_back(i);
      read_origin(in, index, p);
      index.pop_back();
      in.accept(',');
    }
    return;
  }
  in.expect('{', "to open an origin");
  auto* element = p->add_elements();
  for (int64_t i : index) element->add_shape_index(i);
  if (in.accept('}')) return;
  element->mutable_original_array()->set_instruction_name(in.string("the name of the original instruction"));
  if (in.peek() == '{')
    for (int64_t i : parse_int_list(in.balanced("an index")))
      element->mutable_original_array()->add_shape_index(i);
  in.expect('}', "to close an origin");
}

}  // namespace

std::string origin_text(const proto::OriginalValueProto& p) {
  if (p.is_synthetic_call()) return "{[synthetic_call]}";
  constexpr int64_t kMaxIndex = 1 << 16, kMaxDepth = 100;  // what a file may ask us to print
  Elements elements;
  for (const auto& e : p.elements()) {
    Dims index(e.shape_index().begin(), e.shape_index().end());
    for (int64_t i : index)
      if (i < 0 || i >= kMaxIndex || index.size() > kMaxDepth) throw user_error("origin: bad index {}", i);
    elements[std::move(index)] = &e;
  }
  std::string out = "{";
  Dims index;
  append_origin(elements, index, out);
  return out + "}";
}

void origin_from_text(std::string_view text, proto::OriginalValueProto* p) {
  Scanner in(text, "origin", kNesting);
  in.expect('{', "to open an origin");
  if (in.accept("[synthetic_call]")) return p->set_is_synthetic_call(true);
  Dims index;
  read_origin(in, index, p);
  in.expect('}', "to close an origin");
}

}  // namespace armillary
