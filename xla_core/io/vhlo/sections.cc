#include "xla_core/io/vhlo/sections.h"

#include <charconv>

#include "xla_core/hlo/scanner.h"
#include "xla_core/io/vhlo/op_rows.h"

namespace armillary::vhlo {
namespace {

// Versions of the bytecode format in which something was added (MLIR, Bytecode/Encoding.h).
constexpr uint64_t kDialectVersioning = 1, kCountsOpNames = 4, kNativeProperties = 5, kNewest = 6;

// Artifacts of these versions are read; the rows of ops know every form in between.
struct Version {
  int64_t major = 0, minor = 0, patch = 0;
  friend auto operator<=>(const Version&, const Version&) = default;
};
constexpr Version kOldestArtifact{0, 9, 0}, kNewestArtifact{1, 20, 0};

// "StableHLO_v1.17.0"
std::optional<Version> version_of(std::string_view producer) {
  constexpr std::string_view kPrefix = "StableHLO_v";
  if (!producer.starts_with(kPrefix)) return std::nullopt;
  Version v;
  const char *at = producer.data() + kPrefix.size(), *end = producer.data() + producer.size();
  for (int64_t* part : {&v.major, &v.minor, &v.patch}) {
    const auto [next, failure] = std::from_chars(at, end, *part);
    if (failure != std::errc() || (next != end) != (part != &v.patch)) return std::nullopt;
    at = next + (next != end);
  }
  return v;
}

}  // namespace

Section read_section(ByteReader& in) {
  const uint8_t id = in.byte();
  const uint64_t length = in.varint();
  if ((id & 0x7f) >= kNumSections) throw user_error("a section of kind {}", id & 0x7f);
  if (id & 0x80) in.align(in.varint());
  return {static_cast<SectionId>(id & 0x7f), in.part(length)};
}

Sections::Sections(Bytes file) {
  ByteReader in(file, file.data());
  version_ = read_header(in);
  while (!in.empty()) {
    const Section section = read_section(in);
    auto& slot = sections_[static_cast<int>(section.id)];
    if (slot) throw user_error("two sections of kind {}", static_cast<int>(section.id));
    slot = section.data;
  }
  read_strings();
  read_dialects();
  if (sections_[static_cast<int>(SectionId::kProperties)]) read_properties();
}

uint64_t read_header(ByteReader& in) {
  if (as_text(in.bytes(4)) != "ML\xefR") throw user_error("it does not begin as MLIR bytecode does");
  const uint64_t format = in.varint();
  const std::string_view producer = in.null_terminated();
  const std::optional<Version> version = version_of(producer);
  if (!version) throw user_error("bytecode of {}, not a StableHLO artifact", escape(producer.substr(0, 80)));
  if (*version < kOldestArtifact || *version > kNewestArtifact || format > kNewest)
    throw unsupported_error("{} in bytecode version {}: versions {}.{} to {}.{} are read", producer, format,
                            kOldestArtifact.major, kOldestArtifact.minor, kNewestArtifact.major,
                            kNewestArtifact.minor);
  return format;
}

ByteReader Sections::section(SectionId id) const {
  const auto& slot = sections_[static_cast<int>(id)];
  if (!slot) throw user_error("the section of kind {} is missing", static_cast<int>(id));
  return *slot;
}

std::string_view Sections::text(uint64_t index) const {
  const std::string_view bytes = string(index);
  if (!is_utf8(bytes)) throw user_error("string {} is no text", index);
  return bytes;
}

// Lengths come last string first, then the texts, each with its terminating zero.
void Sections::read_strings() {
  ByteReader in = section(SectionId::kString);
  strings_.resize(in.count());
  std::vector<uint64_t> lengths(strings_.size());
  for (size_t i = strings_.size(); i-- > 0;) lengths[i] = in.varint();
  for (size_t i = 0; i < strings_.size(); ++i) {
    const std::string_view text = as_text(in.bytes(lengths[i]));
    if (text.empty()) throw user_error("string {} has no end", i);
    strings_[i] = text.substr(0, text.size() - 1);
  }
}

void Sections::read_dialects() {
  ByteReader in = section(SectionId::kDialect);
  dialects_.resize(in.count());
  for (std::string_view& name : dialects_) {
    if (version_ < kDialectVersioning) {
      name = text(in.varint());
      continue;
    }
    const Flagged n = in.flagged();
    name = text(n.value);
    if (n.flag) read_section(in);  // the dialect's version: the producer's says it all
  }
  if (version_ >= kCountsOpNames) in.varint();
  while (!in.empty()) {
    const std::string_view of = dialect(in.varint());
    for (size_t i = 0, n = in.count(); i < n; ++i) {
      const std::string_view name = text(version_ < kNativeProperties ? in.varint() : in.flagged().value);
      op_names_.push_back({of, name, find_row(of, name)});
    }
  }
}

void Sections::read_properties() {
  ByteReader in = section(SectionId::kProperties);
  const size_t n = in.count();
  properties_.reserve(n);
  for (size_t i = 0; i < n; ++i) properties_.push_back(in.part(in.varint()));
}

}  // namespace armillary::vhlo
