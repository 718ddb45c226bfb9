// Where a module's dumps go, under the names XLA gives them. Knows file names only; contents are handed in as
// text.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "xla_core/base/flags.h"

namespace armillary {

enum class DumpFormat : uint8_t { kText, kDot, kHtml, kProto };

// The next module's number, counted through the process.
int64_t next_module_number();

// One module's dumps. Does nothing, and asks for no content, when nothing is to be dumped.
class Dumper {
 public:
  using Content = std::function<std::string(DumpFormat)>;

  Dumper(int64_t module_number, std::string module_name, const XlaFlags& flags = xla_flags());

  // Are this module's dumps wanted at all?
  bool enabled() const { return enabled_; }
  // Is this pass's (matched against --xla_dump_hlo_pass_re)?
  bool wants_pass(std::string_view pass) const;

  // module_0001.jit_f.before_optimizations.txt, module_0001.jit_f.cpu_after_optimizations.txt, ... in every
  // format asked for.
  void dump(std::string_view stage, const Content& content) const;
  // module_0001.jit_f.0003.simplification.after_dce.before_cse.txt; numbers count the dumps of this module.
  // `before` is the next pass, or "pipeline-end"; `after` the pass that ran, or "pipeline-start".
  void dump_pass(std::string_view pipeline, std::string_view after, std::string_view before,
                 const Content& content);
  // A file beside them with its own suffix: module_0001.jit_f.cpu_after_optimizations-buffer-assignment.txt,
  // or a kernel's .ll.
  void dump_file(std::string_view suffix, std::string_view content) const;

 private:
  std::string path(std::string_view file) const;
  void write_formats(const std::string& stem, const Content& content) const;

  const XlaFlags& flags_;
  std::string prefix_;  // module_0001.jit_f
  bool enabled_ = false;
  int64_t passes_dumped_ = 0;
};

}  // namespace armillary
