// Sums of what the devices hold, asked for as such and added late; scatters; dimensions left open. All
// against the same program on one device.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <random>

#include "xla_core/client/testing/partitioned.h"

namespace armillary {
namespace {

constexpr const char* kMesh = R"(, frontend_attributes={xla.sdy.meshes={mesh = #sdy.mesh<["a"=2, "b"=2]>}})";
constexpr const char* kAdd = R"(
  add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) })";

// A wish for `x`, as Shardy writes it behind the name of the mesh: `[{"a"}, {}], unreduced={"b"}`.
std::string wish(const std::string& name, const std::string& shape, const std::string& x,
                 const std::string& dims) {
  std::string escaped;
  for (char c : dims) escaped += c == '"' ? "\\\"" : std::string(1, c);
  return fmt::format(
      "    {} = {} custom-call({}), custom_call_target=\"Sharding\", "
      "frontend_attributes={{xla.sdy.sharding=\"#sdy.sharding_per_value<[<@mesh, {}>]>\"}}\n",
      name, shape, x, escaped);
}

TEST(Sums, WhatIsAskedForAsSummandsIsNotAdded) {
  const std::string text = expect_same(kMesh,
                                       std::string(kAdd) + R"( ENTRY e {
    x = f32[8,6] parameter(0), sharding={devices=[2,1,2]<=[4] last_tile_dim_replicate}
    y = f32[8,4] parameter(1), sharding={devices=[2,1,2]<=[4] last_tile_dim_replicate}
    d = f32[6,4] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}
)" + wish("s", "f32[6,4]", "d", R"([{}, {}], unreduced={"a"})") +
                                           R"(    t = f32[4,6] transpose(s), dimensions={1,0}
)" + wish("u", "f32[4,6]", "t", R"([{}, {}], unreduced={"a"})") +
                                           R"(    zero = f32[] constant(0)
    r = f32[6] reduce(x, zero), dimensions={0}, to_apply=add
)" + wish("q", "f32[6]", "r", R"([{}], unreduced={"a"})") +
                                           R"(    ROOT all = (f32[4,6], f32[6]) tuple(u, q) })",
                                       4,
                                       {"{devices=[1,1,2,2]0,1,2,3 last_tile_dims={unreduced, replicated}}",
                                        "{devices=[1,2,2]0,1,2,3 last_tile_dims={unreduced, replicated}}"});
  EXPECT_EQ(count_in(text, "all-reduce"), 0) << text;
  EXPECT_EQ(count_in(text, "partition-id"), 0) << text;
}

// Over two axes summed, over one left so: the other is added.
TEST(Sums, OnlyTheOtherAxisIsAdded) {
  const std::string text = expect_same(kMesh,
                                       std::string(kAdd) + R"( ENTRY e {
    x = f32[8,6] parameter(0), sharding={devices=[4,1]<=[4]}
    zero = f32[] constant(0)
    r = f32[6] reduce(x, zero), dimensions={0}, to_apply=add
)" + wish("q", "f32[6]", "r", R"([{}], unreduced={"b"})") +
                                           wish("t", "f32[6]", "q", R"([{"b"}])") +
                                           R"(    ROOT all = (f32[6], f32[6]) tuple(q, t) })",
                                       4,
                                       {"{devices=[1,2,2]0,2,1,3 last_tile_dims={unreduced, replicated}}",
                                        "{devices=[2,2]0,2,1,3 last_tile_dim_replicate}"});
  EXPECT_NE(text.find("replica_groups={{0,2},{1,3}}"), std::string::npos) << text;
}

