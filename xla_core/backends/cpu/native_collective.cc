// Ops in which devices meet, and the ids of a device.
#include <algorithm>
#include <cstring>

#include "xla_core/backends/cpu/native/collectives.h"
#include "xla_core/backends/cpu/native_parts.h"
#include "xla_core/hlo/device_groups.h"
#include "xla_core/kernels/lower.h"

namespace armillary::cpu {
namespace {

using native::Brought;
using native::CollectiveSpec;

CollectiveSpec spec_of(const Instruction& i) {
  CollectiveSpec spec;
  const Arrays arrays(i);
  const auto all = arrays.all();
  spec.operands.assign(all.begin(), all.begin() + static_cast<int64_t>(arrays.inputs()));
  spec.results.assign(all.begin() + static_cast<int64_t>(arrays.inputs()), all.end());
  const Dims& dimensions = i.attrs().ints(Attr::dimensions);
  if (!dimensions.empty()) spec.dimension = dimensions[0];
  if (const Computation* reducer = i.attrs().callee(Attr::to_apply)) {
    spec.combine = combiner_of(*reducer);
    spec.folded = reducer->root()->dtype();
  }
  return spec;
}

// Which group each device is in, and its place there.
struct Membership {
  std::vector<DeviceList> groups;
  std::vector<std::pair<int64_t, int64_t>> place;  // of a device: group (-1: none), rank

