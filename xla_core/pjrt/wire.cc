// Element types and strides between PJRT's notation and ours.
#include <algorithm>
#include <cstring>
#include <map>

#include "xla_core/pjrt/buffer.h"
#include "xla_core/runtime/runtime.h"

namespace armillary::pjrt {
namespace {

const std::map<PJRT_Buffer_Type, DType>& types() {
  static const std::map<PJRT_Buffer_Type, DType> table = {
      {PJRT_Buffer_Type_PRED, DType::kPred},
      {PJRT_Buffer_Type_S8, DType::kS8},
      {PJRT_Buffer_Type_S16, DType::kS16},
      {PJRT_Buffer_Type_S32, DType::kS32},
      {PJRT_Buffer_Type_S64, DType::kS64},
      {PJRT_Buffer_Type_U8, DType::kU8},
      {PJRT_Buffer_Type_U16, DType::kU16},
      {PJRT_Buffer_Type_U32, DType::kU32},
      {PJRT_Buffer_Type_U64, DType::kU64},
      {PJRT_Buffer_Type_F16, DType::kF16},
      {PJRT_Buffer_Type_F32, DType::kF32},
      {PJRT_Buffer_Type_F64, DType::kF64},
      {PJRT_Buffer_Type_BF16, DType::kBF16},
      {PJRT_Buffer_Type_C64, DType::kC64},
      {PJRT_Buffer_Type_C128, DType::kC128},
      {PJRT_Buffer_Type_F8E5M2, DType::kF8E5M2},
      {PJRT_Buffer_Type_F8E4M3FN, DType::kF8E4M3FN},
      {PJRT_Buffer_Type_F8E4M3B11FNUZ, DType::kF8E4M3B11FNUZ},
      {PJRT_Buffer_Type_F8E5M2FNUZ, DType::kF8E5M2FNUZ},
      {PJRT_Buffer_Type_F8E4M3FNUZ, DType::kF8E4M3FNUZ},
      {PJRT_Buffer_Type_S4, DType::kS4},
      {PJRT_Buffer_Type_U4, DType::kU4},
      {PJRT_Buffer_Type_TOKEN, DType::kToken},
      {PJRT_Buffer_Type_S2, DType::kS2},
      {PJRT_Buffer_Type_U2, DType::kU2},
      {PJRT_Buffer_Type_F8E4M3, DType::kF8E4M3},
      {PJRT_Buffer_Type_F8E3M4, DType::kF8E3M4},
      {PJRT_Buffer_Type_F8E8M0FNU, DType::kF8E8M0FNU},
      {PJRT_Buffer_Type_F4E2M1FN, DType::kF4E2M1FN},
  };
  return table;
}

// Calls copy(strided offset, dense offset, bytes) for every run that is contiguous on both sides.
template <class Copy>
void walk(const Shape& shape, const Dims& strides, size_t d, int64_t run_dims, int64_t run_bytes,
          int64_t& strided, int64_t& dense, Copy&& copy) {
  if (static_cast<int64_t>(d) == shape.rank() - run_dims) {
    copy(strided, dense, run_bytes);
    dense += run_bytes;
    return;
  }
  const int64_t start = strided;
  for (int64_t i = 0; i < shape.dims[d]; ++i) {
    strided = start + i * strides[d];
    walk(shape, strides, d + 1, run_dims, run_bytes, strided, dense, copy);
  }
  strided = start;
}

// The dimensions in the order in which they lie, so that they are row-major.
Dims as_they_lie(const Shape& shape, const Dims& of_dimension) {
  Dims out;
  const Dims& order = shape.layout->minor_to_major;
  for (auto d = order.rbegin(); d != order.rend(); ++d) out.push_back(of_dimension[*d]);
  return out;
}

template <class Copy>
void for_each_run(const Shape& laid_out, const Dims& logical_strides, Copy&& copy) {
  if (laid_out.num_elements() == 0) return;
  const bool plain = !laid_out.layout || laid_out.layout->is_row_major();
  const Shape shape = plain ? laid_out : Shape(laid_out.dtype, as_they_lie(laid_out, laid_out.dims));
  const Dims strides = plain ? logical_strides : as_they_lie(laid_out, logical_strides);
  int64_t run_dims = 0, run_bytes = byte_size(shape.dtype);
  for (int64_t d = shape.rank() - 1; d >= 0; --d) {  // the dimensions that lie densely on both sides
    if (strides[d] != run_bytes && shape.dims[d] != 1) break;
    run_bytes *= shape.dims[d];
    ++run_dims;
  }
  int64_t strided = 0, dense = 0;
  walk(shape, strides, 0, run_dims, run_bytes, strided, dense, copy);
}

}  // namespace

DType dtype_of(PJRT_Buffer_Type type) {
  const auto found = types().find(type);
  if (found == types().end()) throw unsupported_error("element type {} of PJRT", static_cast<int>(type));
  return found->second;
}

PJRT_Buffer_Type type_of(DType dtype) {
  for (const auto& [type, d] : types())
    if (d == dtype) return type;
  throw unsupported_error("PJRT has no element type like {}", to_string(dtype));
}

bool is_narrow(DType dtype) { return is_array_dtype(dtype) && bit_width(dtype) < 8 && !is_pred(dtype); }

PJRT_Memory* memory_of(PJRT_Memory* memory, PJRT_Device* device) {
  if (memory != nullptr) return memory;
  if (device == nullptr) throw user_error("neither a device nor a memory is given");
  return device->memories[0];
}

Dims dense_strides(const Shape& shape) {
  Dims strides(shape.dims.size());
  int64_t stride = byte_size(shape.dtype);
  auto add = [&](int64_t d) {
    strides[d] = stride;
    stride *= shape.dims[d];
  };
  if (shape.layout)
    for (int64_t d : shape.layout->minor_to_major) add(d);
  else
    for (int64_t d = shape.rank() - 1; d >= 0; --d) add(d);
  return strides;
}

bool is_dense(const Shape& shape, const Dims& strides) {
  const Dims dense = dense_strides(shape);
  for (int64_t d = 0; d < shape.rank(); ++d)
    if (shape.dims[d] != 1 && strides[d] != dense[d]) return false;
  return true;
}

Shape with_layout(Shape shape) {
  if (!shape.layout) shape.layout = Layout::row_major(shape.rank());
  return shape;
}

namespace {

// With the layout that the strides make dense; row-major where none does.
Shape in_order_of(const Dims& strides, const Shape& shape) {
  Shape row_major = with_layout(shape.without_layout());
  if (is_dense(row_major, strides)) return row_major;
  Shape other = row_major;
  std::ranges::stable_sort(other.layout->minor_to_major, {}, [&](int64_t d) { return strides[d]; });
  return is_dense(other, strides) ? other : row_major;
}

}  // namespace

Shape laid_out(const Shape& shape, const PJRT_Buffer_MemoryLayout* layout) {
  Shape out = with_layout(shape.without_layout());
  if (layout == nullptr) return out;
  if (layout->type == PJRT_Buffer_MemoryLayout_Type_Strides)
    return in_order_of(byte_strides(shape, *layout), shape);
  const PJRT_Buffer_MemoryLayout_Tiled& tiled = layout->tiled;
  if (tiled.num_tiles != 0) throw unsupported_error("tiled layouts: arrays lie untiled on this platform");
  Dims& order = out.layout->minor_to_major;
  const Dims given(tiled.minor_to_major, tiled.minor_to_major + tiled.minor_to_major_size);
  if (!std::ranges::is_permutation(given, order))
    throw user_error("minor_to_major is no permutation of {} dimensions", shape.rank());
  order = given;
  return out;
}

Dims byte_strides(const Shape& shape, const PJRT_Buffer_MemoryLayout& layout) {
  if (layout.type == PJRT_Buffer_MemoryLayout_Type_Tiled) return dense_strides(laid_out(shape, &layout));
  if (static_cast<int64_t>(layout.strides.num_byte_strides) != shape.rank())
    throw user_error("{} strides for {} dimensions", layout.strides.num_byte_strides, shape.rank());
  return Dims(layout.strides.byte_strides, layout.strides.byte_strides + shape.rank());
}

void gather_strided(std::byte* dense, const std::byte* strided, const Shape& shape, const Dims& strides) {
  for_each_run(shape, strides, [&](int64_t from, int64_t to, int64_t bytes) {
    std::memcpy(dense + to, strided + from, bytes);
  });
}

void scatter_strided(std::byte* strided, const std::byte* dense, const Shape& shape, const Dims& strides) {
  for_each_run(shape, strides, [&](int64_t to, int64_t from, int64_t bytes) {
    std::memcpy(strided + to, dense + from, bytes);
  });
}

Literal relaid(const Literal& value, const Shape& from, const Shape& to) {
  std::shared_ptr<void> memory = allocate(to.byte_size());
  auto* data = static_cast<std::byte*>(memory.get());
  Literal out = Literal::view(to, data, std::move(memory));
  gather_strided(out.bytes(), value.bytes(), to, dense_strides(from));
  return out;
}

}  // namespace armillary::pjrt
