// What one device does when the devices of a group meet: it reads what the others brought.
#pragma once

#include <span>

#include "xla_core/backends/cpu/native/array_ref.h"
#include "xla_core/backends/cpu/native/scatter.h"

namespace armillary::native {

// Of each member of the group, in the order of ranks: the operands' leaves, then the results'.
using Brought = std::span<std::byte* const* const>;

struct CollectiveSpec {
  std::vector<ArrayRef> operands, results;  // without their memory
  int64_t dimension = 0;                    // of all-gather, reduce-scatter, all-to-all of one array
  // Folds are in the order of ranks, the same on all members. Floats narrower than f32 are folded in f32.
  Combiner combine = Combiner::kAdd;
  ScalarFn function = nullptr;  // for kFunction, on `folded`
  DType folded = DType::kInvalid;

  size_t result(size_t k) const { return operands.size() + k; }
};

bool can_fold(const CollectiveSpec& spec);

// Each member folds its share of the elements and writes it to everybody's result.
void all_reduce(const CollectiveSpec& spec, Brought members, int64_t rank);
void all_gather(const CollectiveSpec& spec, Brought members, int64_t rank);
void reduce_scatter(const CollectiveSpec& spec, Brought members, int64_t rank);
// One array is cut and joined along the dimension; of several, number k goes to member k.
void all_to_all(const CollectiveSpec& spec, Brought members, int64_t rank);
// Operands (input, output, input offsets, send sizes, output offsets, receive sizes): see HLO.
void ragged_all_to_all(const CollectiveSpec& spec, Brought members, int64_t rank);
// From the operands of a member to one's own results; zeros when `source` is negative.
void receive(const CollectiveSpec& spec, Brought members, int64_t rank, int64_t source);

}  // namespace armillary::native
