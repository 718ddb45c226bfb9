// The functions that handlers may call back to.
#include <cstdlib>

#include "xla_core/pjrt/ffi.h"

namespace armillary::pjrt {
namespace {

XLA_FFI_Error* error(XLA_FFI_Error_Code code, std::string message) {
  return new XLA_FFI_Error{code, std::move(message)};
}

XLA_FFI_Error* error_create(XLA_FFI_Error_Create_Args* args) { return error(args->errc, args->message); }
void error_message(XLA_FFI_Error_GetMessage_Args* args) { args->message = args->error->message.c_str(); }
void error_destroy(XLA_FFI_Error_Destroy_Args* args) { delete args->error; }

XLA_FFI_Error* handler_register(XLA_FFI_Handler_Register_Args* args) {
  register_ffi_handler(std::string(args->name.ptr, args->name.len), args->bundle);
  return nullptr;
}

XLA_FFI_Error* stream_get(XLA_FFI_Stream_Get_Args*) {
  return error(XLA_FFI_Error_Code_UNIMPLEMENTED, "this platform has no streams");
}

XLA_FFI_Error* type_register(XLA_FFI_Type_Register_Args* args) {
  if (args->type_id->type_id == 0) args->type_id->type_id = new_ffi_type_id();
  register_ffi_type(args->type_id->type_id, args->type_info != nullptr ? args->type_info->deleter : nullptr);
  return nullptr;
}

XLA_FFI_Error* context_get(XLA_FFI_ExecutionContext_Get_Args* args) {
  if (args->ctx->user != nullptr) {
    const auto found = args->ctx->user->find(args->type_id->type_id);
    if (found != args->ctx->user->end()) {
      args->data = found->second;
      return nullptr;
    }
  }
  return error(XLA_FFI_Error_Code_NOT_FOUND, "the caller has given no user data of this type");
}

XLA_FFI_Error* state_set(XLA_FFI_State_Set_Args* args) {
  const auto [at, is_new] = args->ctx->states->try_emplace(args->stage);
  if (!is_new) return error(XLA_FFI_Error_Code_FAILED_PRECONDITION, "the state of this stage is set already");
  at->second = {args->type_id->type_id, args->state};
  return nullptr;
}

XLA_FFI_Error* state_get(XLA_FFI_State_Get_Args* args) {
  const auto found = args->ctx->states->find(args->stage);
  if (found == args->ctx->states->end() || found->second.type != args->type_id->type_id)
    return error(XLA_FFI_Error_Code_NOT_FOUND, "no state of this type was set");
  args->state = found->second.value;
  return nullptr;
}

XLA_FFI_Error* memory_allocate(XLA_FFI_DeviceMemory_Allocate_Args* args) {
  const size_t alignment = std::max<size_t>(args->alignment, 64);
  args->data = std::aligned_alloc(alignment, (args->size + alignment) / alignment * alignment);
  return args->data != nullptr ? nullptr : error(XLA_FFI_Error_Code_RESOURCE_EXHAUSTED, "out of memory");
}

XLA_FFI_Error* memory_free(XLA_FFI_DeviceMemory_Free_Args* args) {
  std::free(args->data);
  return nullptr;
}

// In place, which the interface allows.
XLA_FFI_Error* schedule(XLA_FFI_ThreadPool_Schedule_Args* args) {
  args->task(args->data);
  return nullptr;
}

XLA_FFI_Error* num_threads(XLA_FFI_ThreadPool_NumThreads_Args* args) {
  *args->num_threads = 1;
  return nullptr;
}

XLA_FFI_Error* future_create(XLA_FFI_Future_Create_Args* args) {
  args->future = new XLA_FFI_Future;
  return nullptr;
}

XLA_FFI_Error* future_available(XLA_FFI_Future_SetAvailable_Args* args) {
  args->future->done.set();
  return nullptr;
}

XLA_FFI_Error* future_error(XLA_FFI_Future_SetError_Args* args) {
  const std::unique_ptr<XLA_FFI_Error> given(args->error);
  args->future->done.set(
      std::make_shared<Failure>(Failure{static_cast<PJRT_Error_Code>(given->code), given->message}));
  return nullptr;
}

XLA_FFI_Error* run_id(XLA_FFI_RunId_Get_Args* args) {
  args->run_id = 0;
  return nullptr;
}

XLA_FFI_Error* device_ordinal(XLA_FFI_DeviceOrdinal_Get_Args* args) {
  args->device_ordinal = static_cast<int32_t>(args->ctx->device);
  return nullptr;
}

XLA_FFI_Api make_table() {
  XLA_FFI_Api api = {};
  api.struct_size = XLA_FFI_Api_STRUCT_SIZE;
  api.api_version = {XLA_FFI_Api_Version_STRUCT_SIZE, nullptr, XLA_FFI_API_MAJOR, XLA_FFI_API_MINOR};
  api.XLA_FFI_Error_Create = error_create;
  api.XLA_FFI_Error_GetMessage = error_message;
  api.XLA_FFI_Error_Destroy = error_destroy;
  api.XLA_FFI_Handler_Register = handler_register;
  api.XLA_FFI_Stream_Get = stream_get;
  api.XLA_FFI_Type_Register = type_register;
  api.XLA_FFI_ExecutionContext_Get = context_get;
  api.XLA_FFI_State_Set = state_set;
  api.XLA_FFI_State_Get = state_get;
  api.XLA_FFI_DeviceMemory_Allocate = memory_allocate;
  api.XLA_FFI_DeviceMemory_Free = memory_free;
  api.XLA_FFI_ThreadPool_Schedule = schedule;
  api.XLA_FFI_ThreadPool_NumThreads = num_threads;
  api.XLA_FFI_Future_Create = future_create;
  api.XLA_FFI_Future_SetAvailable = future_available;
  api.XLA_FFI_Future_SetError = future_error;
  api.XLA_FFI_RunId_Get = run_id;
  api.XLA_FFI_DeviceOrdinal_Get = device_ordinal;
  return api;
}

}  // namespace

const XLA_FFI_Api* ffi_api() {
  static const XLA_FFI_Api table = make_table();
  return &table;
}

}  // namespace armillary::pjrt
