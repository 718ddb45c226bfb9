// What a buffer is asked about itself.
#include "xla_core/pjrt/buffer.h"

using namespace armillary;
using namespace armillary::pjrt;

StoragePtr PJRT_Buffer::storage() const {
  std::lock_guard lock(mutex_);
  if (!storage_) throw CodedError(PJRT_Error_Code_INVALID_ARGUMENT, "the buffer has been deleted or donated");
  return storage_;
}

StoragePtr PJRT_Buffer::take() {
  std::lock_guard lock(mutex_);
  if (!storage_) throw CodedError(PJRT_Error_Code_INVALID_ARGUMENT, "the buffer has been deleted or donated");
  return std::exchange(storage_, nullptr);
}

bool PJRT_Buffer::is_deleted() const {
  std::lock_guard lock(mutex_);
  return storage_ == nullptr;
}

void PJRT_Buffer::add_reference() {
  StoragePtr held = storage();
  std::lock_guard lock(mutex_);
  referenced_ = std::move(held);
  ++references_;
}

void PJRT_Buffer::drop_reference() {
  StoragePtr dropped;  // outlives the lock: its memory may call back
  std::lock_guard lock(mutex_);
  if (references_ == 0) throw user_error("more external references are dropped than were taken");
  if (--references_ == 0) dropped = std::move(referenced_);
}

namespace armillary::pjrt {
namespace {

void destroy(PJRT_Buffer_Destroy_Args& args) { delete args.buffer; }

void element_type(PJRT_Buffer_ElementType_Args& args) { args.type = type_of(args.buffer->shape.dtype); }

void dimensions(PJRT_Buffer_Dimensions_Args& args) {
  args.dims = args.buffer->shape.dims.data();
  args.num_dims = args.buffer->shape.dims.size();
}

void unpadded_dimensions(PJRT_Buffer_UnpaddedDimensions_Args& args) {
  args.unpadded_dims = args.buffer->shape.dims.data();
  args.num_dims = args.buffer->shape.dims.size();
}

void dynamic_dimensions(PJRT_Buffer_DynamicDimensionIndices_Args& args) {
  args.dynamic_dim_indices = nullptr;
  args.num_dynamic_dims = 0;
}

void memory_layout(PJRT_Buffer_GetMemoryLayout_Args& args) {
  const Dims& order = args.buffer->shape.layout->minor_to_major;
  args.layout.struct_size = sizeof args.layout;
  args.layout.extension_start = nullptr;
  args.layout.type = PJRT_Buffer_MemoryLayout_Type_Tiled;
  args.layout.tiled = {sizeof args.layout.tiled, nullptr, order.data(), order.size(), nullptr, nullptr, 0};
}

void size_in_bytes(PJRT_Buffer_OnDeviceSizeInBytes_Args& args) {
  args.on_device_size_in_bytes = args.buffer->shape.is_array() ? args.buffer->shape.byte_size() : 0;
}

void delete_buffer(PJRT_Buffer_Delete_Args& args) {
  if (!args.buffer->is_deleted()) args.buffer->take();
}

void is_deleted(PJRT_Buffer_IsDeleted_Args& args) { args.is_deleted = args.buffer->is_deleted(); }

// Where it is not, the caller asks for a copy, in which the elements are as it wants them.
void is_on_cpu(PJRT_Buffer_IsOnCpu_Args& args) { args.is_on_cpu = !is_narrow(args.buffer->shape.dtype); }

void device(PJRT_Buffer_Device_Args& args) { args.device = args.buffer->memory->device; }
void memory(PJRT_Buffer_Memory_Args& args) { args.memory = args.buffer->memory; }

void ready(PJRT_Buffer_ReadyEvent_Args& args) {
  const StoragePtr storage = args.buffer->storage();
  const bool done = storage->ready.is_ready() && !storage->ready.failure();
  args.event = new PJRT_Event{done ? nullptr : ready_event(storage)};
}

uintptr_t address(const PJRT_Buffer& buffer) {
  return reinterpret_cast<uintptr_t>(buffer.storage()->wait().bytes());
}

void unsafe_pointer(PJRT_Buffer_UnsafePointer_Args& args) { args.buffer_pointer = address(*args.buffer); }

void opaque_pointer(PJRT_Buffer_OpaqueDeviceMemoryDataPointer_Args& args) {
  args.device_memory_ptr = reinterpret_cast<void*>(address(*args.buffer));
}

void add_reference(PJRT_Buffer_IncreaseExternalReferenceCount_Args& args) { args.buffer->add_reference(); }
void drop_reference(PJRT_Buffer_DecreaseExternalReferenceCount_Args& args) { args.buffer->drop_reference(); }

}  // namespace

void add_buffers(PJRT_Api& api) {
  api.PJRT_Buffer_Destroy = guard<destroy>;
  api.PJRT_Buffer_ElementType = guard<element_type>;
  api.PJRT_Buffer_Dimensions = guard<dimensions>;
  api.PJRT_Buffer_UnpaddedDimensions = guard<unpadded_dimensions>;
  api.PJRT_Buffer_DynamicDimensionIndices = guard<dynamic_dimensions>;
  api.PJRT_Buffer_GetMemoryLayout = guard<memory_layout>;
  api.PJRT_Buffer_OnDeviceSizeInBytes = guard<size_in_bytes>;
  api.PJRT_Buffer_Delete = guard<delete_buffer>;
  api.PJRT_Buffer_IsDeleted = guard<is_deleted>;
  api.PJRT_Buffer_IsOnCpu = guard<is_on_cpu>;
  api.PJRT_Buffer_Device = guard<device>;
  api.PJRT_Buffer_Memory = guard<memory>;
  api.PJRT_Buffer_ReadyEvent = guard<ready>;
  api.PJRT_Buffer_UnsafePointer = guard<unsafe_pointer>;
  api.PJRT_Buffer_OpaqueDeviceMemoryDataPointer = guard<opaque_pointer>;
  api.PJRT_Buffer_IncreaseExternalReferenceCount = guard<add_reference>;
  api.PJRT_Buffer_DecreaseExternalReferenceCount = guard<drop_reference>;
}

}  // namespace armillary::pjrt
