#include "tpu_sim/ici/collective.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <numeric>
#include <random>

#include "tpu_sim/ici/topology.h"
#include "xla_core/base/error.h"

namespace armillary::sim {
namespace {

constexpr std::array kKinds = {CollectiveKind::kAllGather, CollectiveKind::kReduceScatter,
                               CollectiveKind::kAllReduce, CollectiveKind::kAllToAll,
                               CollectiveKind::kCollectivePermute};
constexpr LinkSpeed kSpeed = {0.045, 1'000'000};  // 45 GB/s, 1 us

std::string message_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const Error& e) {
    return e.message();
  }
  return "no error";
}

std::vector<int> all_axes(const Topology& torus) {
  std::vector<int> axes(torus.axes.size());
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

// A few seconds by default; ARMILLARY_COLLECTIVE_CHIPS=512 for tori of up to so many chips.
int most_chips() {
  const char* text = std::getenv("ARMILLARY_COLLECTIVE_CHIPS");
  return text ? std::atoi(text) : 64;
}

// One to three axes, 4 to most_chips() chips.
Topology random_torus(std::mt19937& random) {
  for (;;) {
    Topology torus;
    const int axes = 1 + static_cast<int>(random() % 3);
    const int longest[] = {most_chips(), 16, 8};
    for (int i = 0; i < axes; ++i) {
      torus.axes.push_back({1 + static_cast<int>(random() % longest[axes - 1]), random() % 2 == 0});
    }
    if (torus.chips() >= 4 && torus.chips() <= most_chips()) return torus;
  }
}

std::string describe(const Collective& c, const Topology& torus) {
  std::string out = fmt::format("{} of {} bytes, shift {}, on", to_string(c.kind), c.bytes, c.shift);
  for (const Axis& a : torus.axes) out += fmt::format(" {}{}", a.extent, a.wraps ? "(ring)" : "");
  return out;
}

TEST(Collectives, closed_forms_equal_the_events_on_random_tori) {
  for (unsigned seed = 0; seed < 400; ++seed) {
    std::mt19937 random(seed);
    const Topology torus = random_torus(random);
    for (CollectiveKind kind : kKinds) {
      Collective c{kind, static_cast<int64_t>(random() % (1u << (random() % 26))), all_axes(torus),
                   static_cast<int>(random() % 40) - 20};
      std::shuffle(c.axes.begin(), c.axes.end(), random);
      c.axes.resize(kind == CollectiveKind::kCollectivePermute ? 1 : 1 + random() % c.axes.size());
      const LinkSpeed speed = {0.01 + static_cast<double>(random() % 1000) / 2000,
                               static_cast<Tick>(random() % 2000000)};
      ASSERT_EQ(simulate(c, torus, speed).finish, closed_form(c, torus, speed))
          << "seed " << seed << ": " << describe(c, torus);
    }
  }
}

TEST(Collectives, closed_forms_equal_the_events_on_512_chips) {
  const Topology torus = parse_slices("v5p:8x8x8").torus;
  for (CollectiveKind kind : kKinds) {
    Collective c{kind, 64 << 20, all_axes(torus), 3};
    if (kind == CollectiveKind::kCollectivePermute) c.axes = {1};
    EXPECT_EQ(simulate(c, torus, kSpeed).finish, closed_form(c, torus, kSpeed)) << describe(c, torus);
  }
}

TEST(Collectives, every_chip_of_an_all_gather_gets_all_it_lacks_once) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    std::mt19937 random(seed);
    const Topology torus = random_torus(random);
    const int64_t bytes = int64_t{torus.chips()} * static_cast<int64_t>(torus.axes.size()) * 6;
    const auto result = simulate({CollectiveKind::kAllGather, bytes, all_axes(torus)}, torus, kSpeed);
    // Axes of one chip take no part, so the buffer may be cut into fewer parts; its size divides either way.
    for (int64_t received : result.received)
      EXPECT_EQ(received, bytes - bytes / torus.chips()) << "seed " << seed;
  }
}

TEST(Collectives, every_chip_of_an_all_to_all_on_one_axis_gets_a_block_from_each_other) {
  for (int extent : {2, 3, 4, 7, 8, 16}) {
    for (bool wraps : {false, true}) {
      const Topology torus{{{extent, wraps}}};
      const auto result = simulate({CollectiveKind::kAllToAll, 10 * extent, {0}}, torus, kSpeed);
      for (int64_t received : result.received) EXPECT_EQ(received, 10 * (extent - 1)) << extent << wraps;
    }
  }
}

TEST(Collectives, a_line_takes_twice_the_time_of_a_ring_and_an_all_to_all_a_quarter) {
  const LinkSpeed speed = {0.045, 0};
  const Topology ring{{{16, true}}}, line{{{16, false}}};
  auto time = [&](CollectiveKind kind, const Topology& torus) {
    return static_cast<double>(closed_form({kind, 1 << 30, {0}}, torus, speed));
  };
  const double gather = time(CollectiveKind::kAllGather, ring);
  EXPECT_NEAR(gather, (1 << 30) * 15.0 / 16 / (2 * 0.045), 100);
  EXPECT_NEAR(time(CollectiveKind::kAllGather, line) / gather, 2, 1e-6);
  EXPECT_NEAR(time(CollectiveKind::kAllReduce, ring) / gather, 2, 1e-6);
  // An all-to-all of the same array: each chip has a 16th of it.
  EXPECT_NEAR(time(CollectiveKind::kAllToAll, ring) / 16 / gather, 0.25 * 16 / 15, 1e-6);
}

