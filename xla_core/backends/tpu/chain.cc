#include "xla_core/backends/tpu/chain.h"

#include <algorithm>

#include "xla_core/backends/tpu/tiled.h"
#include "xla_core/fusion/fusible.h"

namespace armillary::tpu {
namespace {

int64_t part(int64_t whole, int64_t parts) { return (whole + parts - 1) / parts; }

bool has_vector_work(const BodyWork& work) {
  return std::any_of(work.vector.begin(), work.vector.end(), [](int64_t n) { return n > 0; });
}

bool ends_with_contraction(const Instruction& i) {
  return is_contraction(i) || (i.is(Op::fusion) && is_contraction(*i.callees()[0]->root()));
}

// Rows of a tile fill registers, unless two dimensions are left behind them.
int64_t least_rows(const Shape& shape, int64_t rows) {
  return shape.dims.size() >= row_dims(shape.dims, rows) + 2 ? 1 : sim::hardware_tile(shape.dtype).sublanes;
}

}  // namespace

Chain::Chain(const sim::Chip& chip, const Places& places, int64_t budget, int64_t rows)
    : chip_(chip), places_(places), budget_(budget), rows_(rows) {}

// Through names for the same memory.
Chain::Source Chain::source_of(const Instruction* operand) const {
  if (auto found = number_.find(operand); found != number_.end())
    return {found->second, 0, links_[found->second].flows.leaves[0]};
  if (operand->is(Op::get_tuple_element)) {
    auto found = number_.find(operand->operand(0));
    if (found == number_.end()) return {};
    const size_t leaf = static_cast<size_t>(operand->attrs().integer(Attr::index));
    return {found->second, leaf, links_[found->second].flows.leaves[leaf]};
  }
  if (!is_alias(*operand)) return {};
  Source source = source_of(operand->operand(0));
  if (source.flow != Flow::kNothing)
    source.flow = flows_of(*operand, std::vector{source.flow}, rows_).leaves[0];
  return source;
}

void Chain::pass_by(const Instruction& i) {
  const bool is_name = is_alias(i) || i.is(Op::get_tuple_element);
  for (const Instruction* o : i.operands())
    if (late_.contains(o) || (!is_name && source_of(o).link >= 0)) late_.insert(&i);
}

// What depends on nothing in the chain is made row by row as well.
bool Chain::settle_flows(const Lowered& lowered, Link& link) const {
  const std::vector<const Shape*> leaves = leaves_of(lowered.instruction->shape());
  for (size_t leaf = 0; leaf < leaves.size(); ++leaf) {
    Flow& flow = link.flows.leaves[leaf];
    if (flow == Flow::kNothing) flow = Flow::kRows;
    if (flow == Flow::kMixed) return false;
    if (flow == Flow::kRows && row_dims(leaves[leaf]->dims, rows_) == 0) return false;
  }
  if (!link.product || link.flows.contraction == Flow::kSum) return true;
  return rows_ <= link.product->batch * link.product->m;
}

void Chain::settle_stages(const std::vector<Source>& sources, Link& link) const {
  const bool both = link.product && has_vector_work(*link.lowered->work);
  link.ends_at_matrix = link.product && (!both || ends_with_contraction(*link.lowered->instruction));
  link.begins_at_matrix = link.product && (!both || !link.ends_at_matrix);
  const Instruction& i = *link.lowered->instruction;
  std::unordered_set<int64_t> multiplied;
  for (int64_t k = 0; link.product && k < link.lowered->work->contraction->num_operands(); ++k)
    multiplied.merge(sources_of(i, *link.lowered->work->contraction, k));
  // What only an epilogue reads is not waited for by the product.
  for (const bool by_epilogue : {false, true}) {
    for (size_t k = 0; k < sources.size(); ++k) {
      if (sources[k].link < 0) continue;
      const Link& before = links_[sources[k].link];
      const bool late = link.begins_at_matrix && both && !multiplied.contains(static_cast<int64_t>(k));
      if (late != by_epilogue) continue;
      int& stage = late ? link.last : link.first;
      const bool at_matrix = late ? link.ends_at_matrix : link.begins_at_matrix;
      stage = std::max(stage, before.last + (before.ends_at_matrix != at_matrix ? 1 : 0));
    }
    if (!by_epilogue) link.last = link.first + (both ? 1 : 0);
  }
}

bool Chain::add(const Lowered& lowered) {
  const Instruction& i = *lowered.instruction;
  Link link{.lowered = &lowered};
  std::vector<Source> sources;
  std::vector<Flow> flows;
  for (const Instruction* o : i.operands()) {
    sources.push_back(source_of(o));
    flows.push_back(sources.back().flow);
    if (late_.contains(o)) return false;
    if (flows.back() == Flow::kSum || flows.back() == Flow::kMixed) return false;
  }
  if (lowered.work->contraction) {
    link.product = product_of(*lowered.work->contraction);
    if (link.product->on_vector_unit || link.product->flops == 0) return false;
  }
  link.flows = flows_of(i, flows, rows_);
  if (!settle_flows(lowered, link)) return false;
  settle_stages(sources, link);
  const int number = static_cast<int>(links_.size());
  link.part_of = number;
  link.readers.resize(link.flows.leaves.size());
  for (int64_t k = 0; k < i.num_operands(); ++k) {
    std::vector<Flow> cut = flows;
    cut[k] = Flow::kRows;
    link.is_cut.push_back(flows_of(i, cut, rows_).leaves == link.flows.leaves);
  }
  links_.push_back(std::move(link));
  number_[&i] = number;
  for (const Source& source : sources) {
    if (source.link < 0) continue;
    links_[source.link].readers[source.leaf].push_back(number);
    join(number, source.link);
  }
  return true;
}

void Chain::join(int link, int other) {
  const int from = links_[other].part_of, to = links_[link].part_of;
  for (Link& l : links_)
    if (l.part_of == from) l.part_of = to;
}

bool Chain::is_whole() const {
  bool multiplies = false;
  for (const Link& link : links_) {
    if (link.part_of != links_[0].part_of) return false;
    multiplies |= link.product.has_value();
  }
  return multiplies && links_.size() > 1;
}

bool Chain::is_read_outside(const Link& link, size_t leaf) const {
  const Instruction& i = *link.lowered->instruction;
  std::vector<const Instruction*> names = {&i};
  const bool several = i.shape().is_tuple();
  while (!names.empty()) {
    const Instruction* name = names.back();
    names.pop_back();
    if (name->is_root()) return true;
    for (const Instruction* user : name->users()) {
      const bool picks = several && name == &i;
      if (picks && user->is(Op::get_tuple_element)) {
        if (static_cast<size_t>(user->attrs().integer(Attr::index)) == leaf) names.push_back(user);
      } else if (is_alias(*user)) {
        names.push_back(user);
      } else if (!number_.contains(user)) {
        return true;
      }
    }
  }
  return false;
}

bool Chain::may_cut(const Link& link, int64_t tiles) const {
  const std::vector<const Shape*> leaves = leaves_of(link.lowered->instruction->shape());
  for (size_t leaf = 0; leaf < leaves.size(); ++leaf)
    if (tiles > 1 && link.flows.leaves[leaf] == Flow::kRows &&
        rows_ / tiles < least_rows(*leaves[leaf], rows_))
      return false;
  return true;
}

// Either operand may rest in the array.
void Chain::add_matrix(const Link& link, int64_t tiles, sim::Tile& tile) const {
  const Product& p = *link.product;
  sim::MatrixWork work{.m = p.m, .n = p.n, .k = p.k, .count = p.batch, .type = p.operand, .passes = p.passes};
  if (link.flows.contraction == Flow::kSum) {
    work.k = part(p.k, tiles);
  } else {
    work.count = part(p.batch, tiles);
    work.m = part(p.m, part(tiles, p.batch));
  }
  const int64_t operand_bits = bit_width(p.operand), result_bits = bit_width(p.result);
  tile.vmem_traffic +=
      work.count * ((work.m + work.n) * work.k * operand_bits + work.m * work.n * result_bits) / 8;
  sim::MatrixWork turned = work;
  std::swap(turned.m, turned.n);
  auto seconds = [&](const sim::MatrixWork& w) {
    return sim::estimate_seconds({{}, sim::FusedLoop{.tile = {.matrix = {w}}}}, chip_);
  };
  tile.matrix.push_back(seconds(turned) < seconds(work) ? turned : work);
}

// What does not come row by row must be there before the first tile, and stays.
void Chain::add_operands(const Link& link, int64_t tiles, sim::FusedLoop& loop) const {
  const Instruction& i = *link.lowered->instruction;
  for (int64_t k = 0; k < i.num_operands(); ++k) {
    const int64_t bytes = link.lowered->work->read[k];
    if (!link.product) loop.tile.vmem_traffic += part(bytes, tiles);
    if (source_of(i.operand(k)).link >= 0 || places_.in_vmem(i.operand(k))) continue;
    if (link.is_cut[k]) {
      loop.tile.bytes_in += part(bytes, tiles);
    } else {
      loop.prologue_bytes += bytes;
    }
  }
}

// A tile of a result is kept from the stage that makes it to the last one that reads it.
void Chain::add_results(const Link& link, int64_t tiles, sim::FusedLoop& loop) const {
  const Instruction& i = *link.lowered->instruction;
  for (size_t leaf = 0; leaf < link.flows.leaves.size(); ++leaf) {
    const int64_t bytes = link.lowered->work->written[leaf];
    if (!link.product) loop.tile.vmem_traffic += part(bytes, tiles);
    const bool leaves = is_read_outside(link, leaf) && !places_.in_vmem(&i, leaf);
    if (link.flows.leaves[leaf] == Flow::kSum) {
      loop.vmem_bytes += bytes;
      if (leaves) loop.epilogue_bytes += bytes;
      continue;
    }
    int last = link.last;
    for (int reader : link.readers[leaf]) last = std::max(last, links_[reader].last);
    loop.vmem_bytes += (last - link.last + 1) * part(bytes, tiles);
    if (leaves) loop.tile.bytes_out += part(bytes, tiles);
  }
}

sim::FusedLoop Chain::loop(int64_t tiles) const {
  sim::FusedLoop loop{.tiles = tiles};
  for (const Link& link : links_) {
    const BodyWork& work = *link.lowered->work;
    for (size_t v = 0; v < work.vector.size(); ++v) loop.tile.vector[v] += part(work.vector[v], tiles);
    loop.tile.transpose.transposed += part(work.transpose.transposed, tiles);
    loop.tile.transpose.reduced += part(work.transpose.reduced, tiles);
    loop.tile.transpose.permuted += part(work.transpose.permuted, tiles);
    if (link.product) add_matrix(link, tiles, loop.tile);
    add_operands(link, tiles, loop);
    add_results(link, tiles, loop);
    loop.stages = std::max(loop.stages, link.last + 1);
  }
  loop.vmem_bytes += loop.prologue_bytes + loop.buffers * (loop.tile.bytes_in + loop.tile.bytes_out);
  return loop;
}

std::optional<sim::Command> Chain::command() const {
  std::optional<sim::FusedLoop> best;
  double least = 0;
  for (int64_t tiles = 1; rows_ % tiles == 0; tiles *= 2) {
    if (!std::all_of(links_.begin(), links_.end(), [&](const Link& l) { return may_cut(l, tiles); })) break;
    sim::FusedLoop cut = loop(tiles);
    if (cut.vmem_bytes > budget_) continue;
    const double seconds = sim::estimate_seconds({{}, cut}, chip_);
    if (!best || seconds < least) best = std::move(cut), least = seconds;
  }
  if (!best) return std::nullopt;
  sim::Command command;
  for (const Link& link : links_) {
    const sim::Label& label = link.lowered->commands[0].label;
    if (link.product && command.label.name.empty()) command.label = label, command.label.flops = 0;
    command.label.flops += link.product ? label.flops : 0;
  }
  command.label.name =
      links_.front().lowered->instruction->name() + " to " + links_.back().lowered->instruction->name();
  command.label.bytes =
      static_cast<double>(best->prologue_bytes + best->epilogue_bytes) +
      static_cast<double>(best->tiles) * static_cast<double>(best->tile.bytes_in + best->tile.bytes_out);
  command.what = std::move(*best);
  return command;
}

HbmReads Chain::reads() const {
  HbmReads all;
  for (const Link& link : links_)
    for (const auto& [value, bytes] : link.lowered->reads)
      if (source_of(value).link < 0) all.emplace_back(value, bytes);
  return all;
}

namespace {

constexpr double kWorthwhile = 0.99;  // of the time before
constexpr int kPatience = 16;         // links that are tried without a gain

struct Merged {
  size_t end = 0;  // behind its last
  double gain = 0;
  sim::Command command;
  HbmReads reads;
};

bool may_be_linked(const Lowered& l) {
  return l.work && l.commands.size() == 1 && std::holds_alternative<sim::FusedLoop>(l.commands[0].what);
}

// The best chain over so many rows that begins at `begin`.
Merged longest_gain(const std::vector<Lowered>& lowered, size_t begin, Chain chain, const sim::Chip& chip) {
  Merged best;
  double apart = 0;
  int in_vain = 0;
  for (size_t n = begin; n < lowered.size() && in_vain <= kPatience; ++n) {
    if (lowered[n].commands.empty()) {
      chain.pass_by(*lowered[n].instruction);
      continue;
    }
    if (!may_be_linked(lowered[n]) || !chain.add(lowered[n])) break;
    ++in_vain;
    apart += sim::estimate_seconds(lowered[n].commands[0], chip);
    if (!chain.is_whole()) continue;
    std::optional<sim::Command> together = chain.command();
    if (!together) break;
    const double seconds = sim::estimate_seconds(*together, chip);
    if (seconds >= kWorthwhile * apart || apart - seconds <= best.gain) continue;
    best = {n + 1, apart - seconds, std::move(*together), chain.reads()};
    in_vain = 0;
  }
  return best;
}

}  // namespace

void merge_chains(std::vector<Lowered>& lowered, const sim::Chip& chip, const Places& places,
                  int64_t budget) {
  for (size_t begin = 0; begin < lowered.size(); ++begin) {
    if (!may_be_linked(lowered[begin])) continue;
    Merged best;
    int64_t rows = 1;
    for (int64_t extent : leaves_of(lowered[begin].instruction->shape())[0]->dims) {
      rows *= extent;
      if (extent <= 1) continue;
      Merged here = longest_gain(lowered, begin, Chain(chip, places, budget, rows), chip);
      if (here.gain > best.gain) best = std::move(here);
    }
    if (best.end == 0) continue;
    for (size_t n = begin; n < best.end; ++n) lowered[n].commands.clear(), lowered[n].continues = n > begin;
    lowered[begin].commands = {std::move(best.command)};
    lowered[begin].reads = std::move(best.reads);
    begin = best.end - 1;
  }
}

}  // namespace armillary::tpu
