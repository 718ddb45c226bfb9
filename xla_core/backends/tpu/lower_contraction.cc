// Dots and convolutions, with what is fused to them.
#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "xla_core/backends/tpu/lower.h"
#include "xla_core/backends/tpu/product.h"
#include "xla_core/backends/tpu/tiled.h"

namespace armillary::tpu {
namespace {

// Bytes for each byte of a padded matrix, all of the batch.
double over(double bytes, double padded_elements, DType type) {
  const double of_blocks = padded_elements * bit_width(type) / 8;
  return of_blocks > 0 ? bytes / of_blocks : 0;
}

double padded(int64_t extent, int64_t multiple) {
  return static_cast<double>(sim::round_up(extent, multiple));
}

int64_t share(int64_t work, int64_t tiles) { return (work + tiles - 1) / tiles; }

void swap_operands(sim::Matmul& p) {
  std::swap(p.m, p.n);
  std::swap(p.a_traffic, p.b_traffic);
}

}  // namespace

std::unordered_set<int64_t> sources_of(const Instruction& fusion, const Instruction& contraction, int64_t k) {
  if (!fusion.is(Op::fusion)) return {k};
  std::unordered_set<int64_t> sources;
  std::unordered_set<const Instruction*> seen;
  std::vector<const Instruction*> work = {contraction.operand(k)};
  while (!work.empty()) {
    const Instruction* i = work.back();
    work.pop_back();
    if (!seen.insert(i).second) continue;
    if (i->is(Op::parameter)) sources.insert(i->parameter_number());
    work.insert(work.end(), i->operands().begin(), i->operands().end());
  }
  return sources;
}

// Either operand may be the one that rests in the array: the faster choice counts.
sim::FusedLoop Lowering::matrix_loop(sim::Matmul product) {
  auto blocks_of = [&](const sim::Matmul& p) -> const sim::MatmulBlocks& {
    auto rounded = [](double traffic) { return std::llround(traffic * 1000); };
    const std::vector<int64_t> key = {p.m,
                                      p.n,
                                      p.k,
                                      p.batch,
                                      static_cast<int64_t>(p.operand),
                                      static_cast<int64_t>(p.result),
                                      p.passes,
                                      rounded(p.a_traffic),
                                      rounded(p.b_traffic),
                                      rounded(p.c_traffic)};
    auto [found, fresh] = blocks_.try_emplace(key);
    if (fresh) found->second = sim::choose_blocks(p, machine_.chip);
    return found->second;
  };
  product.vmem_budget = tile_budget_;
  sim::FusedLoop first = matmul_loop(product, blocks_of(product));
  swap_operands(product);
  sim::FusedLoop second = matmul_loop(product, blocks_of(product));
  auto seconds = [&](const sim::FusedLoop& loop) { return sim::estimate_seconds({{}, loop}, machine_.chip); };
  return seconds(second) < seconds(first) ? second : first;
}

sim::Command Lowering::contraction(const Instruction& i, const BodyWork& work) {
  const Product p = product_of(*work.contraction);
  const bool convolves = work.contraction->is(Op::convolution);
  sim::Label label = label_of(i, convolves ? sim::OpClass::kConvolution : sim::OpClass::kMatmul, p.flops);
  if (p.m * p.n * p.k * p.batch == 0 || p.on_vector_unit) {
    BodyWork on_lanes = work;
    on_lanes.vector[static_cast<size_t>(sim::VectorOp::kInteger)] += static_cast<int64_t>(p.flops);
    sim::Command command = loop(i, on_lanes, label.op_class);
    command.label = std::move(label);
    return command;
  }
  const std::unordered_set<int64_t> left = sources_of(i, *work.contraction, 0),
                                    right = sources_of(i, *work.contraction, 1);
  double a_bytes = 0, b_bytes = 0, c_bytes = 0;
  for (int64_t k = 0; k < i.num_operands(); ++k) {
    if (places_.in_vmem(i.operand(k))) continue;
    double& bytes = left.contains(k) ? a_bytes : right.contains(k) ? b_bytes : c_bytes;
    bytes += static_cast<double>(work.read[k]);
    hbm_reads_.emplace_back(i.operand(k), work.read[k]);
  }
  for (size_t leaf = 0; leaf < work.written.size(); ++leaf)
    if (!places_.in_vmem(&i, leaf)) c_bytes += static_cast<double>(work.written[leaf]);
  const int64_t sublanes =
      std::max(sim::hardware_tile(p.operand).sublanes, sim::hardware_tile(p.result).sublanes);
  const double m = padded(p.m, sublanes), n = padded(p.n, sim::kLanes), k = padded(p.k, sim::kLanes),
               batch = static_cast<double>(p.batch);
  sim::Matmul product{.m = p.m,
                      .n = p.n,
                      .k = p.k,
                      .batch = p.batch,
                      .operand = p.operand,
                      .result = p.result,
                      .passes = p.passes};
  product.a_traffic = over(a_bytes, m * k * batch, p.operand);
  product.b_traffic = over(b_bytes, k * n * batch, p.operand);
  product.c_traffic = over(c_bytes, m * n * batch, p.result);
  sim::FusedLoop loop = matrix_loop(product);
  for (size_t v = 0; v < work.vector.size(); ++v) loop.tile.vector[v] += share(work.vector[v], loop.tiles);
  loop.tile.transpose.transposed += share(work.transpose.transposed, loop.tiles);
  loop.tile.transpose.permuted += share(work.transpose.permuted, loop.tiles);
  loop.tile.transpose.reduced += share(work.transpose.reduced, loop.tiles);
  return {std::move(label), std::move(loop)};
}

}  // namespace armillary::tpu
