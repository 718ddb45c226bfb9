#include "tpu_sim/pod.h"

#include <gtest/gtest.h>

#include <functional>
#include <numeric>
#include <random>

#include "tpu_sim/core/price.h"
#include "tpu_sim/core/units.h"
#include "xla_core/base/error.h"

namespace armillary::sim {
namespace {

std::string message_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const Error& e) {
    return e.message();
  }
  return "no error";
}

Command matmul(int64_t m, int64_t n, int64_t k, const Chip& chip) {
  const Matmul p{.m = m, .n = n, .k = k};
  return {{"dot", OpClass::kMatmul, 2.0 * static_cast<double>(m * n * k)},
          matmul_loop(p, choose_blocks(p, chip))};
}

Command start(int handle, CollectiveKind kind, int64_t bytes,
              std::shared_ptr<const DeviceGroups> groups = nullptr) {
  return {{"start", OpClass::kCollective}, CollectiveStart{kind, bytes, std::move(groups), nullptr, handle}};
}

Command permute(int handle, int64_t bytes, DevicePairs pairs) {
  return {{"permute", OpClass::kCollective},
          CollectiveStart{CollectiveKind::kCollectivePermute, bytes, nullptr,
                          std::make_shared<const DevicePairs>(std::move(pairs)), handle}};
}

Command wait(int handle) { return {{"done", OpClass::kCollective}, Wait{handle}}; }

Command prefetch(int handle, int64_t bytes) {
  return {{"prefetch", OpClass::kDataMovement}, Copy{.to = Space::kVmem, .bytes = bytes, .handle = handle}};
}

Command loop(int64_t trips, std::vector<Command> body) {
  return {{"while", OpClass::kControl}, Loop{trips, std::move(body)}};
}

double seconds(const Command& command, const Pod& pod) { return estimate_seconds(command, pod.chip); }

constexpr double kClose = 1e-10;

TEST(Pods, topologies_are_parsed_with_their_devices) {
  EXPECT_EQ(parse_pod("v5e:4x4").devices(), 16);
  EXPECT_EQ(parse_pod("v7x:2x2x1").devices(), 8);
  EXPECT_EQ(parse_pod("v7x:core").devices(), 1);
  EXPECT_EQ(parse_pod("v5p:4x4x4+2").devices(), 128);
  EXPECT_EQ(parse_pod("v6e:1x1").devices(), 1);
  EXPECT_EQ(parse_pod("mine:2x2", find_chip("v5e")).devices(), 4);
  EXPECT_NE(message_of([] { parse_pod("v5e"); }).find("has no shape"), std::string::npos);
  EXPECT_NE(message_of([] { parse_pod("v5e:99x99"); }).find("a pod of v5e is 16x16"), std::string::npos);
  EXPECT_NE(message_of([] { parse_pod("v5e:16x16+1048576"); }).find("can be simulated"), std::string::npos);
  EXPECT_NE(message_of([] { parse_pod("v1:1+2"); }).find("no network"), std::string::npos);
}

TEST(Pods, are_written_as_they_are_read) {
  for (const char* text : {"v5e:4x4", "v7x:2x2x1", "v7x:core", "v5p:4x4x4+2", "v6e:1x1"})
    EXPECT_EQ(to_string(parse_pod(text)), text);
}

TEST(Pods, a_part_is_the_box_that_its_devices_span) {
  const Pod pod = parse_pod("v5e:4x16");
  EXPECT_EQ(to_string(part_of(pod, {5}).pod), "v5e:1x1");
  const Part corner = part_of(pod, {17, 0, 16, 1});
  EXPECT_EQ(to_string(corner.pod), "v5e:2x2");
  EXPECT_EQ(corner.places, (std::vector<int>{3, 0, 2, 1}));
  EXPECT_EQ(part_of(pod, {0, 17}).places, (std::vector<int>{0, 3}));
  // Only a whole axis comes back to where it began.
  std::vector<int> row(16);
  std::iota(row.begin(), row.end(), 32);
  EXPECT_TRUE(part_of(pod, row).pod.torus.axes[1].wraps);
  row.pop_back();
  EXPECT_FALSE(part_of(pod, row).pod.torus.axes[1].wraps);
  EXPECT_EQ(to_string(part_of(parse_pod("v7x:2x2x1"), {3}).pod), "v7x:core");
  EXPECT_EQ(to_string(part_of(parse_pod("v5p:2x2x1+2"), {0, 4}).pod), "v5p:1x1x1+2");
  EXPECT_NE(message_of([&] { part_of(pod, {64}); }).find("no device 64"), std::string::npos);
}

