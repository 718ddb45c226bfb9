#include "tpu_sim/pod/collective_time.h"

#include <gtest/gtest.h>

#include <numeric>

#include "tpu_sim/pod/groups.h"

namespace armillary::sim {
namespace {

std::shared_ptr<const DeviceGroups> shared(DeviceGroups groups) {
  return std::make_shared<const DeviceGroups>(std::move(groups));
}

// Devices that agree in what `key` gives them.
template <class Key>
std::shared_ptr<const DeviceGroups> grouped(int devices, int groups, Key key) {
  DeviceGroups out(groups);
  for (int d = 0; d < devices; ++d) out[key(d)].push_back(d);
  return shared(std::move(out));
}

double seconds(const Pod& pod, CollectiveKind kind, int64_t bytes,
               std::shared_ptr<const DeviceGroups> groups = nullptr) {
  return collective_seconds({kind, bytes, std::move(groups)}, pod);
}

constexpr auto kGather = CollectiveKind::kAllGather;
constexpr int64_t kBytes = 1 << 28;

TEST(Groups, along_axes_are_found_whole_in_part_and_with_a_stride) {
  const Pod pod = parse_pod("v5e:16x16");
  const auto box = [&](const std::shared_ptr<const DeviceGroups>& g) { return box_of(*g, pod); };
  const auto rows = box(grouped(256, 16, [](int d) { return d / 16; }));
  ASSERT_TRUE(rows);
  EXPECT_EQ(rows->axes[0].count, 1);
  EXPECT_EQ(rows->axes[1].count, 16);
  const auto fours = box(grouped(256, 64, [](int d) { return d / 4; }));
  ASSERT_TRUE(fours);
  EXPECT_EQ(fours->axes[1].count, 4);
  EXPECT_EQ(fours->axes[1].stride, 1);
  const auto strided = box(grouped(256, 4, [](int d) { return d % 4; }));
  ASSERT_TRUE(strided);
  EXPECT_EQ(strided->axes[0].count, 16);
  EXPECT_EQ(strided->axes[1].count, 4);
  EXPECT_EQ(strided->axes[1].stride, 4);
  EXPECT_FALSE(box(shared({{0, 1, 3}, {2}})));
  EXPECT_FALSE(box(shared({{0, 17}, {1, 2}})));
  EXPECT_EQ(whole_pod(pod).devices(), 256);
}

TEST(CollectiveTimes, the_whole_axis_is_a_ring_and_a_part_of_it_a_line) {
  const Pod pod = parse_pod("v5e:16x16");
  const double link = pod.chip["ici_bytes_per_s"] * pod.chip["ici_efficiency"];
  const double ring = seconds(pod, kGather, kBytes, grouped(256, 16, [](int d) { return d / 16; }));
  EXPECT_NEAR(ring, kBytes * 15.0 / 16 / (2 * link), 12e-6);
  const double line = seconds(pod, kGather, kBytes, grouped(256, 32, [](int d) { return d / 8; }));
  EXPECT_NEAR(line, kBytes * 7.0 / 8 / link, 12e-6);
  // Every fourth of a ring: four groups share each link.
  const double strided =
      seconds(pod, kGather, kBytes, grouped(256, 64, [](int d) { return d / 16 * 4 + d % 4; }));
  EXPECT_NEAR(strided, 4 * kBytes * 3.0 / 4 / (2 * link), 30e-6);
}

TEST(CollectiveTimes, more_axes_share_the_work) {
  const Pod pod = parse_pod("v5e:16x16");
  const double one = seconds(pod, kGather, kBytes, grouped(256, 16, [](int d) { return d / 16; }));
  EXPECT_NEAR(seconds(pod, kGather, kBytes) / one, 0.5, 0.1);
}

TEST(CollectiveTimes, cores_of_a_chip_share_its_links_or_work_together) {
  const Pod pod = parse_pod("v7x:2x2x1");
  const double apart = seconds(pod, kGather, kBytes, grouped(8, 2, [](int d) { return d % 2; }));
  const double together = seconds(pod, kGather, kBytes);
  const double inside = seconds(pod, kGather, kBytes, grouped(8, 4, [](int d) { return d / 2; }));
  EXPECT_NEAR(apart, 2252.3e-6, 25e-6);  // tpu-recipes; fitted on
  EXPECT_LT(together, apart);
  EXPECT_NEAR(inside, pod.chip["launch_ns"] * 1e-9 + kBytes / 2.0 / pod.chip["core_link_bytes_per_s"], 2e-6);
}

TEST(CollectiveTimes, between_slices_the_hosts_network_counts) {
  const Pod one = parse_pod("v5e:4x4"), two = parse_pod("v5e:4x4+2");
  const double within = seconds(one, CollectiveKind::kAllReduce, kBytes);
  const double across = seconds(two, CollectiveKind::kAllReduce, kBytes);
  // A shard of each device there and back, eight devices a host.
  const double network = 2 * (kBytes / 16.0) * 8 / 2 / two.chip["dcn_bytes_per_s"];
  EXPECT_NEAR(across - within, network + 2 * two.chip["dcn_latency_ns"] * 1e-9, 1e-6);
}

TEST(CollectiveTimes, a_shift_along_a_ring_is_one_hop_and_pairs_that_cross_contend) {
  const Pod pod = parse_pod("v5e:1x16");
  const auto permute = [&](const DevicePairs& pairs) {
    return collective_seconds(
        {CollectiveKind::kCollectivePermute, kBytes, nullptr, std::make_shared<const DevicePairs>(pairs)},
        pod);
  };
  DevicePairs shift;
  for (int d = 0; d < 16; ++d) shift.emplace_back(d, (d + 1) % 16);
  const double hop = kBytes / (pod.chip["ici_bytes_per_s"] * pod.chip["ici_efficiency"]);
  EXPECT_NEAR(permute(shift), hop, 5e-6);
  EXPECT_NEAR(permute({{0, 1}}), hop, 5e-6);
  EXPECT_NEAR(permute({{0, 2}}), 2 * hop, 8e-6);
  EXPECT_NEAR(permute({{0, 2}, {1, 3}}), 2 * hop, 8e-6);  // one behind the other, never at one link
  EXPECT_EQ(permute({{3, 3}}), 0);
  EXPECT_EQ(permute({}), 0);
}

TEST(CollectiveTimes, messages_that_meet_at_a_link_wait) {
  const Pod pod = parse_pod("v5e:4x4");
  const auto pairs =
      std::make_shared<const DevicePairs>(DevicePairs{{0, 5}, {8, 6}});  // both by chip 4 to chip 5
  const double hop = kBytes / (pod.chip["ici_bytes_per_s"] * pod.chip["ici_efficiency"]);
  EXPECT_NEAR(collective_seconds({CollectiveKind::kCollectivePermute, kBytes, nullptr, pairs}, pod), 4 * hop,
              10e-6);
}

TEST(CollectiveTimes, odd_groups_are_rings_in_their_order_and_say_so) {
  const Pod pod = parse_pod("v5e:1x8");
  const CollectiveStart odd{kGather, kBytes, shared({{0, 1, 2, 5}, {3, 4, 6, 7}})};
  const CollectiveTime time = collective_time(odd, pod);
  EXPECT_NE(time.note, "");
  const CollectiveStart even{kGather, kBytes, shared({{0, 1, 2, 3}, {4, 5, 6, 7}})};
  EXPECT_EQ(collective_time(even, pod).note, "");
  EXPECT_GE(time.transfer, collective_time(even, pod).transfer);
}

TEST(CollectiveTimes, closed_forms_equal_every_message_for_boxes) {
  for (const char* topology : {"v5e:4x4", "v5e:8x16", "v4:4x4x4", "v7x:2x2x1", "v5e:2x4+2"}) {
    const Pod pod = parse_pod(topology);
    for (CollectiveKind kind :
         {kGather, CollectiveKind::kReduceScatter, CollectiveKind::kAllReduce, CollectiveKind::kAllToAll}) {
      for (int size = 2; size <= pod.devices(); size *= 2) {
        const CollectiveStart c{
            kind, 12345678, grouped(pod.devices(), pod.devices() / size, [&](int d) { return d / size; })};
        EXPECT_EQ(collective_time(c, pod).transfer, simulate_collective(c, pod).transfer)
            << topology << " " << size;
        const int stride = pod.devices() / size;
        const CollectiveStart far{kind, 7654321,
                                  grouped(pod.devices(), stride, [&](int d) { return d % stride; })};
        EXPECT_EQ(collective_time(far, pod).transfer, simulate_collective(far, pod).transfer)
            << topology << " " << size;
      }
    }
  }
}

}  // namespace
}  // namespace armillary::sim
