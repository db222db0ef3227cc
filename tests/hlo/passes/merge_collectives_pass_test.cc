#include "hlo/passes/merge_collectives_pass.h"

#include <memory>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "explain/explain_table.h"
#include "gmock/gmock.h"
#include "hlo/analysis/collective_records.h"
#include "hlo/analysis/merged_collectives.h"
#include "hlo/analysis/program_statistics.h"
#include "hlo/io/hlo_text.h"
#include "hlo/passes/split_collectives_pass.h"
#include "tests/hlo/passes/same_after_pass.h"
#include "tests/partitioner/equivalence.h"
#include "tests/runtime/evaluate.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::HasSubstr;

constexpr char kAll[] = "replica_groups={{0,1,2}}, channel_id=1, use_global_device_ids=true";
constexpr char kSome[] = "replica_groups={{0,1},{2}}, channel_id=1, use_global_device_ids=true";

// $all: groups of all three devices; $some: of others.
std::string After(const std::string& body, const MergeCollectivesPass::Options& options = {},
                  bool changes = true) {
  MergeCollectivesPass pass(options);
  return SameAfterPass(&pass, absl::StrReplaceAll(body, {{"$all", kAll}, {"$some", kSome}}),
                       ReducerText("add", "f32", "add") + ReducerText("add2", "f32", "add") +
                           ReducerText("max", "f32", "maximum") + ReducerText("adds", "s32", "add"),
                       3, changes);
}

TEST(MergeCollectivesPassTest, AllReducesOfOneReducerGroupAndTypeAreOne) {
  const std::string text = After(R"(
  x = f32[5] parameter(0)
  y = f32[2,3] parameter(1)
  i = s32[4] parameter(2)
  a = f32[5] all-reduce(x), $all, to_apply=add
  b = f32[2,3] all-reduce(y), $all, to_apply=add2
  c = f32[5] all-reduce(x), $all, to_apply=max
  e = s32[4] all-reduce(i), $all, to_apply=adds
  ROOT r = (f32[5], f32[2,3], f32[5], s32[4]) tuple(a, b, c, e)
)");
  EXPECT_EQ(CountOf(text, " all-reduce("), 3);
  EXPECT_THAT(text, HasSubstr("all-reduce(x, y)"));
}

TEST(MergeCollectivesPassTest, GathersScattersAndPermutesToo) {
  const std::string text = After(R"(
  x = f32[3,5] parameter(0)
  y = f32[6,2] parameter(1)
  a = f32[9,5] all-gather(x), $all, dimensions={0}
  b = f32[18,2] all-gather(y), $all, dimensions={0}
  c = f32[3,15] all-gather(x), $all, dimensions={1}
  d = f32[1,5] reduce-scatter(x), $all, dimensions={0}, to_apply=add
  e = f32[2,2] reduce-scatter(y), $all, dimensions={0}, to_apply=add
  p = f32[3,5] collective-permute(x), source_target_pairs={{0,1},{1,2}}, channel_id=1
  q = f32[6,2] collective-permute(y), source_target_pairs={{0,1},{1,2}}, channel_id=2
  s = f32[6,2] collective-permute(y), source_target_pairs={{0,2}}, channel_id=2
  ROOT r = (f32[9,5], f32[18,2], f32[3,15], f32[1,5], f32[2,2], f32[3,5], f32[6,2], f32[6,2]) tuple(a, b, c, d, e, p, q, s)
)");
  EXPECT_EQ(CountOf(text, " all-gather("), 2);
  EXPECT_EQ(CountOf(text, " reduce-scatter("), 1);
  EXPECT_EQ(CountOf(text, " collective-permute("), 2);
}

TEST(MergeCollectivesPassTest, NoneWaitsForItself) {
  // b depends on a through a collective of another kind; c depends on nothing.
  const std::string text = After(R"(
  x = f32[4] parameter(0)
  y = f32[4] parameter(1)
  a = f32[4] all-reduce(x), $all, to_apply=add
  m = f32[4] all-reduce(a), $all, to_apply=max
  b = f32[4] all-reduce(m), $all, to_apply=add
  c = f32[4] all-reduce(y), $all, to_apply=add
  n = f32[4] all-reduce(c), $all, to_apply=max
  ROOT r = (f32[4], f32[4]) tuple(b, n)
)",
                                 {.most_delay = -1});
  EXPECT_EQ(CountOf(text, " all-reduce("), 4);
}

