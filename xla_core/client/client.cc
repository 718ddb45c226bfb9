#include "xla_core/client/client.h"

#include "xla_core/base/flags.h"
#include "xla_core/client/simulate.h"
#include "xla_core/hlo/text.h"

namespace armillary {

std::shared_ptr<Executable> Executable::compile(std::unique_ptr<Module> module,
                                                const CompileOptions& options) {
  CompileOptions complete = options;
  if (!complete.machine && !target_from_name(options.target).values_from.empty())
    complete.machine = machine_of(sim::parse_pod(flags().tpu_topology));
  return std::shared_ptr<Executable>(new Executable(armillary::compile(std::move(module), complete)));
}

void Executable::check(std::span<const Argument> arguments) const {
  const Program& p = program();
  if (p.simulated && p.steps.empty() && !p.code)
    throw user_error("{} was compiled for its time alone: it has no values", module().name());
  std::vector<const Shape*> want;
  for (const Shape& parameter : p.parameter_shapes)
    for (const Shape* leaf : leaves_of(parameter)) want.push_back(leaf);
  if (arguments.size() != want.size())
    throw user_error("{} takes {} arrays, but got {}", module().name(), want.size(), arguments.size());
  for (size_t n = 0; n < want.size(); ++n) {
    if (!want[n]->is_array()) continue;
    const Shape& got = arguments[n].value.shape();
    if (got.dtype != want[n]->dtype || got.dims != want[n]->dims)
      throw user_error("argument {} of {} is {}, but it takes {}", n, module().name(), to_string(got),
                       to_string(*want[n]));
  }
}

std::vector<Literal> Executable::execute(std::span<const Argument> arguments, StepObserver* observer) const {
  if (program().num_devices() != 1)
    throw user_error("{} runs on {} devices, but got arguments for one", module().name(),
                     program().num_devices());
  check(arguments);
  return run(program(), arguments, *arenas_, observer);
}

std::vector<std::vector<Literal>> Executable::execute_on_devices(
    std::span<const std::vector<Argument>> arguments, void* user, StepObserver* observer) const {
  if (static_cast<int64_t>(arguments.size()) != program().num_devices())
    throw user_error("{} runs on {} devices, but got arguments for {}", module().name(),
                     program().num_devices(), arguments.size());
  for (const std::vector<Argument>& of_device : arguments) check(of_device);
  return run_on_devices(program(), arguments, *arenas_, user, observer);
}

std::string Executable::as_text() const { return print(module()); }

}  // namespace armillary
