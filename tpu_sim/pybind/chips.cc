// The table of chips, and chips of the user's own.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tpu_sim/pybind/bind.h"
#include "tpu_sim/spec/chip.h"
#include "xla_core/base/error.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace armillary::sim {
namespace {

nb::list list_keys() {
  nb::list out;
  for (const ChipKey& key : chip_keys()) {
    nb::dict row;
    row["name"] = std::string(key.name);
    row["unit"] = std::string(key.unit);
    row["doc"] = std::string(key.doc);
    out.append(row);
  }
  return out;
}

std::vector<std::string> chip_names() {
  std::vector<std::string> names;
  for (const Chip& chip : chips()) names.push_back(chip.name());
  return names;
}

Chip make_chip(std::string name, const std::vector<double>& values, const std::string& source) {
  std::vector<Constant> constants;
  for (double value : values) constants.push_back({value, source});
  return Chip(std::move(name), std::move(constants));
}

}  // namespace

void bind_chips(nb::module_& m) {
  nb::class_<Chip>(m, "Chip")
      .def_prop_ro("name", &Chip::name)
      .def_prop_ro("values",
                   [](const Chip& chip) {
                     std::vector<double> values;
                     for (const Constant& c : chip.constants()) values.push_back(c.value);
                     return values;
                   })
      .def_prop_ro("priors",
                   [](const Chip& chip) {
                     std::vector<std::optional<double>> priors;
                     for (const Constant& c : chip.constants()) priors.push_back(c.prior);
                     return priors;
                   })
      .def_prop_ro("sources", [](const Chip& chip) {
        std::vector<std::string> sources;
        for (const Constant& c : chip.constants()) sources.push_back(c.source);
        return sources;
      });
  m.def("list_chip_keys", list_keys);
  m.def("chip_names", chip_names);
  m.def("find_chip", [](std::string_view name) { return Chip(find_chip(name)); }, "name"_a);
  m.def("make_chip", make_chip, "name"_a, "values"_a, "source"_a);
}

}  // namespace armillary::sim