TEST(MergeCollectivesPassTest, UpToASize) {
  const std::string body = R"(
  x = f32[10] parameter(0)
  y = f32[10] parameter(1)
  z = f32[10] parameter(2)
  w = f32[10] parameter(3)
  a = f32[10] all-reduce(x), $all, to_apply=add
  b = f32[10] all-reduce(y), $all, to_apply=add
  c = f32[10] all-reduce(z), $all, to_apply=add
  d = f32[10] all-reduce(w), $all, to_apply=add
  ROOT r = (f32[10], f32[10], f32[10], f32[10]) tuple(a, b, c, d)
)";
  EXPECT_EQ(CountOf(After(body, {.most_bytes = 80}), " all-reduce("), 2);
  EXPECT_EQ(CountOf(After(body, {.most_bytes = 120}), " all-reduce("), 2);
  EXPECT_EQ(CountOf(After(body, {.most_bytes = 79}, /*changes=*/false), " all-reduce("), 4);
  EXPECT_EQ(CountOf(After(body, {.most_bytes = 0}, /*changes=*/false), " all-reduce("), 4);
}

// Arrays of 20 MiB: up to six all-reduces are merged, and no all-gathers.
TEST(MergeCollectivesPassTest, SumsOfMoreBytesThanGatheredArrays) {
  const std::string body = R"(
  x = s8[20971520] parameter(0)
  y = s8[20971520] parameter(1)
  z = s8[6990507] parameter(2)
  w = s8[6990507] parameter(3)
  a = s8[20971520] all-reduce(x), $all, to_apply=bytes
  b = s8[20971520] all-reduce(y), $all, to_apply=bytes
  c = s8[20971521] all-gather(z), $all, dimensions={0}
  d = s8[20971521] all-gather(w), $all, dimensions={0}
  ROOT r = (s8[20971520], s8[20971520], s8[20971521], s8[20971521]) tuple(a, b, c, d)
)";
  std::unique_ptr<Module> module =
      MakeModule(absl::StrReplaceAll(body, {{"$all", kAll}}), ReducerText("bytes", "s8", "add"));
  MergeCollectivesPass pass({.most_delay = -1});
  EXPECT_THAT(pass.Run(&module), IsOkAndHolds(true));
  const std::string text = PrintModule(*module);
  EXPECT_EQ(CountOf(text, " all-reduce("), 1);
  EXPECT_EQ(CountOf(text, " all-gather("), 2);
}

TEST(MergeCollectivesPassTest, WhatMuchWaitsForDoesNotWaitForWhatComesLate) {
  std::string body = R"(
  x = f32[200,200] parameter(0)
  y = f32[8] parameter(1)
  a = f32[8] all-reduce(y), $all, to_apply=add
  b0 = f32[200,200] broadcast(a0), dimensions={}
)";
  body = absl::StrReplaceAll(
      body,
      {{"b0 =",
        "zero = f32[] constant(0)\n  a0 = f32[] reduce(a, zero), dimensions={0}, to_apply=add\n  b0 ="}});
  // A long path after a, and an equally long one before c.
  for (int i = 1; i < 20; ++i) absl::StrAppend(&body, "  b", i, " = f32[200,200] negate(b", i - 1, ")\n");
  absl::StrAppend(&body, "  c0 = f32[200,200] negate(x)\n");
  for (int i = 1; i < 20; ++i) absl::StrAppend(&body, "  c", i, " = f32[200,200] negate(c", i - 1, ")\n");
  absl::StrAppend(&body, R"(
  s = f32[200] reduce(c19, zero), dimensions={0}, to_apply=add
  c = f32[200] all-reduce(s), $all, to_apply=add
  t = f32[200] reduce(b19, zero), dimensions={0}, to_apply=add
  ROOT r = (f32[200], f32[200]) tuple(t, c)
)");
  EXPECT_EQ(CountOf(After(body, {}, /*changes=*/false), " all-reduce("), 2);
  EXPECT_EQ(CountOf(After(body, {.most_delay = -1}), " all-reduce("), 1);
}

