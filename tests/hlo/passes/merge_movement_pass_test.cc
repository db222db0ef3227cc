#include "hlo/passes/merge_movement_pass.h"

#include <memory>
#include <random>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "tests/hlo/passes/same_after_pass.h"
#include "tests/partitioner/equivalence.h"
#include "tests/runtime/evaluate.h"

namespace toroid {
namespace {

using ::testing::HasSubstr;

std::string After(const std::string& body, bool changes = true) {
  MergeMovementPass pass;
  return SameAfterPass(&pass, body, "", 1, changes);
}

TEST(MergeMovementPassTest, SlicesOfSlices) {
  EXPECT_THAT(After(R"(
  x = f32[40,6] parameter(0)
  a = f32[12,6] slice(x), slice={[3:38:3], [0:6]}
  ROOT b = f32[4,3] slice(a), slice={[1:9:2], [2:5]}
)"),
              HasSubstr("slice={[6:25:6], [2:5:1]}"));
}

TEST(MergeMovementPassTest, SlicesOfPads) {
  EXPECT_THAT(After(R"(
  x = f32[8] parameter(0)
  v = f32[] parameter(1)
  p = f32[12] pad(x, v), padding=3_1
  ROOT s = f32[5] slice(p), slice={[4:9]}
)"),
              HasSubstr("slice(x), slice={[1:6]}"));
  EXPECT_THAT(After(R"(
  x = f32[8] parameter(0)
  v = f32[] parameter(1)
  p = f32[12] pad(x, v), padding=3_1
  ROOT s = f32[8] slice(p), slice={[1:9]}
)"),
              HasSubstr("padding=2_-2"));
  // A slice of only padding, and a slice of a pad with other users.
  After(R"(
  x = f32[8] parameter(0)
  v = f32[] parameter(1)
  p = f32[12] pad(x, v), padding=3_1
  ROOT s = f32[3] slice(p), slice={[0:3]}
)",
        /*changes=*/false);
  After(R"(
  x = f32[8] parameter(0)
  v = f32[] parameter(1)
  p = f32[12] pad(x, v), padding=3_1
  s = f32[8] slice(p), slice={[1:9]}
  ROOT t = (f32[12], f32[8]) tuple(p, s)
)",
        /*changes=*/false);
}

TEST(MergeMovementPassTest, PadsOfPadsWithOneValue) {
  const auto pads = [](const std::string& outer, const std::string& value, int64_t size) {
    return absl::StrCat(
        "x = f32[8] parameter(0)\n v = f32[] parameter(1)\n w = f32[] parameter(2)\n p = f32[12] pad(x, v), padding=3_1\n",
        "ROOT q = f32[", size, "] pad(p, ", value, "), padding=", outer, "\n");
  };
  EXPECT_THAT(After(pads("2_4", "v", 18)), HasSubstr("padding=5_5"));
  EXPECT_THAT(After(pads("-1_4", "v", 15)), HasSubstr("padding=2_5"));
  After(pads("2_4", "w", 18), /*changes=*/false);
  After(pads("-4_4", "v", 12), /*changes=*/false);
}

TEST(MergeMovementPassTest, MasksTwice) {
  const std::string text = After(R"(
  m = pred[8] parameter(0)
  x = f32[8] parameter(1)
  z = f32[8] parameter(2)
  a = f32[8] select(m, x, z)
  b = f32[8] select(m, a, z)
  y = f32[8] parameter(3)
  c = f32[8] select(m, y, b)
  d = f32[8] select(m, c, c)
  k = pred[8] and(m, m)
  ROOT t = (f32[8], f32[8], pred[8]) tuple(b, d, k)
)");
  EXPECT_THAT(text, HasSubstr("select(m, x, z)"));
  EXPECT_THAT(text, HasSubstr("select(m, y, z)"));
  EXPECT_EQ(CountOf(text, " select("), 2);
  EXPECT_EQ(CountOf(text, " and("), 0);
}

TEST(MergeMovementPassTest, ReshapesTransposesBroadcastsAndPartsOfConcatenations) {
  const std::string text = After(R"(
  x = f32[2,3,4] parameter(0)
  y = f32[5,3,4] parameter(1)
  a = f32[4,2,3] transpose(x), dimensions={2,0,1}
  b = f32[2,3,4] transpose(a), dimensions={1,2,0}
  c = f32[6,4] reshape(b)
  d = f32[24] reshape(c)
  e = f32[7,3,4] concatenate(x, y), dimensions={0}
  f = f32[2,3,2] slice(e), slice={[3:5], [0:3], [1:3]}
  v = f32[3] parameter(2)
  g = f32[3,9] broadcast(v), dimensions={0}
  h = f32[2,9,3] broadcast(g), dimensions={2,1}
  i = f32[2,4,3] slice(h), slice={[0:2], [5:9], [0:3]}
  ROOT t = (f32[24], f32[2,3,2], f32[2,4,3]) tuple(d, f, i)
)");
  EXPECT_EQ(CountOf(text, " transpose("), 0);
  EXPECT_EQ(CountOf(text, " reshape("), 1);
  EXPECT_EQ(CountOf(text, " concatenate("), 0);
  EXPECT_EQ(CountOf(text, " broadcast("), 1);
}