// In loops too, of which most trips are not run.
TEST(Timelines, communication_is_told_by_kind) {
  const Pod pod = parse_pod("v5e:4x4");
  const std::vector<Command> body = {start(0, CollectiveKind::kAllGather, 1 << 24), wait(0),
                                     start(1, CollectiveKind::kAllReduce, 1 << 20),
                                     matmul(4096, 4096, 4096, pod.chip), wait(1)};
  const Timeline t = simulate({{loop(100, body)}}, pod);
  const auto of = [&](CollectiveKind kind) { return t.by_kind[static_cast<size_t>(kind)]; };
  double seconds = 0, exposed = 0;
  for (const Communication& c : t.by_kind) seconds += c.seconds, exposed += c.exposed;
  EXPECT_NEAR(seconds, t.communication_seconds, kClose);
  EXPECT_NEAR(exposed, t.exposed_communication_seconds, kClose);
  EXPECT_GE(of(CollectiveKind::kAllGather).exposed, of(CollectiveKind::kAllGather).seconds);
  EXPECT_EQ(of(CollectiveKind::kAllReduce).exposed, 0);
  EXPECT_GT(of(CollectiveKind::kAllReduce).seconds, 0);
  EXPECT_EQ(of(CollectiveKind::kAllToAll).seconds, 0);
}

TEST(Timelines, networks_are_busy_each_for_itself_and_a_collective_runs_once) {
  const Pod pod = parse_pod("v5e:2x4+2");
  const Command begin = start(0, CollectiveKind::kAllReduce, 1 << 28), end = {begin.label, Wait{0}};
  const Timeline t = simulate({{begin, end}}, pod);
  EXPECT_GT(t.utilization.dcn, 0.5);
  EXPECT_GT(t.utilization.ici, 0);
  EXPECT_LE(t.utilization.dcn + t.utilization.ici, 1);
  EXPECT_NEAR(t.exposed_communication_seconds, t.communication_seconds, kClose);
  ASSERT_EQ(t.ops.size(), 1u);
  EXPECT_EQ(t.ops[0].runs, 1);
  const Timeline inside = simulate({{begin, end}}, parse_pod("v5e:2x4"));
  EXPECT_EQ(inside.utilization.dcn, 0);
  EXPECT_GT(inside.utilization.ici, 0.9);
}

TEST(Timelines, a_chip_without_bf16_is_measured_by_its_int8_peak) {
  const Timeline t = simulate({{matmul(1024, 1024, 1024, find_chip("v1"))}}, parse_pod("v1:1"));
  EXPECT_EQ(t.peak_flops, find_chip("v1")["peak_int8_ops"]);
  EXPECT_GT(t.roofline.ridge, 0);
  EXPECT_GT(t.mfu, 0);
  EXPECT_NE(mfu_formula(find_chip("v1")).find("int8 peak"), std::string::npos);
}

TEST(Timelines, one_product_takes_its_time_and_is_reported) {
  const Pod pod = parse_pod("v6e:1x1");
  const Program program{{matmul(8192, 8192, 8192, pod.chip)}};
  const Timeline t = simulate(program, pod);
  EXPECT_NEAR(t.seconds, 1.328756e-3, 0.01e-3);  // tpu-recipes; fitted on
  EXPECT_NEAR(t.mfu, 827.5 / 918, 0.01);
  EXPECT_EQ(t.by_class[static_cast<size_t>(OpClass::kMatmul)], t.seconds);
  ASSERT_EQ(t.ops.size(), 1u);
  EXPECT_EQ(t.ops[0].bound, "mxu");
  EXPECT_GT(t.utilization.mxu, 0.95);
  EXPECT_NEAR(t.roofline.ridge, 918e12 / 1638e9, 1e-6);
  ASSERT_EQ(t.spans.size(), 1u);
  EXPECT_EQ(t.spans[0].end, t.seconds);
}

