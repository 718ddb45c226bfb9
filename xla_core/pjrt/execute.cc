// Running: at once when that is quicker than handing over, else on the queue of the first device.
#include <algorithm>

#include "xla_core/client/host_hooks.h"
#include "xla_core/pjrt/buffer.h"
#include "xla_core/pjrt/executable.h"
#include "xla_core/pjrt/extensions.h"
#include "xla_core/pjrt/trace.h"

namespace armillary::pjrt {
namespace {

struct Input {
  StoragePtr storage;
  bool donated = false;
  std::unique_ptr<const Shape> lies = nullptr;  // where that is not how the program takes it
};

// One run on all devices of a program.
class Run {
 public:
  Run(const PJRT_Client& client, std::shared_ptr<const Built> built, std::vector<std::vector<Input>> inputs,
      FfiUserData user)
      : client_(client),
        built_(std::move(built)),
        inputs_(std::move(inputs)),
        user_(std::move(user)),
        outputs_(inputs_.size()) {
    for (auto& of_device : outputs_)
      for (size_t r = 0; r < built_->signature.results.size(); ++r)
        of_device.push_back(std::make_shared<Storage>());
  }

  const StoragePtr& output(size_t device, size_t r) const { return outputs_[device][r]; }
  const std::shared_ptr<Event>& done() const { return done_; }
  void set_traced_call(int64_t call) { traced_call_ = call; }

  bool inputs_are_ready() const {
    for (const auto& of_device : inputs_)
      for (const Input& input : of_device)
        if (!input.storage->ready.is_ready()) return false;
    return true;
  }

  // Never throws: what goes wrong reaches those who wait for the outputs.
  void run() {
    try {
      std::vector<std::vector<Literal>> results = execute();
      if (built_->simulated) ++built_->simulated->runs;  // before anybody can see that it has run
      inputs_.clear();                                   // memory goes back before anybody is told
      const std::shared_ptr<const std::string> name(built_, &built_->name);
      for (size_t d = 0; d < outputs_.size(); ++d)
        for (size_t r = 0; r < outputs_[d].size(); ++r) outputs_[d][r]->fill(std::move(results[d][r]), name);
      done_->set();
    } catch (...) {
      fail(with_arrays(failure_of(std::current_exception())));
    }
  }

 private:
  std::vector<std::vector<Literal>> execute() {
    std::vector<std::vector<Argument>> arguments(inputs_.size());
    for (size_t d = 0; d < inputs_.size(); ++d) {
      arguments[d].reserve(inputs_[d].size());
      for (size_t i = 0; i < inputs_[d].size(); ++i) {
        const Input& input = inputs_[d][i];
        const Literal& value = input.storage->wait();
        if (input.lies) {
          arguments[d].push_back({relaid(value, *input.lies, built_->signature.arguments[i]), true});
          continue;
        }
        // Nobody else holds the storage, nor can anybody get hold of it: its buffer has given it away.
        const bool ours = input.donated && !input.storage->read_only && input.storage.use_count() == 1;
        arguments[d].push_back({value, ours});
      }
    }
    std::unique_ptr<RunTracer> tracer;
    if (is_traced()) tracer = RunTracer::begin(client_, built_, traced_call_);
    if (arguments.size() > 1 || !user_.empty())
      return built_->executable->execute_on_devices(arguments, &user_, tracer.get());
    std::vector<std::vector<Literal>> results;
    results.push_back(built_->executable->execute(arguments[0], tracer.get()));
    return results;
  }

  static FailurePtr with_arrays(FailurePtr failure) {
    if (failure->code != PJRT_Error_Code_RESOURCE_EXHAUSTED) return failure;
    return std::make_shared<Failure>(Failure{failure->code, failure->message + "\n" + largest_arrays()});
  }

  void fail(const FailurePtr& failure) {
    inputs_.clear();
    for (const auto& of_device : outputs_)
      for (const StoragePtr& output : of_device) output->fail(failure);
    done_->set(failure);
  }

