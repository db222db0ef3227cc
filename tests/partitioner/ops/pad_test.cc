#include <string>

#include "absl/strings/str_cat.h"
#include "tests/partitioner/equivalence.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string Pad(int64_t size, int64_t low, int64_t high, int64_t interior) {
  const int64_t out = (size == 0 ? 0 : size + (size - 1) * interior) + low + high;
  return absl::StrCat("ENTRY main {\n  x = f32[", size, "] parameter(0), sharding={devices=[$n]<=[$n]}\n",
                      "  v = f32[] parameter(1)\n  ROOT y = f32[", out, "] pad(x, v), padding=", low, "_",
                      high, "_", interior, ", sharding={devices=[$n]<=[$n]}\n}\n");
}

TEST(PadTest, LowHighInteriorAndNegative) {
  ExpectEquivalent(Pad(8, 2, 0, 0));
  ExpectEquivalent(Pad(8, 0, 3, 0));
  ExpectEquivalent(Pad(7, 2, 5, 0));
  ExpectEquivalent(Pad(7, -2, 1, 0));
  ExpectEquivalent(Pad(7, 1, -3, 0));
  ExpectEquivalent(Pad(7, -3, -3, 0));
  ExpectEquivalent(Pad(5, 0, 0, 1));
  ExpectEquivalent(Pad(5, -1, 2, 2));
  ExpectEquivalent(Pad(1, 20, 3, 0));
  ExpectEquivalent(Pad(0, 3, 2, 0));
}

TEST(PadTest, LowPadMovesOnlyTheHaloOfTheLeftNeighbor) {
  EXPECT_THAT(Collectives(Pad(8, 2, 0, 0), 2), ElementsAre("collective-permute 4"));
}

TEST(PadTest, PaddingAnUncutDimensionMovesNothing) {
  EXPECT_THAT(Collectives(R"(ENTRY main {
  x = f32[8,4] parameter(0), sharding={devices=[$n,1]<=[$n]}
  v = f32[] constant(1)
  ROOT y = f32[8,9] pad(x, v), padding=0_0x2_3, sharding={devices=[$n,1]<=[$n]}
})",
                          4),
              IsEmpty());
}

// A pad of the rows [start, limit) of n rows.
std::string PadOfSlice(int64_t n, int64_t start, int64_t limit, const std::string& padding, int64_t out) {
  return absl::StrCat("ENTRY main {\n  x = f32[", n,
                      ",3] parameter(0), sharding={devices=[$n,1]<=[$n]}\n  s = f32[", limit - start,
                      ",3] slice(x), slice={[", start, ":", limit, "],[0:3]}\n  v = f32[] constant(7)\n",
                      "  ROOT y = f32[", out, ",3] pad(s, v), padding=", padding,
                      "x0_0, sharding={devices=[$n,1]<=[$n]}\n}\n");
}

TEST(PadTest, OfASliceReadsTheArrayBehindIt) {
  ExpectEquivalent(PadOfSlice(16, 0, 15, "1_0", 16));
  ExpectEquivalent(PadOfSlice(16, 2, 16, "0_2", 16));
  ExpectEquivalent(PadOfSlice(13, 1, 13, "3_2", 17));
  ExpectEquivalent(PadOfSlice(8, 1, 8, "2_1_1", 16));
  ExpectEquivalent(PadOfSlice(9, 0, 8, "-2_5_2", 25));
  ExpectEquivalent(PadOfSlice(9, 0, 8, "0_0", 8));
  EXPECT_THAT(Collectives(PadOfSlice(64, 0, 56, "8_0", 64), 8), ElementsAre("collective-permute 96"));
  EXPECT_THAT(Collectives(PadOfSlice(64, 1, 64, "0_1", 64), 8), ElementsAre("collective-permute 12"));
}

