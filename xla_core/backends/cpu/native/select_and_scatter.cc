#include "xla_core/backends/cpu/native/select_and_scatter.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "xla_core/backends/cpu/native/combine.h"
#include "xla_core/backends/cpu/native/small_float.h"
#include "xla_core/backends/cpu/native/windows.h"
#include "xla_core/base/error.h"
#include "xla_core/base/parallel_for.h"

namespace armillary::native {
namespace {

// Lines of the operand that no window connects are independent; neighbouring ones are done together, so that
// memory is read in order.
constexpr int64_t kLines = 16;

struct Geometry {
  Dims operand, operand_strides, source, source_strides;  // of the dimensions with windows
  std::vector<WindowDim> windows;
  std::vector<int64_t> operand_lines, source_lines;  // where each line begins
};

bool is_trivial(const WindowDim& w) {
  return w.size == 1 && w.stride == 1 && w.pad_low == 0 && w.pad_high == 0;
}

Geometry geometry_of(const ArrayRef& operand, const ArrayRef& source, const Window& window) {
  Dims lines, windowed;
  for (int64_t d = 0; d < operand.rank(); ++d) (is_trivial(window.dims[d]) ? lines : windowed).push_back(d);
  const Dims operand_strides = strides_of(operand.dims), source_strides = strides_of(source.dims);
  Geometry g{pick(operand.dims, windowed),
             pick(operand_strides, windowed),
             pick(source.dims, windowed),
             pick(source_strides, windowed),
             {},
             offsets_of(pick(operand.dims, lines), pick(operand_strides, lines)),
             offsets_of(pick(source.dims, lines), pick(source_strides, lines))};
  for (int64_t d : windowed) g.windows.push_back(window.dims[d]);
  return g;
}

bool next(Dims& at, const Dims& sizes) {
  for (int64_t d = static_cast<int64_t>(sizes.size()) - 1; d >= 0; --d) {
    if (++at[d] < sizes[d]) return true;
    at[d] = 0;
  }
  return false;
}

// Operand offsets of the window of one source position, in window order, without those in the padding.
void window_offsets(const Geometry& g, const Dims& position, const Dims& sizes, std::vector<int64_t>& out) {
  out.clear();
  Dims at(sizes.size(), 0);
  do {
    int64_t offset = 0;
    bool inside = true;
    for (size_t d = 0; d < sizes.size(); ++d) {
      const int64_t i =
          position[d] * g.windows[d].stride - g.windows[d].pad_low + at[d] * g.windows[d].rhs_dilate;
      inside &= i >= 0 && i < g.operand[d];
      offset += i * g.operand_strides[d];
    }
    if (inside) out.push_back(offset);
  } while (next(at, sizes));
}

// stays(selected offset, candidate offset) and combine(result offset, source offset) work on elements.
template <class Stays, class Combine>
void run_lines(const Geometry& g, int64_t begin, int64_t end, const Stays& stays, const Combine& combine) {
  Dims sizes, position(g.source.size(), 0);
  for (const WindowDim& w : g.windows) sizes.push_back(w.size);
  std::vector<int64_t> candidates;
  do {
    window_offsets(g, position, sizes, candidates);
    if (candidates.empty()) continue;
    int64_t source = 0;
    for (size_t d = 0; d < position.size(); ++d) source += position[d] * g.source_strides[d];
    std::array<int64_t, kLines> selected;
    for (int64_t line = begin; line < end; ++line) selected[line - begin] = candidates[0];
    for (size_t c = 1; c < candidates.size(); ++c)
      for (int64_t line = begin; line < end; ++line) {
        int64_t& s = selected[line - begin];
        const int64_t base = g.operand_lines[line];
        s = stays(base + s, base + candidates[c]) ? s : candidates[c];
      }
    for (int64_t line = begin; line < end; ++line)
      combine(g.operand_lines[line] + selected[line - begin], g.source_lines[line] + source);
  } while (next(position, g.source));
}

template <class MakeStays, class MakeCombine>
void run(const Geometry& g, const MakeStays& make_stays, const MakeCombine& make_combine) {
  const int64_t lines = static_cast<int64_t>(g.operand_lines.size()), blocks = (lines + kLines - 1) / kLines;
  parallel_for(blocks, std::max<int64_t>(1, 2048 / std::max<int64_t>(1, product(g.source))),
               [&](int64_t first, int64_t last) {
                 const auto stays = make_stays();
                 const auto combine = make_combine();
                 for (int64_t b = first; b < last; ++b)
                   run_lines(g, b * kLines, std::min(lines, (b + 1) * kLines), stays, combine);
               });
}

template <class MakeStays>
void run_combine(const Geometry& g, const SelectAndScatterSpec& spec, const ArrayRef& source,
                 const ArrayRef& result, const MakeStays& make_stays) {
  const int64_t width = byte_size(result.dtype);
  if (const CombineRun typed = combine_of(spec.combine, result.dtype).run) {
    return run(g, make_stays, [&] {
      return [=, &result, &source](int64_t r, int64_t s) {
        typed(result.data + r * width, source.data + s * width, 1);
      };
    });
  }
  ARM_CHECK(spec.combine_function != nullptr);
  run(g, make_stays, [&] {
    return [=, &result, &source, &spec](int64_t r, int64_t s) {
      std::byte fresh[16];
      std::byte* buffers[] = {result.data + r * width, source.data + s * width, fresh};
      spec.combine_function(buffers, 0, 1);
      std::memcpy(buffers[0], fresh, width);
    };
  });
}

float value(const uint16_t& bf16) { return bf16_to_float(bf16); }
float value(const float& v) { return v; }
double value(const double& v) { return v; }
int32_t value(const int32_t& v) { return v; }

template <class T>
void run_typed(const Geometry& g, const SelectAndScatterSpec& spec, const ArrayRef& operand,
               const ArrayRef& source, const ArrayRef& result) {
  const T* data = operand.as<T>();
  if (spec.select == SelectAndScatterSpec::kGreaterEqual)
    run_combine(g, spec, source, result,
                [&] { return [=](int64_t a, int64_t b) { return value(data[a]) >= value(data[b]); }; });
  else
    run_combine(g, spec, source, result,
                [&] { return [=](int64_t a, int64_t b) { return value(data[a]) <= value(data[b]); }; });
}

void fill(const ArrayRef& result, const std::byte* element) {
  const int64_t width = byte_size(result.dtype);
  parallel_for(result.size(), 1 << 15, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) std::memcpy(result.data + i * width, element, width);
  });
}

}  // namespace

