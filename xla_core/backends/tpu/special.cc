// Ops that no loop over elements describes: one row each.
#include <algorithm>
#include <cmath>

#include "xla_core/backends/tpu/lower.h"
#include "xla_core/backends/tpu/tiled.h"
#include "xla_core/backends/tpu/vector_cost.h"

namespace armillary::tpu {
namespace {

constexpr double kBitsWork =
    60;  // integer operations for 32 random bits: 20 rounds of add, rotate, exclusive or, for two words
constexpr double kMatrixLanes =
    1024;  // elements of a row or column that a step of a factorisation updates at once

int64_t rounded(double x) { return static_cast<int64_t>(std::ceil(x)); }
double log2_of(double n) { return n > 1 ? std::ceil(std::log2(n)) : 0; }
double count(const Shape& array) { return static_cast<double>(array.num_elements()); }

const Shape& first_leaf(const Instruction& i) { return *leaves_of(i.shape())[0]; }

sim::Tile all_bytes(const Instruction& i) {
  sim::Tile work;
  for (const Instruction* o : i.operands()) work.bytes_in += tiled_bytes_of_leaves(o->shape());
  work.bytes_out = tiled_bytes_of_leaves(i.shape());
  work.vmem_traffic = work.bytes_in + work.bytes_out;
  return work;
}

void add(sim::Tile& work, sim::VectorOp kind, double elements) {
  work.vector[static_cast<size_t>(kind)] += rounded(elements);
}

// Contiguous elements of a window of `sizes` in an array of `dims`.
int64_t run_of(const Dims& sizes, const Dims& dims) {
  int64_t run = 1;
  for (size_t d = sizes.size(); d-- > 0;) {
    run *= sizes[d];
    if (sizes[d] != dims[d]) break;
  }
  return std::max<int64_t>(1, run);
}

sim::IndexedAccess rows_of(double elements, int64_t run, DType type) {
  return {.rows = rounded(elements / static_cast<double>(run)),
          .row_bytes = std::max<int64_t>(1, run * bit_width(type) / 8)};
}

SpecialWork gather(const Instruction& i) {
  const Dims sizes = parse_int_list(i.attrs().raw(Attr::slice_sizes));
  return {rows_of(count(i.shape()), run_of(sizes, i.operand(0)->dims()), i.dtype()),
          sim::OpClass::kGatherScatter};
}

// Whether new values replace old ones, whatever those were.
bool overwrites(const Computation& body) {
  const Instruction* root = body.root();
  return root->is(Op::parameter) &&
         root->parameter_number() * 2 >= static_cast<int64_t>(body.parameters().size());
}

SpecialWork scatter(const Instruction& i) {
  const Shape& update = i.operand(i.num_operands() - 1)->shape();
  Dims sizes(i.operand(0)->shape().rank(), 1);
  const Dims& inserted = i.attrs().ints(Attr::inserted_window_dims);
  const Dims& batching = i.attrs().ints(Attr::input_batching_dims);
  auto has = [](const Dims& list, size_t d) {
    return std::find(list.begin(), list.end(), static_cast<int64_t>(d)) != list.end();
  };
  size_t next = 0;
  for (size_t d = 0; d < sizes.size(); ++d)
    if (!has(inserted, d) && !has(batching, d))
      sizes[d] = update.dims[i.attrs().ints(Attr::update_window_dims)[next++]];
  sim::IndexedAccess access = rows_of(count(update), run_of(sizes, i.operand(0)->dims()), update.dtype);
  access.adds = !overwrites(*i.callees()[0]);
  return {access, sim::OpClass::kGatherScatter};
}

// A network of compare and exchange: `stages` passes over all elements.
sim::Tile exchanges(const Instruction& i, double stages, double per_stage) {
  sim::Tile work = all_bytes(i);
  for (const Instruction* o : i.operands()) {
    if (!o->shape().is_array()) continue;
    add(work, sim::VectorOp::kSelect, count(o->shape()) * stages * per_stage);
    work.transpose.permuted += rounded(count(o->shape()) * stages);
  }
  return work;
}

SpecialWork sort(const Instruction& i) {
  const double steps =
      log2_of(static_cast<double>(i.operand(0)->dims()[i.attrs().ints(Attr::dimensions)[0]]));
  sim::Tile work = exchanges(i, steps * (steps + 1) / 2, 1);
  add_work(work.vector, vector_cost(*i.callees()[0]), count(i.operand(0)->shape()) * steps * (steps + 1) / 2);
  return {work, sim::OpClass::kSort};
}

SpecialWork topk(const Instruction& i) {
  const double all = log2_of(static_cast<double>(i.operand(0)->dims().back())),
               kept = log2_of(static_cast<double>(first_leaf(i).dims.back()));
  return {exchanges(i, all + kept * (kept + 1) / 2, 3), sim::OpClass::kSort};
}

SpecialWork fft(const Instruction& i) {
  double points = 1;
  for (int64_t n : i.attrs().ints(Attr::fft_length)) points *= static_cast<double>(n);
  sim::Tile work = all_bytes(i);
  const double elements = std::max(count(i.shape()), count(i.operand(0)->shape()));
  add(work, sim::VectorOp::kArithmetic, 5 * elements * log2_of(points));
  work.transpose.permuted += rounded(2 * elements * log2_of(points));
  return {work, sim::OpClass::kOther};
}

SpecialWork random_bits(const Instruction& i) {
  sim::Tile work = all_bytes(i);
  for (const Shape* leaf : leaves_of(i.shape()))
    if (leaf->is_array())
      add(work, sim::VectorOp::kInteger, count(*leaf) * kBitsWork * std::max(1, bit_width(leaf->dtype) / 32));
  return {work, sim::OpClass::kOther};
}

// Step depends on step: as many as a matrix has rows, each an update of the rest of it.
SpecialWork factorization(const Instruction& i) {
  double steps = 0;
  for (const Instruction* o : i.operands()) {
    const Shape& x = o->shape();
    if (!x.is_array() || x.rank() < 2) continue;
    const double n = static_cast<double>(x.dims[x.rank() - 2]);
    steps += count(x) * (1 + n / kMatrixLanes);
  }
  const sim::Tile bytes = all_bytes(i);
  return {sim::Serial{.steps = rounded(steps), .bytes = bytes.vmem_traffic}, sim::OpClass::kOther, true};
}

SpecialWork windowed_scatter(const Instruction& i) {
  double taps = 1;
  for (const WindowDim& w : i.attrs().window().dims) taps *= static_cast<double>(w.size);
  sim::Tile work = all_bytes(i);
  for (const Computation* body : i.callees())
    add_work(work.vector, vector_cost(*body), count(i.operand(1)->shape()) * taps);
  return {work, sim::OpClass::kReduction};
}

struct Row {
  Op op;
  SpecialWork (*work)(const Instruction&);
};
constexpr Row kRows[] = {
    {Op::gather, gather},
    {Op::scatter, scatter},
    {Op::sort, sort},
    {Op::topk, topk},
    {Op::fft, fft},
    {Op::rng_bit_generator, random_bits},
    {Op::rng_get_and_update_state, random_bits},
    {Op::cholesky, factorization},
    {Op::triangular_solve, factorization},
    {Op::custom_call, factorization},
    {Op::select_and_scatter, windowed_scatter},
};

}  // namespace

bool special_work(const Instruction& i, SpecialWork* work) {
  for (const Row& row : kRows) {
    if (row.op != i.op()) continue;
    *work = row.work(i);
    return true;
  }
  return false;
}

}  // namespace armillary::tpu