  Membership(std::vector<DeviceList> all, int64_t devices)
      : groups(std::move(all)), place(devices, {-1, -1}) {
    for (size_t g = 0; g < groups.size(); ++g)
      for (size_t r = 0; r < groups[g].size(); ++r)
        place[groups[g][r]] = {static_cast<int64_t>(g), static_cast<int64_t>(r)};
  }
};

int64_t device_count(const Instruction& i) { return i.module()->replica_count * i.module()->num_partitions; }

// Whoever is in no group is alone in one of its own.
std::vector<DeviceList> complete_groups(const Instruction& i) {
  std::vector<DeviceList> groups = device_groups(i);
  std::vector<bool> seen(device_count(i), false);
  for (const DeviceList& g : groups)
    for (int64_t d : g) seen[d] = true;
  for (size_t d = 0; d < seen.size(); ++d)
    if (!seen[d]) groups.push_back({static_cast<int64_t>(d)});
  return groups;
}

void meet(const DeviceContext& context, const void* place, const DeviceList& members,
          std::byte* const* buffers, const Meeting::Work& work) {
  if (context.meeting && members.size() > 1)
    context.meeting->meet(place, members, context.device, buffers, work);
  else
    work(std::span(&buffers, 1));
}

using Collective = void (*)(const CollectiveSpec&, Brought, int64_t rank);

template <Collective kRun>
DeviceFunction make_collective(const Instruction& i, FunctionTable& functions) {
  CollectiveSpec spec = spec_of(i);
  int function = -1;
  if (spec.combine == native::Combiner::kFunction)
    function = add_scalar_function(*i.attrs().callee(Attr::to_apply), functions);
  auto who = std::make_shared<const Membership>(complete_groups(i), device_count(i));
  return [spec, who, function, table = functions.pointers](std::byte* const* buffers,
                                                           const DeviceContext& context) {
    const auto [group, rank] = who->place[context.device];
    CollectiveSpec ready = spec;
    if (function >= 0) ready.function = (*table)[function];
    meet(context, who.get(), who->groups[group], buffers,
         [&, rank = rank](Brought members) { kRun(ready, members, rank); });
  };
}

// The group's size must fit the shapes, which only the row cannot know.
bool sizes_fit(const Instruction& i, std::string* why) {
  const CollectiveSpec spec = spec_of(i);
  for (const DeviceList& group : complete_groups(i)) {
    const auto n = static_cast<int64_t>(group.size());
    for (size_t k = 0; k < spec.operands.size(); ++k) {
      const int64_t from = spec.operands[k].dims.empty() ? 1 : spec.operands[k].dims[spec.dimension];
      const int64_t to = spec.operands[k].dims.empty() ? n : spec.results[k].dims[spec.dimension];
      const bool fits = i.is(Op::all_gather)       ? from * n == to
                        : i.is(Op::reduce_scatter) ? from == to * n
                                                   : from % n == 0;
      if (fits) continue;
      if (why) *why = fmt::format("its result does not fit a group of {} devices", n);
      return false;
    }
  }
  return true;
}

bool can_reduce(const Instruction& i, std::string* why) {
  const CollectiveSpec spec = spec_of(i);
  if (spec.combine == native::Combiner::kFunction &&
      !kernels::can_lower_scalar(*i.attrs().callee(Attr::to_apply), why))
    return false;
  if (native::can_fold(spec)) return true;
  if (why) *why = "its computation folds other types than its operands'";
  return false;
}

bool can_reduce_scatter(const Instruction& i, std::string* why) {
  return can_reduce(i, why) && sizes_fit(i, why);
}

bool can_exchange(const Instruction& i, std::string* why) {
  if (!i.shape().is_tuple()) return sizes_fit(i, why);
  for (const DeviceList& group : device_groups(i)) {
    if (static_cast<int64_t>(group.size()) == i.num_operands()) continue;
    if (why) *why = fmt::format("{} operands for a group of {} devices", i.num_operands(), group.size());
    return false;
  }
  return true;
}

bool can_exchange_rows(const Instruction& i, std::string* why) {
  for (const DeviceList& group : device_groups(i)) {
    if (!i.operand(2)->dims().empty() && i.operand(2)->dims()[0] % static_cast<int64_t>(group.size()) == 0)
      continue;
    if (why) *why = fmt::format("its offsets do not fit a group of {} devices", group.size());
    return false;
  }
  return true;
}

// The devices that send or receive come; the others have zeros.
DeviceFunction make_permute(const Instruction& i, FunctionTable&) {
  const auto pairs = device_pairs(i);
  DeviceList members;
  for (const auto& [source, target] : pairs) members.insert(members.end(), {source, target});
  std::sort(members.begin(), members.end());
  members.erase(std::unique(members.begin(), members.end()), members.end());
  auto rank_of = [&](int64_t d) { return std::find(members.begin(), members.end(), d) - members.begin(); };
  std::vector<int64_t> source_of(device_count(i), -1), ranks(device_count(i), -1);
  for (int64_t d : members) ranks[d] = rank_of(d);
  for (const auto& [source, target] : pairs) source_of[target] = rank_of(source);
  struct Plan {
    CollectiveSpec spec;
    DeviceList members;
    std::vector<int64_t> source_of, ranks;
  };
  auto plan = std::make_shared<const Plan>(Plan{spec_of(i), members, source_of, ranks});
  return [plan](std::byte* const* buffers, const DeviceContext& context) {
    const int64_t rank = plan->ranks[context.device], source = plan->source_of[context.device];
    if (rank < 0) return native::receive(plan->spec, std::span(&buffers, 1), 0, -1);
    meet(context, plan.get(), plan->members, buffers,
         [&](Brought members) { native::receive(plan->spec, members, rank, source); });
  };
}

bool can_permute(const Instruction& i, std::string* why) {
  if (!i.has(Attr::slice_sizes)) return true;
  if (why) *why = "in place, with slice_sizes";
  return false;
}

DeviceFunction make_broadcast(const Instruction& i, FunctionTable&) {
  auto who = std::make_shared<const Membership>(device_groups(i), device_count(i));
  return [spec = spec_of(i), who](std::byte* const* buffers, const DeviceContext& context) {
    const auto [group, rank] = who->place[context.device];
    if (group < 0) return native::receive(spec, std::span(&buffers, 1), 0, -1);
    meet(context, who.get(), who->groups[group], buffers,
         [&, rank = rank](Brought members) { native::receive(spec, members, rank, 0); });
  };
}

template <bool kReplica>
DeviceFunction make_id(const Instruction& i, FunctionTable&) {
  return [partitions = i.module()->num_partitions](std::byte* const* buffers, const DeviceContext& context) {
    const auto id =
        static_cast<uint32_t>(kReplica ? context.device / partitions : context.device % partitions);
    std::memcpy(buffers[0], &id, sizeof id);
  };
}

constexpr NativeRow on_device(Op op, DeviceFunction (*make)(const Instruction&, FunctionTable&),
                              bool (*supported)(const Instruction&, std::string*) = nullptr) {
  return {.op = op, .supported = supported, .make_on_device = make};
}

constexpr NativeRow kRows[] = {
    on_device(Op::all_reduce, make_collective<native::all_reduce>, can_reduce),
    on_device(Op::all_gather, make_collective<native::all_gather>, sizes_fit),
    on_device(Op::reduce_scatter, make_collective<native::reduce_scatter>, can_reduce_scatter),
    on_device(Op::all_to_all, make_collective<native::all_to_all>, can_exchange),
    on_device(Op::ragged_all_to_all, make_collective<native::ragged_all_to_all>, can_exchange_rows),
    on_device(Op::collective_permute, make_permute, can_permute),
    on_device(Op::collective_broadcast, make_broadcast),
    on_device(Op::partition_id, make_id<false>),
    on_device(Op::replica_id, make_id<true>),
};

}  // namespace

std::span<const NativeRow> collective_rows() { return kRows; }

}  // namespace armillary::cpu
