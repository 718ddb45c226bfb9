// A buffer: an array in a memory space, until it is deleted or donated.
#pragma once

#include <mutex>

#include "xla_core/pjrt/client.h"
#include "xla_core/pjrt/storage.h"
#include "xla_core/shape/shape.h"

struct PJRT_Buffer {
  PJRT_Buffer(armillary::Shape shape, PJRT_Memory* memory, armillary::pjrt::StoragePtr storage)
      : shape(std::move(shape)), memory(memory), storage_(std::move(storage)) {}

  const armillary::Shape shape;
  PJRT_Memory* const memory;

  armillary::pjrt::StoragePtr storage() const;  // throws when the buffer is deleted
  armillary::pjrt::StoragePtr take();           // the same, and deletes it
  bool is_deleted() const;

  // Others who look at the memory, such as NumPy, keep it alive, whatever becomes of the buffer.
  void add_reference();
  void drop_reference();

  armillary::Dims minor_to_major;  // what GetMemoryLayout points to

 private:
  mutable std::mutex mutex_;
  armillary::pjrt::StoragePtr storage_;
  armillary::pjrt::StoragePtr referenced_;
  int references_ = 0;
};

namespace armillary::pjrt {

DType dtype_of(PJRT_Buffer_Type type);
PJRT_Buffer_Type type_of(DType dtype);  // tokens too

// Elements narrower than a byte: theirs leave the upper bits open, ours are sign-extended.
bool is_narrow(DType dtype);

// The space that a call names: its memory, or its device's default.
PJRT_Memory* memory_of(PJRT_Memory* memory, PJRT_Device* device);

// Bytes between neighbours in each dimension; throws for tiled layouts.
Dims byte_strides(const Shape& shape, const PJRT_Buffer_MemoryLayout& layout);
Dims dense_strides(const Shape& shape);
// Copies between a dense array and one with the given strides; positions of `strided` are its first element.
void gather_strided(std::byte* dense, const std::byte* strided, const Shape& shape, const Dims& strides);
void scatter_strided(std::byte* strided, const std::byte* dense, const Shape& shape, const Dims& strides);

}  // namespace armillary::pjrt
