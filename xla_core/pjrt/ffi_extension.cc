// The FFI extension of PJRT: how a host without our Python hands over handlers and user data.
#include "xla/pjrt/c/pjrt_c_api_ffi_extension.h"

#include "xla_core/pjrt/extensions.h"
#include "xla_core/pjrt/ffi.h"

namespace armillary::pjrt {
namespace {

void type_register(PJRT_FFI_Type_Register_Args& args) {
  if (args.type_id == 0) args.type_id = new_ffi_type_id();
  register_ffi_type(args.type_id, args.type_info != nullptr ? args.type_info->deleter : nullptr);
}

void user_data_add(PJRT_FFI_UserData_Add_Args& args) {
  args.context->user_data[args.user_data.type_id] = args.user_data.data;
}

void register_handler(PJRT_FFI_Register_Handler_Args& args) {
  XLA_FFI_Handler_Bundle bundle = {};
  bundle.execute = reinterpret_cast<XLA_FFI_Handler*>(args.handler);
  register_ffi_handler(std::string(text(args.target_name, args.target_name_size)), bundle);
}

}  // namespace

PJRT_Extension_Base* ffi_extension(PJRT_Extension_Base* next) {
  static PJRT_FFI_Extension extension = {{sizeof(PJRT_FFI_Extension), PJRT_Extension_Type_FFI, next},
                                         guard<type_register>,
                                         guard<user_data_add>,
                                         guard<register_handler>};
  return &extension.base;
}

}  // namespace armillary::pjrt
