// Shapes as Python sees them.
#include <pybind11/stl.h>

#include "xla_core/hlo/text.h"
#include "xla_core/pybind/arrays.h"
#include "xla_core/pybind/bind.h"

namespace py = pybind11;

namespace armillary {

void bind_shapes(py::module_& m) {
  py::class_<Shape>(m, "Shape", "Element type, dimensions and layout; or a tuple of such.")
      .def(py::init([](const std::string& text) { return parse_shape(text); }), py::arg("text"),
           "From HLO text: Shape(\"f32[2,3]{1,0}\").")
      .def_property_readonly(
          "element_type", [](const Shape& s) { return std::string(to_string(s.dtype)); },
          "HLO's name: \"f32\", \"tuple\", \"token\".")
      .def_property_readonly(
          "dtype", [](const Shape& s) { return numpy_dtype(s.dtype); }, "The NumPy dtype.")
      .def_property_readonly("dims", [](const Shape& s) { return py::tuple(py::cast(s.dims)); })
      .def_property_readonly(
          "dynamic_dims", [](const Shape& s) { return py::tuple(py::cast(s.dynamic)); },
          "Which dimensions are dynamic; empty when none is.")
      .def_property_readonly(
          "elements", [](const Shape& s) { return s.tuple; }, "The elements of a tuple.")
      .def_property_readonly(
          "leaves",
          [](const Shape& s) {
            std::vector<Shape> leaves;
            for (const Shape* leaf : leaves_of(s)) leaves.push_back(*leaf);
            return leaves;
          },
          "The arrays and tokens inside, depth first; an array is its own only leaf.")
      .def_property_readonly(
          "minor_to_major",
          [](const Shape& s) -> py::object {
            if (!s.layout) return py::none();
            return py::tuple(py::cast(s.layout->minor_to_major));
          },
          "The layout's order of dimensions, None when it has no layout.")
      .def_property_readonly("num_elements", [](const Shape& s) { return s.num_elements(); })
      .def_property_readonly(
          "byte_size", [](const Shape& s) { return s.byte_size(); },
          "Bytes in our memory: sub-byte types take one.")
      .def_property_readonly("is_tuple", [](const Shape& s) { return s.is_tuple(); })
      .def_property_readonly("is_array", [](const Shape& s) { return s.is_array(); })
      .def_property_readonly("is_token", [](const Shape& s) { return s.is_token(); })
      .def("compatible", &Shape::compatible, py::arg("other"), "Equal but for layouts.")
      .def(
          "__eq__", [](const Shape& a, const Shape& b) { return a == b; }, py::is_operator())
      .def("__hash__", [](const Shape& s) { return py::hash(py::str(to_string(s, true))); })
      .def("__str__", [](const Shape& s) { return to_string(s, true); })
      .def("__repr__", [](const Shape& s) { return "Shape(\"" + to_string(s, true) + "\")"; });
}

}  // namespace armillary
