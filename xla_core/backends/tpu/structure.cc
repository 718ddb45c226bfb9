// How ops without a scalar recipe keep the vector and the transpose unit busy: one row each. What has no row
// only moves, and costs its bytes.
#include <algorithm>
#include <cmath>

#include "xla_core/backends/tpu/body_work.h"
#include "xla_core/backends/tpu/tiled.h"
#include "xla_core/backends/tpu/vector_cost.h"
#include "xla_core/fusion/fusible.h"

namespace armillary::tpu {
namespace {

constexpr double kLanes = sim::kLanes;

int64_t rounded(double elements) { return static_cast<int64_t>(std::ceil(elements)); }
void add(sim::VectorWork& work, sim::VectorOp kind, double elements) {
  work[static_cast<size_t>(kind)] += rounded(elements);
}
double padded(const Instruction& i, double elements) {
  return i.shape().is_array() ? elements * padding_factor(i.shape()) : elements;
}
bool last_is_in(const Dims& dims, int64_t rank) {
  return std::find(dims.begin(), dims.end(), rank - 1) != dims.end();
}

// Sums across lanes leave one element in a row of them.
void reduce(const Instruction& i, double elements, BodyWork& work) {
  work.reduces = true;
  const Shape& from = i.operand(0)->shape();
  const double read = std::min(static_cast<double>(from.num_elements()), elements * reads_per_element(i, 0));
  add_work(work.vector, vector_cost(*i.callees()[0]), read * padding_factor(from));
  if (last_is_in(i.attrs().ints(Attr::dimensions), from.rank()))
    work.transpose.reduced += rounded(std::min(read, elements * kLanes));
}

// A window is folded dimension after dimension; one that only grows, in log2 steps.
void reduce_window(const Instruction& i, double elements, BodyWork& work) {
  work.reduces = true;
  double steps = 0;
  for (const WindowDim& w : i.attrs().window().dims) {
    if (w.size > 1)
      steps += is_running_window(i) ? 2 * std::ceil(std::log2(w.size)) : static_cast<double>(w.size - 1);
  }
  add_work(work.vector, vector_cost(*i.callees()[0]), elements * steps);
  work.transpose.permuted += rounded(elements * steps / 2);  // assumed: every other shift crosses lanes
}

void map(const Instruction& i, double elements, BodyWork& work) {
  add_work(work.vector, vector_cost(*i.callees()[0]), padded(i, elements));
}

void transpose(const Instruction& i, double elements, BodyWork& work) {
  const Dims& order = i.attrs().ints(Attr::dimensions);
  if (!order.empty() && order.back() != static_cast<int64_t>(order.size()) - 1)
    work.transpose.transposed += rounded(padded(i, elements));
}

void reverse(const Instruction& i, double elements, BodyWork& work) {
  if (last_is_in(i.attrs().ints(Attr::dimensions), i.shape().rank()))
    work.transpose.permuted += rounded(padded(i, elements));
}

// Free where whole registers keep their lanes.
void reshape(const Instruction& i, double elements, BodyWork& work) {
  const Dims &from = i.operand(0)->dims(), &to = i.dims();
  if (from.empty() || to.empty() || from.back() == to.back()) return;
  if (from.back() % sim::kLanes == 0 && to.back() % sim::kLanes == 0) return;
  work.transpose.permuted += rounded(elements);
}

void broadcast(const Instruction& i, double elements, BodyWork& work) {
  if (i.operand(0)->shape().is_scalar() || last_is_in(i.attrs().ints(Attr::dimensions), i.shape().rank()))
    return;
  work.transpose.permuted +=
      rounded(std::min(elements, static_cast<double>(i.operand(0)->shape().num_elements()) * kLanes));
}

void slice(const Instruction& i, double elements, BodyWork& work) {
  if (i.dims().empty()) return;
  const SliceDim& lanes = i.attrs().slices().back();
  if (lanes.stride != 1 || lanes.start % sim::kLanes != 0)
    work.transpose.permuted += rounded(padded(i, elements));
}

template <sim::VectorOp kKind>
void one_each(const Instruction& i, double elements, BodyWork& work) {
  add(work.vector, kKind, padded(i, elements));
}

struct Row {
  Op op;
  void (*charge)(const Instruction&, double, BodyWork&);
};
constexpr Row kRows[] = {
    {Op::reduce, reduce},
    {Op::reduce_window, reduce_window},
    {Op::map, map},
    {Op::transpose, transpose},
    {Op::reverse, reverse},
    {Op::reshape, reshape},
    {Op::broadcast, broadcast},
    {Op::slice, slice},
    {Op::concatenate, one_each<sim::VectorOp::kSelect>},
    {Op::pad, one_each<sim::VectorOp::kSelect>},
    {Op::iota, one_each<sim::VectorOp::kInteger>},
};

}  // namespace

void charge_structure(const Instruction& instr, double elements, BodyWork& work) {
  for (const Row& row : kRows)
    if (row.op == instr.op()) return row.charge(instr, elements, work);
}

}  // namespace armillary::tpu