// Gradients of layers, some of which depend on sums over other groups: all the others are merged.
constexpr char kLayers[] = R"(
ENTRY main {
  x = f32[$b,8] parameter(0), sharding={devices=[2,1,2]<=[4] last_tile_dim_replicate}
  w1 = f32[8,6] parameter(1), sharding={devices=[1,2,2]<=[2,2]T(1,0) last_tile_dim_replicate}
  w2 = f32[6,8] parameter(2), sharding={devices=[2,1,2]<=[2,2]T(1,0) last_tile_dim_replicate}
  h = f32[$b,6] dot(x, w1), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  y = f32[$b,8] dot(h, w2), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  d2 = f32[6,8] dot(h, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}, sharding={devices=[2,1,2]<=[2,2]T(1,0) last_tile_dim_replicate}
  dh = f32[$b,6] dot(y, w2), lhs_contracting_dims={1}, rhs_contracting_dims={1}
  d1 = f32[8,6] dot(x, dh), lhs_contracting_dims={0}, rhs_contracting_dims={0}, sharding={devices=[1,2,2]<=[2,2]T(1,0) last_tile_dim_replicate}
  ROOT r = (f32[8,6], f32[6,8]) tuple(d1, d2)
})";

TEST(MergeCollectivesPassTest, GradientsArePartitionedAlike) {
  for (const int64_t batch : {7, 16}) {
    const std::string text = absl::StrReplaceAll(kLayers, {{"$b", absl::StrCat(batch)}});
    ExpectEquivalent(text, {}, {4});
    PartitionOptions merged, apart;
    apart.passes = {"dead_code", "duplicates", "dead_code", "causes"};
    const auto with = PartitionModule(*ProgramFor(text, 4), merged),
               without = PartitionModule(*ProgramFor(text, 4), apart);
    ASSERT_OK(with.status());
    ASSERT_OK(without.status());
    EXPECT_EQ(SentBytes(*with->module), SentBytes(*without->module));
    const auto count = [](const Module& module) {
      return ComputeStatistics(module).collectives.at("all-reduce").count;
    };
    EXPECT_LT(count(*with->module), count(*without->module));
    // Every array keeps its cause.
    const auto arrays = ListCollectives(*with->module), before = ListCollectives(*without->module);
    ASSERT_EQ(arrays.size(), before.size());
    std::multiset<std::string> causes, expected;
    for (const CollectiveRecord& record : arrays)
      causes.insert(absl::StrCat(record.cause, " ", record.operand_bytes));
    for (const CollectiveRecord& record : before)
      expected.insert(absl::StrCat(record.cause, " ", record.operand_bytes));
    EXPECT_EQ(causes, expected);
    EXPECT_THAT(ExplainTable(Explain({arrays}, /*full=*/false), nullptr, /*width=*/120),
                HasSubstr(absl::StrCat(arrays.size(), " arrays in ")));
  }
}

TEST(MergeCollectivesPassTest, WhatWasMergedCanBeTakenApart) {
  absl::StatusOr<Partitioned> partitioned =
      PartitionModule(*ProgramFor(absl::StrReplaceAll(kLayers, {{"$b", "16"}}), 4), {});
  ASSERT_OK(partitioned.status());
  std::unique_ptr<Module>& module = partitioned->module;
  ASSERT_FALSE(MergedCollectives(*module->entry()).empty());
  const size_t arrays = ListCollectives(*module).size();
  ASSERT_THAT(SplitCollectivesPass().Run(&module), IsOkAndHolds(true));
  EXPECT_TRUE(MergedCollectives(*module->entry()).empty());
  EXPECT_EQ(ComputeStatistics(*module).collectives["all-reduce"].count, static_cast<int64_t>(arrays));
}

}  // namespace
}  // namespace toroid
