#include "xla_core/backends/tpu/prefetch.h"

#include <algorithm>

namespace armillary::tpu {
namespace {

constexpr double kWorthwhile = 2e-6;  // seconds to gain: the copy has a launch and a wait of its own

double bytes_of(const sim::FusedLoop& loop) {
  return static_cast<double>(loop.prologue_bytes + loop.epilogue_bytes) +
         static_cast<double>(loop.tiles) * static_cast<double>(loop.tile.bytes_in + loop.tile.bytes_out);
}

}  // namespace

Prefetch::Prefetch(const sim::Chip& chip, int64_t vmem_free) : chip_(chip), vmem_free_(vmem_free) {}

void Prefetch::note_value(const Instruction& i, size_t commands) {
  for (const Instruction* o : i.operands())
    if (auto made = made_.find(o); made != made_.end()) commands = std::max(commands, made->second);
  made_[&i] = commands;
}

// Of what the reader needs, what is there before `command` begins; values that nobody noted came from
// outside.
int64_t Prefetch::bytes_before(const HbmReads& reads, size_t command) const {
  int64_t bytes = 0;
  for (const auto& [value, size] : reads) {
    auto made = made_.find(value);
    if (made == made_.end() || made->second <= command) bytes += size;
  }
  return bytes;
}

bool Prefetch::try_prefetch(const Commands& commands, size_t n, int64_t held, sim::FusedLoop& loop,
                            int64_t* bytes) const {
  auto reader = readers_.find(n);
  const auto* before = std::get_if<sim::FusedLoop>(&commands[n - 1].what);
  const auto* here = std::get_if<sim::FusedLoop>(&commands[n].what);
  if (reader == readers_.end() || before == nullptr || here == nullptr) return false;
  const double speed = chip_["hbm_bytes_per_s"] / chip_["devices_per_chip"] * chip_["hbm_efficiency"];
  const double idle = sim::estimate_seconds(commands[n - 1], chip_) * speed - bytes_of(*before);
  const int64_t room = vmem_free_ - held - before->vmem_bytes - here->vmem_bytes;
  const int64_t read = here->tiles * here->tile.bytes_in;
  *bytes =
      std::min({bytes_before(reader->second, n - 1), room, read, static_cast<int64_t>(std::max(0.0, idle))});
  if (*bytes <= 0) return false;
  loop = *here;
  loop.tile.bytes_in -= *bytes / loop.tiles;
  const double gain = sim::estimate_seconds(commands[n], chip_) - sim::estimate_seconds({{}, loop}, chip_);
  return gain > kWorthwhile;
}

Commands Prefetch::run(Commands commands, int& next_handle) const {
  Commands out;
  int64_t held = 0;    // by what was brought in for the command at hand
  sim::Label brought;  // and who that belongs to
  int handle = -1;
  for (size_t n = 0; n < commands.size(); ++n) {
    if (handle >= 0) out.push_back({brought, sim::Wait{handle}});
    handle = -1;
    sim::FusedLoop loop;
    int64_t bytes = 0;
    if (n + 1 < commands.size() && try_prefetch(commands, n + 1, held, loop, &bytes)) {
      handle = next_handle++;
      brought = commands[n + 1].label;
      brought.name = "prefetch for " + brought.name;
      brought.op_class = sim::OpClass::kDataMovement;
      brought.flops = 0;
      brought.bytes = static_cast<double>(bytes);
      out.push_back({brought, sim::Copy{.to = sim::Space::kVmem, .bytes = bytes, .handle = handle}});
      commands[n + 1].what = loop;
    }
    held = bytes > 0 && handle >= 0 ? bytes : 0;
    out.push_back(std::move(commands[n]));
  }
  return out;
}

}  // namespace armillary::tpu
