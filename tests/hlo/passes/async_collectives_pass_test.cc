#include "hlo/passes/async_collectives_pass.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "runtime/numerics/compare.h"
#include "tests/hlo/passes/same_after_pass.h"
#include "tests/partition_and_run.h"
#include "tests/partitioner/equivalence.h"
#include "tests/runtime/evaluate.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::HasSubstr;

constexpr char kAll[] = "replica_groups={{0,1,2}}, channel_id=1, use_global_device_ids=true";

std::string After(const std::string& body, bool changes = true) {
  AsyncCollectivesPass pass;
  return SameAfterPass(&pass, absl::StrReplaceAll(body, {{"$all", kAll}}), ReducerText("add", "f32", "add"),
                       3, changes);
}

TEST(AsyncCollectivesPassTest, WorkThatDoesNotNeedItStandsBetweenStartAndDone) {
  const std::string text = After(R"(
  x = f32[2,5] parameter(0)
  y = f32[64,64] parameter(1)
  a = f32[64,64] sine(y)
  g = f32[6,5] all-gather(x), $all, dimensions={0}
  b = f32[64,64] cosine(y)
  n = f32[6,5] negate(g)
  ROOT t = (f32[6,5], f32[64,64], f32[64,64]) tuple(n, a, b)
)");
  EXPECT_LT(text.find("all-gather-start("), text.find("cosine("));
  EXPECT_GT(text.find("all-gather-done("), text.find("cosine("));
}

TEST(AsyncCollectivesPassTest, WhereNothingStandsBehindItGoesUp) {
  const std::string text = After(R"(
  x = f32[2,5] parameter(0)
  y = f32[64,64] parameter(1)
  s = f32[2,5] sine(x)
  a = f32[64,64] cosine(y)
  g = f32[2,5] all-reduce(s), $all, to_apply=add
  ROOT t = (f32[2,5], f32[64,64]) tuple(g, a)
)");
  EXPECT_GT(text.find("all-reduce-start("), text.find("sine("));
  EXPECT_LT(text.find("all-reduce-start("), text.find("cosine("));
}

TEST(AsyncCollectivesPassTest, ChainsAndSeveralArrays) {
  const std::string text = After(R"(
  x = f32[2,5] parameter(0)
  y = f32[3] parameter(1)
  r = (f32[2,5], f32[3]) all-reduce(x, y), $all, to_apply=add
  x1 = f32[2,5] get-tuple-element(r), index=0
  y1 = f32[3] get-tuple-element(r), index=1
  g = (f32[6,5], f32[9]) all-gather(x1, y1), $all, dimensions={0}
  x2 = f32[6,5] get-tuple-element(g), index=0
  y2 = f32[9] get-tuple-element(g), index=1
  p = (f32[6,5], f32[9]) collective-permute(x2, y2), source_target_pairs={{0,1},{2,0}}, channel_id=2
  x3 = f32[6,5] get-tuple-element(p), index=0
  ROOT q = f32[6,5] collective-permute(x3), source_target_pairs={{0,1},{1,2},{2,0}}, channel_id=3
)");
  EXPECT_EQ(CountOf(text, " all-reduce-start("), 1);
  EXPECT_EQ(CountOf(text, " all-gather-start("), 1);
  EXPECT_EQ(CountOf(text, " collective-permute-start("), 2);
  EXPECT_THAT(text, HasSubstr("ROOT q ="));
}

TEST(AsyncCollectivesPassTest, WithoutCollectivesNothingChanges) {
  After("x = f32[4] parameter(0)\n ROOT y = f32[4] negate(x)\n", /*changes=*/false);
}

TEST(AsyncCollectivesPassTest, PartitionsAgreeAndSendWhatTheyDid) {
  const std::string program = R"(
ENTRY main {
  x = f32[$b,8] parameter(0), sharding={devices=[$n,1]<=[$n]}
  w = f32[8,6] parameter(1), sharding={devices=[$n,1]<=[$n]}
  h = f32[$b,6] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  d = f32[8,6] dot(x, h), lhs_contracting_dims={0}, rhs_contracting_dims={0}, sharding={replicated}
  z = f32[] constant(0)
  p = f32[$c,8] pad(x, z), padding=1_0x0_0
  s = f32[$b,8] slice(p), slice={[0:$b], [0:8]}, sharding={devices=[$n,1]<=[$n]}
  ROOT r = (f32[$b,6], f32[8,6], f32[$b,8]) tuple(h, d, s)
})";
  for (const int64_t b : {7, 16}) {
    for (const int64_t n : {2, 3, 8}) {
      const std::string text =
          absl::StrReplaceAll(program, {{"$b", absl::StrCat(b)}, {"$c", absl::StrCat(b + 1)}});
      const auto module = ProgramFor(text, n);
      PartitionOptions plain, async;
      async.passes = {"dead_code",         "duplicates", "dead_code",
                      "merge_collectives", "causes",     "async_collectives"};
      const auto without = PartitionModule(*module, plain), with = PartitionModule(*module, async);
      ASSERT_OK(without.status());
      ASSERT_OK(with.status());
      EXPECT_EQ(SentBytes(*with->module), SentBytes(*without->module));
      const std::vector<Literal> arguments = IntegerArguments(*module);
      const auto expected = RunSingle(*module, arguments),
                 actual = PartitionAndRun(*module, async, arguments);
      ASSERT_OK(expected.status());
      ASSERT_OK(actual.status());
      EXPECT_TRUE(Compare(*actual, *expected, 0).equal);
    }
  }
}

}  // namespace
}  // namespace toroid
