#include "xla_core/backends/cpu/native/collectives.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "xla_core/backends/cpu/native/combine.h"
#include "xla_core/backends/cpu/native/convert.h"
#include "xla_core/base/error.h"

namespace armillary::native {
namespace {

constexpr int64_t kChunk = 4096;  // elements folded at a time: accumulator and operand stay in the L1 cache

bool is_narrow(DType dtype) { return is_float(dtype) && byte_size(dtype) < byte_size(DType::kF32); }
// Elements of a byte each, of which only some bits count.
bool is_sub_byte(DType dtype) { return is_integer(dtype) && bit_width(dtype) < 8; }

DType folded_type(const CollectiveSpec& spec, DType dtype) {
  if (is_narrow(dtype)) return DType::kF32;
  if (!is_sub_byte(dtype) || spec.combine == Combiner::kFunction) return dtype;
  return is_signed(dtype) ? DType::kS8 : DType::kU8;
}

// The value that is left of a byte in the bits that count.
void wrap(DType dtype, std::byte* values, int64_t n) {
  const int spare = 8 - bit_width(dtype);
  for (int64_t k = 0; k < n; ++k) {
    const auto up = static_cast<uint8_t>(std::to_integer<uint8_t>(values[k]) << spare);
    values[k] = is_signed(dtype) ? static_cast<std::byte>(static_cast<int8_t>(up) >> spare)
                                 : static_cast<std::byte>(up >> spare);
  }
}

// Folds arrays of one dtype, element by element.
class Fold {
 public:
  Fold(const CollectiveSpec& spec, DType dtype)
      : spec_(spec),
        dtype_(dtype),
        folded_(folded_type(spec, dtype)),
        run_(combine_of(spec.combine, folded_).run) {}

  bool possible() const {
    return spec_.combine == Combiner::kFunction ? spec_.folded == folded_ : run_ != nullptr;
  }

  // out = inputs[0] o inputs[1] o ...
  void operator()(std::span<const std::byte* const> inputs, int64_t n, std::byte* out) {
    const int64_t size = byte_size(dtype_);
    for (int64_t begin = 0; begin < n; begin += kChunk)
      fold_chunk(inputs, begin * size, std::min(kChunk, n - begin), out + begin * size);
  }

 private:
  void fold_chunk(std::span<const std::byte* const> inputs, int64_t at, int64_t n, std::byte* out) {
    if (folded_ == dtype_ || is_sub_byte(dtype_)) {
      std::memmove(out, inputs[0] + at, static_cast<size_t>(n * byte_size(dtype_)));
      for (const std::byte* in : inputs.subspan(1)) {
        combine(out, in + at, n);
        if (is_sub_byte(dtype_)) wrap(dtype_, out, n);
      }
      return;
    }
    accumulator_.resize(kChunk);
    operand_.resize(kChunk);
    widen(dtype_, inputs[0] + at, n, accumulator_.data());
    for (const std::byte* in : inputs.subspan(1)) {
      widen(dtype_, in + at, n, operand_.data());
      combine(reinterpret_cast<std::byte*>(accumulator_.data()),
              reinterpret_cast<const std::byte*>(operand_.data()), n);
    }
    narrow(accumulator_.data(), n, dtype_, out);
  }

  void combine(std::byte* result, const std::byte* update, int64_t n) {
    if (spec_.combine != Combiner::kFunction) return run_(result, update, n);
    const int64_t size = byte_size(folded_);
    alignas(16) std::byte value[16];
    for (int64_t k = 0; k < n; ++k) {
      std::byte* buffers[] = {result + k * size, const_cast<std::byte*>(update) + k * size, value};
      spec_.function(buffers, 0, 1);
      std::memcpy(result + k * size, value, static_cast<size_t>(size));
    }
  }