TEST(MergeMovementPassTest, RandomChains) {
  std::mt19937 random(7);
  const auto below = [&](int64_t n) { return static_cast<int64_t>(random() % static_cast<uint64_t>(n)); };
  for (int trial = 0; trial < 60; ++trial) {
    int64_t rows = 2 + below(9), columns = 1 + below(5);
    std::string body =
        absl::StrCat("x0 = s32[", rows, ",", columns, "] parameter(0)\nv = s32[] parameter(1)\n");
    int i = 0;
    for (; i < 12; ++i) {
      const std::string before = absl::StrCat("x", i);
      std::string op;
      switch (below(4)) {
        case 0: {
          const int64_t start = below(rows), stride = 1 + below(2), limit = start + 1 + below(rows - start),
                        from = below(columns);
          op = absl::StrCat("slice(", before, "), slice={[", start, ":", limit, ":", stride, "], [", from,
                            ":", columns, "]}");
          rows = (limit - start + stride - 1) / stride;
          columns -= from;
          break;
        }
        case 1: {
          const int64_t low = below(5) - 1, high = below(4), side = below(3);
          if (rows + low + high < 1) {
            --i;
            continue;
          }
          op = absl::StrCat("pad(", before, ", v), padding=", low, "_", high, "x", side, "_0");
          rows += low + high;
          columns += side;
          break;
        }
        case 2:
          op = absl::StrCat("transpose(", before, "), dimensions={1,0}");
          std::swap(rows, columns);
          break;
        default:
          op = absl::StrCat("reshape(", before, ")");
          std::swap(rows, columns);
          break;
      }
      absl::StrAppend(&body, i == 11 ? "ROOT " : "", "x", i + 1, " = s32[", rows, ",", columns, "] ", op,
                      "\n");
    }
    MergeMovementPass pass;
    std::unique_ptr<Module> module = MakeModule(body);
    SameAfterPass(&pass, body, "", 1, /*changes=*/*MergeMovementPass().Run(&module));
  }
}

// Partitioning a pad and a slice gives rows sliced from padded tiles, and tiles masked twice.
TEST(MergeMovementPassTest, PartitionsAgree) {
  for (const int64_t k : {5, 12}) {
    ExpectEquivalent(absl::StrCat(R"(
ENTRY main {
  x = f32[)",
                                  k, R"(,4] parameter(0), sharding={devices=[$n,1]<=[$n]}
  z = f32[] constant(0)
  p = f32[)",
                                  k + 3, R"(,4] pad(x, z), padding=2_1x0_0
  s = f32[)",
                                  k, R"(,4] slice(p), slice={[1:)", k + 1, R"(], [0:4]}
  q = f32[)",
                                  k + 1, R"(,4] pad(s, z), padding=1_0x0_0
  ROOT r = f32[)",
                                  k, R"(,4] slice(q), slice={[0:)", k,
                                  R"(], [0:4]}, sharding={devices=[$n,1]<=[$n]}
})"));
  }
}

std::string AfterShifts(const std::string& body, bool changes = true) {
  MergeMovementPass pass(MergeMovementPass::Options{
      .stays = [](const Instruction& op) { return op.name() == "stays"; }, .shifts_alone = true});
  return SameAfterPass(&pass, body, "", 1, changes);
}

TEST(MergeMovementPassTest, ShiftsAloneKeepHowTheyLie) {
  EXPECT_THAT(AfterShifts(R"(
  x = f32[8] parameter(0)
  v = f32[] parameter(1)
  p = f32[12] pad(x, v), padding=3_1
  ROOT s = f32[8] slice(p), slice={[1:9]}, sharding={replicated}
)"),
              ::testing::AllOf(HasSubstr("padding=2_-2"), HasSubstr("sharding={replicated}")));
  AfterShifts(R"(
  x = f32[8] parameter(0)
  v = f32[] parameter(1)
  p = f32[12] pad(x, v), padding=3_1, sharding={replicated}
  ROOT s = f32[8] slice(p), slice={[1:9]}
)",
              /*changes=*/false);
  AfterShifts(R"(
  x = f32[8] parameter(0)
  v = f32[] parameter(1)
  stays = f32[12] pad(x, v), padding=3_1
  ROOT s = f32[8] slice(stays), slice={[1:9]}
)",
              /*changes=*/false);
  AfterShifts(R"(
  x = f32[8] parameter(0)
  a = f32[6] slice(x), slice={[1:7]}
  ROOT s = f32[4] slice(a), slice={[1:5]}
)",
              /*changes=*/false);
}

}  // namespace
}  // namespace toroid
