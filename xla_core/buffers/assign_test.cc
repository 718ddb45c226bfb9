#include "xla_core/buffers/assign.h"

#include <gtest/gtest.h>

#include <random>

#include "xla_core/buffers/copies.h"
#include "xla_core/hlo/text.h"
#include "xla_core/schedule/schedule.h"

namespace armillary {
namespace {

bool elementwise_shares(const Instruction& i, int64_t operand, int64_t) {
  return i.has(kElementwise) && i.operand(operand)->shape().same_dims(i.shape());
}
bool update_shares(const Instruction& i, int64_t operand, int64_t) {
  return i.is(Op::dynamic_update_slice) && operand == 0;
}
bool either_shares(const Instruction& i, int64_t operand, int64_t leaf) {
  return elementwise_shares(i, operand, leaf) || update_shares(i, operand, leaf);
}
const Target kTarget{.name = "test", .may_share = either_shares, .updates_in_place = update_shares};

struct Assigned {
  std::unique_ptr<Module> module;
  Assignment assignment;
  const Instruction* find(std::string_view name) const {
    for (const Computation* c : module->computations())
      for (const Instruction* i : c->instructions())
        if (i->name() == name) return i;
    throw std::runtime_error("no instruction " + std::string(name));
  }
  Slice slice(std::string_view name, size_t leaf = 0) const { return assignment.of(find(name))[leaf]; }
  int64_t temporaries() const {
    for (const Allocation& a : assignment.allocations)
      if (a.kind == Allocation::kTemporary) return a.size;
    return -1;
  }
};

Assigned assign(std::string_view text) {
  Assigned out{parse(text), {}};
  flatten_call_graph(*out.module);
  insert_loop_copies(*out.module);
  out.assignment = assign_buffers(*out.module, kTarget);
  return out;
}

TEST(Assign, chain_of_elementwise_ops_works_in_one_buffer) {
  const Assigned a = assign(R"(
ENTRY e {
  p = f32[1024] parameter(0)
  a = f32[1024] negate(p)
  b = f32[1024] exponential(a)
  c = f32[1024] sine(b)
  ROOT d = f32[1024] cosine(c)
})");
  EXPECT_EQ(a.slice("a"), a.slice("d"));
  EXPECT_EQ(a.temporaries(), 0);  // all of it lies in the result
  EXPECT_NE(a.slice("p"), a.slice("a"));
}

TEST(Assign, loop_state_is_updated_in_place) {
  const Assigned a = assign(R"(
cond { s = (s32[], f32[4096]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(10)
  ROOT lt = pred[] compare(i, n), direction=LT }
body { t = (s32[], f32[4096]) parameter(0)
  j = s32[] get-tuple-element(t), index=0
  one = s32[] constant(1)
  k = s32[] add(j, one)
  x = f32[4096] get-tuple-element(t), index=1
  y = f32[4096] negate(x)
  ROOT r = (s32[], f32[4096]) tuple(k, y) }
ENTRY e {
  z = s32[] constant(0)
  p = f32[4096] parameter(0)
  init = (s32[], f32[4096]) tuple(z, p)
  w = (s32[], f32[4096]) while(init), condition=cond, body=body
  ROOT out = f32[4096] get-tuple-element(w), index=1
})");
  EXPECT_EQ(a.slice("y"), a.slice("x"));
  EXPECT_EQ(a.slice("k"), a.slice("j"));
  EXPECT_NE(a.slice("p"), a.slice("x"));  // the argument is not ours to overwrite
}

TEST(Assign, what_a_loop_only_reads_is_not_copied) {
  const Assigned a = assign(R"(
cond { s = (s32[], f32[4096]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(10)
  ROOT lt = pred[] compare(i, n), direction=LT }
body { t = (s32[], f32[4096]) parameter(0)
  j = s32[] get-tuple-element(t), index=0
  one = s32[] constant(1)
  k = s32[] add(j, one)
  x = f32[4096] get-tuple-element(t), index=1
  ROOT r = (s32[], f32[4096]) tuple(k, x) }
ENTRY e {
  z = s32[] constant(0)
  p = f32[4096] parameter(0)
  init = (s32[], f32[4096]) tuple(z, p)
  w = (s32[], f32[4096]) while(init), condition=cond, body=body
  ROOT out = s32[] get-tuple-element(w), index=0
})");
  EXPECT_EQ(a.slice("x"), a.slice("p"));
}

TEST(Assign, swapped_loop_state_goes_through_a_copy) {
  const Assigned a = assign(R"(
cond { s = (f32[64], f32[64], pred[]) parameter(0)
  ROOT c = pred[] get-tuple-element(s), index=2 }
body { t = (f32[64], f32[64], pred[]) parameter(0)
  x = f32[64] get-tuple-element(t), index=0
  y = f32[64] get-tuple-element(t), index=1
  no = pred[] constant(false)
  ROOT r = (f32[64], f32[64], pred[]) tuple(y, x, no) }
ENTRY e {
  p = f32[64] parameter(0)
  q = f32[64] parameter(1)
  yes = pred[] constant(true)
  init = (f32[64], f32[64], pred[]) tuple(p, q, yes)
  w = (f32[64], f32[64], pred[]) while(init), condition=cond, body=body
  ROOT out = f32[64] get-tuple-element(w), index=0
})");
  const Instruction* root = a.find("w")->attrs().callee(Attr::body)->root();
  EXPECT_TRUE(root->operand(0)->is(Op::copy));
  EXPECT_TRUE(root->operand(1)->is(Op::copy));
  EXPECT_NE(a.assignment.of(root->operand(0))[0], a.assignment.of(root->operand(1))[0]);
  EXPECT_NE(a.assignment.of(root->operand(0))[0], a.slice("x"));
}

TEST(Assign, donated_argument_becomes_the_result) {
  const Assigned a = assign(R"(
HloModule m, input_output_alias={ {}: (0, {}, may-alias) }
ENTRY e {
  p = f32[1024] parameter(0)
  q = f32[1024] parameter(1)
  ROOT a = f32[1024] add(p, q)
})");
  EXPECT_EQ(a.slice("p"), a.slice("a"));
  EXPECT_TRUE(a.assignment.allocations[a.slice("p").allocation].written);
  EXPECT_EQ(a.assignment.results[0], a.slice("p"));
}

TEST(Assign, result_that_is_an_argument_is_copied) {
  const Assigned a = assign(R"(
ENTRY e {
  p = f32[8] parameter(0)
  ROOT t = (f32[8], f32[8]) tuple(p, p)
})");
  EXPECT_NE(a.assignment.results[0], a.slice("p"));
  EXPECT_NE(a.assignment.results[0], a.assignment.results[1]);
}

TEST(Assign, update_in_place_only_when_the_old_value_is_dead) {
  const Assigned a = assign(R"(
ENTRY e {
  p = f32[1024] parameter(0)
  x = f32[1024] negate(p)
  u = f32[1] constant({1})
  i = s32[] constant(3)
  d = f32[1024] dynamic-update-slice(x, u, i)
  ROOT t = (f32[1024], f32[1024]) tuple(d, x)
})");
  EXPECT_NE(a.slice("d"), a.slice("x"));
}

TEST(Pack, random_blocks_never_overlap_and_stay_near_the_bound) {
  for (unsigned seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937 random(seed);
    std::vector<Block> blocks;
    for (int b = 0; b < 200; ++b) {
      const int64_t begin = random() % 1000, end = begin + random() % 60;
      Block block{.size = 1 + static_cast<int64_t>(random() % 5000), .segments = {{begin, end}}};
      if (random() % 4 == 0) block.segments.push_back({end + 5, end + 20});
      blocks.push_back(std::move(block));
    }
    const int64_t total = pack_blocks(blocks);
    for (size_t a = 0; a < blocks.size(); ++a)
      for (size_t b = 0; b < a; ++b)
        if (overlap(blocks[a].segments, blocks[b].segments)) {
          EXPECT_TRUE(blocks[a].offset + blocks[a].size <= blocks[b].offset ||
                      blocks[b].offset + blocks[b].size <= blocks[a].offset);
        }
    EXPECT_LE(total, max_live_bytes(blocks) * 5 / 4);
  }
}

TEST(Schedule, minimise_memory_keeps_operands_before_users_and_never_raises_the_peak) {
  auto m = parse(R"(
ENTRY e {
  p = f32[] parameter(0)
  a = f32[1000] broadcast(p), dimensions={}
  b = f32[1000] broadcast(p), dimensions={}
  c = f32[1000] broadcast(p), dimensions={}
  z = f32[] constant(0)
  d = f32[10] slice(a), slice={[0:10]}
  f = f32[10] slice(b), slice={[0:10]}
  g = f32[10] slice(c), slice={[0:10]}
  h = f32[10] add(d, f)
  ROOT i = f32[10] add(h, g)
})");
  const int64_t before = peak_bytes(*m->entry());
  minimise_memory(*m);
  EXPECT_LT(peak_bytes(*m->entry()), before);
  EXPECT_LE(peak_bytes(*m->entry()), 4000 + 120);
  std::unordered_set<const Instruction*> seen;
  for (const Instruction* i : m->entry()->instructions()) {
    for (const Instruction* operand : i->operands()) EXPECT_TRUE(seen.count(operand));
    seen.insert(i);
  }
}

}  // namespace
}  // namespace armillary
