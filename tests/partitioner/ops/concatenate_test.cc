#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/partitioner/equivalence.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

std::string Concatenate(const std::vector<int64_t>& sizes) {
  std::string text = "ENTRY main {\n", operands;
  int64_t total = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    absl::StrAppend(&text, "  x", i, " = s32[", sizes[i], "] parameter(", i,
                    "), sharding={devices=[$n]<=[$n]}\n");
    absl::StrAppend(&operands, i > 0 ? ", x" : "x", i);
    total += sizes[i];
  }
  return absl::StrCat(text, "  ROOT y = s32[", total, "] concatenate(", operands,
                      "), dimensions={0}, sharding={devices=[$n]<=[$n]}\n}\n");
}

TEST(ConcatenateTest, OnACutDimension) {
  ExpectEquivalent(Concatenate({8, 8}));
  ExpectEquivalent(Concatenate({5, 3, 6}));
  ExpectEquivalent(Concatenate({1, 12}));
  ExpectEquivalent(Concatenate({0, 7, 0, 1}));
  ExpectEquivalent(Concatenate({9}));
}

TEST(ConcatenateTest, AlongAnUncutDimensionMovesNothing) {
  const std::string text = R"(ENTRY main {
  a = s32[6,2] parameter(0), sharding={devices=[$n,1]<=[$n]}
  b = s32[6,3] parameter(1), sharding={devices=[$n,1]<=[$n]}
  ROOT y = s32[6,5] concatenate(a, b), dimensions={1}, sharding={devices=[$n,1]<=[$n]}
})";
  ExpectEquivalent(text);
  EXPECT_THAT(Collectives(text, 2), IsEmpty());
}

TEST(ConcatenateTest, ARollIsAHaloAndNoGather) {
  const std::string text = R"(ENTRY main {
  x = s32[16] parameter(0), sharding={devices=[$n]<=[$n]}
  tail = s32[1] slice(x), slice={[15:16]}
  head = s32[15] slice(x), slice={[0:15]}
  ROOT y = s32[16] concatenate(tail, head), dimensions={0}, sharding={devices=[$n]<=[$n]}
})";
  ExpectEquivalent(text);
  EXPECT_THAT(Collectives(text, 4), ElementsAre("collective-permute 4"));
}

// Rolls x: x[n - by:] followed by x[:n - by].
std::string Roll(int64_t n, int64_t by) {
  return absl::StrCat("ENTRY main {\n  x = s32[", n,
                      ",3] parameter(0), sharding={devices=[$n,1]<=[$n]}\n  tail = s32[", by,
                      ",3] slice(x), slice={[", n - by, ":", n, "],[0:3]}\n  head = s32[", n - by,
                      ",3] slice(x), slice={[0:", n - by, "],[0:3]}\n  ROOT y = s32[", n,
                      ",3] concatenate(tail, head), dimensions={0}, sharding={devices=[$n,1]<=[$n]}\n}\n");
}

TEST(ConcatenateTest, RollsByAnyNumberOfRows) {
  for (const int64_t n : {7, 8, 16}) {
    for (const int64_t by : {int64_t{1}, int64_t{3}, n - 1}) {
      SCOPED_TRACE(absl::StrCat(n, " by ", by));
      ExpectEquivalent(Roll(n, by));
    }
  }
}

TEST(ConcatenateTest, ARollSendsTheRowsThatChangeOwnerInOnePermutePerNeighbor) {
  EXPECT_THAT(Collectives(Roll(8, 1), 8), ElementsAre("collective-permute 12"));
  EXPECT_THAT(Collectives(Roll(8, 7), 8), ElementsAre("collective-permute 12"));
  EXPECT_THAT(Collectives(Roll(64, 1), 8), ElementsAre("collective-permute 12"));
  EXPECT_THAT(Collectives(Roll(64, 8), 8), ElementsAre("collective-permute 96"));
  EXPECT_THAT(Collectives(Roll(64, 11), 8),
              UnorderedElementsAre("collective-permute 36", "collective-permute 60"));
}