// Each device adds its tile among zeros: nobody sends anything.
TEST(Sums, TilesBecomeSummands) {
  const std::string text = expect_same(kMesh,
                                       R"( ENTRY e {
    x = f32[4,6] parameter(0), sharding={devices=[2,2]<=[4]}
    w = f32[4] parameter(1)
)" + wish("s", "f32[4,6]", "x", R"([{}, {}], unreduced={"b", "a"})") +
                                           wish("t", "f32[4,6]", "x", R"([{}, {"b"}], unreduced={"a"})") +
                                           wish("u", "f32[4]", "w", R"([{"a"}], unreduced={"b"})") +
                                           R"(    ROOT all = (f32[4,6], f32[4,6], f32[4]) tuple(s, t, u) })",
                                       4,
                                       {"{devices=[1,1,4]0,2,1,3 last_tile_dims={unreduced}}",
                                        "{devices=[1,2,2]0,2,1,3 last_tile_dims={unreduced}}",
                                        "{devices=[2,2]0,1,2,3 last_tile_dims={unreduced}}"});
  for (const char* op : {"all-gather", "all-reduce", "all-to-all"}) EXPECT_EQ(count_in(text, op), 0) << text;
}

// A gradient that is accumulated in a loop is added once, behind it.
TEST(Sums, LoopsCarrySummands) {
  const std::string body = std::string(kAdd) + R"(
  cond {
    c = (s32[], f32[3,8,4], f32[4,4]) parameter(0)
    k = s32[] get-tuple-element(c), index=0
    n = s32[] constant(3)
    ROOT lt = pred[] compare(k, n), direction=LT }
  body {
    b = (s32[], f32[3,8,4], f32[4,4]) parameter(0)
    i = s32[] get-tuple-element(b), index=0
    one = s32[] constant(1)
    zero = s32[] constant(0)
    next = s32[] add(i, one)
    xs = f32[3,8,4] get-tuple-element(b), index=1
    sum = f32[4,4] get-tuple-element(b), index=2
    x1 = f32[1,8,4] dynamic-slice(xs, i, zero, zero), dynamic_slice_sizes={1,8,4}
    x = f32[8,4] reshape(x1)
    s = f32[8,4] sine(x)
    g = f32[4,4] dot(x, s), lhs_contracting_dims={0}, rhs_contracting_dims={0}
)" + wish("h", "f32[4,4]", "g", R"([{}, {}], unreduced={"a"})") +
                           R"(    more = f32[4,4] add(sum, h)
)" + wish("m", "f32[4,4]", "more", R"([{}, {}], unreduced={"a"})") +
                           R"(    ROOT all = (s32[], f32[3,8,4], f32[4,4]) tuple(next, xs, m) }
  ENTRY e {
    p = f32[3,8,4] parameter(0), sharding={devices=[1,2,1,2]<=[4] last_tile_dim_replicate}
    w = f32[4,4] parameter(1)
)" + wish("w0", "f32[4,4]", "w", R"([{}, {}], unreduced={"a"})") +
                           R"(    z = s32[] constant(0)
    init = (s32[], f32[3,8,4], f32[4,4]) tuple(z, p, w0)
    l = (s32[], f32[3,8,4], f32[4,4]) while(init), condition=cond, body=body
    v = f32[4,4] get-tuple-element(l), index=2
)" + wish("all", "f32[4,4]", "v", "[{}, {}]") +
                           R"(    ROOT r = f32[4,4] negate(all) })";
  const std::string text = expect_same(kMesh, body, 4, {"{replicated}"});
  EXPECT_EQ(count_in(text, " all-reduce("), 1) << text;
  EXPECT_GT(text.find(" all-reduce("), text.find(" while(")) << text;
}

// What each turn makes in tiles leaves the loop so, though it was whole before.
TEST(Sums, LoopsCarryTheTilesThatTheyMake) {
  const std::string body = R"(
  cond {
    c = (s32[], f32[4,6]) parameter(0)
    k = s32[] get-tuple-element(c), index=0
    n = s32[] constant(3)
    ROOT lt = pred[] compare(k, n), direction=LT }
  body {
    b = (s32[], f32[4,6]) parameter(0)
    i = s32[] get-tuple-element(b), index=0
    one = s32[] constant(1)
    next = s32[] add(i, one)
    x = f32[4,6] get-tuple-element(b), index=1
    s = f32[4,6] sine(x)
)" + wish("t", "f32[4,6]", "s", R"([{"b"}, {}])") +
                           R"(    ROOT all = (s32[], f32[4,6]) tuple(next, t) }
  ENTRY e {
    x = f32[4,6] parameter(0)
    z = s32[] constant(0)
    init = (s32[], f32[4,6]) tuple(z, x)
    l = (s32[], f32[4,6]) while(init), condition=cond, body=body
    ROOT v = f32[4,6] get-tuple-element(l), index=1 })";
  const std::string text = expect_same(kMesh, body, 4, {"{devices=[2,1,2]0,2,1,3 last_tile_dim_replicate}"});
  EXPECT_EQ(count_in(text, "all-gather"), 0) << text;
}

