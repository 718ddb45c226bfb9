// XLA's foreign function interface: handlers in machine code that programs call by name.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "xla/ffi/api/c_api.h"
#include "xla_core/pjrt/event.h"
#include "xla_core/program/call_out.h"

namespace armillary::pjrt {

using FfiUserData = std::map<int64_t, void*>;  // by type id; of the caller of a run

// Called from Python's registry or through PJRT's extension; a later handler of the same name is not taken.
void register_ffi_handler(const std::string& target, const XLA_FFI_Handler_Bundle& bundle);
void register_ffi_type(int64_t id, void (*deleter)(void*));
int64_t new_ffi_type_id();

const XLA_FFI_Api* ffi_api();
CallOut make_ffi_call(const CallSite& site);
CallOut make_untyped_call(const CallSite& site);
// Programs that are compiled from now on find the handlers.
void use_ffi_handlers();

}  // namespace armillary::pjrt

struct XLA_FFI_Error {
  XLA_FFI_Error_Code code;
  std::string message;
};

struct XLA_FFI_Future {
  armillary::pjrt::Event done;
};

// What a handler may ask for while it runs.
struct XLA_FFI_ExecutionContext {
  struct State {
    int64_t type = 0;
    void* value = nullptr;
  };
  using States = std::map<XLA_FFI_ExecutionStage, State>;
  States* states = nullptr;  // of the call, by the stage that set it
  const armillary::pjrt::FfiUserData* user = nullptr;
  int64_t device = 0;
};