// A pad of a replicated x; the result is cut by rows.
std::string PadOfWhole(int64_t size, const std::string& padding, int64_t out) {
  return absl::StrCat("ENTRY main {\n  x = f32[", size,
                      ",3] parameter(0), sharding={replicated}\n  v = f32[] constant(7)\n  p = f32[", out,
                      ",3] pad(x, v), padding=", padding, "x0_0\n  ROOT y = f32[", out,
                      ",3] negate(p), sharding={devices=[$n,1]<=[$n]}\n}\n");
}

TEST(PadTest, OfAWholeArrayIsReadFromTheDevicesOwn) {
  for (const int64_t n : {2, 5, 8}) {
    EXPECT_THAT(Collectives(PadOfWhole(16, "2_2", 20), n), IsEmpty());
    EXPECT_THAT(Collectives(PadOfWhole(1000, "3_5", 1008), n), IsEmpty());
  }
  for (const int64_t size : {16, 13, 200}) {
    SCOPED_TRACE(size);
    ExpectEquivalent(PadOfWhole(size, "2_2", size + 4));
    ExpectEquivalent(PadOfWhole(size, "-3_7", size + 4));
    ExpectEquivalent(PadOfWhole(size, "1_2_1", 2 * size + 2));
  }
}

// x f32[16,4] is cut over two axes of three; its pad is cut over the third axis too.
TEST(PadTest, OfAnArrayWholeAlongAnAxisMovesWhatLiesBeyondThatAlone) {
  const std::string text = R"(ENTRY main {
  x = f32[16,4] parameter(0), sharding={devices=[2,2,2]<=[8] last_tile_dim_replicate}
  v = f32[] constant(7)
  p = f32[18,4] pad(x, v), padding=1_1x0_0
  ROOT y = f32[18,4] negate(p), sharding={devices=[4,2]<=[2,2,2]T(0,2,1)}
})";
  ExpectEquivalent(text, {}, {8});
}

// The rows [start, start + out) of a padded x of n rows; x and the result are cut by rows.
std::string SliceOfPad(int64_t n, int64_t low, int64_t high, int64_t start, int64_t out) {
  return absl::StrCat(
      "ENTRY main {\n  x = f32[", n,
      ",2] parameter(0), sharding={devices=[$n,1]<=[$n]}\n  v = f32[] constant(7)\n  p = f32[",
      n + low + high, ",2] pad(x, v), padding=", low, "_", high, "x0_0\n  ROOT s = f32[", out,
      ",2] slice(p), slice={[", start, ":", start + out, "], [0:2]}, sharding={devices=[$n,1]<=[$n]}\n}\n");
}

TEST(PadTest, PaddedAndCutIsOneShift) {
  // A shift by one tile of 4 rows of 8 bytes.
  EXPECT_THAT(Collectives(SliceOfPad(16, 4, 0, 0, 16), 4), ElementsAre("collective-permute 32"));
  EXPECT_THAT(Collectives(SliceOfPad(16, 0, 4, 4, 16), 4), ElementsAre("collective-permute 32"));
  EXPECT_THAT(Collectives(SliceOfPad(16, 4, 3, 4, 16), 4), IsEmpty());
  for (const int64_t n : {16, 13}) {
    ExpectEquivalent(SliceOfPad(n, 4, 0, 0, n));
    ExpectEquivalent(SliceOfPad(n, 1, 5, 3, n));
    ExpectEquivalent(SliceOfPad(n, 3, 2, 0, n - 4));
  }
}

TEST(PadTest, APadWhoseShardingIsStatedStays) {
  ExpectEquivalent(R"(ENTRY main {
  x = f32[9,2] parameter(0), sharding={devices=[$n,1]<=[$n]}
  v = f32[] constant(7)
  p = f32[12,2] pad(x, v), padding=2_1x0_0, sharding={replicated}
  ROOT s = f32[10,2] slice(p), slice={[1:11], [0:2]}, sharding={devices=[$n,1]<=[$n]}
})");
}

}  // namespace
}  // namespace toroid
