// What the surrounding process can do for us, when there is a Python in it: filled by pybind, asked by pjrt.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace armillary {

struct HostHooks {
  // A client was made: the last moment to find libraries that Python packages bring along.
  std::function<void()> client_created;
  // The bytes of an HloModuleProto for StableHLO text or bytecode; throws what is wrong with it.
  std::function<std::string(std::string_view program)> hlo_of_stablehlo;
  // The memory kind that a StableHLO program asks for, of each result; HLO has no words for them.
  std::function<std::vector<std::string>(std::string_view program)> result_memory_kinds;
  // Runs a body that may wait for threads that need the interpreter.
  std::function<void(const std::function<void()>&)> without_host_lock;
  // XLA_FFI_Handlers, by stage; without `execute` there is none for the target.
  struct FfiStages {
    void *instantiate = nullptr, *prepare = nullptr, *initialize = nullptr, *execute = nullptr;
  };
  // Untyped ones, of the older interface, have one stage.
  std::function<FfiStages(const std::string& target, bool typed)> find_ffi_handler;
  // This thread is inside a callback from a running program.
  bool in_callback() const { return callback_depth > 0; }
  static thread_local int callback_depth;
};

HostHooks& host_hooks();

}  // namespace armillary
