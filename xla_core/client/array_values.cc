#include "xla_core/client/array_values.h"

#include <algorithm>
#include <mutex>

#include "tpu_sim/systolic/cycles.h"
#include "tpu_sim/systolic/grid.h"
#include "xla_core/passes/build.h"
#include "xla_core/program/call_out.h"

namespace armillary {
namespace {

constexpr std::string_view kTarget = "armillary.array_product";
constexpr double kMostVisits = 4e9;  // of processing elements in one dot: about ten seconds

// Of the operands [batch, m, k] and [batch, k, n].
struct Product {
  int64_t batch;
  sim::Gemm gemm;
};
Product product_of(const Shape& a, const Shape& b) { return {a.dims[0], {a.dims[1], b.dims[2], a.dims[2]}}; }

template <class T, class Sum>
void multiply(const Product& p, const sim::ArrayShape& array, std::byte* const* buffers) {
  const size_t a_size = p.gemm.m * p.gemm.k, b_size = p.gemm.k * p.gemm.n, c_size = p.gemm.m * p.gemm.n;
  for (int64_t n = 0; n < p.batch; ++n) {
    const std::span a(reinterpret_cast<const T*>(buffers[0]) + n * a_size, a_size);
    const std::span b(reinterpret_cast<const T*>(buffers[1]) + n * b_size, b_size);
    const auto result =
        sim::run_grid<T, Sum>(p.gemm, array, sim::Dataflow::kWeightStationary, sim::Overlap::kTiles, a, b);
    std::copy(result.values.begin(), result.values.end(), reinterpret_cast<Sum*>(buffers[2]) + n * c_size);
  }
}

// backend_config is "ROWSxCOLS".
CallOut make_product(const CallSite& site) {
  if (site.target != kTarget) return {};
  const Product p = product_of(site.operands[0], site.operands[1]);
  const size_t times = site.config.find('x');
  const sim::ArrayShape array{std::stoll(site.config), std::stoll(site.config.substr(times + 1))};
  const DType type = site.operands[0].dtype;
  return [p, array, type](std::byte* const* buffers, const DeviceContext&) {
    if (type == DType::kBF16) return multiply<sim::Bf16, float>(p, array, buffers);
    if (type == DType::kS8) return multiply<int8_t, int32_t>(p, array, buffers);
    return multiply<float, float>(p, array, buffers);
  };
}

void register_products() {
  static std::once_flag once;
  std::call_once(once, [] { add_call_outs(make_product); });
}

// Batch dimensions first, then those of the lists; the last two groups become one dimension each.
Instruction* as_matrices(Build& b, Instruction* x, const Dims& batch, const Dims& first, const Dims& second) {
  Dims order = batch;
  order.insert(order.end(), first.begin(), first.end());
  order.insert(order.end(), second.begin(), second.end());
  auto size = [&](const Dims& dims) {
    int64_t n = 1;
    for (int64_t d : dims) n *= x->dims()[d];
    return n;
  };
  return b.reshape(b.transpose(x, order), {size(batch), size(first), size(second)});
}

Dims rest_of(const Instruction* x, const Dims& batch, const Dims& contracting) {
  Dims rest;
  auto in = [](const Dims& list, int64_t d) { return std::find(list.begin(), list.end(), d) != list.end(); };
  for (int64_t d = 0; d < x->shape().rank(); ++d)
    if (!in(batch, d) && !in(contracting, d)) rest.push_back(d);
  return rest;
}

bool is_small(const Product& p, const sim::ArrayShape& array) {
  if (std::min({p.batch, p.gemm.m, p.gemm.n, p.gemm.k}) < 1) return false;
  const double cycles = static_cast<double>(
      sim::array_cycles(p.gemm, array, sim::Dataflow::kWeightStationary, sim::Overlap::kTiles));
  return static_cast<double>(p.batch * array.rows * array.cols) * cycles <= kMostVisits;
}

bool takes(DType type) { return type == DType::kF32 || type == DType::kBF16 || type == DType::kS8; }

void replace(Instruction* dot, const sim::ArrayShape& array) {
  const Attrs& attrs = dot->attrs();
  const Dims &left_batch = attrs.ints(Attr::lhs_batch_dims), &right_batch = attrs.ints(Attr::rhs_batch_dims);
  const Dims &left_sum = attrs.ints(Attr::lhs_contracting_dims),
             &right_sum = attrs.ints(Attr::rhs_contracting_dims);
  Instruction *x = dot->operand(0), *y = dot->operand(1);
  Build b(dot);
  Instruction* a = as_matrices(b, x, left_batch, rest_of(x, left_batch, left_sum), left_sum);
  Instruction* c = as_matrices(b, y, right_batch, right_sum, rest_of(y, right_batch, right_sum));
  const Product p = product_of(a->shape(), c->shape());
  if (!is_small(p, array)) return;  // what was built has no users
  Attrs call;
  call.set(Attr::custom_call_target, std::string(kTarget));
  call.set(Attr::backend_config, RawText{fmt::format("{}x{}", array.rows, array.cols), true});
  const DType sums = x->dtype() == DType::kS8 ? DType::kS32 : DType::kF32;
  Instruction* product =
      b.add(Op::custom_call, Shape(sums, {p.batch, p.gemm.m, p.gemm.n}), {a, c}, std::move(call));
  dot->replace_all_uses_with(b.convert(b.reshape(product, dot->dims()), dot->dtype()));
  dot->parent()->erase(dot);
}

}  // namespace

void use_array_for_dots(Module& m, const sim::Chip& chip) {
  register_products();
  const sim::ArrayShape array{static_cast<int64_t>(chip["mxu_rows"]), static_cast<int64_t>(chip["mxu_cols"])};
  for (Computation* computation : m.reachable())
    for (Instruction* i : computation->snapshot())
      if (i->is(Op::dot) && takes(i->operand(0)->dtype()) && i->operand(0)->dtype() == i->operand(1)->dtype())
        replace(i, array);
}

}  // namespace armillary