  const CollectiveSpec& spec_;
  DType dtype_, folded_;
  CombineRun run_;
  std::vector<float> accumulator_, operand_;
};

// An array as `outer` rows of a dimension's extent times `inner` bytes.
struct Split {
  int64_t outer, inner;
  Split(const ArrayRef& a, int64_t dimension)
      : outer(product(std::span(a.dims).first(dimension))),
        inner(product(std::span(a.dims).subspan(dimension + 1)) * byte_size(a.dtype)) {}
};

void copy_rows(std::byte* to, int64_t to_step, const std::byte* from, int64_t from_step, int64_t rows,
               int64_t bytes) {
  for (int64_t r = 0; r < rows; ++r)
    std::memcpy(to + r * to_step, from + r * from_step, static_cast<size_t>(bytes));
}

}  // namespace

bool can_fold(const CollectiveSpec& spec) {
  return std::all_of(spec.operands.begin(), spec.operands.end(),
                     [&](const ArrayRef& a) { return Fold(spec, a.dtype).possible(); });
}

void all_reduce(const CollectiveSpec& spec, Brought members, int64_t rank) {
  const auto n = static_cast<int64_t>(members.size());
  for (size_t k = 0; k < spec.operands.size(); ++k) {
    const ArrayRef& a = spec.operands[k];
    const int64_t begin = a.size() * rank / n, end = a.size() * (rank + 1) / n;
    const int64_t at = begin * byte_size(a.dtype);
    std::vector<const std::byte*> inputs;
    for (std::byte* const* m : members) inputs.push_back(m[k] + at);
    std::byte* mine = members[rank][spec.result(k)] + at;
    Fold(spec, a.dtype)(inputs, end - begin, mine);
    for (std::byte* const* m : members)
      if (m != members[rank])
        std::memcpy(m[spec.result(k)] + at, mine, static_cast<size_t>((end - begin) * byte_size(a.dtype)));
  }
}

void all_gather(const CollectiveSpec& spec, Brought members, int64_t rank) {
  for (size_t k = 0; k < spec.operands.size(); ++k) {
    const Split split(spec.operands[k], spec.dimension);
    const int64_t piece = spec.operands[k].dims[spec.dimension] * split.inner;
    const int64_t row = spec.results[k].dims[spec.dimension] * split.inner;
    for (size_t m = 0; m < members.size(); ++m)
      copy_rows(members[rank][spec.result(k)] + static_cast<int64_t>(m) * piece, row, members[m][k], piece,
                split.outer, piece);
  }
}

void reduce_scatter(const CollectiveSpec& spec, Brought members, int64_t rank) {
  for (size_t k = 0; k < spec.operands.size(); ++k) {
    const ArrayRef& a = spec.operands[k];
    const Split split(a, spec.dimension);
    const int64_t piece = spec.results[k].dims[spec.dimension] * split.inner;
    const int64_t row = a.dims[spec.dimension] * split.inner;
    Fold fold(spec, a.dtype);
    std::vector<const std::byte*> inputs(members.size());
    for (int64_t o = 0; o < split.outer; ++o) {
      for (size_t m = 0; m < members.size(); ++m) inputs[m] = members[m][k] + o * row + rank * piece;
      fold(inputs, piece / byte_size(a.dtype), members[rank][spec.result(k)] + o * piece);
    }
  }
}

void all_to_all(const CollectiveSpec& spec, Brought members, int64_t rank) {
  if (spec.operands.size() > 1 || spec.results.size() > 1 || members.size() == 1) {
    for (size_t m = 0; m < members.size(); ++m)
      std::memcpy(members[rank][spec.result(m)], members[m][rank],
                  static_cast<size_t>(spec.operands[m].bytes()));
    return;
  }
  const Split split(spec.operands[0], spec.dimension);
  const int64_t row = spec.operands[0].dims[spec.dimension] * split.inner;
  const int64_t piece = row / static_cast<int64_t>(members.size());
  for (size_t m = 0; m < members.size(); ++m)
    copy_rows(members[rank][spec.result(0)] + static_cast<int64_t>(m) * piece, row,
              members[m][0] + rank * piece, row, split.outer, piece);
}

void ragged_all_to_all(const CollectiveSpec& spec, Brought members, int64_t rank) {
  const ArrayRef &input = spec.operands[0], &output = spec.operands[1];
  const auto n = static_cast<int64_t>(members.size());
  const int64_t slices = spec.operands[2].size() / n;  // for each peer
  const int64_t row = input.dims.empty() || input.dims[0] == 0 ? 0 : input.bytes() / input.dims[0];
  std::byte* result = members[rank][spec.result(0)];
  std::memmove(result, members[rank][1], static_cast<size_t>(output.bytes()));
  for (std::byte* const* m : members) {
    auto number = [&](size_t operand, int64_t slice) {
      int64_t value = 0;
      widen(spec.operands[operand].dtype,
            m[operand] + (rank * slices + slice) * byte_size(spec.operands[operand].dtype), 1,
            reinterpret_cast<uint64_t*>(&value));
      return value;
    };
    for (int64_t s = 0; s < slices; ++s) {
      const int64_t from = number(2, s), count = number(3, s), to = number(4, s);
      const bool inside =
          from >= 0 && to >= 0 && count >= 0 && count <= input.dims[0] - from && count <= output.dims[0] - to;
      if (!inside)
        throw user_error(
            "ragged-all-to-all sends {} rows from row {} to row {}, but input and output have {} "
            "and {} rows",
            count, from, to, input.dims[0], output.dims[0]);
      std::memcpy(result + to * row, m[0] + from * row, static_cast<size_t>(count * row));
    }
  }
}

void receive(const CollectiveSpec& spec, Brought members, int64_t rank, int64_t source) {
  for (size_t k = 0; k < spec.operands.size(); ++k) {
    std::byte* to = members[rank][spec.result(k)];
    const auto bytes = static_cast<size_t>(spec.operands[k].bytes());
    if (source < 0)
      std::memset(to, 0, bytes);
    else
      std::memcpy(to, members[source][k], bytes);
  }
}

}  // namespace armillary::native
