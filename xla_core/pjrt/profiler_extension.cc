// The profiler extension of PJRT: JAX starts and stops traces through it, and asks what our devices did.
#include "xla/pjrt/c/pjrt_c_api_profiler_extension.h"

#include <cstring>

#include "xla_core/io/xspace.pb.h"
#include "xla_core/pjrt/extensions.h"
#include "xla_core/pjrt/trace.h"

using armillary::pjrt::FailurePtr;
using armillary::pjrt::TraceSession;

// JAX makes one for each platform, and all of ours are one library: the first that starts takes the trace.
struct PLUGIN_Profiler {
  int64_t most_events = 0;  // 0: the caller wants nothing of devices
  std::shared_ptr<TraceSession> session;
  bool is_collected = false;
  std::string bytes;
};
struct PLUGIN_Profiler_Error {
  FailurePtr failure;
};

namespace armillary::pjrt {
namespace {

// The structs of this interface come with sizes that were never set.
template <auto body>
PLUGIN_Profiler_Error* guarded(decltype(argument_of(body))* args) noexcept {
  try {
    body(*args);
    return nullptr;
  } catch (...) {
    return new PLUGIN_Profiler_Error{failure_of(std::current_exception())};
  }
}

constexpr int64_t kMostEvents = 250'000;  // assumed: JAX takes 2 KiB for each while it writes them
constexpr const char* kMostEventsOption = "armillary_max_events";

int64_t most_events(std::string_view bytes) {
  xprof::ProfileOptions options;
  if (bytes.size() > INT32_MAX || !options.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    throw user_error("{} bytes that are no ProfileOptions", bytes.size());
  if (options.device_tracer_level() == 0) return 0;
  const auto& more = options.advanced_configuration();
  const auto at = more.find(kMostEventsOption);
  if (at == more.end()) return kMostEvents;
  if (at->second.value_case() != xprof::ProfileOptions::AdvancedConfigValue::kInt64Value ||
      at->second.int64_value() < 0)
    throw user_error("{} is a number of events", kMostEventsOption);
  return at->second.int64_value();
}

void create(PLUGIN_Profiler_Create_Args& args) {
  auto profiler = std::make_unique<PLUGIN_Profiler>();
  profiler->most_events = most_events(text(args.options, args.options_size));
  args.profiler = profiler.release();
}

void destroy(PLUGIN_Profiler_Destroy_Args& args) {
  const std::unique_ptr<PLUGIN_Profiler> profiler(args.profiler);
  if (profiler) stop_trace(profiler->session);
}

void start(PLUGIN_Profiler_Start_Args& args) {
  PLUGIN_Profiler& profiler = *args.profiler;
  stop_trace(profiler.session);
  profiler.session = profiler.most_events > 0 ? start_trace(profiler.most_events) : nullptr;
  profiler.is_collected = false;
}

void stop(PLUGIN_Profiler_Stop_Args& args) { stop_trace(args.profiler->session); }

// The first call, without a buffer, gets ours; who brings one gets a copy.
void collect(PLUGIN_Profiler_CollectData_Args& args) {
  PLUGIN_Profiler& profiler = *args.profiler;
  if (!profiler.is_collected) {
    stop_trace(profiler.session);
    profiler.bytes = profiler.session ? to_xspace(profiler.session->take_planes()) : std::string();
    profiler.is_collected = true;
  }
  if (args.buffer == nullptr)
    args.buffer = reinterpret_cast<uint8_t*>(profiler.bytes.data());
  else
    std::memcpy(args.buffer, profiler.bytes.data(), profiler.bytes.size());
  args.buffer_size_in_bytes = profiler.bytes.size();
}

void destroy_error(PLUGIN_Profiler_Error_Destroy_Args* args) { delete args->error; }

void message(PLUGIN_Profiler_Error_Message_Args* args) {
  args->message = args->error->failure->message.c_str();
  args->message_size = args->error->failure->message.size();
}

void get_code(PLUGIN_Profiler_Error_GetCode_Args& args) { args.code = args.error->failure->code; }

}  // namespace

PJRT_Extension_Base* profiler_extension(PJRT_Extension_Base* next) {
  static PLUGIN_Profiler_Api api = {PLUGIN_Profiler_Api_STRUCT_SIZE,
                                    nullptr,
                                    destroy_error,
                                    message,
                                    guarded<get_code>,
                                    guarded<create>,
                                    guarded<destroy>,
                                    guarded<start>,
                                    guarded<stop>,
                                    guarded<collect>};
  static PJRT_Profiler_Extension extension = {
      {PJRT_Profiler_Extension_STRUCT_SIZE, PJRT_Extension_Type_Profiler, next}, &api, 0};
  return &extension.base;
}

int64_t traced_call(const PJRT_Extension_Base* extensions) {
  for (; extensions != nullptr; extensions = extensions->next)
    if (extensions->type == PJRT_Extension_Type_Profiler)
      return reinterpret_cast<const PJRT_Profiler_Extension*>(extensions)->traceme_context_id;
  return 0;
}

}  // namespace armillary::pjrt
