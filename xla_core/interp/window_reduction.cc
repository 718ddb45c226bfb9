// reduce-window and select-and-scatter: one window element after the other, for all windows at once.
#include "xla_core/interp/dense.h"
#include "xla_core/interp/evaluation.h"
#include "xla_core/interp/windows.h"

namespace armillary {
namespace {

// The windows of an instruction: `outputs` of them, each with `taps` elements.
struct Windows {
  Dims input, outputs, taps;
  const Window& window;

  Windows(const Shape& operand, const Dims& output_dims, const Window& w)
      : input(operand.dims), outputs(output_dims), window(w) {
    for (const WindowDim& d : w.dims) taps.push_back(d.size);
    taps.resize(input.size(), 1);  // no window attribute: windows of one element
  }

  // Element `tap` of each window that has one: which windows, and where it lies in the operand.
  void locate(std::span<const int64_t> tap, std::vector<int64_t>& which, std::vector<int64_t>& where) const {
    which.clear();
    where.clear();
    int64_t at = 0;
    for_each_index(outputs, [&](std::span<const int64_t> position) {
      int64_t linear = 0;
      bool inside = true;
      for (size_t d = 0; d < input.size() && inside; ++d) {
        const WindowDim w = d < window.dims.size() ? window.dims[d] : WindowDim();
        const auto source = window_source(w, position[d], tap[d], input[d]);
        inside = source.has_value();
        linear = linear * input[d] + source.value_or(0);
      }
      if (inside) {
        which.push_back(at);
        where.push_back(linear);
      }
      ++at;
    });
  }
};

Literal gathered(const Literal& from, const std::vector<int64_t>& where) {
  Literal column(Shape(from.dtype(), {static_cast<int64_t>(where.size())}));
  copy_elements(byte_size(from.dtype()), from.bytes(), column.bytes(), column.size(),
                [&](int64_t k) { return where[k]; });
  return column;
}

void scatter_to(const Literal& column, const std::vector<int64_t>& where, Literal& to) {
  const int64_t bytes = byte_size(to.dtype());
  for (size_t k = 0; k < where.size(); ++k)
    std::memcpy(to.bytes() + where[k] * bytes, column.bytes() + static_cast<int64_t>(k) * bytes,
                static_cast<size_t>(bytes));
}

Literal filled(const Literal& scalar, DType dtype, int64_t count) {
  const Literal value = converted(scalar, dtype);
  Literal column(Shape(dtype, {count}));
  copy_elements(byte_size(dtype), value.bytes(), column.bytes(), count, [](int64_t) { return 0; });
  return column;
}

// Padding and holes contribute nothing, not even the initial value once more.
Literal reduce_window(Evaluation& e, const Instruction& i, Operands operands) {
  const size_t n = operands.size() / 2;
  const Shape& first = i.shape().is_tuple() ? i.shape().tuple[0] : i.shape();
  const Windows windows(operands[0].shape(), first.dims, i.attrs().window());
  ScalarFunction& body = e.function(*i.callees().at(0));
  std::vector<Literal> sums;
  for (size_t k = 0; k < n; ++k)
    sums.push_back(
        filled(operands[n + k], body.result_shape(static_cast<int64_t>(k)).dtype, first.num_elements()));
  std::vector<int64_t> which, where;
  for_each_index(windows.taps, [&](std::span<const int64_t> tap) {
    windows.locate(tap, which, where);
    if (which.empty()) return;
    std::vector<Literal> columns;
    for (const Literal& sum : sums) columns.push_back(gathered(sum, which));
    for (size_t k = 0; k < n; ++k) columns.push_back(gathered(operands[k], where));
    const std::vector<Literal> results = body.map(columns, static_cast<int64_t>(which.size()));
    for (size_t k = 0; k < n; ++k) scatter_to(results[k], which, sums[k]);
  });
  for (Literal& sum : sums) sum = sum.reshaped(Shape(sum.dtype(), first.dims));
  return tuple_or_single(std::move(sums), i.shape());
}

// Where each window's selected element lies: the first one stays unless `select(it, other)` says no. -1 for a
// window without elements.
std::vector<int64_t> select_in_windows(const Windows& windows, const Literal& operand,
                                       ScalarFunction& select) {
  std::vector<int64_t> chosen(static_cast<size_t>(product(windows.outputs)), -1), which, where;
  for_each_index(windows.taps, [&](std::span<const int64_t> tap) {
    windows.locate(tap, which, where);
    std::vector<int64_t> rivals, others, holders;
    for (size_t k = 0; k < which.size(); ++k) {
      int64_t& held = chosen[which[k]];
      if (held < 0) {
        held = where[k];
        continue;
      }
      rivals.push_back(which[k]);
      holders.push_back(held);
      others.push_back(where[k]);
    }
    if (rivals.empty()) return;
    const Literal columns[] = {gathered(operand, holders), gathered(operand, others)};
    const Literal stays = select.map(columns, static_cast<int64_t>(rivals.size()))[0];
    for (size_t k = 0; k < rivals.size(); ++k)
      if (!stays.get_int(static_cast<int64_t>(k))) chosen[rivals[k]] = others[k];
  });
  return chosen;
}

Literal select_and_scatter(Evaluation& e, const Instruction& i, Operands operands) {
  const Literal &operand = operands[0], &source = operands[1];
  const Windows windows(operand.shape(), source.shape().dims, i.attrs().window());
  const std::vector<int64_t> chosen =
      select_in_windows(windows, operand, e.function(*i.attrs().callee(Attr::select)));
  ScalarFunction& combine = e.function(*i.attrs().callee(Attr::scatter));
  Literal result = filled(operands[2], i.dtype(), i.shape().num_elements());
  const int64_t bytes = byte_size(i.dtype());
  for (size_t k = 0; k < chosen.size(); ++k) {
    if (chosen[k] < 0) continue;
    std::byte* place = result.bytes() + chosen[k] * bytes;
    const std::byte* arguments[] = {place, source.bytes() + static_cast<int64_t>(k) * bytes};
    combine.apply(arguments, {&place, 1});
  }
  return result.reshaped(i.shape());
}

}  // namespace

std::span<const HandlerRow> window_handlers() {
  static constexpr HandlerRow rows[] = {{Op::reduce_window, reduce_window},
                                        {Op::select_and_scatter, select_and_scatter}};
  return rows;
}

}  // namespace armillary