TEST(Timelines, a_collective_hides_behind_what_runs_until_its_done) {
  const Pod pod = parse_pod("v5e:4x4");
  const Command dot = matmul(4096, 4096, 4096, pod.chip),
                gather = start(0, CollectiveKind::kAllGather, 128 << 20);
  const double compute = seconds(dot, pod),
               communicate = collective_seconds(std::get<CollectiveStart>(gather.what), pod);
  ASSERT_GT(communicate, compute);
  const Timeline exposed = simulate({{gather, wait(0), dot}}, pod),
                 hidden = simulate({{gather, dot, wait(0)}}, pod);
  EXPECT_NEAR(exposed.seconds, compute + communicate, kClose);
  EXPECT_NEAR(exposed.exposed_communication_seconds, communicate, kClose);
  EXPECT_NEAR(hidden.seconds, communicate, kClose);
  EXPECT_NEAR(hidden.exposed_communication_seconds, communicate - compute, kClose);
  EXPECT_GT(hidden.utilization.ici, 0.9);
}

TEST(Timelines, collectives_that_share_links_wait_for_each_other_and_others_do_not) {
  const Pod pod = parse_pod("v5e:2x4");
  const auto along = [](int axis) {
    DeviceGroups groups;
    if (axis == 0) {
      for (int y = 0; y < 4; ++y) groups.push_back({y, 4 + y});
    } else {
      for (int x = 0; x < 2; ++x) groups.push_back({4 * x, 4 * x + 1, 4 * x + 2, 4 * x + 3});
    }
    return std::make_shared<const DeviceGroups>(groups);
  };
  const auto both = [&](int first, int second) {
    return simulate({{start(0, CollectiveKind::kAllGather, 1 << 26, along(first)),
                      start(1, CollectiveKind::kAllGather, 1 << 26, along(second)), wait(0), wait(1)}},
                    pod)
        .seconds;
  };
  const double launch = pod.chip["launch_ns"] * 1e-9;
  const double x = collective_seconds({CollectiveKind::kAllGather, 1 << 26, along(0)}, pod) - launch;
  const double y = collective_seconds({CollectiveKind::kAllGather, 1 << 26, along(1)}, pod) - launch;
  EXPECT_NEAR(both(0, 1), launch + std::max(x, y), kClose);
  EXPECT_NEAR(both(0, 0), launch + 2 * x, kClose);
}

TEST(Timelines, permutes_along_different_axes_go_at_once) {
  const Pod pod = parse_pod("v5e:4x4");
  const auto shift = [](int by) {
    DevicePairs pairs;
    for (int d = 0; d < 16; ++d) pairs.emplace_back(d, by == 4 ? (d + 4) % 16 : d / 4 * 4 + (d + 1) % 4);
    return pairs;
  };
  const auto time = [&](int first, int second) {
    return simulate(
               {{permute(0, 1 << 26, shift(first)), permute(1, 1 << 26, shift(second)), wait(0), wait(1)}},
               pod)
        .seconds;
  };
  EXPECT_NEAR(time(1, 1), 2 * time(1, 4), 1e-5);
}

// Each command brings its own copy of the same list.
TEST(Timelines, thousands_of_collectives_with_long_lists_are_cheap) {
  const Pod pod = parse_pod("v6e:16x16");
  DeviceGroups rows(16);
  for (int d = 0; d < 256; ++d) rows[d / 16].push_back(d);
  Program program;
  for (int i = 0; i < 5000; ++i) {
    program.commands.push_back(
        start(0, CollectiveKind::kAllGather, 1 << 20, std::make_shared<const DeviceGroups>(rows)));
    program.commands.push_back(wait(0));
  }
  EXPECT_GT(simulate(program, pod).seconds, 0);
}

