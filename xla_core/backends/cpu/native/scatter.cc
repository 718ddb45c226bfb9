#include "xla_core/backends/cpu/native/scatter.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <vector>

#include "xla_core/backends/cpu/native/combine.h"
#include "xla_core/backends/cpu/native/windows.h"
#include "xla_core/base/error.h"
#include "xla_core/base/parallel_for.h"

namespace armillary::native {
namespace {

using Arrays = std::span<const ArrayRef>;

// Everything about one scatter but what combines two elements.
struct Places {
  std::vector<int64_t> starts;   // operand element where each window begins, or kDropped
  std::vector<int64_t> updates;  // update element where each window begins
  WindowRuns runs;               // operand, update
  bool apart;                    // windows are equal or disjoint
};

Places places_of(const ArrayRef& operand, const ArrayRef& indices, const ArrayRef& update,
                 const ScatterSpec& spec) {
  const Dims window_dims = other_dims(operand.rank(), spec.inserted_window_dims, spec.input_batching_dims);
  const Dims scatter_dims = other_dims(update.rank(), spec.update_window_dims);
  const Dims sizes = pick(update.dims, spec.update_window_dims), strides = strides_of(update.dims);
  Dims window(operand.rank(), 1);
  bool apart = true;
  for (size_t w = 0; w < window_dims.size(); ++w) {
    window[window_dims[w]] = sizes[w];
    apart &= sizes[w] == 1 || sizes[w] == operand.dims[window_dims[w]];
  }
  const IndexRoles roles{spec.scatter_dims_to_operand_dims, spec.input_batching_dims,
                         spec.scatter_indices_batching_dims, spec.index_vector_dim};
  return {
      window_starts(indices, roles, operand.dims, window, OutOfRange::kDrop),
      offsets_of(pick(update.dims, scatter_dims), pick(strides, scatter_dims)),
      WindowRuns(sizes, pick(strides_of(operand.dims), window_dims), pick(strides, spec.update_window_dims)),
      apart};
}

// apply(operand element, update element, count)
using Apply = std::function<void(int64_t, int64_t, int64_t)>;
constexpr int64_t kElementsPerTask = 8192;

// Each element of the operand is touched by one task only, in the order of the index array.
void for_each_place(const Places& p, int64_t operand_size, bool unique,
                    const std::function<Apply()>& make_apply) {
  const int64_t windows = static_cast<int64_t>(p.starts.size()), window = p.runs.size();
  auto apply_part = [&](const Apply& apply, int64_t s, int64_t begin, int64_t end) {
    p.runs.for_each(begin, end,
                    [&](int64_t a, int64_t b, int64_t n) { apply(p.starts[s] + a, p.updates[s] + b, n); });
  };
  const bool small = num_threads() == 1 || windows * window < 2 * kElementsPerTask;
  if (small || (!unique && !p.apart)) {
    const Apply apply = make_apply();
    for (int64_t s = 0; s < windows; ++s)
      if (p.starts[s] != kDropped) apply_part(apply, s, 0, window);
  } else if (unique) {
    parallel_for(windows, std::max<int64_t>(1, kElementsPerTask / window), [&](int64_t begin, int64_t end) {
      const Apply apply = make_apply();
      for (int64_t s = begin; s < end; ++s)
        if (p.starts[s] != kDropped) apply_part(apply, s, 0, window);
    });
  } else if (window >= num_threads() * 256) {  // every task takes its part of all windows
    parallel_for(window, 256, [&](int64_t begin, int64_t end) {
      const Apply apply = make_apply();
      for (int64_t s = 0; s < windows; ++s)
        if (p.starts[s] != kDropped) apply_part(apply, s, begin, end);
    });
  } else {  // every task looks at all windows and takes those that begin in its part of the operand
    const int64_t parts = std::min(num_threads(), 8);
    parallel_for(parts, 1, [&](int64_t first, int64_t last) {
      const Apply apply = make_apply();
      for (int64_t part = first; part < last; ++part) {
        const int64_t low = operand_size / parts * part,
                      high = part + 1 == parts ? operand_size : operand_size / parts * (part + 1);
        for (int64_t s = 0; s < windows; ++s)
          if (p.starts[s] >= low && p.starts[s] < high) apply_part(apply, s, 0, window);
      }
    });
  }
}

Apply typed(CombineRun combine, const ArrayRef& result, const ArrayRef& update) {
  const int64_t width = byte_size(result.dtype);
  return [=, to = result.data, from = update.data](int64_t a, int64_t b, int64_t n) {
    combine(to + a * width, from + b * width, n);
  };
}

// Windows of one element, without a call for each.
void scatter_elements(const Places& p, CombineEach each, bool unique, const ArrayRef& result,
                      const ArrayRef& update) {
  const int64_t n = static_cast<int64_t>(p.starts.size()), size = result.size();
  if (unique || num_threads() == 1 || n < 2 * kElementsPerTask)
    return parallel_for(n, unique ? kElementsPerTask : n, [&](int64_t begin, int64_t end) {
      each(result.data, update.data, p.starts.data() + begin, p.updates.data() + begin, end - begin, 0, size);
    });
  const int64_t parts = std::min(
      num_threads(), 8);  // every task looks at all of them and takes those in its part of the operand
  parallel_for(parts, 1, [&](int64_t first, int64_t last) {
    for (int64_t part = first; part < last; ++part)
      each(result.data, update.data, p.starts.data(), p.updates.data(), n, size * part / parts,
           size * (part + 1) / parts);
  });
}

// Calls machine code for one element at a time; results land in a place of their own first, since all of them
// depend on all current values.
Apply by_function(ScalarFn function, Arrays results, Arrays updates) {
  const size_t n = results.size();
  std::vector<std::array<std::byte, 16>> fresh(n);
  std::vector<std::byte*> buffers(3 * n);
  return [=](int64_t a, int64_t b, int64_t count) mutable {
    for (int64_t i = 0; i < count; ++i) {
      for (size_t k = 0; k < n; ++k) {
        const int64_t width = byte_size(results[k].dtype);
        buffers[k] = results[k].data + (a + i) * width;
        buffers[n + k] = updates[k].data + (b + i) * width;
        buffers[2 * n + k] = fresh[k].data();
      }
      function(buffers.data(), 0, 1);
      for (size_t k = 0; k < n; ++k) std::memcpy(buffers[k], fresh[k].data(), byte_size(results[k].dtype));
    }
  };
}

void copy_operand(const ArrayRef& from, const ArrayRef& to) {
  if (from.data == to.data) return;
  parallel_for(from.bytes(), 1 << 18, [&](int64_t begin, int64_t end) {
    std::memcpy(to.data + begin, from.data + begin, end - begin);
  });
}

}  // namespace

void scatter(Arrays operands, const ArrayRef& indices, Arrays updates, const ScatterSpec& spec,
             Arrays results) {
  for (size_t k = 0; k < operands.size(); ++k) copy_operand(operands[k], results[k]);
  if (operands[0].size() == 0 || updates[0].size() == 0) return;
  const Places places = places_of(operands[0], indices, updates[0], spec);
  const bool alone = operands.size() == 1 || spec.combine == Combiner::kAssign;
  if (alone && scatter_knows(spec.combine, operands[0].dtype)) {
    for (size_t k = 0; k < operands.size(); ++k) {
      const Combine combine = combine_of(spec.combine, operands[k].dtype);
      if (places.runs.size() == 1)
        scatter_elements(places, combine.each, spec.unique_indices, results[k], updates[k]);
      else
        for_each_place(places, operands[k].size(), spec.unique_indices,
                       [&] { return typed(combine.run, results[k], updates[k]); });
    }
    return;
  }
  ARM_CHECK(spec.function != nullptr);
  for_each_place(places, operands[0].size(), spec.unique_indices,
                 [&] { return by_function(spec.function, results, updates); });
}

}  // namespace armillary::native
