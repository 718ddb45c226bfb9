#include "xla_core/client/host_hooks.h"

namespace armillary {

thread_local int HostHooks::callback_depth = 0;

HostHooks& host_hooks() {
  static auto* hooks = new HostHooks;  // never destroyed: other threads may still ask at exit
  return *hooks;
}

}  // namespace armillary