// Open dimensions keep what cuts them, unless another dimension or nobody is to have that axis.
TEST(Sums, OpenDimensionsStayCut) {
  expect_same(
      kMesh,
      R"( ENTRY e {
    x = f32[4,6] parameter(0), sharding={devices=[2,2]<=[4]}
    y = f32[4,6] negate(x)
)" + wish("p", "f32[4,6]", "y", R"([{?}, {"b"}])") +
          wish("q", "f32[4,6]", "y", R"([{?}, {"a"}])") + wish("r", "f32[4,6]", "y", R"([{"b"}, {?}])") +
          wish("s", "f32[4,6]", "y", R"([{?}, {?}], replicated={"b"})") +
          wish("t", "f32[4,6]", "y", R"([{}, {?}])") +
          R"(    ROOT all = (f32[4,6], f32[4,6], f32[4,6], f32[4,6], f32[4,6]) tuple(p, q, r, s, t) })",
      4,
      {"{devices=[2,2]0,1,2,3}", "{devices=[1,2,2]0,1,2,3 last_tile_dim_replicate}",
       "{devices=[2,1,2]0,2,1,3 last_tile_dim_replicate}", "{devices=[2,1,2]0,1,2,3 last_tile_dim_replicate}",
       "{devices=[1,2,2]0,2,1,3 last_tile_dim_replicate}"});
}

