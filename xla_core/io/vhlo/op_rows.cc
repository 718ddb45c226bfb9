#include "xla_core/io/vhlo/op_rows.h"

#include <algorithm>
#include <string>
#include <unordered_map>

namespace armillary::vhlo {
namespace {

std::string key(std::string_view dialect, std::string_view name) {
  return std::string(dialect).append(".").append(name);
}

struct Family {
  std::vector<OpRow> (*rows)();
  Quantized quantized;
};

constexpr Family kFamilies[] = {
    {elementwise_rows, Quantized::kThroughFloats},
    {shape_rows, Quantized::kMoved},
    {contraction_rows, Quantized::kThroughFloats},
    {indexing_rows, Quantized::kMoved},
    {region_rows, Quantized::kMoved},
    {control_flow_rows, Quantized::kAsStored},
    {communication_rows, Quantized::kAsStored},
    {linear_rows, Quantized::kThroughFloats},
    {call_rows, Quantized::kAsStored},
    {shardy_rows, Quantized::kAsStored},
    {quantized_rows, Quantized::kAsStored},
    {structure_rows, Quantized::kAsStored},
};

std::unordered_map<std::string, OpRow> all_rows() {
  std::unordered_map<std::string, OpRow> table;
  for (const Family& family : kFamilies)
    for (OpRow& row : family.rows()) {
      if (row.quantized == Quantized::kFamily) row.quantized = family.quantized;
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
