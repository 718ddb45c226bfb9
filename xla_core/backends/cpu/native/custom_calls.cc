#include "xla_core/backends/cpu/native/custom_calls.h"

#include <cctype>
#include <charconv>

#include "xla_core/backends/cpu/native/blas.h"
#include "xla_core/backends/cpu/native/lapack.h"
#include "xla_core/base/error.h"

namespace armillary::native {
namespace {

// lapack_<type><routine>_ffi; no row, or no handler for the type: not ours.
struct Target {
  const LapackRow* row = nullptr;
  size_t type = 0;
  bool known() const { return row != nullptr && row->handlers[type] != nullptr; }
};

Target find_target(std::string_view target) {
  constexpr std::string_view kPrefix = "lapack_", kSuffix = "_ffi", kTypes = "sdcz";
  if (!target.starts_with(kPrefix) || !target.ends_with(kSuffix) ||
      target.size() < kPrefix.size() + kSuffix.size() + 2)
    return {};
  const size_t type = kTypes.find(target[kPrefix.size()]);
  const std::string_view name =
      target.substr(kPrefix.size() + 1, target.size() - kPrefix.size() - kSuffix.size() - 1);
  if (type == std::string_view::npos) return {};
  for (std::span<const LapackRow> rows : {lapack_factorizations(), lapack_decompositions()})
    for (const LapackRow& row : rows)
      if (row.routine == name) return {&row, type};
  return {};
}

bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.'; }

}  // namespace

std::map<std::string, int64_t, std::less<>> parse_attributes(std::string_view text) {
  std::map<std::string, int64_t, std::less<>> out;
  for (size_t i = 0; i < text.size();) {
    const size_t begin = i;
    while (i < text.size() && is_name(text[i])) ++i;
    if (i == begin) {
      ++i;
      continue;
    }
    const std::string name(text.substr(begin, i - begin));
    while (i < text.size() && (text[i] == ' ' || text[i] == '=')) ++i;
    const size_t end = std::min(text.find_first_of(",}", i), text.size());
    const std::string_view value = text.substr(i, end - i);
    int64_t number = 0;
    if (value.starts_with("true") || value.starts_with("false"))
      out[name] = value.starts_with("true");
    else if (std::from_chars(value.data(), value.data() + value.size(), number).ec == std::errc())
      out[name] = number;
    i = end;
  }
  return out;
}

void LapackCall::fail(const std::string& message) const {
  throw user_error("custom-call to {}: {}", target, message);
}

int64_t LapackCall::attribute(std::string_view name) const {
  const auto it = attributes.find(name);
  if (it == attributes.end()) fail(fmt::format("backend_config has no {}", name));
  return it->second;
}

int64_t LapackCall::attribute(std::string_view name, int64_t fallback) const {
  const auto it = attributes.find(name);
  return it == attributes.end() ? fallback : it->second;
}

void LapackCall::expect_counts(size_t operand_count, size_t result_count) const {
  if (operands.size() != operand_count)
    fail(fmt::format("{} operands, but it takes {}", operands.size(), operand_count));
  if (results.size() != result_count)
    fail(fmt::format("{} results, but it gives {}", results.size(), result_count));
}

void LapackCall::expect(const ArrayRef& array, DType dtype, const Dims& dims, std::string_view what) const {
  if (array.dtype == dtype && array.dims == dims) return;
  fail(fmt::format("{} is {}, but needs {}", what, to_string(Shape(array.dtype, array.dims)),
                   to_string(Shape(dtype, dims))));
}

Stack::Stack(const LapackCall& call, const ArrayRef& array) {
  if (array.rank() < 2) call.fail(fmt::format("{} is no matrix", to_string(Shape(array.dtype, array.dims))));
  batch = Dims(array.dims.begin(), array.dims.end() - 2);
  count = product(batch);
  const int64_t m = array.dims[array.rank() - 2], n = array.dims.back();
  if (std::max(m, n) > 1 << 30) call.fail("LAPACK counts in 32 bits, the matrix is larger");
  rows = static_cast<int>(m);
  cols = static_cast<int>(n);
}

void* lapack_symbol(char prefix, std::string_view name) {
  const std::string full = prefix + std::string(name) + "_";
  if (void* symbol = blas_symbol(full)) return symbol;
  throw resource_error("the loaded BLAS library has no {}", full);
}

bool knows_custom_call(std::string_view target, std::string* why) {
  const Target found = find_target(target);
  if (!found.known()) return false;
  if (!found.row->needs_library || blas_loaded()) return true;
  if (why) *why = fmt::format("{} needs OpenBLAS, and none is loaded", target);
  return false;
}

bool run_custom_call(std::string_view target, const std::string& backend_config,
                     std::span<const ArrayRef> operands, std::span<const ArrayRef> results,
                     std::string* error) {
  *error = fmt::format("unsupported: custom-call to {}", target);
  if (!knows_custom_call(target, error)) return false;
  error->clear();
  const Target found = find_target(target);
  found.row->handlers[found.type](LapackCall{target, parse_attributes(backend_config), operands, results});
  return true;
}

}  // namespace armillary::native
