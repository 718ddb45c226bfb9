#include "xla_core/backends/cpu/native/gather.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "xla_core/base/parallel_for.h"

namespace armillary::native {
namespace {

WindowRuns runs_of(const ArrayRef& operand, const GatherSpec& spec, const ArrayRef& result) {
  const Dims window_dims = other_dims(operand.rank(), spec.collapsed_slice_dims, spec.operand_batching_dims);
  return WindowRuns(pick(spec.slice_sizes, window_dims), pick(strides_of(operand.dims), window_dims),
                    pick(strides_of(result.dims), spec.offset_dims));
}

template <size_t Bytes>
void copy_fixed(std::byte* to, const std::byte* from, int64_t) {
  std::memcpy(to, from, Bytes);
}
void copy_any(std::byte* to, const std::byte* from, int64_t bytes) { std::memcpy(to, from, bytes); }

auto copier(int64_t bytes) {
  switch (bytes) {
    case 1:
      return copy_fixed<1>;
    case 2:
      return copy_fixed<2>;
    case 4:
      return copy_fixed<4>;
    case 8:
      return copy_fixed<8>;
    case 16:
      return copy_fixed<16>;
    default:
      return copy_any;
  }
}

template <class Word>
void copy_words(const std::byte* from, std::byte* to, const int64_t* starts, const int64_t* places,
                int64_t n) {
  const Word* in = reinterpret_cast<const Word*>(from);
  Word* out = reinterpret_cast<Word*>(to);
  for (int64_t i = 0; i < n; ++i) out[places[i]] = in[starts[i]];
}

// Windows of one element.
void copy_elements(const ArrayRef& operand, const ArrayRef& result, const int64_t* starts,
                   const int64_t* places, int64_t n) {
  switch (byte_size(operand.dtype)) {
    case 1:
      return copy_words<uint8_t>(operand.data, result.data, starts, places, n);
    case 2:
      return copy_words<uint16_t>(operand.data, result.data, starts, places, n);
    case 4:
      return copy_words<uint32_t>(operand.data, result.data, starts, places, n);
    case 8:
      return copy_words<uint64_t>(operand.data, result.data, starts, places, n);
    default:
      return copy_words<std::array<uint64_t, 2>>(operand.data, result.data, starts, places, n);
  }
}

}  // namespace

int64_t gather_run_length(const ArrayRef& operand, const GatherSpec& spec, const ArrayRef& result) {
  return runs_of(operand, spec, result).length;
}

void gather(const ArrayRef& operand, const ArrayRef& indices, const GatherSpec& spec,
            const ArrayRef& result) {
  if (result.size() == 0) return;
  const WindowRuns runs = runs_of(operand, spec, result);
  const IndexRoles roles{spec.start_index_map, spec.operand_batching_dims, spec.start_indices_batching_dims,
                         spec.index_vector_dim};
  const std::vector<int64_t> starts =
      window_starts(indices, roles, operand.dims, spec.slice_sizes, OutOfRange::kClamp);
  const Dims batch_dims = other_dims(result.rank(), spec.offset_dims);
  const std::vector<int64_t> places =
      offsets_of(pick(result.dims, batch_dims), pick(strides_of(result.dims), batch_dims));
  const int64_t width = byte_size(operand.dtype), window = runs.size(),
                windows = static_cast<int64_t>(starts.size());
  auto copy = [&](int64_t s, int64_t begin, int64_t end) {
    const std::byte* from = operand.data + starts[s] * width;
    std::byte* to = result.data + places[s] * width;
    const auto copy_run = copier(runs.length * width);
    runs.for_each(begin, end, [&](int64_t a, int64_t b, int64_t n) {
      (n == runs.length ? copy_run : copy_any)(to + b * width, from + a * width, n * width);
    });
  };
  if (window == 1) {
    return parallel_for(windows, 8192, [&](int64_t begin, int64_t end) {
      copy_elements(operand, result, starts.data() + begin, places.data() + begin, end - begin);
    });
  }
  const int64_t grain = 16384;  // bytes worth a task
  if (windows >= num_threads()) {
    parallel_for(windows, std::max<int64_t>(1, grain / (window * width)), [&](int64_t begin, int64_t end) {
      for (int64_t s = begin; s < end; ++s) copy(s, 0, window);
    });
  } else {
    for (int64_t s = 0; s < windows; ++s)
      parallel_for(window, grain / width, [&](int64_t begin, int64_t end) { copy(s, begin, end); });
  }
}

}  // namespace armillary::native