TEST(ConcatenateTest, PartsOfOneArrayInAnotherOrder) {
  const std::string text = R"(ENTRY main {
  x = s32[13,3] parameter(0), sharding={devices=[$n,1]<=[$n]}
  z = s32[2,3] parameter(1), sharding={devices=[$n,1]<=[$n]}
  a = s32[5,3] slice(x), slice={[4:9],[0:3]}
  b = s32[4,3] slice(x), slice={[9:13],[0:3]}
  c = s32[4,3] slice(x), slice={[0:4],[0:3]}
  ROOT y = s32[15,3] concatenate(b, z, a, c), dimensions={0}, sharding={devices=[$n,1]<=[$n]}
})";
  ExpectEquivalent(text);
}

TEST(ConcatenateTest, ARollAlongAnUncutDimensionMovesNothing) {
  const std::string text = R"(ENTRY main {
  x = s32[6,8] parameter(0), sharding={devices=[$n,1]<=[$n]}
  tail = s32[6,2] slice(x), slice={[0:6],[6:8]}
  head = s32[6,6] slice(x), slice={[0:6],[0:6]}
  ROOT y = s32[6,8] concatenate(tail, head), dimensions={1}, sharding={devices=[$n,1]<=[$n]}
})";
  ExpectEquivalent(text);
  EXPECT_THAT(Collectives(text, 3), IsEmpty());
}

// Pipeline stages as rows of one array: each stage hands its state to the next one and takes a new one.
TEST(ConcatenateTest, AShiftByAStageIsOnePermute) {
  const std::string text = R"(ENTRY main {
  x = f32[$n,4] parameter(0), sharding={devices=[$n,1]<=[$n]}
  first = f32[1,4] parameter(1)
  v = f32[] constant(0)
  r = s32[$n,4] iota(), iota_dimension=0
  zero = s32[] constant(0)
  zeros = s32[$n,4] broadcast(zero), dimensions={}
  is_first = pred[$n,4] compare(r, zeros), direction=EQ
  row = f32[4] reshape(first)
  in = f32[$n,4] broadcast(row), dimensions={1}
  low = f32[$n,4] pad(x, v), padding=1_-1x0_0
  ROOT y = f32[$n,4] select(is_first, in, low), sharding={devices=[$n,1]<=[$n]}
})";
  ExpectEquivalent(text);
  EXPECT_THAT(Collectives(text, 8), ElementsAre("collective-permute 16"));
}

// x between copies of some of its rows: `width` rows from row `before` on in front, and `width` rows from row
// `behind` on at the end.
std::string WithEdges(int64_t n, int64_t before, int64_t behind, int64_t width) {
  return absl::StrCat(
      "ENTRY main {\n  x = s32[", n, ",3] parameter(0), sharding={devices=[$n,1]<=[$n]}\n  a = s32[", width,
      ",3] slice(x), slice={[", before, ":", before + width, "],[0:3]}\n  b = s32[", width,
      ",3] slice(x), slice={[", behind, ":", behind + width, "],[0:3]}\n  ROOT y = s32[", n + 2 * width,
      ",3] concatenate(a, x, b), dimensions={0}, sharding={devices=[$n,1]<=[$n]}\n}\n");
}

TEST(ConcatenateTest, EdgesGoFromTheirOwnersToTheEnds) {
  // Wrapped edges: the last row (12 bytes) goes to the first device, the first row to the last device, and
  // two rows cross borders of tiles.
  EXPECT_THAT(Collectives(WithEdges(16, 15, 0, 1), 4),
              ::testing::UnorderedElementsAre("collective-permute 12", "collective-permute 24",
                                              "collective-permute 12"));
  for (const int64_t n : {16, 13}) {
    SCOPED_TRACE(n);
    ExpectEquivalent(WithEdges(n, n - 1, 0, 1));
    ExpectEquivalent(WithEdges(n, 0, n - 1, 1));  // Edges repeated.
    ExpectEquivalent(WithEdges(n, n - 3, 0, 3));
  }
}

}  // namespace
}  // namespace toroid