TEST(Timelines, a_prefetch_gets_the_memory_that_the_core_leaves) {
  const Pod pod = parse_pod("v6e:1x1");
  const Command dot = matmul(8192, 8192, 8192, pod.chip);
  const Command copy = {{"copy", OpClass::kDataMovement}, Copy{.bytes = 256 << 20}};
  const auto with = [&](const Command& beside) {
    return simulate({{prefetch(0, 64 << 20), beside, wait(0)}}, pod).seconds;
  };
  EXPECT_NEAR(with(dot), seconds(dot, pod), kClose);  // the product leaves enough
  const double alone = 1e-12 * static_cast<double>(hbm_ticks(64 << 20, 0, Device(pod.chip)));
  EXPECT_NEAR(with(copy), seconds(copy, pod) + alone, 2e-6);  // the copy leaves nothing but its launch
}

// Each byte that a collective brings is read and written; a copy beside it gets the rest of the memory.
TEST(Timelines, collectives_take_memory_from_what_runs_beside_them) {
  const Pod pod = parse_pod("v6e:2x2");
  const Command gather = start(0, CollectiveKind::kAllGather, 1 << 30);
  const Command copy = {{"copy", OpClass::kDataMovement}, Copy{.bytes = 256 << 20}};
  const Device device(pod.chip);
  const double moved = 1e-12 * static_cast<double>(hbm_ticks(int64_t{2} << 30, 0, device));
  const double alone =
      collective_seconds(std::get<CollectiveStart>(gather.what), pod) - pod.chip["launch_ns"] * 1e-9;
  const Timeline t = simulate({{gather, copy, wait(0)}}, pod);
  ASSERT_EQ(t.ops[1].label.name, "copy");
  EXPECT_NEAR(t.ops[1].seconds, seconds(copy, pod) / (1 - moved / alone), 0.01 * t.ops[1].seconds);
  // A product leaves enough for both.
  const Command dot = matmul(8192, 8192, 8192, pod.chip);
  EXPECT_NEAR(simulate({{gather, dot, wait(0)}}, pod).ops[1].seconds, seconds(dot, pod), kClose);
}

// Doing the same work in any order or overlap moves the same bytes.
TEST(Timelines, classes_add_up_to_the_whole) {
  const Pod pod = parse_pod("v5e:4x4");
  const Timeline t = simulate({{prefetch(1, 1 << 20), start(0, CollectiveKind::kAllReduce, 1 << 24),
                                loop(10, {matmul(512, 512, 512, pod.chip)}), wait(1), wait(0)}},
                              pod);
  EXPECT_NEAR(std::accumulate(t.by_class.begin(), t.by_class.end(), 0.0), t.seconds, kClose);
  double by_op = 0;
  for (const OpTime& op : t.ops) by_op += op.seconds;
  EXPECT_NEAR(by_op, t.seconds, kClose);
  EXPECT_EQ(t.flops, 10 * 2.0 * 512 * 512 * 512);
}

TEST(Loops, a_million_trips_take_no_longer_to_simulate_and_say_so) {
  const Pod pod = parse_pod("v5e:4x4");
  const Command dot = matmul(1024, 1024, 1024, pod.chip);
  const Timeline t = simulate({{loop(1'000'000, {dot})}}, pod);
  EXPECT_NEAR(t.seconds, 1e6 * (seconds(dot, pod) + pod.chip["tile_step_ns"] * 1e-9), 1e-6);
  ASSERT_EQ(t.notes.size(), 1u);
  EXPECT_EQ(t.notes[0], "while: 1 trips simulated, the others repeat them exactly");
  EXPECT_EQ(t.ops[1].runs, 1'000'000);
  EXPECT_EQ(t.flops, 1e6 * 2 * 1024 * 1024 * 1024.0);
  EXPECT_LT(t.spans.size(), 10u);
}

