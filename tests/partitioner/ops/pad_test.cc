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

// Rows [start, limit) of n, padded.
std::string PadOfSlice(int64_t n, int64_t start, int64_t limit, const std::string& padding, int64_t out) {
  return absl::StrCat("ENTRY main {\n  x = f32[", n, ",3] parameter(0), sharding={devices=[$n,1]<=[$n]}\n  s = f32[",
                      limit - start, ",3] slice(x), slice={[", start, ":", limit, "],[0:3]}\n  v = f32[] constant(7)\n",
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

}  // namespace
}  // namespace toroid