  const PJRT_Client& client_;
  std::shared_ptr<const Built> built_;
  int64_t traced_call_ = 0;
  std::vector<std::vector<Input>> inputs_;
  FfiUserData user_;
  std::vector<std::vector<StoragePtr>> outputs_;
  std::shared_ptr<Event> done_ = std::make_shared<Event>();
};

bool may_donate(const PJRT_ExecuteOptions* options, int64_t index) {
  if (options == nullptr || options->num_non_donatable_input_indices == 0) return true;
  const int64_t* begin = options->non_donatable_input_indices;
  const int64_t* end = begin + options->num_non_donatable_input_indices;
  return std::find(begin, end, index) == end;
}

void check(const PJRT_LoadedExecutable_Execute_Args& args, const Built& built) {
  const auto& devices = args.executable->devices;
  if (args.num_devices != devices.size())
    throw user_error("{} runs on {} devices, but got arguments for {}", built.name, devices.size(),
                     args.num_devices);
  if (args.execute_device != nullptr && (devices.size() != 1 || args.execute_device != devices[0]))
    throw unsupported_error("{}: a launch on another device than those it was compiled for", built.name);
  if (args.num_args != built.signature.donated.size())
    throw user_error("{} takes {} arrays, but got {}", built.name, built.signature.donated.size(),
                     args.num_args);
}

// An array that is given away cannot be another argument as well.
void check_donations(const PJRT_LoadedExecutable_Execute_Args& args, const std::vector<Input>& inputs,
                     size_t device) {
  PJRT_Buffer* const* buffers = args.argument_lists[device];
  for (size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].donated && std::count(buffers, buffers + inputs.size(), buffers[i]) > 1)
      throw user_error(
          "argument {} is donated and also another argument of the same call, as in f(donate(a), a)", i);
}

// JAX hands over arrays in other layouts where it takes them for arrays that are not bound to one.
std::unique_ptr<const Shape> unlike(const Shape& given, const Shape& wanted) {
  if (given.layout == wanted.layout || !given.is_array() || given.dims != wanted.dims ||
      is_dense(wanted, dense_strides(given)))
    return nullptr;
  return std::make_unique<const Shape>(given);
}

// All are looked at before the first is given away.
std::vector<std::vector<Input>> collect(const PJRT_LoadedExecutable_Execute_Args& args, const Built& built) {
  std::vector<std::vector<Input>> inputs(args.num_devices);
  for (size_t d = 0; d < args.num_devices; ++d) {
    inputs[d].reserve(args.num_args);
    for (size_t i = 0; i < args.num_args; ++i) {
      const bool donated = built.signature.donated[i] && may_donate(args.options, static_cast<int64_t>(i));
      const PJRT_Buffer& buffer = *args.argument_lists[d][i];
      inputs[d].push_back({buffer.storage(), donated, unlike(buffer.shape, built.signature.arguments[i])});
    }
  }
  for (size_t d = 0; d < args.num_devices; ++d) check_donations(args, inputs[d], d);
  for (size_t d = 0; d < args.num_devices; ++d)
    for (size_t i = 0; i < args.num_args; ++i)
      if (inputs[d][i].donated) args.argument_lists[d][i]->take();
  return inputs;
}

void hand_out(const PJRT_LoadedExecutable_Execute_Args& args, const Built& built, const Run& run) {
  const Signature& signature = built.signature;
  for (size_t d = 0; d < args.num_devices; ++d) {
    for (size_t r = 0; r < signature.results.size(); ++r)
      args.output_lists[d][r] = new PJRT_Buffer(
          signature.results[r], args.executable->devices[d]->memories[signature.result_memory_kinds[r]],
          run.output(d, r));
    if (args.device_complete_events != nullptr) args.device_complete_events[d] = new PJRT_Event{run.done()};
  }
}

void execute(PJRT_LoadedExecutable_Execute_Args& args) {
  std::shared_ptr<const Built> built = args.executable->built();
  check(args, *built);
  Queue& queue = args.executable->devices[0]->queue;
  FfiUserData user;
  if (args.options != nullptr && args.options->context != nullptr) user = args.options->context->user_data;
  auto run = std::make_shared<Run>(*args.executable->client, built, collect(args, *built), std::move(user));
  if (is_traced()) run->set_traced_call(traced_call(args.extension_start));
  // A callback that computes runs inside a task of the queue: behind it, it would wait for itself.
  const bool at_once = host_hooks().in_callback() || (built->is_quick && queue.is_idle());
  if (at_once && run->inputs_are_ready()) {
    run->run();
    if (run->done()->failure()) rethrow(run->done()->failure());
    return hand_out(args, *built, *run);
  }
  hand_out(args, *built, *run);
  queue.push([run = std::move(run)] { run->run(); });
}

void create_context(PJRT_ExecuteContext_Create_Args& args) { args.context = new PJRT_ExecuteContext; }
void destroy_context(PJRT_ExecuteContext_Destroy_Args& args) { delete args.context; }

}  // namespace

void add_execute(PJRT_Api& api) {
  api.PJRT_LoadedExecutable_Execute = guard<execute>;
  api.PJRT_ExecuteContext_Create = guard<create_context>;
  api.PJRT_ExecuteContext_Destroy = guard<destroy_context>;
}

}  // namespace armillary::pjrt
