#include "xla_core/io/vhlo/places.h"

#include <algorithm>

#include "xla_core/hlo/scanner.h"

namespace armillary::vhlo {
namespace {

struct Range {
  int64_t line = 0, column = 0, end_line = 0, end_column = 0;
};

// Files are written with as many numbers as they know.
Range range_of(const Attribute& file) {
  const Dims& n = file.numbers;
  auto at = [&](size_t i) { return i < n.size() ? n[i] : 0; };
  switch (n.size()) {
    case 3:
      return {n[0], n[1], n[0], n[2]};
    case 4:
      return {n[0], n[1], n[2], n[3]};
    default:
      return {at(0), at(1), at(0), at(1)};
  }
}

bool is_frame(const Attribute& a) {
  return a.kind == AttributeKind::kName && a.items[0]->kind == AttributeKind::kFileRange;
}

// A name that ends in a colon tells the type of an operation, which goes elsewhere; what follows an @ is no
// part of it.
std::string_view before_at(std::string_view name) { return name.substr(0, name.find('@')); }

void join(std::string& list, std::string_view name) {
  constexpr size_t kLongest = 4096;
  if (!list.empty()) list += ';';
  list += name.substr(0, kLongest - std::min(kLongest, list.size()));
}

// Fused places are visited in order, of a call the callee. The list of places to visit cannot be longer than
// the file.
std::string names_of(const Attribute& location) {
  std::string names;
  std::vector<const Attribute*> pending = {&location};
  constexpr int kMost = 1000;  // shared places may fan out
  for (int visits = 0; !pending.empty() && visits < kMost; ++visits) {
    const Attribute& at = *pending.back();
    pending.pop_back();
    if (at.kind == AttributeKind::kName) {
      const std::string_view name = before_at(at.text);
      if (name.ends_with(':'))
        pending.push_back(at.items[0]);
      else
        join(names, name);
    } else if (at.kind == AttributeKind::kCallSite) {
      pending.push_back(at.items[0]);
    } else if (at.kind == AttributeKind::kFused) {
      pending.insert(pending.end(), at.items.rbegin(), at.items.rend());
    }
  }
  return names;
}

std::string op_type_of(const Attribute& location) {
  for (const Attribute* at = &location;;) {
    if (at->kind == AttributeKind::kName) {
      const std::string_view name = before_at(at->text);
      if (name.ends_with(':')) return std::string(name.substr(0, name.size() - 1));
      at = at->items[0];
    } else if (at->kind == AttributeKind::kCallSite ||
               (at->kind == AttributeKind::kFused && !at->items.empty())) {
      at = at->items[0];
    } else {
      return {};
    }
  }
}

void set_file(const Attribute& location, Metadata& metadata, int depth = 0) {
  if (location.kind == AttributeKind::kFileRange) {
    const Range range = range_of(location);
    metadata.source_file = location.text;
    metadata.source_line = range.line;
    metadata.source_end_line = range.end_line;
    metadata.source_column = range.column;
    metadata.source_end_column = range.end_column;
  } else if (location.kind == AttributeKind::kFused && depth < 8) {
    for (const Attribute* item : location.items) set_file(*item, metadata, depth + 1);
  }
}

// The last part of a path: "jit(f)/dot_general" gives dot_general.
std::string instruction_name(std::string_view op_name) {
  return name_of(op_name.substr(op_name.rfind('/') + 1));
}

}  // namespace

std::string name_of(std::string_view text) {
  constexpr size_t kLongest = 100;
  std::string name(text.substr(0, kLongest));
  for (char& c : name)
    if (!is_name_char(c)) c = '_';
  return !name.empty() && !is_letter(name[0]) ? "_" + name : name;
}

const Place& Places::of_operation(const Attribute* location) {
  auto [found, is_new] = known_.try_emplace(location);
  if (is_new && location != nullptr) found->second = read(*location);
  return found->second;
}

Place Places::of_argument(const Attribute* location) const {
  Place place;
  if (location == nullptr) return place;
  place.metadata.op_name = names_of(*location);
  place.name = instruction_name(place.metadata.op_name);
  return place;
}

Place Places::read(const Attribute& location) {
  Place place;
  if (location.kind == AttributeKind::kUnknownPlace) return place;
  place.metadata.op_name = names_of(location);
  place.metadata.op_type = op_type_of(location);
  place.name = instruction_name(place.metadata.op_name);
  const Attribute* at = &location;
  while (at->kind == AttributeKind::kName && !is_frame(*at)) at = at->items[0];
  place.metadata.stack_frame_id = add_stack(*at);
  if (place.metadata.stack_frame_id == 0) set_file(*at, place.metadata);
  return place;
}

// Calls nest to the right: callee at (callee at ...). The outermost frame has no parent.
int64_t Places::add_stack(const Attribute& location) {
  std::vector<const Attribute*> frames, pending = {&location};
  constexpr size_t kMost = 1000;
  for (size_t visits = 0; !pending.empty() && visits < kMost; ++visits) {
    const Attribute& at = *pending.back();
    pending.pop_back();
    if (at.kind == AttributeKind::kCallSite)
      pending.insert(pending.end(), at.items.rbegin(), at.items.rend());
    else if (is_frame(at))
      frames.push_back(&at);
  }
  int64_t id = 0;
  for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) id = add_frame(**frame, id);
  return id;
}

int64_t Places::add_frame(const Attribute& name, int64_t parent) {
  auto id_of = [](auto& ids, auto key, auto make) {
    auto [found, is_new] = ids.try_emplace(key, static_cast<int64_t>(ids.size()) + 1);
    if (is_new) make();
    return found->second;
  };
  const Attribute& file = *name.items[0];
  const Range range = range_of(file);
  const int64_t file_id = id_of(files_, file.text, [&] { frames_.files.emplace_back(file.text); });
  const int64_t function = id_of(functions_, name.text, [&] { frames_.functions.emplace_back(name.text); });
  const int64_t location = id_of(locations_, std::tuple(file_id, function, range.line, range.column), [&] {
    frames_.locations.push_back(
        {file_id, function, range.line, range.end_line, range.column, range.end_column});
  });
  return id_of(frame_ids_, std::pair(location, parent),
               [&] { frames_.frames.push_back({location, parent}); });
}

}  // namespace armillary::vhlo
