// Arrays as DLPack capsules, for types that NumPy's own export does not know.
#include <memory>

#include "xla_core/base/error.h"
#include "xla_core/pybind/arrays.h"
#include "xla_core/pybind/bind.h"

namespace py = pybind11;

namespace armillary {
namespace {

// The structures of DLPack 0.8 (dmlc.github.io/dlpack), before it had versions.
struct DlDataType {
  uint8_t code, bits;
  uint16_t lanes;
};

struct DlTensor {
  void* data;
  struct {
    int32_t type, id;
  } device;
  int32_t rank;
  DlDataType dtype;
  int64_t *dims, *strides;
  uint64_t byte_offset;
};

struct DlManagedTensor {
  DlTensor tensor;
  void* context;
  void (*deleter)(DlManagedTensor*);
};

constexpr int32_t kCpu = 1;
constexpr const char* kFresh = "dltensor";

uint8_t code_of(DType dtype) {
  if (is_pred(dtype)) return 6;
  if (dtype == DType::kBF16) return 4;
  if (is_complex(dtype)) return 5;
  if (is_signed(dtype)) return 0;
  if (is_unsigned(dtype)) return 1;
  if (is_float(dtype) && bit_width(dtype) >= 16) return 2;
  throw user_error("DLPack has no element type like {}", to_string(dtype));
}

struct Export {
  explicit Export(const py::array& array) : literal(literal_of(array)), dims(literal.shape().dims) {
    strides = strides_of(dims);
    managed.tensor = {literal.bytes(),
                      {kCpu, 0},
                      static_cast<int32_t>(dims.size()),
                      {code_of(literal.dtype()), static_cast<uint8_t>(8 * byte_size(literal.dtype())), 1},
                      dims.data(),
                      strides.data(),
                      0};
    managed.context = this;
    managed.deleter = [](DlManagedTensor* self) { delete static_cast<Export*>(self->context); };
  }
  Literal literal;  // keeps the memory alive
  Dims dims, strides;
  DlManagedTensor managed = {};
};

// A capsule that nobody took is freed with it; who takes one renames it.
void free_unused(PyObject* capsule) {
  if (!PyCapsule_IsValid(capsule, kFresh)) return;
  auto* managed = static_cast<DlManagedTensor*>(PyCapsule_GetPointer(capsule, kFresh));
  managed->deleter(managed);
}

py::object to_dlpack(const py::array& array) {
  auto exported = std::make_unique<Export>(array);
  PyObject* capsule = PyCapsule_New(&exported->managed, kFresh, free_unused);
  if (capsule == nullptr) throw py::error_already_set();
  exported.release();
  return py::reinterpret_steal<py::object>(capsule);
}

}  // namespace

void bind_dlpack(py::module_& m) {
  m.def("to_dlpack", to_dlpack, py::arg("array"), "A DLPack capsule over the memory of an array.");
}

}  // namespace armillary
