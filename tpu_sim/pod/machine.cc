#include "tpu_sim/pod/machine.h"

#include <algorithm>
#include <bit>

#include "tpu_sim/core/units.h"
#include "xla_core/base/error.h"

namespace armillary::sim {
namespace {

double seconds(Tick ticks) { return static_cast<double>(ticks) / kTicksPerSecond; }

constexpr double kLargestShare =
    0.95;  // assumed: collectives leave the core at least so little of the memory
constexpr int kMostRounds = 200;

Track track_of(unsigned resources) { return resources & kDcn ? Track::kDcn : Track::kIci; }

}  // namespace

Machine::Machine(const Pod& pod, const StepList& list, Record record)
    : list_(list), device_(pod.chip), record_(std::move(record)) {
  totals_.labels.resize(list.labels.size());
}

void Machine::record(Track track, int label, Tick start, Tick end, std::string_view bound) {
  if (record_) record_({track, list_.labels[label].op_class, label, seconds(start), seconds(end), bound});
}

void Machine::count(const Step& step, Tick background) {
  const Label& label = step.command->label;
  ++totals_.labels[step.label].runs;
  totals_.labels[step.label].background += background;
  totals_.flops += label.flops;
  totals_.hbm_bytes += step.price.hbm_bytes;
}

Tick Machine::taken(Tick duration) const {
  double ticks = 0;
  for (const auto& [handle, p] : pending_) {
    const Tick overlap = std::min(p.finish, now_ + duration) - std::max(p.start, now_);
    if (overlap > 0) ticks += p.hbm_share * static_cast<double>(overlap);
  }
  return static_cast<Tick>(std::min(ticks, kLargestShare * static_cast<double>(duration)));
}

// Longer until the memory has served both; each round adds a share of what the last one added.
Tick Machine::stretched(Tick duration, Tick hbm) const {
  Tick time = duration;
  for (int round = 0; round < kMostRounds; ++round) {
    const Tick needed = add_ticks(hbm, taken(time));
    if (needed <= time) break;
    time = needed;
  }
  return time;
}

// Copies beside the core are served in the ticks that it and the collectives leave.
void Machine::pass(Tick duration, Tick hbm) {
  Tick left = std::max<Tick>(0, duration - hbm - taken(duration));
  const Tick spare = left;
  while (left > 0 && !copies_.empty()) {
    Pending& copy = pending_.at(copies_.front());
    const Tick served = std::min(left, copy.remaining);
    copy.remaining -= served;
    left -= served;
    totals_.hbm += served;
    if (copy.remaining > 0) break;
    // The ticks left over lie evenly in the time that passes.
    const auto used = static_cast<__int128>(spare - left);
    copy.finish = now_ + static_cast<Tick>(used * duration / spare) + device_.dma_latency;
    copies_.pop_front();
  }
  now_ = add_ticks(now_, duration);
  totals_.hbm += hbm;
}

void Machine::on_core(const Step& step, Tick duration, Tick hbm, std::string_view bound) {
  totals_.labels[step.label].core += duration;
  totals_.by_class[static_cast<size_t>(step.command->label.op_class)] += duration;
  if (duration > 0) record(Track::kCore, step.label, now_, now_ + duration, bound);
  pass(duration, hbm);
}

void Machine::run(const Step& step) {
  const auto& what = step.command->what;
  if (const auto* wait_for = std::get_if<Wait>(&what)) return wait(step, wait_for->handle);
  if (std::holds_alternative<CollectiveStart>(what)) {
    const Tick start = collective_ready(step);
    return start_collective(step, start, add_ticks(start, step.collective.transfer));
  }
  if (const auto* copy = std::get_if<Copy>(&what); copy && copy->handle >= 0)
    return start_copy(step, copy->handle);
  if (const auto* host = std::get_if<HostTransfer>(&what); host && host->handle >= 0) {
    return start_host_transfer(step, host->handle);
  }
  count(step, 0);
  totals_.mxu += step.price.mxu;
  totals_.vpu += step.price.vpu;
  totals_.xlu += step.price.xlu;
  on_core(step, stretched(step.price.duration, step.price.hbm), step.price.hbm, step.price.bound);
}

void Machine::turn(const Step& step) { on_core(step, device_.tile_step, 0, "latency"); }

void Machine::add_pending(const Step& step, int handle, Pending pending) {
  if (handle < 0) throw user_error("{}: an asynchronous start needs a handle", step.command->label.name);
  if (!pending_.emplace(handle, pending).second) {
    throw user_error("{}: handle {} is started again before anyone waited for it", step.command->label.name,
                     handle);
  }
}

void Machine::start_copy(const Step& step, int handle) {
  count(step, step.price.hbm);
  add_pending(step, handle, {Kind::kCopy, step.label, now_, step.price.hbm, now_});
  if (step.price.hbm > 0) copies_.push_back(handle);
}

void Machine::start_host_transfer(const Step& step, int handle) {
  count(step, step.price.duration);
  const Tick start = std::max(now_, host_free_);
  host_free_ = start + step.price.duration;
  add_pending(step, handle, {Kind::kHost, step.label, start, 0, host_free_});
}

Tick Machine::collective_ready(const Step& step) const {
  Tick ready = now_ + step.collective.launch;
  for (int i = 0; i < kNumResources; ++i) {
    if (step.collective.resources >> i & 1) ready = std::max(ready, links_free_[i]);
  }
  return ready;
}

void Machine::start_collective(const Step& step, Tick start, Tick finish) {
  const auto& what = std::get<CollectiveStart>(step.command->what);
  count(step, finish - start);
  const Tick with_launch = add_ticks(step.collective.launch, finish - start);  // waits have it, too
  totals_.communication += with_launch;
  totals_.communication_by_kind[static_cast<size_t>(what.kind)] += with_launch;
  for (int i = 0; i < kNumResources; ++i) {
    if (step.collective.resources >> i & 1) links_free_[i] = finish;
  }
  totals_.ici += step.collective.ici;
  totals_.dcn += step.collective.dcn;
  const Tick time = finish - start, hbm = std::min(step.collective.hbm, time);
  const double share = time > 0 ? static_cast<double>(hbm) / static_cast<double>(time) : 0;
  totals_.hbm += hbm;
  add_pending(step, what.handle, {Kind::kCollective, step.label, start, 0, finish, share, what.kind});
  if (finish > start)
    record(track_of(step.collective.resources), step.label, start, finish,
           to_string(track_of(step.collective.resources)));
}

void Machine::wait_until(const Step& step, Tick time) {
  if (time > now_) on_core(step, time - now_, 0, "wait");
}

void Machine::wait(const Step& step, int handle) {
  const auto found = pending_.find(handle);
  if (found == pending_.end()) {
    throw user_error("{}: waits for handle {}, which nobody has started", step.command->label.name, handle);
  }
  if (step.label != found->second.label) count(step, 0);  // else one run, from start to wait
  const Tick before = now_;
  if (found->second.remaining > 0) {
    Tick ahead = 0;
    for (int other : copies_) {
      ahead += pending_.at(other).remaining;
      if (other == handle) break;
    }
    // The memory serves these copies with all that collectives leave; rounding may want a little more.
    while (found->second.remaining > 0) on_core(step, std::max<Tick>(1, stretched(ahead, ahead)), 0, "wait");
  }
  const Pending& pending = found->second;
  wait_until(step, pending.finish);
  const bool communication = pending.kind == Kind::kCollective;
  (communication ? totals_.exposed_communication : totals_.exposed_copy) += now_ - before;
  if (communication) {
    totals_.exposed_by_kind[static_cast<size_t>(pending.collective)] += now_ - before;
  } else {
    record(pending.kind == Kind::kCopy ? Track::kDma : Track::kHost, pending.label, pending.start,
           pending.finish, pending.kind == Kind::kCopy ? "dma" : "host");
  }
  pending_.erase(found);
}

Machine::State Machine::state() const {
  const auto relative = [&](Tick time) { return std::max<Tick>(0, time - now_); };
  State state{relative(host_free_)};
  for (Tick free : links_free_) state.push_back(relative(free));
  for (const auto& [handle, p] : pending_) {
    state.insert(state.end(), {handle, static_cast<int64_t>(p.kind), p.label, p.remaining, relative(p.start),
                               relative(p.finish), std::bit_cast<int64_t>(p.hbm_share)});
  }
  state.insert(state.end(), copies_.begin(), copies_.end());
  return state;
}

void Machine::skip(Tick time) {
  now_ = add_ticks(now_, time);
  host_free_ += time;
  for (Tick& free : links_free_) free += time;
  for (auto& [handle, p] : pending_) p.start += time, p.finish += time;
}

void Machine::finish() const {
  if (pending_.empty()) return;
  throw user_error("{} is started, but nobody waits for it",
                   list_.labels[pending_.begin()->second.label].name);
}

}  // namespace armillary::sim
