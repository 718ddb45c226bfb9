#include "xla_core/interp/tape_eval.h"

#include <algorithm>

#include "xla_core/base/error.h"
#include "xla_core/base/parallel_for.h"
#include "xla_core/shape/index.h"

namespace armillary {
namespace {

// Index `dim` of each lane, from the lanes' linear positions: runs of equal values.
void index_lanes(std::span<const int64_t> dims, int64_t dim, int64_t begin, int64_t count, Lane* out) {
  const int64_t stride = product(dims.subspan(static_cast<size_t>(dim) + 1)),
                size = dims[static_cast<size_t>(dim)];
  int64_t value = begin / stride % size, left = stride - begin % stride;
  for (int64_t k = 0; k < count; ++k) {
    out[k].i = value;
    if (--left > 0) continue;
    left = stride;
    if (++value == size) value = 0;
  }
}

}  // namespace

TapeRunner::TapeRunner(const TapeProgram& program, int64_t capacity)
    : program_(program),
      capacity_(std::clamp<int64_t>(capacity, 1, kBlock)),
      registers_(program.tape.nodes.size() * capacity_) {
  const std::vector<TapeNode>& nodes = program.tape.nodes;
  for (int32_t n = 0; n < static_cast<int32_t>(nodes.size()); ++n)
    if (nodes[n].prim == Prim::kConst)
      std::fill_n(reg(n), capacity_, lane_of_bits(nodes[n].dtype, static_cast<uint64_t>(nodes[n].imm)));
}

void TapeRunner::run(std::span<const ArrayView> inputs, std::span<const int64_t> dims, int64_t begin,
                     int64_t count, std::span<std::byte* const> outputs) {
  for (int32_t n = 0; n < static_cast<int32_t>(program_.tape.nodes.size()); ++n)
    step(n, inputs, dims, begin, count);
  for (size_t r = 0; r < outputs.size(); ++r) {
    const Val& v = program_.results[r];
    write_lanes(v.dtype, outputs[r], begin, count, reg(v.re), v.im < 0 ? nullptr : reg(v.im));
  }
}

void TapeRunner::step(int32_t n, std::span<const ArrayView> inputs, std::span<const int64_t> dims,
                      int64_t begin, int64_t count) {
  const TapeNode& node = program_.tape.nodes[n];
  switch (node.prim) {
    case Prim::kConst:
      return;
    case Prim::kArg:
      return read_lanes(inputs[node.imm], node.part, begin, nullptr, count, reg(n));
    case Prim::kLoad:
      return read_lanes(inputs[node.imm], node.part, 0, reg(node.a), count, reg(n));
    case Prim::kIndex:
      return index_lanes(dims, node.imm, begin, count, reg(n));
    default:
      break;
  }
  // The operands' type; of a select the chosen ones'.
  const DType from = program_.tape.nodes[node.prim == Prim::kSelect ? node.b : node.a].dtype;
  run_primitive(node, from, reg(node.a), node.b < 0 ? nullptr : reg(node.b),
                node.c < 0 ? nullptr : reg(node.c), count, reg(n));
}

std::vector<Literal> run_tape(const TapeProgram& program, std::span<const Literal> inputs, const Dims& dims) {
  std::vector<ArrayView> views;
  for (const Literal& input : inputs) views.push_back(ArrayView::of(input));
  std::vector<Literal> results;
  std::vector<std::byte*> outputs;
  for (const Val& v : program.results) outputs.push_back(results.emplace_back(Shape(v.dtype, dims)).bytes());
  const int64_t count = Shape(DType::kPred, dims).num_elements(),
                blocks = (count + TapeRunner::kBlock - 1) / TapeRunner::kBlock;
  parallel_for(blocks, 16, [&](int64_t first, int64_t last) {
    TapeRunner runner(program, count);
    for (int64_t at = first * TapeRunner::kBlock; at < std::min(count, last * TapeRunner::kBlock);
         at += TapeRunner::kBlock)
      runner.run(views, dims, at, std::min(TapeRunner::kBlock, count - at), outputs);
  });
  return results;
}

}  // namespace armillary
