#include "xla_core/base/dump.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <regex>
#include <system_error>

#include "xla_core/base/error.h"

namespace armillary {
namespace {

bool matches(std::string_view text, const std::string& pattern, std::string_view flag) {
  try {
    return std::regex_search(text.begin(), text.end(), std::regex(pattern, std::regex::extended));
  } catch (const std::regex_error& e) {
    throw user_error("--{}={} is no regular expression: {}", flag, pattern, e.what());
  }
}

// A name may hold anything; a file name may not.
std::string file_name_of(std::string name) {
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c)) &&
        std::string_view("_-.").find(c) == std::string_view::npos)
      c = '_';
  return name;
}

constexpr struct {
  DumpFormat format;
  bool XlaFlags::* wanted;
  std::string_view extension;
} kFormats[] = {
    {DumpFormat::kText, &XlaFlags::dump_text, ".txt"},
    {DumpFormat::kDot, &XlaFlags::dump_dot, ".dot"},
    {DumpFormat::kHtml, &XlaFlags::dump_html, ".html"},
    {DumpFormat::kProto, &XlaFlags::dump_proto, ".hlo.pb"},
};

void write_file(const std::string& path, std::string_view content) {
  if (path == "-") {
    std::cout << content << "\n";
    return;
  }
  std::error_code refused;  // then the file cannot be opened either
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), refused);
  std::ofstream file(path, std::ios::binary);
  file << content;
  if (!file) throw resource_error("cannot write {}", path);
}

}  // namespace

int64_t next_module_number() {
  static std::atomic<int64_t> count{0};
  return ++count;
}

Dumper::Dumper(int64_t module_number, std::string module_name, const XlaFlags& flags)
    : flags_(flags), prefix_(fmt::format("module_{:04}.{}", module_number, file_name_of(module_name))) {
  enabled_ =
      !flags_.dump_to.empty() && (flags_.dump_module_regex.empty() ||
                                  matches(module_name, flags_.dump_module_regex, "xla_dump_hlo_module_re"));
}

bool Dumper::wants_pass(std::string_view pass) const {
  return enabled_ && !flags_.dump_pass_regex.empty() &&
         matches(pass, flags_.dump_pass_regex, "xla_dump_hlo_pass_re");
}

void Dumper::dump(std::string_view stage, const Content& content) const {
  if (enabled_) write_formats(fmt::format("{}.{}", prefix_, stage), content);
}

void Dumper::dump_pass(std::string_view pipeline, std::string_view after, std::string_view before,
                       const Content& content) {
  if (!wants_pass(after) && !wants_pass(before)) return;
  write_formats(file_name_of(fmt::format("{}.{:04}.{}.after_{}.before_{}", prefix_, passes_dumped_++,
                                         pipeline, after, before)),
                content);
}

void Dumper::dump_file(std::string_view suffix, std::string_view content) const {
  if (enabled_) write_file(path(fmt::format("{}.{}", prefix_, suffix)), content);
}

// --xla_dump_to=- means standard output.
std::string Dumper::path(std::string_view file) const {
  return flags_.dump_to == "-" ? "-" : (std::filesystem::path(flags_.dump_to) / file).string();
}

void Dumper::write_formats(const std::string& stem, const Content& content) const {
  const bool any = std::ranges::any_of(kFormats, [&](const auto& row) { return flags_.*row.wanted; });
  for (const auto& row : kFormats)
    if (any ? flags_.*row.wanted : row.format == DumpFormat::kText)
      write_file(path(stem + std::string(row.extension)), content(row.format));
}

}  // namespace armillary