// A gather of the next trip's weights beside this trip's work: handles live across trips.
Program pipelined(const Pod& pod, int64_t trips, int64_t bytes) {
  return {{start(0, CollectiveKind::kAllGather, bytes),
           loop(trips, {wait(0), start(0, CollectiveKind::kAllGather, bytes), prefetch(1, bytes / 4),
                        matmul(2048, 2048, 2048, pod.chip), wait(1)}),
           wait(0)}};
}

TEST(Loops, extrapolation_equals_running_every_trip_on_every_device) {
  for (const char* topology : {"v5e:2x2", "v5e:4x4", "v7x:2x2x1", "v4:4x4x4", "v6e:1x1", "v5e:2x2+2"}) {
    const Pod pod = parse_pod(topology);
    for (int64_t bytes : {int64_t{1} << 10, int64_t{1} << 22, int64_t{1} << 26}) {
      const Program program = pipelined(pod, 37, bytes);
      for (double end : simulate_all(program, pod))
        ASSERT_EQ(end, simulate(program, pod).seconds) << topology << " " << bytes;
    }
  }
}

std::shared_ptr<const DeviceGroups> random_groups(std::mt19937& random, const Pod& pod) {
  switch (random() % 3) {
    case 0:
      return nullptr;
    case 1: {  // consecutive devices
      DeviceGroups groups;
      const int size = 1 << random() % 3;
      for (int d = 0; d < pod.devices(); d += size) {
        groups.emplace_back(size);
        std::iota(groups.back().begin(), groups.back().end(), d);
      }
      return std::make_shared<const DeviceGroups>(std::move(groups));
    }
    default: {  // devices with a stride
      const int count = 1 << random() % 3;
      DeviceGroups groups(count);
      for (int d = 0; d < pod.devices(); ++d) groups[d % count].push_back(d);
      return std::make_shared<const DeviceGroups>(std::move(groups));
    }
  }
}

Command random_command(std::mt19937& random, const Pod& pod) {
  switch (random() % 4) {
    case 0:
      return matmul(1 << random() % 12, 1 << random() % 12, 1 << random() % 12, pod.chip);
    case 1:
      return {{"copy", OpClass::kDataMovement}, Copy{.bytes = 1 << random() % 25}};
    case 2:
      return {{"gather", OpClass::kGatherScatter},
              IndexedAccess{static_cast<int64_t>(random() % 1000), 1 << random() % 12, random() % 2 == 0}};
    default: {
      VectorWork work{};
      work[random() % work.size()] = 1 << random() % 20;
      return {{"fusion", OpClass::kElementwise},
              FusedLoop{
                  .tiles = 1 + static_cast<int64_t>(random() % 20),
                  .tile = {.bytes_in = 1 << random() % 20, .bytes_out = 1 << random() % 20, .vector = work}}};
    }
  }
}

std::vector<Command> random_commands(std::mt19937& random, const Pod& pod, int depth) {
  constexpr std::array kKinds = {CollectiveKind::kAllGather, CollectiveKind::kReduceScatter,
                                 CollectiveKind::kAllReduce, CollectiveKind::kAllToAll};
  std::vector<Command> commands;
  const int first = 10 * depth;  // handles of this level
  for (int i = 0; i < 3; ++i) {
    if (random() % 2) {
      commands.push_back(
          start(first + i, kKinds[random() % 4], 1 << random() % 26, random_groups(random, pod)));
    } else {
      commands.push_back(prefetch(first + i, 1 << random() % 26));
    }
    commands.push_back(random_command(random, pod));
  }
  if (depth < 2)
    commands.push_back(loop(static_cast<int64_t>(random() % 12), random_commands(random, pod, depth + 1)));
  for (int i = 0; i < 3; ++i) {
    commands.push_back(wait(first + (i + 1) % 3));
    commands.push_back(random_command(random, pod));
  }
  return commands;
}

