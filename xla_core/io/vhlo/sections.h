// The frame of a bytecode file: header, sections, and the tables of strings, dialects and operation names.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "xla_core/io/vhlo/byte_reader.h"

namespace armillary::vhlo {

struct OpRow;

enum class SectionId : uint8_t {
  kString,
  kDialect,
  kAttrType,
  kAttrTypeOffset,
  kIr,
  kResource,
  kResourceOffset,
  kDialectVersions,
  kProperties,
};
inline constexpr int kNumSections = 9;

// A section's header and its data.
struct Section {
  SectionId id;
  ByteReader data;
};
Section read_section(ByteReader& in);

// The version of the bytecode format; throws when the producer is no StableHLO of a version that is read.
uint64_t read_header(ByteReader& in);

struct OpName {
  std::string_view dialect, name;
  const OpRow* row;  // nullptr when we do not know the operation
};

class Sections {
 public:
  // An element of one of the tables.
  template <class Table>
  static auto& at(Table& table, uint64_t index, std::string_view what) {
    if (index >= table.size()) throw user_error("{} {} of {}", what, index, table.size());
    return table[static_cast<size_t>(index)];
  }

  explicit Sections(Bytes file);

  uint64_t version() const { return version_; }
  ByteReader section(SectionId id) const;  // throws when it is missing
  std::string_view string(uint64_t index) const { return at(strings_, index, "string"); }
  std::string_view text(uint64_t index) const;  // a string that people may read
  std::string_view dialect(uint64_t index) const { return at(dialects_, index, "dialect"); }
  const OpName& op_name(uint64_t index) const { return at(op_names_, index, "operation name"); }
  ByteReader properties(uint64_t index) const { return at(properties_, index, "set of properties"); }

 private:
  void read_strings();
  void read_dialects();
  void read_properties();

  uint64_t version_ = 0;
  std::optional<ByteReader> sections_[kNumSections];
  std::vector<std::string_view> strings_, dialects_;
  std::vector<OpName> op_names_;
  std::vector<ByteReader> properties_;
};

}  // namespace armillary::vhlo
