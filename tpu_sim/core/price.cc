#include "tpu_sim/core/price.h"

#include <algorithm>

#include "tpu_sim/core/tile_ticks.h"
#include "tpu_sim/core/units.h"
#include "xla_core/base/error.h"

namespace armillary::sim {
namespace {

constexpr int64_t kSerialCycles = 8;  // assumed: a dependent scalar load, operation and store

double as_double(int64_t value) { return static_cast<double>(value); }

// A transfer that nothing else waits beside: launch, latency, bytes.
Price transfer(Tick busy, double bytes, const Device& d) {
  Price p;
  p.duration = add_ticks(d.op_launch + d.dma_latency, busy);
  p.hbm = busy;
  p.hbm_bytes = bytes;
  p.bound = busy * 2 < p.duration ? "latency" : "dma";
  return p;
}

}  // namespace

Price price(const FusedLoop& loop, const Device& d) {
  const TileTicks t = tile_ticks(loop, d);
  const TileLoop pipeline = pipeline_of(loop, t);
  const LoopTime time = loop_time(pipeline);
  const Tick shared = add_ticks(t.prologue, t.epilogue);
  const Tick alone = loop.tiles == 0 && shared > 0 ? t.latency : 0;  // no tile's latency covers it
  Price p;
  p.duration = add_ticks(add_ticks(t.launch + t.fill + alone, shared), time.total());
  p.hbm = add_ticks(shared, multiply_ticks(add_ticks(t.in, t.out), loop.tiles));
  p.mxu = multiply_ticks(t.matrix, loop.tiles);
  p.vpu = multiply_ticks(t.vector, loop.tiles);
  p.xlu = multiply_ticks(t.transpose, loop.tiles);
  p.hbm_bytes = as_double(loop.prologue_bytes) + as_double(loop.epilogue_bytes) +
                as_double(loop.tiles) * (as_double(loop.tile.bytes_in) + as_double(loop.tile.bytes_out));
  // What comes and goes once counts for the memory as well as what the tiles move.
  const bool by_memory = p.hbm > multiply_ticks(std::ranges::max(pipeline.work), loop.tiles);
  if (by_memory && p.hbm > p.duration / 2)
    p.bound = "dma";
  else
    p.bound = time.steady < p.duration / 2 ? "latency" : time.bound;
  return p;
}

Price price(const Copy& copy, const Device& d) {
  const int times_in_hbm = (copy.from == Space::kHbm) + (copy.to == Space::kHbm);
  const Tick one_way = hbm_ticks(copy.bytes, copy.run, d);
  return transfer(multiply_ticks(one_way, times_in_hbm), as_double(copy.bytes) * times_in_hbm, d);
}

Price price(const HostTransfer& host, const Device& d) {
  if (host.bytes < 0) throw user_error("a host transfer of {} bytes", host.bytes);
  Price p;
  p.duration = to_ticks(as_double(d.op_launch) + as_double(d.dma_latency) +
                        as_double(host.bytes) / d.host_bytes_per_tick);
  p.hbm = std::min(p.duration, hbm_ticks(host.bytes, 0, d));
  p.hbm_bytes = as_double(host.bytes);
  p.bound = "host";
  return p;
}

// Row after row: the next address is computed while this row moves, so that the slower of both counts. A
// combiner waits for the row, adds, and writes it back before the next may read it.
Price price(const IndexedAccess& access, const Device& d) {
  if (access.rows < 0 || access.row_bytes < 0) {
    throw user_error("an access to {} rows of {} bytes", access.rows, access.row_bytes);
  }
  const Tick once =
      hbm_ticks(std::max(access.row_bytes, access.rows > 0 ? d.burst_bytes : 0), access.row_bytes, d);
  const Tick moved = multiply_ticks(2 * once, access.rows);  // read here, written there
  const Tick each =
      access.adds ? d.row_access + 2 * (once + d.dma_latency) : std::max(d.row_access, 2 * once);
  Price p;
  p.duration = add_ticks(d.op_launch + 2 * d.dma_latency, multiply_ticks(each, access.rows));
  p.hbm = std::min(moved, p.duration);
  p.hbm_bytes = 2 * as_double(access.rows) * as_double(access.row_bytes);
  p.bound = each > 2 * once ? "latency" : "dma";
  return p;
}

Price price(const Serial& serial, const Device& d) {
  if (serial.steps < 0) throw user_error("a serial command of {} steps", serial.steps);
  const Tick steps = multiply_ticks(scalar_ticks(kSerialCycles, d), serial.steps);
  Price p = transfer(hbm_ticks(serial.bytes, 0, d), as_double(serial.bytes), d);
  p.duration = add_ticks(p.duration, steps);
  if (steps > p.hbm) p.bound = "scalar";
  return p;
}

}  // namespace armillary::sim
