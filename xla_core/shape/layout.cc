// Layouts: row-major by default, and their text form.
#include <algorithm>

#include "xla_core/shape/shape.h"

namespace armillary {

Layout Layout::row_major(int64_t rank) {
  Layout layout;
  for (int64_t d = rank; d-- > 0;) layout.minor_to_major.push_back(d);
  return layout;
}

bool Layout::is_row_major() const {
  const int64_t rank = static_cast<int64_t>(minor_to_major.size());
  for (int64_t i = 0; i < rank; ++i)
    if (minor_to_major[i] != rank - 1 - i) return false;
  return true;
}

namespace {

std::string join(const Dims& values) {
  std::string out;
  for (size_t i = 0; i < values.size(); ++i) {
    if (i) out += ',';
    out += values[i] == Layout::kCombineDim ? "*" : std::to_string(values[i]);
  }
  return out;
}

// The fields of `other` by where the grammar wants them: before the tiles, before the element size, at the
// end.
struct OtherFields {
  std::string before_tiles, before_bits, at_end;
};

OtherFields split_other(const std::string& other) {
  OtherFields fields;
  size_t begin = 0;
  while (begin < other.size()) {
    size_t end = begin;
    int depth = 0;
    for (; end < other.size(); ++end) {
      if (other[end] == '(') ++depth;
      if (other[end] == ')' && --depth == 0) break;
    }
    end = std::min(end + 1, other.size());
    const char kind = other[begin];
    std::string& where = kind == 'D'                  ? fields.before_tiles
                         : kind == '#' || kind == '*' ? fields.before_bits
                                                      : fields.at_end;
    where.append(other, begin, end - begin);
    begin = end;
  }
  return fields;
}

}  // namespace

std::string to_string(const Layout& layout) {
  const OtherFields other = split_other(layout.other);
  std::string fields = other.before_tiles;
  for (size_t i = 0; i < layout.tiles.size(); ++i)
    fields += (i == 0 ? "T(" : "(") + join(layout.tiles[i]) + ")";
  if (layout.tail_padding_alignment != 1)
    fields += "L(" + std::to_string(layout.tail_padding_alignment) + ")";
  fields += other.before_bits;
  if (layout.element_bits != 0) fields += "E(" + std::to_string(layout.element_bits) + ")";
  if (layout.memory_space != 0) fields += "S(" + std::to_string(layout.memory_space) + ")";
  fields += other.at_end;
  return "{" + join(layout.minor_to_major) + (fields.empty() ? "" : ":" + fields) + "}";
}

}  // namespace armillary
