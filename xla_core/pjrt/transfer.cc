// Arrays in and out: without a copy where the memory allows it.
#include <cstring>

#include "xla_core/pjrt/buffer.h"
#include "xla_core/pjrt/trace.h"
#include "xla_core/runtime/runtime.h"

namespace armillary::pjrt {
namespace {

constexpr const char* kTransfers = "Transfers";  // the line of a trace

// What XLA asks for before it shares a host array; who changes arrays that they gave away sees the same here.
constexpr uintptr_t kAlignment = 64;

Shape shape_of(PJRT_Buffer_Type type, const int64_t* dims, size_t num_dims) {
  Shape shape(dtype_of(type), Dims(dims, dims + num_dims));
  if (!shape.is_array()) throw user_error("a buffer of type {}", to_string(shape.dtype));
  for (int64_t d : shape.dims)
    if (d < 0) throw user_error("a dimension of size {}", d);
  shape.byte_size();  // throws when it is too large to count
  return shape;
}

Literal fresh(const Shape& shape) {
  std::shared_ptr<void> memory = allocate(shape.byte_size());
  auto* data = static_cast<std::byte*>(memory.get());
  return Literal::view(shape, data, std::move(memory));
}

// Ours are sign-extended, whatever the upper bits were.
void widen(Literal& value) {
  if (!is_narrow(value.dtype()) || !is_integer(value.dtype())) return;
  for (int64_t i = 0; i < value.size(); ++i) value.set_int(i, std::to_integer<int64_t>(value.bytes()[i]));
}

Literal copy_of(const void* data, const Shape& shape, const Dims& strides) {
  Literal value = fresh(shape);
  gather_strided(value.bytes(), static_cast<const std::byte*>(data), shape, strides);
  widen(value);
  return value;
}

Shape dense(const Shape& shape, const PJRT_Buffer_MemoryLayout* layout) {
  Shape out = laid_out(shape, layout);
  if (layout != nullptr && !is_dense(out, byte_strides(shape, *layout)))
    throw unsupported_error("{} in memory with gaps", to_string(shape));
  return out;
}

void from_host(PJRT_Client_BufferFromHostBuffer_Args& args) {
  PJRT_Memory* memory = memory_of(args.memory, args.device);
  const Shape given = shape_of(args.type, args.dims, args.num_dims);
  const Shape shape = dense(given, args.device_layout);
  const WorkTracer tracer(kTransfers, "BufferFromHostBuffer", memory->device, shape.byte_size());
  const Dims strides = args.num_byte_strides == 0
                           ? dense_strides(given)
                           : Dims(args.byte_strides, args.byte_strides + args.num_byte_strides);
  if (static_cast<int64_t>(strides.size()) != shape.rank())
    throw user_error("{} strides for {} dimensions", strides.size(), shape.rank());
  const bool shares = args.host_buffer_semantics == PJRT_HostBufferSemantics_kImmutableZeroCopy ||
                      args.host_buffer_semantics == PJRT_HostBufferSemantics_kMutableZeroCopy;
  const bool aligned = reinterpret_cast<uintptr_t>(args.data) % kAlignment == 0;
  if (!shares || !aligned || is_narrow(shape.dtype) || !is_dense(shape, strides) ||
      shape.num_elements() == 0) {
    args.buffer =
        new PJRT_Buffer(shape, memory, std::make_shared<Storage>(copy_of(args.data, shape, strides)));
    args.done_with_host_buffer = new PJRT_Event;
    return;
  }
  auto done = std::make_shared<Event>();
  std::shared_ptr<void> owner(const_cast<void*>(args.data), [done](void*) { done->set(); });
  auto* data = static_cast<std::byte*>(owner.get());
  auto storage = std::make_shared<Storage>(Literal::view(shape, data, std::move(owner)));
  storage->read_only = args.host_buffer_semantics != PJRT_HostBufferSemantics_kMutableZeroCopy;
  args.buffer = new PJRT_Buffer(shape, memory, std::move(storage));
  args.done_with_host_buffer = new PJRT_Event{std::move(done)};
}

// Memory of another library, through DLPack.
void view(PJRT_Client_CreateViewOfDeviceBuffer_Args& args) {
  PJRT_Memory* memory = memory_of(args.memory, args.device);
  const Shape shape = laid_out(shape_of(args.element_type, args.dims, args.num_dims), args.layout);
  const Dims strides = args.layout != nullptr ? byte_strides(shape, *args.layout) : dense_strides(shape);
  std::shared_ptr<void> owner(args.device_buffer_ptr, [callback = args.on_delete_callback,
                                                       user_arg = args.on_delete_callback_arg](void* p) {
    if (callback != nullptr) callback(p, user_arg);
  });
  auto* data = static_cast<std::byte*>(owner.get());
  const bool aligned = reinterpret_cast<uintptr_t>(data) % byte_size(shape.dtype) == 0;
  const bool as_it_is = aligned && is_dense(shape, strides) && !is_narrow(shape.dtype);
  auto storage = std::make_shared<Storage>(as_it_is ? Literal::view(shape, data, std::move(owner))
                                                    : copy_of(data, shape, strides));
  storage->read_only = as_it_is;
  args.buffer = new PJRT_Buffer(shape, memory, std::move(storage));
}

void uninitialized(PJRT_Client_CreateUninitializedBuffer_Args& args) {
  const Shape shape =
      dense(shape_of(args.shape_element_type, args.shape_dims, args.shape_num_dims), args.shape_layout);
  args.buffer =
      new PJRT_Buffer(shape, memory_of(args.memory, args.device), std::make_shared<Storage>(Literal(shape)));
}

void error_buffer(PJRT_Client_CreateErrorBuffer_Args& args) {
  auto storage = std::make_shared<Storage>();
  storage->fail(std::make_shared<Failure>(
      Failure{args.error_code, std::string(text(args.error_message, args.error_message_size))}));
  args.buffer = new PJRT_Buffer(shape_of(args.shape_element_type, args.shape_dims, args.shape_num_dims),
                                memory_of(args.memory, nullptr), std::move(storage));
}

// Runs `work` on the value once it is there, and says when that is done.
PJRT_Event* when_ready(const StoragePtr& storage, std::function<void(const Literal&)> work) {
  if (storage->ready.is_ready()) {
    work(storage->wait());
    return new PJRT_Event;
  }
  auto done = std::make_shared<Event>();
  storage->ready.on_ready([storage, done, work = std::move(work)](const FailurePtr& failure) {
    if (!failure) work(storage->value());
    done->set(failure);
  });
  return new PJRT_Event{std::move(done)};
}

void to_host(PJRT_Buffer_ToHostBuffer_Args& args) {
  const Shape& shape = args.src->shape;
  const auto needed = static_cast<size_t>(shape.byte_size());
  if (args.dst == nullptr) {
    args.dst_size = needed;
    return;
  }
  if (args.dst_size < needed)
    throw user_error("the host buffer has {} bytes, and {} are needed", args.dst_size, needed);
  const Dims strides =
      args.host_layout != nullptr ? byte_strides(shape, *args.host_layout) : dense_strides(shape);
  const PJRT_Device* device = args.src->memory->device;
  args.event =
      when_ready(args.src->storage(), [shape, strides, device, dst = args.dst](const Literal& value) {
        const WorkTracer tracer(kTransfers, "ToHostBuffer", device, shape.byte_size());
        auto* to = static_cast<std::byte*>(dst);
        scatter_strided(to, value.bytes(), shape, strides);
        if (!is_narrow(shape.dtype)) return;
        const auto mask = static_cast<std::byte>((1 << bit_width(shape.dtype)) - 1);
        for (int64_t i = 0; i < shape.num_elements(); ++i) to[i] &= mask;
      });
}

void raw_to_host(PJRT_Buffer_CopyRawToHost_Args& args) {
  if (args.offset < 0 || args.transfer_size < 0 ||
      args.offset > args.buffer->shape.byte_size() - args.transfer_size)
    throw user_error("bytes {} to {} of a buffer of {}", args.offset, args.offset + args.transfer_size,
                     args.buffer->shape.byte_size());
  args.event = when_ready(args.buffer->storage(), [dst = args.dst, offset = args.offset,
                                                   size = args.transfer_size](const Literal& value) {
    if (size > 0) std::memcpy(dst, value.bytes() + offset, size);
  });
}

// All memories are the machine's: what is never written to can be shared. Whoever may write looks first
// whether it is alone (see execute.cc).
void to_memory(PJRT_Buffer_CopyToMemory_Args& args) {
  const WorkTracer tracer(kTransfers, "CopyToMemory", args.dst_memory->device,
                          args.buffer->shape.byte_size());
  args.dst_buffer = new PJRT_Buffer(args.buffer->shape, args.dst_memory, args.buffer->storage());
}

void to_device(PJRT_Buffer_CopyToDevice_Args& args) {
  const WorkTracer tracer(kTransfers, "CopyToDevice", args.dst_device, args.buffer->shape.byte_size());
  args.dst_buffer =
      new PJRT_Buffer(args.buffer->shape, memory_of(nullptr, args.dst_device), args.buffer->storage());
}

}  // namespace

void add_transfers(PJRT_Api& api) {
  api.PJRT_Client_BufferFromHostBuffer = guard<from_host>;
  api.PJRT_Client_CreateViewOfDeviceBuffer = guard<view>;
  api.PJRT_Client_CreateUninitializedBuffer = guard<uninitialized>;
  api.PJRT_Client_CreateErrorBuffer = guard<error_buffer>;
  api.PJRT_Buffer_ToHostBuffer = guard<to_host>;
  api.PJRT_Buffer_CopyRawToHost = guard<raw_to_host>;
  api.PJRT_Buffer_CopyToMemory = guard<to_memory>;
  api.PJRT_Buffer_CopyToDevice = guard<to_device>;
}

}  // namespace armillary::pjrt