TEST(Collectives, two_at_once_on_the_same_links_take_as_long_as_both_and_on_others_as_long_as_one) {
  const Topology torus = parse_slices("v4:4x4x4").torus;
  const LinkSpeed speed = {0.045, 0};
  const Collective x{CollectiveKind::kAllGather, 1 << 24, {0}}, y{CollectiveKind::kAllGather, 1 << 24, {1}};
  const Tick alone = simulate(x, torus, speed).finish;
  const std::vector same = {x, x}, other = {x, y};
  EXPECT_NEAR(static_cast<double>(simulate(same, torus, speed)[1].finish), 2.0 * static_cast<double>(alone),
              0.02 * static_cast<double>(alone));
  EXPECT_EQ(simulate(other, torus, speed)[0].finish, alone);
  EXPECT_EQ(simulate(other, torus, speed)[1].finish, alone);
}

TEST(Links, issue_returns_the_arrival_and_keeps_the_link_until_the_last_byte_has_left) {
  Links links(Topology{{{4, true}}}, {0.5, 10});
  const Push push{0, 0, 1, 100};
  EXPECT_EQ(links.ready(push, 5), 5);
  EXPECT_EQ(links.issue(push, 5), 5 + 200 + 10);
  EXPECT_EQ(links.ready(push, 5), 205);
  EXPECT_EQ(links.ready({0, 0, -1, 100}, 5), 5);  // the other way is another link
  EXPECT_EQ(links.issue(push, 6), 205 + 200 + 10);
}

TEST(Topologies, axes_wrap_by_the_generations_rule) {
  auto wraps = [](std::string_view text) {
    std::string out;
    for (const Axis& a : parse_slices(text).torus.axes) out += a.wraps ? 'o' : '-';
    return out;
  };
  EXPECT_EQ(wraps("v5e:4x4"), "--");
  EXPECT_EQ(wraps("v5e:8x16"), "-o");
  EXPECT_EQ(wraps("v5p:4x4x8"), "ooo");
  EXPECT_EQ(wraps("v7x:2x2x1"), "---");
  EXPECT_EQ(wraps("v5p:2x2x4"), "---");  // no whole cube
  EXPECT_EQ(wraps("v6e:1x1"), "--");
  EXPECT_EQ(parse_slices("v6e:16x16+4").count, 4);
}

TEST(Topologies, neighbours_lie_along_their_axis) {
  const Topology torus{{{3, true}, {4, false}}};
  EXPECT_EQ(torus.neighbour(0, 0, -1), 8);
  EXPECT_EQ(torus.neighbour(0, 1, -1), -1);
  EXPECT_EQ(torus.neighbour(5, 1, 2), 7);
  EXPECT_EQ(torus.coordinate(7, 0), 1);
}

TEST(Topologies, what_does_not_exist_is_refused_with_the_reason) {
  EXPECT_EQ(message_of([] { parse_slices("v5e"); }),
            "topology 'v5e' has no shape; write chip:shape, such as v5e:4x4");
  EXPECT_EQ(message_of([] { parse_slices("v5e:4x4x4"); }), "v5e:4x4x4 does not exist: a pod of v5e is 16x16");
  EXPECT_EQ(message_of([] { parse_slices("v5e:32x2"); }), "v5e:32x2 does not exist: a pod of v5e is 16x16");
  EXPECT_EQ(message_of([] { parse_slices("v1:2"); }), "v1:2 does not exist: v1 has no links between chips");
  for (const char* shape :
       {"", "4x", "x4", "4xx4", "0x4", "-1", "4x4 ", "99999999999x1", "4x4.5", "fourxfour"}) {
    EXPECT_NE(message_of([&] { parse_slices(std::string("v5e:") + shape); }).find("is no shape"),
              std::string::npos)
        << shape;
  }
  EXPECT_NE(message_of([] { parse_slices("v5e:4x4+0"); }).find("'0' is no number of slices"),
            std::string::npos);
  EXPECT_NE(message_of([] { parse_slices("v5e:1x1x1x1"); }).find("at most 3"), std::string::npos);
}

TEST(Collectives, what_cannot_be_is_refused) {
  const Topology torus{{{4, true}}};
  auto error = [&](const Collective& c) { return message_of([&] { closed_form(c, torus, kSpeed); }); };
  EXPECT_EQ(error({CollectiveKind::kAllGather, 8, {1}}),
            "all-gather over axis 1, but the topology has 1 axes");
  EXPECT_EQ(error({CollectiveKind::kAllGather, 8, {0, 0}}), "all-gather over axis 0 twice");
  EXPECT_NE(error({CollectiveKind::kAllGather, -1, {0}}).find("-1 bytes"), std::string::npos);
  EXPECT_NE(error({CollectiveKind::kCollectivePermute, 8, {}}).find("one axis"), std::string::npos);
  EXPECT_NE(message_of([] { collective_from_name("broadcast"); }).find("all-to-all"), std::string::npos);
}

}  // namespace
}  // namespace armillary::sim
