// A buffer: an array in a memory space, until it is deleted or donated.
#pragma once

#include <mutex>

#include "xla_core/pjrt/client.h"
#include "xla_core/pjrt/storage.h"
#include "xla_core/shape/shape.h"

namespace armillary::pjrt {

Shape with_layout(Shape shape);  // row-major where none is given

}  // namespace armillary::pjrt

struct PJRT_Buffer {
  PJRT_Buffer(armillary::Shape laid_out, PJRT_Memory* memory, armillary::pjrt::StoragePtr storage)
      : shape(armillary::pjrt::with_layout(std::move(laid_out))),
        memory(memory),
        storage_(std::move(storage)) {}

  const armillary::Shape shape;  // the layout says in which order the elements of the storage lie
  PJRT_Memory* const memory;

  armillary::pjrt::StoragePtr storage() const;  // throws when the buffer is deleted
  armillary::pjrt::StoragePtr take();           // the same, and deletes it
  bool is_deleted() const;

  // Others who look at the memory, such as NumPy, keep it alive, whatever becomes of the buffer.
  void add_reference();
  void drop_reference();

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

// With the layout that is asked for; row-major where none is, or where strides leave gaps between elements.
// Throws for tiles.
Shape laid_out(const Shape& shape, const PJRT_Buffer_MemoryLayout* layout);
// Bytes between neighbours in each dimension.
Dims byte_strides(const Shape& shape, const PJRT_Buffer_MemoryLayout& layout);
Dims dense_strides(const Shape& shape);  // of its layout
// Whether the elements lie as these strides say; dimensions of one element have no place to lie in.
bool is_dense(const Shape& shape, const Dims& strides);
// Copies between a dense array in its layout and one with the given strides; positions of `strided` are its
// first element.
void gather_strided(std::byte* dense, const std::byte* strided, const Shape& shape, const Dims& strides);
void scatter_strided(std::byte* strided, const std::byte* dense, const Shape& shape, const Dims& strides);

// The same elements in another order.
Literal relaid(const Literal& value, const Shape& from, const Shape& to);

}  // namespace armillary::pjrt
