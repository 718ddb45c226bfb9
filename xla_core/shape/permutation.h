// Orders of dimensions: entry k says which one stands at place k.
#pragma once

#include "xla_core/shape/shape.h"

namespace armillary {

inline Dims permuted(const Dims& dims, const Dims& permutation) {
  Dims result;
  for (int64_t p : permutation) result.push_back(dims[p]);
  return result;
}

// The one that undoes it.
inline Dims inverse(const Dims& permutation) {
  Dims result(permutation.size());
  for (size_t k = 0; k < permutation.size(); ++k) result[permutation[k]] = static_cast<int64_t>(k);
  return result;
}

}  // namespace armillary
