// Ops that are expanded before they are partitioned: batch norms, scans, fusions.
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "gmock/gmock.h"
#include "tests/partitioner/equivalence.h"

namespace toroid {
namespace {

constexpr double kTolerance = 1e-5;
const char* const kCuts[] = {"$n,1,1,1", "1,$n,1,1", "1,1,$n,1", "1,1,1,$n"};

TEST(BatchNormTest, AnyDimensionMayBeCut) {
  for (const char* cut : kCuts) {
    for (const int feature : {1, 3}) {
      const int features = feature == 1 ? 6 : 4;
      const std::string of_feature = absl::StrCat("f32[", features, "]");
      const std::string attributes = absl::StrCat("epsilon=0.5, feature_index=", feature);
      SCOPED_TRACE(absl::StrCat(cut, " ", attributes));
      const std::string x = absl::StrCat("f32[8,6,5,4] parameter(0), sharding={devices=[", cut, "]<=[$n]}");
      ExpectEquivalent(
          absl::StrCat("ENTRY main {\n  x = ", x, "\n  s = ", of_feature, " parameter(1)\n  o = ", of_feature,
                       " parameter(2)\n  ROOT r = (f32[8,6,5,4], ", of_feature, ", ", of_feature,
                       ") batch-norm-training(x, s, o), ", attributes, "\n}\n"),
          {}, {2, 3, 8}, kTolerance);
      const std::string statistics = absl::StrCat("  m = ", of_feature, " parameter(2)\n  a = ", of_feature,
                                                  " parameter(3)\n  v = ", of_feature, " multiply(a, a)\n");
      ExpectEquivalent(
          absl::StrCat("ENTRY main {\n  x = ", x, "\n  s = ", of_feature, " parameter(1)\n", statistics,
                       "  o = ", of_feature,
                       " parameter(4)\n  ROOT r = f32[8,6,5,4] batch-norm-inference(x, s, o, m, v), ",
                       attributes, "\n}\n"),
          {}, {2, 3, 8}, kTolerance);
      ExpectEquivalent(
          absl::StrCat("ENTRY main {\n  x = ", x, "\n  s = ", of_feature, " parameter(1)\n", statistics,
                       "  t = f32[8,6,5,4] parameter(4)\n  ROOT r = (f32[8,6,5,4], ", of_feature, ", ",
                       of_feature, ") batch-norm-grad(x, s, m, v, t), ", attributes, "\n}\n"),
          {}, {2, 3, 8}, kTolerance);
    }
  }
}

// Only the sums for the statistics are sent.
TEST(BatchNormTest, OnlySumsAreSentAndShardingsOfTheOpCount) {
  const std::string program = R"(
ENTRY main {
  x = f32[64,32,32,16] parameter(0), sharding={devices=[$n,1,1,1]<=[$n]}
  s = f32[16] parameter(1)
  o = f32[16] parameter(2)
  ROOT r = (f32[64,32,32,16], f32[16], f32[16]) batch-norm-training(x, s, o), epsilon=0.001, feature_index=3, sharding={{devices=[$n,1,1,1]<=[$n]}, {replicated}, {replicated}}
})";
  EXPECT_THAT(Collectives(program, 8), ::testing::Each("all-reduce 64"));
}

// `options`: attributes of the scan; `cut`: tiles of the input; `step`: instructions of the scanned
// computation.
std::string Scan(const char* options, const char* cut, const char* step) {
  return absl::StrCat(
      "step {\n  x = s32[4,3] parameter(0)\n  c = s32[4,3] parameter(1)\n", step,
      "\n}\nENTRY main {\n  x = s32[4,8,3] parameter(0), sharding={devices=[", cut,
      "]<=[$n]}\n  c = s32[4,3] parameter(1)\n  ROOT r = (s32[4,8,3], s32[4,3]) scan(x, c), dimensions={1}, "
      "num_carries=1, to_apply=step",
      options, "\n}\n");
}

TEST(ScanTest, AnyDimensionMayBeCut) {
  for (const char* cut : {"$n,1,1", "1,$n,1", "1,1,$n"}) {
    for (const char* options :
         {"", ", is_reverse=true", ", is_associative=true", ", is_reverse=true, is_associative=true"}) {
      SCOPED_TRACE(absl::StrCat(cut, options));
      ExpectEquivalent(
          Scan(options, cut, "  s = s32[4,3] add(x, c)\n  ROOT t = (s32[4,3], s32[4,3]) tuple(s, s)"));
      ExpectEquivalent(
          Scan(options, cut, "  s = s32[4,3] maximum(c, x)\n  ROOT t = (s32[4,3], s32[4,3]) tuple(s, s)"));
      ExpectEquivalent(Scan(
          options, cut,
          "  n = s32[4,3] negate(c)\n  s = s32[4,3] add(x, n)\n  ROOT t = (s32[4,3], s32[4,3]) tuple(x, s)"));
    }
  }
}

// Each device scans its own tile; only the totals of the tiles are sent.
TEST(ScanTest, AssociativeSumAlongTheCutDimensionSendsTotals) {
  const std::string program = Scan(", is_associative=true", "1,$n,1",
                                   "  s = s32[4,3] add(x, c)\n  ROOT t = (s32[4,3], s32[4,3]) tuple(s, s)");
  const std::vector<std::string> collectives = Collectives(program, 8);
  EXPECT_THAT(collectives, ::testing::Contains("all-gather 48"));
  EXPECT_THAT(collectives, ::testing::Not(::testing::Contains("all-reduce 384")));
}

TEST(FusionTest, IsWhatItHolds) {
  ExpectEquivalent(R"(
fused {
  p = s32[7,5] parameter(0)
  q = s32[7,5] parameter(1)
  a = s32[7,5] add(p, q)
  ROOT m = s32[7,5] multiply(a, p)
}
ENTRY main {
  x = s32[7,5] parameter(0), sharding={devices=[$n,1]<=[$n]}
  y = s32[7,5] parameter(1), sharding={devices=[$n,1]<=[$n]}
  ROOT f = s32[7,5] fusion(x, y), kind=kLoop, calls=fused
})");
}

}  // namespace
}  // namespace toroid
