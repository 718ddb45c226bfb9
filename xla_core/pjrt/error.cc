// Errors as PJRT sees them.
#include <new>

#include "xla_core/pjrt/entry.h"

namespace armillary::pjrt {
namespace {

PJRT_Error_Code code_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kUser:
      return PJRT_Error_Code_INVALID_ARGUMENT;
    case ErrorKind::kUnsupported:
      return PJRT_Error_Code_UNIMPLEMENTED;
    case ErrorKind::kResource:
      return PJRT_Error_Code_RESOURCE_EXHAUSTED;
    case ErrorKind::kInternal:
      return PJRT_Error_Code_INTERNAL;
  }
  return PJRT_Error_Code_UNKNOWN;
}

FailurePtr failure(PJRT_Error_Code code, std::string message) {
  return std::make_shared<Failure>(Failure{code, std::move(message)});
}

void destroy(PJRT_Error_Destroy_Args* args) { delete args->error; }

void message(PJRT_Error_Message_Args* args) {
  args->message = args->error->failure->message.c_str();
  args->message_size = args->error->failure->message.size();
}

void get_code(PJRT_Error_GetCode_Args& args) { args.code = args.error->failure->code; }

}  // namespace

FailurePtr failure_of(std::exception_ptr thrown) {
  try {
    std::rethrow_exception(std::move(thrown));
  } catch (const CodedError& e) {
    return e.failure;
  } catch (const Error& e) {
    return failure(code_of(e.kind()), e.what());
  } catch (const std::bad_alloc&) {
    return failure(PJRT_Error_Code_RESOURCE_EXHAUSTED, "out of memory");
  } catch (const std::exception& e) {
    return failure(PJRT_Error_Code_INTERNAL, e.what());
  } catch (...) {
    return failure(PJRT_Error_Code_UNKNOWN, "something was thrown that is no exception");
  }
}

PJRT_Error* to_error(FailurePtr failure) { return failure ? new PJRT_Error{std::move(failure)} : nullptr; }

void rethrow(const FailurePtr& failure) { throw CodedError(failure); }

void add_errors(PJRT_Api& api) {
  api.PJRT_Error_Destroy = destroy;
  api.PJRT_Error_Message = message;
  api.PJRT_Error_GetCode = guard<get_code>;
}

}  // namespace armillary::pjrt
