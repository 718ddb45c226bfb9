// What a pass is, and everything it is told: options, fuel, and where its counts go.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "xla_core/base/flags.h"
#include "xla_core/hlo/module.h"
#include "xla_core/hlo/verify.h"
#include "xla_core/target/target.h"

namespace armillary {

// Knobs of the passes: the flags of the same names (base/flags.def), which say what each one does.
struct PassOptions {
  PassOptions(const Flags& flags = armillary::flags());  // NOLINT: the flags in force are the default
  int64_t constant_folding_max_bytes, constant_folding_max_work, fixpoint_rounds, inline_max_instructions;
  int64_t fusion_max_body, fusion_max_operands, fusion_max_recomputed;
  bool multi_output_fusion;
  FusionPolicy fusion;  // the target's, no flag
};

// How many rewrites may still happen. `armillary bisect` searches for the smallest limit that breaks a
// result.
struct Fuel {
  int64_t limit = -1;  // -1: no limit
  int64_t used = 0;
  std::string last_rewrite;  // "pass: instruction" of rewrite number `limit`
};

struct PassRecord {
  std::string pipeline, pass;
  double seconds = 0;
  int64_t rewrites = 0;
  int64_t instructions_before = 0, instructions_after = 0;
  bool changed = false;
};

// One per compile. Passes see it as const; what they spend and count is mutable.
struct PassContext {
  PassOptions options;
  mutable Stage stage = Stage::kParsed;  // moved on by whoever runs the pipelines
  bool verify_each = false;
  std::vector<std::string> disabled;  // passes that are skipped, by name, unless they are needed
  // After each pass that changed something: (module, pipeline, pass that ran, pass that follows or
  // "pipeline-end").
  std::function<void(const Module&, std::string_view, std::string_view, std::string_view)> dump;

  mutable Fuel fuel;
  mutable std::vector<PassRecord> records;
  mutable std::string_view running;  // name of the pass at work

  // Asked before each rewrite; false means: leave it. `at` is blamed when this is the last one allowed.
  bool spend(const Instruction* at = nullptr) const {
    if (fuel.limit >= 0 && fuel.used >= fuel.limit) return false;
    if (++fuel.used == fuel.limit) note_last(at);
    return true;
  }
  void note_last(const Instruction* at) const;
};

// Valid module in, valid module out; says whether it changed anything.
using PassFunction = bool (*)(Module&, const PassContext&);

struct PassRow {
  std::string_view name;
  std::string_view doc;  // one sentence
  PassFunction run = nullptr;
  bool needed = false;  // no program can do without it: it cannot be switched off
};

// The registry, in the order of registration; the generic passes are always in it.
std::span<const PassRow> all_passes();
void register_passes(std::span<const PassRow> rows);   // rows that are already there are ignored
const PassRow& pass_from_name(std::string_view name);  // throws a user error that names the nearest pass

// Runs "a,b,fixpoint(c,d)": after each pass verifies (verify_each), dumps, counts. True when something
// changed.
bool run_pipeline(Module& module, std::string_view passes, const PassContext& context,
                  std::string_view pipeline = "passes");

}  // namespace armillary
