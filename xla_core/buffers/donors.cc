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

}  // namespace

std::vector<InputOutputAlias> takers_of_donors(const Module& m, FitsDonor fits) {
  std::vector<InputOutputAlias> all = m.aliases;
  const Shape& result = m.entry()->root()->shape();
  std::vector<Dims> leaves;
  Dims index;
  collect_leaves(result, index, leaves);
  auto is_aliased = [&](const BufferDonor& donor) {
    return std::ranges::any_of(all, [&](const InputOutputAlias& a) {
      return a.parameter == donor.parameter && a.parameter_index == donor.parameter_index;
    });
  };
  auto is_taken = [&](const Dims& leaf) {
    return std::ranges::any_of(all, [&](const InputOutputAlias& a) { return a.output_index == leaf; });
  };
  for (const BufferDonor& donor : m.donors) {
    if (is_aliased(donor)) continue;
    const Shape& given = m.entry()->parameter(donor.parameter)->shape().at(donor.parameter_index);
    const auto taker = std::ranges::find_if(
        leaves, [&](const Dims& leaf) { return fits(given, result.at(leaf)) && !is_taken(leaf); });
    if (taker != leaves.end()) all.push_back({*taker, donor.parameter, donor.parameter_index, false});
  }
  return {all.begin() + static_cast<std::ptrdiff_t>(m.aliases.size()), all.end()};
}

bool match_donors(Module& m) {
  const std::vector<InputOutputAlias> takers =
      takers_of_donors(m, [](const Shape& given, const Shape& taker) { return taker.compatible(given); });
  m.aliases.insert(m.aliases.end(), takers.begin(), takers.end());
  return !takers.empty();
}

}  // namespace armillary
