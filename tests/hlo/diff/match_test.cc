// Instructions of two modules matched by what they compute.
#include "hlo/diff/match.h"

#include <random>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "hlo/diff/fingerprints.h"
#include "hlo/io/hlo_text.h"
#include "tests/hlo/diff/rearranged.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

constexpr char kProgram[] = R"(HloModule m, num_partitions=8

add { p = f32[] parameter(0) q = f32[] parameter(1) ROOT s = f32[] add(p, q) }
body { t = (s32[], f32[8]) parameter(0) i = s32[] get-tuple-element(t), index=0 v = f32[8] get-tuple-element(t), index=1
  one = s32[] constant(1) j = s32[] add(i, one) w = f32[8] negate(v) ROOT r = (s32[], f32[8]) tuple(j, w) }
condition { t = (s32[], f32[8]) parameter(0) i = s32[] get-tuple-element(t), index=0 n = s32[] constant(12)
  ROOT c = pred[] compare(i, n), direction=LT }
ENTRY main {
  x = f32[8] parameter(0), metadata={op_name="x"}
  g = f32[64] all-gather(x), channel_id=1, replica_groups=[1,8]<=[8], dimensions={0}, use_global_device_ids=true
  a = f32[64] tanh(g)
  r = f32[64] all-reduce(a), channel_id=2, replica_groups={{0,1,2,3},{4,5,6,7}}, use_global_device_ids=true, to_apply=add
  zero = s32[] constant(0)
  t = (s32[], f32[8]) tuple(zero, x)
  l = (s32[], f32[8]) while(t), condition=condition, body=body
  y = f32[8] get-tuple-element(l), index=1
  ROOT out = (f32[64], f32[8]) tuple(r, y)
})";

std::unique_ptr<Module> Parse(const std::string& text) {
  auto module = ParseModule(text);
  EXPECT_OK(module);
  return *std::move(module);
}

// kProgram with one piece of its text replaced.
std::unique_ptr<Module> With(const std::string& from, const std::string& to) {
  const std::string text = absl::StrReplaceAll(kProgram, {{from, to}});
  EXPECT_NE(text, kProgram) << from;
  return Parse(text);
}

ModuleMatch Match(const Module& a, const Module& b) {
  SourceFrames frames_a(a), frames_b(b);
  return ModuleMatch(a, b, &frames_a, &frames_b);
}

MatchCounts CountsOf(const Module& a, const Module& b) { return Match(a, b).Count(); }

TEST(MatchTest, NamesOrderAndSpellingsMakeNoDifference) {
  const auto module = Parse(kProgram);
  std::mt19937_64 random(1);
  for (int i = 0; i < 10; ++i) {
    const auto other = Rearranged(*module, &random);
    const ModuleMatch match = Match(*module, *other);
    EXPECT_TRUE(match.IsSameProgram());
    const MatchCounts counts = match.Count();
    EXPECT_EQ(counts.same, module->NumInstructions() - 3);  // Without those of the reducer.
    EXPECT_EQ(counts.alike + counts.changed + counts.only_a + counts.only_b, 0);
  }
  EXPECT_TRUE(Match(*module, *With("{{0,1,2,3},{4,5,6,7}}", "[2,4]<=[8]")).IsSameProgram());
  EXPECT_TRUE(Match(*module, *With("{{0,1,2,3},{4,5,6,7}}", "{{4,5,6,7},{0,1,2,3}}")).IsSameProgram());
  EXPECT_TRUE(Match(*module, *With("tanh(g)", "tanh(g), metadata={op_name=\"other\"}")).IsSameProgram());
}

TEST(MatchTest, WhatIsComputedMakesADifference) {
  const auto module = Parse(kProgram);
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
           {"tanh(g)", "sine(g)"},
           {"constant(12)", "constant(13)"},                              // In a loop's condition.
           {"negate(v)", "abs(v)"},                                       // In its body.
           {"ROOT s = f32[] add(p, q)", "ROOT s = f32[] maximum(p, q)"},  // In a reducer.
           {"{{0,1,2,3},{4,5,6,7}}", "{{0,1,2,4},{3,5,6,7}}"},
           {"{{0,1,2,3},{4,5,6,7}}", "{{1,0,2,3},{4,5,6,7}}"},
           {"tuple(r, y)", "tuple(r, x)"},
           {"zero = s32[]", "dead = f32[8] abs(x) zero = s32[]"}}) {
    EXPECT_FALSE(Match(*module, *With(from, to)).IsSameProgram()) << to;
  }
}

