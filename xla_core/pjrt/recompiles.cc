#include "xla_core/pjrt/recompiles.h"

#include <cstdio>
#include <map>
#include <mutex>

#include "xla_core/base/flags.h"
#include "xla_core/pjrt/entry.h"

namespace armillary::pjrt {
namespace {

std::string name_of(const Instruction& parameter) {
  const std::string& name = parameter.metadata().op_name;
  return name.empty() ? fmt::format("argument {}", parameter.parameter_number())
                      : fmt::format("argument {} ({})", parameter.parameter_number(), name);
}

struct Argument {
  std::string name;
  Shape shape;
};

std::string differences(const std::vector<Argument>& before, const std::vector<Argument>& now) {
  if (before.size() != now.size())
    return fmt::format("it takes {} arrays, and took {}", now.size(), before.size());
  std::string out;
  for (size_t k = 0; k < now.size(); ++k)
    if (!now[k].shape.compatible(before[k].shape))
      out += fmt::format("{}{} is {}, and was {}", out.empty() ? "" : "; ", now[k].name,
                         to_string(now[k].shape), to_string(before[k].shape));
  return out.empty() ? "the arguments look alike: a static argument, a closed-over value or an option differs"
                     : out;
}

}  // namespace

void explain_recompile(const Module& module) {
  if (!flags().explain_recompiles) return;
  static std::mutex mutex;
  static auto* last = new std::map<std::string, std::vector<Argument>>;
  std::vector<Argument> arguments;
  for (const Instruction* p : module.entry()->parameters()) arguments.push_back({name_of(*p), p->shape()});
  std::lock_guard lock(mutex);
  const auto [at, is_new] = last->try_emplace(module.name(), arguments);
  if (is_new) return;
  std::fprintf(stderr, "armillary: %s is compiled again: %s\n", module.name().c_str(),
               differences(at->second, arguments).c_str());
  at->second = std::move(arguments);
}

}  // namespace armillary::pjrt
