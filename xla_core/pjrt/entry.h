// The edge itself: bodies that throw become C functions that return a PJRT_Error.
#pragma once

#include <exception>
#include <memory>
#include <string>

#include "xla/pjrt/c/pjrt_c_api.h"
#include "xla_core/base/error.h"

namespace armillary::pjrt {

// What went wrong, in PJRT's words; shared by all who wait for it.
struct Failure {
  PJRT_Error_Code code = PJRT_Error_Code_INTERNAL;
  std::string message;
};
using FailurePtr = std::shared_ptr<const Failure>;  // nullptr: all went well

FailurePtr failure_of(std::exception_ptr thrown);
PJRT_Error* to_error(FailurePtr failure);  // nullptr for nullptr
[[noreturn]] void rethrow(const FailurePtr& failure);

// An answer with a code of PJRT's own, for those that our four kinds of error do not tell apart.
class CodedError : public std::exception {
 public:
  CodedError(PJRT_Error_Code code, std::string message)
      : failure(std::make_shared<Failure>(Failure{code, std::move(message)})) {}
  explicit CodedError(FailurePtr f) : failure(std::move(f)) {}
  const char* what() const noexcept override { return failure->message.c_str(); }
  FailurePtr failure;
};

template <class Args>
Args argument_of(void (*)(Args&));

// A caller that was compiled against other headers may hand over a longer struct, but not one that our fields
// do not fit in.
template <class Args>
void check_size(const Args& args) {
  constexpr size_t kUnit = alignof(Args);
  if ((args.struct_size + kUnit - 1) / kUnit * kUnit < sizeof(Args))
    throw user_error("the caller's argument struct has {} bytes, and {} are needed: it speaks an older PJRT",
                     args.struct_size, sizeof(Args));
}

// guard<body> is a function of the table.
template <auto body>
PJRT_Error* guard(decltype(argument_of(body))* args) noexcept {
  try {
    check_size(*args);
    body(*args);
    return nullptr;
  } catch (...) {
    return to_error(failure_of(std::current_exception()));
  }
}

inline std::string_view text(const char* data, size_t size) {
  return data == nullptr ? std::string_view() : std::string_view(data, size);
}

// Each family of functions writes its own into the table.
void add_errors(PJRT_Api& api);
void add_plugin(PJRT_Api& api);
void add_events(PJRT_Api& api);
void add_client(PJRT_Api& api);
void add_devices(PJRT_Api& api);
void add_memories(PJRT_Api& api);
void add_topology(PJRT_Api& api);
void add_buffers(PJRT_Api& api);
void add_transfers(PJRT_Api& api);
void add_executables(PJRT_Api& api);
void add_programs(PJRT_Api& api);
void add_execute(PJRT_Api& api);

}  // namespace armillary::pjrt

// A PJRT_Error is what its reader asks of it.
struct PJRT_Error {
  armillary::pjrt::FailurePtr failure;
};
