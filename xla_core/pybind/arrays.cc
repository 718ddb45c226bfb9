#include "xla_core/pybind/arrays.h"

#include <cstring>
#include <map>
#include <string>
#include <unordered_map>

#include "xla_core/base/error.h"
#include "xla_core/runtime/runtime.h"

namespace py = pybind11;

namespace armillary {
namespace {

// HLO's name -> NumPy's; the second half lives in ml_dtypes.
const std::map<DType, const char*>& names() {
  static const std::map<DType, const char*> table = {
      {DType::kPred, "bool"},
      {DType::kS8, "int8"},
      {DType::kS16, "int16"},
      {DType::kS32, "int32"},
      {DType::kS64, "int64"},
      {DType::kU8, "uint8"},
      {DType::kU16, "uint16"},
      {DType::kU32, "uint32"},
      {DType::kU64, "uint64"},
      {DType::kF16, "float16"},
      {DType::kF32, "float32"},
      {DType::kF64, "float64"},
      {DType::kC64, "complex64"},
      {DType::kC128, "complex128"},
      {DType::kBF16, "bfloat16"},
      {DType::kS1, "int1"},
      {DType::kS2, "int2"},
      {DType::kS4, "int4"},
      {DType::kU1, "uint1"},
      {DType::kU2, "uint2"},
      {DType::kU4, "uint4"},
      {DType::kF4E2M1FN, "float4_e2m1fn"},
      {DType::kF8E3M4, "float8_e3m4"},
      {DType::kF8E4M3, "float8_e4m3"},
      {DType::kF8E4M3FN, "float8_e4m3fn"},
      {DType::kF8E4M3B11FNUZ, "float8_e4m3b11fnuz"},
      {DType::kF8E4M3FNUZ, "float8_e4m3fnuz"},
      {DType::kF8E5M2, "float8_e5m2"},
      {DType::kF8E5M2FNUZ, "float8_e5m2fnuz"},
      {DType::kF8E8M0FNU, "float8_e8m0fnu"},
  };
  return table;
}

bool is_numpys_own(DType d) {
  return d == DType::kPred || d == DType::kF16 || bit_width(d) >= 32 || (is_integer(d) && bit_width(d) >= 8);
}

// By type number, which is quick to ask for and stable through the life of the process.
const std::unordered_map<int, DType>& by_number() {
  static const auto* table = [] {
    auto* numbers = new std::unordered_map<int, DType>;
    for (const auto& [dtype, name] : names()) numbers->emplace(numpy_dtype(dtype).num(), dtype);
    // `long long` and `long` are types of their own, of the same width.
    numbers->emplace(py::dtype("q").num(), DType::kS64);
    numbers->emplace(py::dtype("Q").num(), DType::kU64);
    return numbers;
  }();
  return *table;
}

bool is_narrow(DType d) { return bit_width(d) < 8 && d != DType::kPred; }

// A Python object that may be let go of from any thread.
std::shared_ptr<void> keep(py::object object) {
  return std::shared_ptr<void>(object.release().ptr(), [](void* p) {
    py::gil_scoped_acquire gil;
    Py_DECREF(static_cast<PyObject*>(p));
  });
}

}  // namespace

py::dtype numpy_dtype(DType dtype) {
  const auto found = names().find(dtype);
  if (found == names().end()) throw user_error("there are no arrays of type {}", to_string(dtype));
  if (is_numpys_own(dtype)) return py::dtype(found->second);
  return py::dtype::from_args(py::module_::import("ml_dtypes").attr(found->second));
}

DType dtype_of(const py::dtype& dtype) {
  const auto found = by_number().find(dtype.num());
  if (found == by_number().end())
    throw user_error("HLO has no element type like {}", std::string(py::str(dtype)));
  return found->second;
}

Literal literal_of(const py::array& given) {
  const DType dtype = dtype_of(given.dtype());
  py::array array = given;
  const bool dense = (array.flags() & py::array::c_style) != 0 && array.dtype().byteorder() != '>';
  // Machine code asks for no more than the elements' own alignment.
  const bool aligned = reinterpret_cast<uintptr_t>(array.data()) % byte_size(dtype) == 0;
  Shape shape(dtype, Dims(array.shape(), array.shape() + array.ndim()));
  if (dense && aligned && !is_narrow(dtype)) {
    auto* data = reinterpret_cast<std::byte*>(const_cast<void*>(array.data()));
    return Literal::view(std::move(shape), data, keep(array));
  }
  if (!dense) {
    array = py::module_::import("numpy").attr("ascontiguousarray")(array, numpy_dtype(dtype));
    if (given.ndim() == 0) array = array.reshape(std::vector<py::ssize_t>{});
  }
  const int64_t size = shape.byte_size();
  std::shared_ptr<void> memory = allocate(size);
  auto* data = static_cast<std::byte*>(memory.get());
  if (size > 0) std::memcpy(data, array.data(), size);
  Literal literal = Literal::view(std::move(shape), data, std::move(memory));
  if (is_narrow(dtype) && is_integer(dtype))  // ml_dtypes leaves the upper bits as they come
    for (int64_t i = 0; i < size; ++i) literal.set_int(i, std::to_integer<int64_t>(data[i]));
  return literal;
}

py::array array_of(const Literal& literal) {
  const DType dtype = literal.dtype();
  auto* held = new Literal(literal);
  py::capsule owner(held, [](void* p) { delete static_cast<Literal*>(p); });
  if (is_narrow(dtype)) {
    *held = literal.clone();
    const auto mask = static_cast<std::byte>((1 << bit_width(dtype)) - 1);
    for (int64_t i = 0; i < held->size(); ++i) held->bytes()[i] &= mask;
  }
  const Dims& dims = literal.shape().dims;
  Dims strides = strides_of(dims);
  for (int64_t& s : strides) s *= byte_size(dtype);
  return py::array(numpy_dtype(dtype), std::vector<py::ssize_t>(dims.begin(), dims.end()),
                   std::vector<py::ssize_t>(strides.begin(), strides.end()), held->bytes(), owner);
}

py::object value_of(const Literal& literal) {
  if (literal.shape().is_token()) return py::none();
  if (!literal.is_tuple()) return array_of(literal);
  py::tuple elements(literal.tuple().size());
  for (size_t i = 0; i < literal.tuple().size(); ++i) elements[i] = value_of(literal.tuple()[i]);
  return elements;
}

Literal nest(const Shape& shape, const std::vector<Literal>& leaves, size_t& next) {
  if (!shape.is_tuple()) return next < leaves.size() ? leaves[next++] : Literal(shape);
  std::vector<Literal> elements;
  for (const Shape& element : shape.tuple) elements.push_back(nest(element, leaves, next));
  return Literal::make_tuple(std::move(elements));
}

}  // namespace armillary
