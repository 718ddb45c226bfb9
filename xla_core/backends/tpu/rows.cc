#include "xla_core/backends/tpu/rows.h"

#include <algorithm>
#include <unordered_map>

#include "xla_core/fusion/fusible.h"

namespace armillary::tpu {
namespace {

// Where dimension d of operand k is found in the result: a dimension, or one of these.
constexpr int64_t kSummed = -1, kElsewhere = -2;

int64_t place_in(const Dims& dims, int64_t d) {
  const auto found = std::find(dims.begin(), dims.end(), d);
  return found == dims.end() ? kElsewhere : found - dims.begin();
}
bool is_in(const Dims& dims, int64_t d) { return place_in(dims, d) != kElsewhere; }
int64_t if_whole(const Instruction& i, int64_t k, int64_t d) {
  return i.operand(k)->dims()[d] == i.dims()[d] ? d : kElsewhere;
}

int64_t through_broadcast(const Instruction& i, int64_t, int64_t d) {
  return i.attrs().ints(Attr::dimensions)[d];
}
int64_t through_transpose(const Instruction& i, int64_t, int64_t d) {
  return place_in(i.attrs().ints(Attr::dimensions), d);
}
int64_t through_reduce(const Instruction& i, int64_t k, int64_t d) {
  const Dims& reduced = i.attrs().ints(Attr::dimensions);
  if (2 * k >= i.num_operands()) return kElsewhere;
  if (is_in(reduced, d)) return kSummed;
  return d - std::count_if(reduced.begin(), reduced.end(), [d](int64_t r) { return r < d; });
}
int64_t through_concatenate(const Instruction& i, int64_t, int64_t d) {
  return is_in(i.attrs().ints(Attr::dimensions), d) ? kElsewhere : d;
}
int64_t through_reverse(const Instruction& i, int64_t, int64_t d) {
  return is_in(i.attrs().ints(Attr::dimensions), d) ? kElsewhere : d;
}
int64_t through_piece(const Instruction& i, int64_t k, int64_t d) {
  return k == 0 ? if_whole(i, k, d) : kElsewhere;
}

// Results of a dot: batch, then the free dimensions of the left operand, then those of the right one.
int64_t through_dot(const Instruction& i, int64_t k, int64_t d) {
  const Dims& batch = i.attrs().ints(k == 0 ? Attr::lhs_batch_dims : Attr::rhs_batch_dims);
  const Dims& summed = i.attrs().ints(k == 0 ? Attr::lhs_contracting_dims : Attr::rhs_contracting_dims);
  if (is_in(batch, d)) return place_in(batch, d);
  if (is_in(summed, d)) return kSummed;
  auto taken = [&](int64_t other) { return is_in(batch, other) || is_in(summed, other); };
  int64_t place = static_cast<int64_t>(batch.size());
  if (k == 1) place += i.operand(0)->shape().rank() - static_cast<int64_t>(batch.size() + summed.size());
  for (int64_t other = 0; other < d; ++other) place += taken(other) ? 0 : 1;
  return place;
}

struct Row {
  Op op;
  int64_t (*through)(const Instruction&, int64_t k, int64_t d);
};
constexpr Row kRows[] = {
    {Op::broadcast, through_broadcast},
    {Op::concatenate, through_concatenate},
    {Op::dot, through_dot},
    {Op::dynamic_slice, through_piece},
    {Op::map, if_whole},
    {Op::pad, through_piece},
    {Op::reduce, through_reduce},
    {Op::reverse, through_reverse},
    {Op::slice, through_piece},
    {Op::transpose, through_transpose},
};

int64_t through(const Instruction& i, int64_t k, int64_t d) {
  if (i.def().meaning == Meaning::kScalar) return i.operand(k)->dims() == i.dims() ? d : kElsewhere;
  for (const Row& row : kRows)
    if (row.op == i.op()) return row.through(i, k, d);
  return kElsewhere;
}

Flow through_rows(const Instruction& i, int64_t k, int64_t rows) {
  const size_t leading = row_dims(i.operand(k)->dims(), rows);
  if (leading == 0) return Flow::kMixed;
  if (is_alias(i)) return row_dims(i.dims(), rows) > 0 ? Flow::kRows : Flow::kMixed;
  bool stay = true, summed = true;
  for (size_t d = 0; d < leading; ++d) {
    const int64_t place = through(i, k, static_cast<int64_t>(d));
    stay &= place == static_cast<int64_t>(d);
    summed &= place == kSummed;
  }
  return stay ? Flow::kRows : summed ? Flow::kSum : Flow::kMixed;
}

Flow joined(Flow a, Flow b) {
  if (a == Flow::kNothing || a == b) return b;
  return b == Flow::kNothing ? a : Flow::kMixed;
}

Flow flow_of(const Instruction& i, std::span<const Flow> operands, int64_t rows) {
  Flow all = Flow::kNothing;
  for (int64_t k = 0; k < i.num_operands(); ++k) {
    Flow one = operands[k];
    if (one == Flow::kRows) one = through_rows(i, k, rows);
    all = joined(all, one);
  }
  return all;
}

}  // namespace

size_t row_dims(const Dims& dims, int64_t rows) {
  int64_t product = 1;
  for (size_t d = 0; d < dims.size(); ++d) {
    product *= dims[d];
    if (product == rows) return d + 1;
    if (product > rows || product == 0) break;
  }
  return 0;
}

Flows flows_of(const Instruction& instr, std::span<const Flow> operands, int64_t rows) {
  if (!instr.is(Op::fusion)) {
    const Flow flow = flow_of(instr, operands, rows);
    return {std::vector<Flow>(leaves_of(instr.shape()).size(), flow), flow};
  }
  Flows out;
  std::unordered_map<const Instruction*, Flow> flow;
  std::vector<Flow> of_operands;
  const Computation& body = *instr.callees()[0];
  for (const Instruction* i : body.instructions()) {
    if (i->is(Op::parameter)) {
      flow[i] = operands[i->parameter_number()];
      continue;
    }
    of_operands.clear();
    for (const Instruction* o : i->operands()) of_operands.push_back(flow.at(o));
    if (i->is(Op::tuple)) {
      out.leaves = of_operands;
      continue;
    }
    flow[i] = flow_of(*i, of_operands, rows);
    if (is_contraction(*i)) out.contraction = flow[i];
  }
  if (!body.root()->is(Op::tuple)) out.leaves = {flow.at(body.root())};
  return out;
}

}  // namespace armillary::tpu