TEST(MatchTest, AnInsertedOpLeavesAllOthersMatched) {
  const auto a = Parse(kProgram);
  const auto b = With("r = f32[64] all-reduce(a)", "n = f32[64] negate(a) r = f32[64] all-reduce(n)");
  const ModuleMatch match = Match(*a, *b);
  const MatchCounts counts = match.Count();
  EXPECT_EQ(counts.only_a, 0);
  EXPECT_EQ(counts.only_b, 1);
  EXPECT_EQ(counts.changed, 0);
  EXPECT_EQ(counts.alike, 2);  // The all-reduce and the root.
  ASSERT_EQ(match.OnlyInB().size(), 1);
  EXPECT_EQ(match.OnlyInB()[0]->opcode(), Opcode::kNegate);
  for (const auto& op : a->entry()->instructions()) {
    ASSERT_NE(match.PartnerOf(*op), nullptr);
    EXPECT_EQ(match.PartnerOf(*op)->name(), op->name());
    EXPECT_EQ(match.PartnerInA(*match.PartnerOf(*op)), op.get());
  }
}

TEST(MatchTest, AChangedOpIsMatchedWithWhatItWas) {
  const auto a = Parse(kProgram);
  const auto b = With("direction=LT", "direction=LE");
  const ModuleMatch match = Match(*a, *b);
  const MatchCounts counts = match.Count();
  EXPECT_EQ(counts.changed, 1);
  EXPECT_EQ(counts.only_a + counts.only_b, 0);
  EXPECT_EQ(match.LikenessOf(*a->computation(2)->root()), Likeness::kChanged);
}

TEST(MatchTest, OpNamesFindPartnersInRewrittenPrograms) {
  // Nothing is computed alike: the argument has another shape.
  const auto a = Parse(R"(HloModule m
ENTRY e { x = f32[8] parameter(0) a = f32[8] tanh(x), metadata={op_name="one"} b = f32[8] tanh(a), metadata={op_name="two"}
  ROOT t = (f32[8], f32[8]) tuple(a, b) })");
  const auto b = Parse(R"(HloModule m
ENTRY e { x = f32[4] parameter(0) b = f32[4] tanh(x), metadata={op_name="two"} a = f32[4] tanh(b), metadata={op_name="one"}
  ROOT t = (f32[4], f32[4]) tuple(b, a) })");
  const ModuleMatch match = Match(*a, *b);
  EXPECT_EQ(match.PartnerOf(*a->entry()->instruction(1))->metadata()->op_name(), "one");
  EXPECT_EQ(match.PartnerOf(*a->entry()->instruction(2))->metadata()->op_name(), "two");
  EXPECT_EQ(match.Count().changed, 4);
}

// A chain of ops of which each reads one value that all others read, too, with a difference at the beginning: neither the users
// of that value nor the chain may be walked again and again.
TEST(MatchTest, LargeModulesTakeLinearTime) {
  const auto chain = [](absl::string_view first, int n) {
    std::string text = "HloModule m\nENTRY e { x = f32[8] parameter(0) ";
    absl::StrAppend(&text, "y0 = f32[8] ", first, "(x) ");
    for (int i = 1; i <= n; ++i) absl::StrAppend(&text, "y", i, " = f32[8] add(y", i - 1, ", x)\n");
    return absl::StrCat(text, "ROOT r = f32[8] negate(y", n, ") }");
  };
  const auto a = Parse(chain("sine", 50000)), b = Parse(chain("cosine", 50000));
  const MatchCounts counts = CountsOf(*a, *b);
  EXPECT_EQ(counts.alike, 50001);
  EXPECT_EQ(counts.only_a, 1);
  EXPECT_EQ(counts.only_b, 1);
}

}  // namespace
}  // namespace toroid
