// How each operation of an artifact becomes HLO: one row an operation, in every version that the artifact may
// hold.
#pragma once

#include <string_view>
#include <vector>

#include "xla_core/ops/op.h"

namespace armillary::vhlo {

class OpImport;

// What becomes of operands and results that are quantized.
enum class Quantized : uint8_t {
  kFamily,         // as in the other rows beside it
  kThroughFloats,  // the operation is done with the floats that they stand for
  kMoved,          // integers are moved where all are quantized alike, else it goes through floats
  kAsStored,       // the operation takes and gives integers
};

struct OpRow {
  std::string_view dialect, name;
  // They are encoded in the order of their names; a `?` ends the name of an optional one.
  std::vector<std::string_view> properties = {};
  void (*import)(OpImport&) = nullptr;  // none: the operation is no instruction of its own
  Quantized quantized = Quantized::kFamily;
};

// nullptr when there is none.
const OpRow* find_row(std::string_view dialect, std::string_view name);

std::vector<OpRow> elementwise_rows();
std::vector<OpRow> shape_rows();
std::vector<OpRow> contraction_rows();
std::vector<OpRow> indexing_rows();
std::vector<OpRow> region_rows();
std::vector<OpRow> control_flow_rows();
std::vector<OpRow> communication_rows();
std::vector<OpRow> linear_rows();
std::vector<OpRow> call_rows();
std::vector<OpRow> shardy_rows();
std::vector<OpRow> quantized_rows();
std::vector<OpRow> structure_rows();

}  // namespace armillary::vhlo
