#include "xla_core/buffers/donors.h"

#include <algorithm>

namespace armillary {
namespace {

// Indices of all array leaves of a shape.
void collect_leaves(const Shape& shape, Dims& index, std::vector<Dims>& leaves) {
  if (shape.is_array()) leaves.push_back(index);
  for (size_t n = 0; n < shape.tuple.size(); ++n) {
    index.push_back(static_cast<int64_t>(n));
    collect_leaves(shape.tuple[n], index, leaves);
    index.pop_back();
  }
}

bool is_aliased(const Module& m, const BufferDonor& donor) {
  return std::any_of(m.aliases.begin(), m.aliases.end(), [&](const InputOutputAlias& a) {
    return a.parameter == donor.parameter && a.parameter_index == donor.parameter_index;
  });
}

bool is_taken(const Module& m, const Dims& result) {
  return std::any_of(m.aliases.begin(), m.aliases.end(),
                     [&](const InputOutputAlias& a) { return a.output_index == result; });
}

}  // namespace

bool match_donors(Module& m) {
  bool changed = false;
  const Shape& result = m.entry()->root()->shape();
  std::vector<Dims> leaves;
  Dims index;
  collect_leaves(result, index, leaves);
  for (const BufferDonor& donor : m.donors) {
    if (is_aliased(m, donor)) continue;
    const Shape& given = m.entry()->parameter(donor.parameter)->shape().at(donor.parameter_index);
    const auto taker = std::find_if(leaves.begin(), leaves.end(), [&](const Dims& leaf) {
      return result.at(leaf).compatible(given) && !is_taken(m, leaf);
    });
    if (taker == leaves.end()) continue;
    m.aliases.push_back({*taker, donor.parameter, donor.parameter_index, false});
    changed = true;
  }
  return changed;
}

}  // namespace armillary
