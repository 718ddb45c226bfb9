#include "xla_core/io/vhlo/op_rows.h"

#include <algorithm>
#include <string>
#include <unordered_map>

namespace armillary::vhlo {
namespace {

std::string key(std::string_view dialect, std::string_view name) {
  return std::string(dialect).append(".").append(name);
}

std::unordered_map<std::string, OpRow> all_rows() {
  std::unordered_map<std::string, OpRow> table;
  for (auto family :
       {elementwise_rows, shape_rows, contraction_rows, indexing_rows, region_rows, control_flow_rows,
        communication_rows, linear_rows, call_rows, shardy_rows, structure_rows})
    for (OpRow& row : family()) {
      std::sort(row.properties.begin(), row.properties.end());  // as they are encoded
      table.emplace(key(row.dialect, row.name), std::move(row));
    }
  return table;
}

}  // namespace

const OpRow* find_row(std::string_view dialect, std::string_view name) {
  static const std::unordered_map<std::string, OpRow> table = all_rows();
  const auto found = table.find(key(dialect, name));
  return found == table.end() ? nullptr : &found->second;
}

// What holds the others; the importer looks at these itself.
std::vector<OpRow> structure_rows() {
  return {
      {"builtin", "module", {"sym_name?", "sym_visibility?"}},
      {"vhlo", "func_v1", {"sym_name", "function_type", "sym_visibility", "arg_attrs", "res_attrs"}},
      {"vhlo", "return_v1"},
      {"vhlo", "constant_v1", {"value"}},
      {"sdy", "return"},
      {"sdy", "mesh", {"sym_name", "mesh"}},
  };
}

}  // namespace armillary::vhlo