// Linear ops, drawn at random, work on summands: their results, added up, are those of one device.
TEST(Sums, LinearOpsWorkOnSummands) {
  std::mt19937 random(7);
  auto pick = [&](int n) { return static_cast<int>(random() % n); };
  for (int trial = 0; trial < 40; ++trial) {
    std::string body = std::string(kAdd) + R"( ENTRY e {
    zero = f32[] constant(0)
    three = f32[] constant(3)
    w = f32[4,8] parameter(1)
)";
    const bool in_tiles = pick(2) == 1;
    const std::string sharded = in_tiles ? R"([{"a"}, {}], unreduced={"b"})" : R"([{}, {}], unreduced={"b"})";
    const std::string summands = in_tiles
                                     ? "{devices=[2,1,2]0,1,2,3 last_tile_dims={unreduced}}"
                                     : "{devices=[1,1,2,2]0,2,1,3 last_tile_dims={unreduced, replicated}}";
    body += fmt::format("    p = f32[4,8] parameter(0), sharding={}\n", summands);
    body += wish("v0", "f32[4,8]", "p", sharded);
    int64_t rows = 4, columns = 8;
    const int length = 1 + pick(5);
    for (int k = 0; k < length; ++k) {
      const std::string shape = fmt::format("f32[{},{}]", rows, columns), from = fmt::format("v{}", k);
      const bool square = rows == 4 && columns == 8;
      std::string op;
      switch (pick(9)) {
        case 0:
          op = fmt::format("{} negate({})", shape, from);
          break;
        case 1:
          op = fmt::format("{} add({}, {})", shape, from, square ? "v0" : from);
          break;
        case 2:
          op = fmt::format("{} multiply({}, {})", shape, from, square ? "w" : "scale" + std::to_string(k));
          body += fmt::format("    scale{} = {} broadcast(three), dimensions={{}}\n", k, shape);
          break;
        case 3:
          op = fmt::format("{} subtract({}, {})", shape, square ? "w" : from, from);
          break;
        case 4:
          op = fmt::format("{} reverse({}), dimensions={{1}}", shape, from);
          break;
        case 5:
          op = fmt::format("{} select(less{}, {}, zeros{})", shape, k, from, k);
          body += fmt::format("    zeros{} = {} broadcast(zero), dimensions={{}}\n", k, shape);
          body += fmt::format("    count{} = {} iota(), iota_dimension=1\n", k, shape);
          body += fmt::format("    threes{} = {} broadcast(three), dimensions={{}}\n", k, shape);
          body += fmt::format("    less{} = pred[{},{}] compare(count{}, threes{}), direction=LT\n", k, rows,
                              columns, k, k);
          break;
        case 6:
          op = fmt::format("f32[{},{}] concatenate({}, {}), dimensions={{1}}", rows, 2 * columns, from, from);
          columns *= 2;
          break;
        case 7:
          op = fmt::format("f32[{},{}] pad({}, zero), padding=0_0x1_1", rows, columns + 2, from);
          columns += 2;
          break;
        default:
          op = fmt::format(
              "f32[{},2] dot({}, sines{}), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}", rows,
              from, k);
          body += fmt::format("    counts{} = f32[{},2] iota(), iota_dimension=0\n", k, columns);
          body += fmt::format("    sines{} = f32[{},2] sine(counts{})\n", k, columns, k);
          columns = 2;
      }
      body += fmt::format("    o{} = {}\n", k, op);
      body += wish(fmt::format("v{}", k + 1), fmt::format("f32[{},{}]", rows, columns), fmt::format("o{}", k),
                   sharded);
    }
    const std::string last = fmt::format("f32[{},{}]", rows, columns), name = fmt::format("v{}", length);
    const std::string kept = body + fmt::format("    ROOT all = ({}) tuple({}) }}", last, name);
    body += wish("whole", last, name, "[{}, {}]");
    body += wish("rows", last, name, R"([{"a"}, {}])");
    body += wish("tiles", last, name, R"([{"b"}, {"a"}])");
    body += wish("finer", last, name, R"([{"a"}, {"b"}])");
    body += wish("others", last, name, R"([{}, {}], unreduced={"a"})");
    body += fmt::format(
        "    ROOT all = ({0}, {0}, {0}, {0}, {0}, {0}) tuple({1}, whole, rows, tiles, finer, others) }}",
        last, name);
    SCOPED_TRACE(body);
    const std::string text = expect_same(kMesh, kept, 4, {summands});
    EXPECT_EQ(count_in(text, "all-"), 0) << text;
    expect_same(kMesh, body, 4,
                {summands, "{replicated}", "{devices=[2,1,2]0,1,2,3 last_tile_dim_replicate}",
                 "{devices=[2,2]0,2,1,3}", "{devices=[2,2]0,1,2,3}",
                 "{devices=[1,1,2,2]0,1,2,3 last_tile_dims={unreduced, replicated}}"});
    if (HasFailure()) return;
  }
}

