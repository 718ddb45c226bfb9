// A custom call to a handler: arrays and attributes into a call frame, and the handler's error out of it.
#include <mutex>

#include "xla_core/client/host_hooks.h"
#include "xla_core/pjrt/ffi.h"
#include "xla_core/pjrt/ffi_attributes.h"

namespace armillary::pjrt {
namespace {

struct Registry {
  std::mutex mutex;
  std::map<std::string, XLA_FFI_Handler_Bundle, std::less<>> handlers;
  std::map<int64_t, void (*)(void*)> deleters;
  int64_t next_type = 1 << 20;  // above those that jaxlib gives out
};

Registry& registry() {
  static auto* all = new Registry;
  return *all;
}

bool find_handler(const std::string& target, XLA_FFI_Handler_Bundle& bundle) {
  {
    std::lock_guard lock(registry().mutex);
    const auto found = registry().handlers.find(target);
    if (found != registry().handlers.end()) {
      bundle = found->second;
      return true;
    }
  }
  if (!host_hooks().find_ffi_handler) return false;
  const HostHooks::FfiStages stages = host_hooks().find_ffi_handler(target, true);
  if (stages.execute == nullptr) return false;
  auto handler = [](void* p) { return reinterpret_cast<XLA_FFI_Handler*>(p); };
  bundle = {handler(stages.instantiate), handler(stages.prepare), handler(stages.initialize),
            handler(stages.execute)};
  return true;
}

// An array's description; the memory differs from run to run.
struct Buffers {
  explicit Buffers(const std::vector<Shape>& shapes) {
    for (const Shape& shape : shapes) {
      auto& d = dims.emplace_back(shape.dims);
      buffers.push_back({XLA_FFI_Buffer_STRUCT_SIZE, nullptr, ffi_type(shape.dtype), nullptr,
                         static_cast<int64_t>(d.size()), d.data()});
    }
  }
  std::vector<void*> bind(std::byte* const* data) {
    std::vector<void*> pointers;
    for (size_t k = 0; k < buffers.size(); ++k) {
      buffers[k].data = data[k];
      pointers.push_back(&buffers[k]);
    }
    return pointers;
  }
  std::deque<Dims> dims;
  std::vector<XLA_FFI_Buffer> buffers;
};

class FfiCall {
 public:
  FfiCall(CallSite site, const XLA_FFI_Handler_Bundle& bundle)
      : site_(std::move(site)), bundle_(bundle), attributes_(site_.config) {
    XLA_FFI_CallFrame frame = make_frame(XLA_FFI_ExecutionStage_INSTANTIATE);
    XLA_FFI_ExecutionContext context{.states = &states_};
    invoke(bundle_.instantiate, frame, context);
  }
  ~FfiCall() {
    std::lock_guard lock(registry().mutex);
    for (const auto& [stage, state] : states_) {
      const auto found = registry().deleters.find(state.type);
      if (found != registry().deleters.end() && found->second != nullptr) found->second(state.value);
    }
  }
  FfiCall(const FfiCall&) = delete;
  FfiCall& operator=(const FfiCall&) = delete;

  void run(std::byte* const* buffers, const DeviceContext& device) const {
    Buffers operands(site_.operands), results(site_.results);
    std::vector<void*> args = operands.bind(buffers), rets = results.bind(buffers + args.size());
    std::vector<XLA_FFI_ArgType> arg_types(args.size(), XLA_FFI_ArgType_BUFFER);
    std::vector<XLA_FFI_RetType> ret_types(rets.size(), XLA_FFI_RetType_BUFFER);
    XLA_FFI_ExecutionContext::States states = states_;
    XLA_FFI_ExecutionContext context{
        .states = &states, .user = static_cast<const FfiUserData*>(device.user), .device = device.device};
    const std::pair<XLA_FFI_Handler*, XLA_FFI_ExecutionStage> stages[] = {
        {bundle_.prepare, XLA_FFI_ExecutionStage_PREPARE},
        {bundle_.initialize, XLA_FFI_ExecutionStage_INITIALIZE},
        {bundle_.execute, XLA_FFI_ExecutionStage_EXECUTE}};
    for (const auto& [handler, stage] : stages) {
      XLA_FFI_CallFrame frame = make_frame(stage);
      frame.args = {XLA_FFI_Args_STRUCT_SIZE, nullptr, static_cast<int64_t>(args.size()), arg_types.data(),
                    args.data()};
      frame.rets = {XLA_FFI_Rets_STRUCT_SIZE, nullptr, static_cast<int64_t>(rets.size()), ret_types.data(),
                    rets.data()};
      invoke(handler, frame, context);
    }
  }

 private:
  XLA_FFI_CallFrame make_frame(XLA_FFI_ExecutionStage stage) const {
    XLA_FFI_CallFrame frame = {};
    frame.struct_size = XLA_FFI_CallFrame_STRUCT_SIZE;
    frame.api = ffi_api();
    frame.stage = stage;
    frame.args.struct_size = XLA_FFI_Args_STRUCT_SIZE;
    frame.rets.struct_size = XLA_FFI_Rets_STRUCT_SIZE;
    frame.attrs = attributes_.attrs();
    return frame;
  }

  void invoke(XLA_FFI_Handler* handler, XLA_FFI_CallFrame& frame, XLA_FFI_ExecutionContext& context) const {
    if (handler == nullptr) return;
    frame.ctx = &context;
    if (const std::unique_ptr<XLA_FFI_Error> error{handler(&frame)})
      throw CodedError(static_cast<PJRT_Error_Code>(error->code), error->message);
    if (frame.future == nullptr) return;
    const std::unique_ptr<XLA_FFI_Future> future(frame.future);
    future->done.wait();
    if (future->done.failure()) rethrow(future->done.failure());
  }

  const CallSite site_;
  const XLA_FFI_Handler_Bundle bundle_;
  const FfiAttributes attributes_;
  XLA_FFI_ExecutionContext::States states_;  // what instantiation left
};

}  // namespace

void register_ffi_handler(const std::string& target, const XLA_FFI_Handler_Bundle& bundle) {
  std::lock_guard lock(registry().mutex);
  registry().handlers.emplace(target, bundle);
}

void register_ffi_type(int64_t id, void (*deleter)(void*)) {
  std::lock_guard lock(registry().mutex);
  registry().deleters[id] = deleter;
}

int64_t new_ffi_type_id() {
  std::lock_guard lock(registry().mutex);
  return ++registry().next_type;
}

CallOut make_ffi_call(const CallSite& site) {
  XLA_FFI_Handler_Bundle bundle = {};
  if (site.api_version != "API_VERSION_TYPED_FFI" || !find_handler(site.target, bundle)) return {};
  auto call = std::make_shared<FfiCall>(site, bundle);
  return [call](std::byte* const* buffers, const DeviceContext& device) { call->run(buffers, device); };
}

void use_ffi_handlers() {
  static const bool once = (add_call_outs(make_ffi_call), add_call_outs(make_untyped_call), true);
  (void)once;
}

}  // namespace armillary::pjrt
