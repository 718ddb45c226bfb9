// Collectives, synchronous or as start and done, and transfers to the host.
#include <algorithm>

#include "xla_core/backends/tpu/lower.h"
#include "xla_core/backends/tpu/tiled.h"
#include "xla_core/hlo/device_groups.h"
#include "xla_core/spmd/marks.h"
#include "xla_core/spmd/mesh.h"

namespace armillary::tpu {
namespace {

struct KindRow {
  Op op;
  sim::CollectiveKind kind;
  bool counts_result;  // else its operands
};
constexpr KindRow kKinds[] = {
    {Op::all_reduce, sim::CollectiveKind::kAllReduce, false},
    {Op::all_gather, sim::CollectiveKind::kAllGather, true},
    {Op::reduce_scatter, sim::CollectiveKind::kReduceScatter, false},
    {Op::all_to_all, sim::CollectiveKind::kAllToAll, false},
    {Op::ragged_all_to_all, sim::CollectiveKind::kAllToAll, true},
    {Op::collective_broadcast, sim::CollectiveKind::kAllGather, true},
    {Op::collective_reduce, sim::CollectiveKind::kReduceScatter, false},
    {Op::collective_permute, sim::CollectiveKind::kCollectivePermute, false},
};

const KindRow* find_kind(Op op) {
  for (const KindRow& row : kKinds)
    if (row.op == op) return &row;
  return nullptr;
}

int place_of(int64_t device, const Machine& machine) {
  return machine.places.empty() ? static_cast<int>(device) : machine.places.at(device);
}

// Devices that the program does not use are groups of one.
std::shared_ptr<const sim::DeviceGroups> groups_of(const Instruction& i, const Machine& machine) {
  auto groups = std::make_shared<sim::DeviceGroups>();
  for (const DeviceList& group : device_groups(i)) {
    groups->emplace_back();
    for (int64_t device : group) groups->back().push_back(place_of(device, machine));
  }
  if (machine.places.empty()) return groups;
  std::vector<bool> used(machine.devices);
  for (int place : machine.places) used.at(place) = true;
  for (size_t place = 0; place < used.size(); ++place)
    if (!used[place]) groups->push_back({static_cast<int>(place)});
  return groups;
}

// The row cannot know how many devices meet.
void check_group_sizes(const Instruction& i) {
  if (!i.is(Op::all_gather) && !i.is(Op::reduce_scatter)) return;
  const int64_t along = i.attrs().ints(Attr::dimensions)[0];
  const std::vector<const Shape*> results = leaves_of(i.shape());
  for (const DeviceList& group : device_groups(i))
    for (size_t k = 0; k < results.size(); ++k) {
      const int64_t from = i.operand(static_cast<int64_t>(k))->dims()[along], to = results[k]->dims[along];
      const auto n = static_cast<int64_t>(group.size());
      if (i.is(Op::all_gather) ? from * n != to : to * n != from)
        throw user_error(i, "{} along dimension {} do not become {} in a group of {} devices", from, along,
                         to, n);
    }
}

std::shared_ptr<const sim::DevicePairs> pairs_of(const Instruction& i, const Machine& machine) {
  auto pairs = std::make_shared<sim::DevicePairs>();
  for (const auto& [from, to] : device_pairs(i))
    pairs->emplace_back(place_of(from, machine), place_of(to, machine));
  return pairs;
}

}  // namespace

bool talks_to_host(const Instruction& i) {
  return i.is(Op::infeed) || i.is(Op::outfeed) || i.is(Op::send) || i.is(Op::recv);
}

Commands Lowering::lower_collective(const Instruction& i) {
  if (i.has(kAsyncDone)) {
    const Instruction* start = i.operand(0);
    auto handle = handles_.find(start);
    if (handle == handles_.end()) return {};
    sim::Command wait{label_of(*start, sim::OpClass::kCollective), sim::Wait{handle->second}};
    handles_.erase(handle);
    return {std::move(wait)};
  }
  const Instruction* inner = i.is(Op::async_start) ? i.callees()[0]->root() : &i;
  const KindRow* row = find_kind(inner->op());
  if (row == nullptr) {
    note(i, "a transfer to or from the host: the bytes of its arrays over PCIe");
    int64_t bytes = tiled_bytes_of_leaves(i.shape());
    for (const Instruction* o : i.operands()) bytes += tiled_bytes_of_leaves(o->shape());
    return {{label_of(i, sim::OpClass::kOther), sim::HostTransfer{.bytes = bytes}}};
  }
  check_group_sizes(*inner);
  const std::string whole = frontend_attribute(inner->attrs().raw(Attr::frontend_attributes), kComputedWhole);
  if (!whole.empty())
    note(i,
         "an array that is cut over the devices is put together, and every device computes all of " + whole);
  sim::CollectiveStart start{.kind = row->kind, .handle = next_handle_++};
  if (row->counts_result) {
    start.bytes = tiled_bytes_of_leaves(inner->shape());
  } else {
    for (const Instruction* o : inner->operands()) start.bytes += tiled_bytes_of_leaves(o->shape());
  }
  if (inner->is(Op::collective_permute)) {
    start.pairs = pairs_of(*inner, machine_);
  } else {
    const std::string key = inner->attrs().raw(Attr::replica_groups) +
                            (inner->has(Attr::channel_id) ? "c" : "") +
                            (inner->attrs().flag(Attr::use_global_device_ids) ? "g" : "");
    std::shared_ptr<const sim::DeviceGroups>& groups = groups_[key];
    if (!groups) groups = groups_of(*inner, machine_);
    start.groups = groups;
  }
  sim::Label label = label_of(i, sim::OpClass::kCollective);
  label.bytes = static_cast<double>(start.bytes);
  Commands out = {{label, start}};
  if (i.is(Op::async_start)) {
    handles_[&i] = start.handle;
  } else {
    out.push_back({std::move(label), sim::Wait{start.handle}});
  }
  return out;
}

}  // namespace armillary::tpu