// Updates, indices and operand are cut at random, whole or not; indices may be out of range.
TEST(Sums, ScattersWorkOnWhatTheirOperandsAreCutAlong) {
  std::mt19937 random(11);
  auto pick = [&](int n) { return static_cast<int>(random() % n); };
  const std::vector<std::string> combiners = {"add(a, b)", "maximum(a, b)", "minimum(b, a)",
                                              "multiply(a, b)"};
  auto sharding = [&](const std::vector<int>& where) {  // on which dimension each axis lies; -1: on none
    const int rank = where[2];
    std::string dims;
    for (int d = 0; d < rank; ++d) {
      dims += d ? ", {" : "{";
      for (int axis : {0, 1})
        if (where[axis] == d) dims += fmt::format("{}'{}'", dims.back() == '{' ? "" : ",", axis ? 'b' : 'a');
      dims += "}";
    }
    return fmt::format("{{mesh['a'=2,'b'=2], [{}]}}", dims);
  };
  for (int trial = 0; trial < 60; ++trial) {
    const int windows = pick(2), updates = 8, size = 4 * (1 + pick(2));  // update rows, or single elements
    const std::string x = windows ? fmt::format("f32[{},4]", size) : fmt::format("f32[{}]", size);
    const std::string u = windows ? fmt::format("f32[{},4]", updates) : fmt::format("f32[{}]", updates);
    auto place = [&](int rank) {
      std::vector<int> where = {pick(rank + 1) - 1, pick(rank + 1) - 1, rank};
      return sharding(where);
    };
    const std::string body = fmt::format(
        R"(
  combine {{ a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] {} }}
  ENTRY e {{
    x = {} parameter(0), sharding={}
    i = s32[{},1] parameter(1), sharding={}
    u = {} parameter(2), sharding={}
    y = {} negate(u)
    s = {} scatter(x, i, y), update_window_dims={{{}}}, inserted_window_dims={{0}}, scatter_dims_to_operand_dims={{0}}, index_vector_dim=1, to_apply=combine
    ROOT n = {} negate(s), sharding={{replicated}} }})",
        combiners[pick(4)], x, place(windows + 1), updates, place(1 + 1), u, place(windows + 1), u, x,
        windows ? "1" : "", x);
    if (body.find("s32[8,1] parameter(1), sharding={mesh['a'=2,'b'=2], [{}, {'") != std::string::npos ||
        body.find("s32[8,1] parameter(1), sharding={mesh['a'=2,'b'=2], [{'a'}, {'") != std::string::npos ||
        body.find("s32[8,1] parameter(1), sharding={mesh['a'=2,'b'=2], [{'b'}, {'") != std::string::npos)
      continue;  // one column cannot be cut
    SCOPED_TRACE(body);
    expect_same("", body, 4, {"{replicated}"});
    if (HasFailure()) return;
  }
}

// Each device scatters its own updates; one of them begins with the operand.
TEST(Sums, ScatteredUpdatesAreSummedInParts) {
  const std::string body = std::string(kAdd) + R"( ENTRY e {
    x = f32[5,4] parameter(0)
    i = s32[8,1] parameter(1), sharding={devices=[4,1]<=[4]}
    u = f32[8,4] parameter(2), sharding={devices=[4,1]<=[4]}
    s = f32[5,4] scatter(x, i, u), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add
)";
  const std::string text = expect_same("", body + "    ROOT n = f32[5,4] negate(s) }", 4, {"{replicated}"});
  EXPECT_EQ(count_in(text, " all-gather("), 0) << text;
  EXPECT_EQ(count_in(text, " all-reduce("), 1) << text;
  const std::string kept =
      expect_same(kMesh,
                  body + wish("n", "f32[5,4]", "s", R"([{}, {}], unreduced={"a", "b"})") +
                      "    ROOT r = (f32[5,4]) tuple(n) }",
                  4, {"{devices=[1,1,4]0,1,2,3 last_tile_dims={unreduced}}"});
  EXPECT_EQ(count_in(kept, " all-reduce("), 0) << kept;
}

// Windows that are as long as the dimension, and batches, stay cut.
TEST(Sums, ScattersOfBatchesStayCut) {
  const std::string text = expect_same("", std::string(kAdd) + R"( ENTRY e {
    x = f32[4,5,6] parameter(0), sharding={devices=[2,1,2]<=[4]}
    i = s32[4,3,1] parameter(1), sharding={devices=[2,1,1,2]<=[4] last_tile_dim_replicate}
    u = f32[4,3,6] parameter(2), sharding={devices=[2,1,2]<=[4]}
    ROOT s = f32[4,5,6] scatter(x, i, u), update_window_dims={2}, inserted_window_dims={1}, scatter_dims_to_operand_dims={1}, input_batching_dims={0}, scatter_indices_batching_dims={0}, index_vector_dim=2, to_apply=add })",
                                       4, {"{devices=[2,1,2]0,1,2,3}"});
  EXPECT_EQ(count_in(text, "all-"), 0) << text;
}

}  // namespace
}  // namespace armillary