TEST(Pods, one_device_stands_for_all_in_random_programs) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    std::mt19937 random(seed);
    const char* topologies[] = {"v5e:2x2", "v5e:4x4",   "v7x:2x2x1", "v4:4x4x4",
                                "v6e:2x4", "v5e:2x4+2", "v3:2x2"};
    const Pod pod = parse_pod(topologies[random() % std::size(topologies)]);
    const Program program{random_commands(random, pod, 0)};
    const Timeline t = simulate(program, pod);
    for (double end : simulate_all(program, pod)) ASSERT_EQ(end, t.seconds) << "seed " << seed;
    EXPECT_NEAR(std::accumulate(t.by_class.begin(), t.by_class.end(), 0.0), t.seconds, 1e-9);
  }
}

TEST(Conditionals, the_dearest_branch_counts_unless_one_is_named) {
  const Pod pod = parse_pod("v6e:1x1");
  const Command small = matmul(256, 256, 256, pod.chip), large = matmul(4096, 4096, 4096, pod.chip);
  const auto time = [&](int taken) {
    return simulate({{{{"conditional", OpClass::kControl}, Conditional{{{small}, {large}}, taken}}}}, pod)
        .seconds;
  };
  EXPECT_EQ(time(-1), time(1));
  EXPECT_LT(time(0), time(1));
  const Timeline t = simulate({{{{"conditional", OpClass::kControl}, Conditional{{{small}}, 0}}}}, pod);
  EXPECT_EQ(t.ops[0].runs, 1);
  EXPECT_EQ(t.ops[1].runs, 1);
  EXPECT_NE(message_of([&] { time(2); }).find("takes branch 2 of 2"), std::string::npos);
}

TEST(Permutes, devices_that_take_no_part_do_not_wait) {
  const Pod pod = parse_pod("v5e:4x4");
  const Program program{{permute(0, 1 << 24, {{0, 1}, {1, 2}, {2, 3}}), wait(0)}};
  const std::vector<double> ends = simulate_all(program, pod);
  EXPECT_EQ(ends[0], simulate(program, pod).seconds);
  EXPECT_EQ(ends[15], 0);
}

TEST(Programs, what_cannot_be_is_refused_in_one_line) {
  const Pod pod = parse_pod("v5e:2x2");
  const auto error = [&](std::vector<Command> commands) {
    return message_of([&] { simulate({std::move(commands)}, pod); });
  };
  EXPECT_EQ(error({wait(3)}), "done: waits for handle 3, which nobody has started");
  EXPECT_EQ(error({prefetch(1, 1), prefetch(1, 1)}),
            "prefetch: handle 1 is started again before anyone waited for it");
  EXPECT_EQ(error({prefetch(1, 1)}), "prefetch is started, but nobody waits for it");
  EXPECT_EQ(error({start(-1, CollectiveKind::kAllReduce, 1)}), "start: an asynchronous start needs a handle");
  EXPECT_NE(error({start(0, CollectiveKind::kAllReduce, -1), wait(0)}).find("-1 bytes"), std::string::npos);
  const auto groups = [](DeviceGroups g) { return std::make_shared<const DeviceGroups>(std::move(g)); };
  EXPECT_NE(
      error({start(0, CollectiveKind::kAllReduce, 1, groups({{0, 1}, {2}})), wait(0)}).find("name 3 devices"),
      std::string::npos);
  EXPECT_NE(error({start(0, CollectiveKind::kAllReduce, 1, groups({{0, 1}, {1, 2}})), wait(0)})
                .find("device 1 twice"),
            std::string::npos);
  EXPECT_NE(error({start(0, CollectiveKind::kAllReduce, 1, groups({{0, 9}})), wait(0)}).find("device 9"),
            std::string::npos);
  EXPECT_NE(error({permute(0, 1, {{0, 1}, {2, 1}}), wait(0)}).find("2 -> 1"), std::string::npos);
  EXPECT_NE(error({loop(INT64_MAX, {matmul(4096, 4096, 4096, pod.chip)})}).find("can be simulated"),
            std::string::npos);
  EXPECT_NE(error({loop(-1, {})}).find("-1 trips"), std::string::npos);
}

}  // namespace
}  // namespace armillary::sim