bool select_is_typed(SelectAndScatterSpec::Select select, DType d) {
  return select != SelectAndScatterSpec::kSelectFunction &&
         (d == DType::kF32 || d == DType::kF64 || d == DType::kBF16 || d == DType::kS32);
}

void select_and_scatter(const ArrayRef& operand, const ArrayRef& source, const ArrayRef& init,
                        const SelectAndScatterSpec& spec, const ArrayRef& result) {
  fill(result, init.data);
  if (source.size() == 0) return;
  const Geometry g = geometry_of(operand, source, spec.window);
  if (select_is_typed(spec.select, operand.dtype)) {
    if (operand.dtype == DType::kF32) return run_typed<float>(g, spec, operand, source, result);
    if (operand.dtype == DType::kF64) return run_typed<double>(g, spec, operand, source, result);
    if (operand.dtype == DType::kS32) return run_typed<int32_t>(g, spec, operand, source, result);
    return run_typed<uint16_t>(g, spec, operand, source, result);
  }
  ARM_CHECK(spec.select_function != nullptr);
  const int64_t width = byte_size(operand.dtype);
  run_combine(g, spec, source, result, [&] {
    return [&, width](int64_t a, int64_t b) {
      bool stays = false;
      std::byte* buffers[] = {operand.data + a * width, operand.data + b * width,
                              reinterpret_cast<std::byte*>(&stays)};
      spec.select_function(buffers, 0, 1);
      return stays;
    };
  });
}

}  // namespace armillary::native
