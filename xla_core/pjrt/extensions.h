// The chain of extensions that hangs on the table, and what executions carry for them.
#pragma once

#include "xla_core/pjrt/entry.h"
#include "xla_core/pjrt/ffi.h"

namespace armillary::pjrt {

PJRT_Extension_Base* ffi_extension(PJRT_Extension_Base* next);
PJRT_Extension_Base* layouts_extension(PJRT_Extension_Base* next);
PJRT_Extension_Base* custom_partitioner_extension(PJRT_Extension_Base* next);
PJRT_Extension_Base* profiler_extension(PJRT_Extension_Base* next);
// Under which number the host's trace knows a call with these extensions; 0: under none.
int64_t traced_call(const PJRT_Extension_Base* extensions);

}  // namespace armillary::pjrt

struct PJRT_Layouts_MemoryLayout {
  std::string text;  // {1,0}
};

struct PJRT_ExecuteContext {
  armillary::pjrt::FfiUserData user_data;
};
