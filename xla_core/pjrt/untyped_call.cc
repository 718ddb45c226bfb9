// Custom calls of the interfaces before XLA's FFI: a function of the results' and operands' memory.
#include <optional>

#include "xla_core/client/host_hooks.h"
#include "xla_core/hlo/scanner.h"
#include "xla_core/pjrt/ffi.h"

namespace armillary::pjrt {
namespace {

// As XLA's functions that handlers are linked with take it, XlaCustomCallStatusSetFailure among them.
struct Status {
  std::optional<std::string> message;
};

using Original = void (*)(void* out, const void** in);
using ReturningStatus = void (*)(void* out, const void** in, Status*);
using Unified = void (*)(void* out, const void** in, const char* opaque, size_t opaque_size, Status*);

// Several results arrive as a list, one as itself.
void run(const CallSite& site, void* function, std::byte* const* buffers) {
  std::vector<const void*> in(buffers, buffers + site.operands.size());
  std::vector<void*> list(buffers + site.operands.size(),
                          buffers + site.operands.size() + site.results.size());
  void* out = list.size() == 1 ? list[0] : list.data();
  Status status;
  if (site.api_version == "API_VERSION_STATUS_RETURNING")
    reinterpret_cast<ReturningStatus>(function)(out, in.data(), &status);
  else if (site.api_version == "API_VERSION_STATUS_RETURNING_UNIFIED")
    reinterpret_cast<Unified>(function)(out, in.data(), site.config.data(), site.config.size(), &status);
  else
    reinterpret_cast<Original>(function)(out, in.data());
  if (status.message) throw internal_error("custom call {}: {}", site.target, *status.message);
}

// HLO's text keeps bytes that are no attributes in braces as between quotes.
std::string plain(const std::string& config) {
  if (config.starts_with('{')) return config;
  const std::string quoted = '"' + config + '"';
  Scanner in(quoted, "backend_config", 1);
  return in.string("bytes");
}

}  // namespace

CallOut make_untyped_call(const CallSite& site) {
  if (site.api_version == "API_VERSION_TYPED_FFI" || !host_hooks().find_ffi_handler) return {};
  void* function = host_hooks().find_ffi_handler(site.target, false).execute;
  if (function == nullptr) return {};
  CallSite known = site;
  known.config = plain(site.config);
  return
      [known, function](std::byte* const* buffers, const DeviceContext&) { run(known, function, buffers); };
}

}  // namespace armillary::pjrt
