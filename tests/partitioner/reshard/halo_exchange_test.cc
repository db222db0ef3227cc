#include "partitioner/reshard/halo_exchange.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "tests/partitioner/equivalence.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::ElementsAre;

// Slices whose windows span one, several or no source tiles.
TEST(FetchWindowTest, SlicesByAnyShiftEqualTheUnpartitionedOnes) {
  for (const int64_t start : {0, 1, 2, 5, 9, 16}) {
    const int64_t size = 17 - start;
    SCOPED_TRACE(absl::StrCat("start ", start));
    ExpectEquivalent(
        absl::StrCat("ENTRY main {\n  x = s32[17] parameter(0), sharding={devices=[$n]<=[$n]}\n"
                     "  ROOT y = s32[",
                     size, "] slice(x), slice={[", start,
                     ":17]},"
                     " sharding={devices=[$n]<=[$n]}\n}\n"));
  }
}

TEST(FetchWindowTest, SeveralHopsSendOnlyTheRowsThatAreNeeded) {
  // 16 devices with one element each: windows of 5 span two tiles on either side.
  const std::string text = R"(
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
ENTRY main {
  x = f32[16] parameter(0), sharding={devices=[$n]<=[$n]}
  zero = f32[] constant(0)
  ROOT y = f32[16] reduce-window(x, zero), window={size=5 pad=2_2}, to_apply=add, sharding={devices=[$n]<=[$n]}
})";
  ExpectEquivalent(text);
  EXPECT_THAT(Collectives(text, 16), ElementsAre("collective-permute 4", "collective-permute 4",
                                                 "collective-permute 4", "collective-permute 4"));
  // Tiles of 8: two rows from each neighbour.
  EXPECT_THAT(Collectives(text, 2), ElementsAre("collective-permute 8", "collective-permute 8"));
}

std::string Slice(int64_t size, int64_t start, int64_t limit, int64_t stride) {
  return absl::StrCat("ENTRY main {\n  x = s32[", size,
                      "] parameter(0), sharding={devices=[$n]<=[$n]}\n  ROOT y = s32[",
                      (limit - start + stride - 1) / stride, "] slice(x), slice={[", start, ":", limit, ":",
                      stride, "]}, sharding={devices=[$n]<=[$n]}\n}\n");
}

std::string Pad(int64_t size, int64_t low, int64_t high, int64_t interior) {
  return absl::StrCat("ENTRY main {\n  x = s32[", size,
                      "] parameter(0), sharding={devices=[$n]<=[$n]}\n  z = s32[] "
                      "constant(-7)\n  ROOT y = s32[",
                      low + high + size + interior * (size - 1), "] pad(x, z), padding=", low, "_", high, "_",
                      interior, ", sharding={devices=[$n]<=[$n]}\n}\n");
}

TEST(FetchWindowTest, ThousandsOfTilesTakeAHandfulOfPermutes) {
  for (const std::string& text :
       {Slice(8192, 0, 4096, 1), Slice(9000, 7, 8999, 1), Slice(30000, 1, 29000, 3), Pad(8192, 2, 0, 0),
        Pad(9001, 700, 3, 0), Pad(9001, -3, 5, 2), Slice(300000, 5, 2300, 1)}) {
    ExpectEquivalent(text, {}, {2048});
    EXPECT_LE(Collectives(text, 2048).size(), 24)
        << text;  // In the last program, 73 windows begin in each tile.
  }
  // At 65,536 devices the pairs of one permute would take a megabyte; the programs are as short.
  EXPECT_EQ(Collectives(Slice(262144, 0, 131072, 1), 65536).size(), 2);
  EXPECT_EQ(Collectives(Pad(8388608, 2, 0, 0), 65536).size(), 2);
}

TEST(FetchWindowTest, WindowsOverManyTilesGatherSomeOfThemFirst) {
  const std::string text = R"(
add { a = s32[] parameter(0)  b = s32[] parameter(1)  ROOT c = s32[] add(a, b) }
ENTRY main {
  x = s32[4096] parameter(0), sharding={devices=[$n]<=[$n]}
  zero = s32[] constant(0)
  ROOT y = s32[4096] reduce-window(x, zero), window={size=301 pad=150_150}, to_apply=add, sharding={devices=[$n]<=[$n]}
})";
  ExpectEquivalent(text, {}, {16, 1024});
  EXPECT_LE(Collectives(text, 1024).size(), 9);
}

TEST(FetchWindowTest, OperandsOfOneRowPerTileLandAmongLongOnes) {
  const std::string text = R"(ENTRY main {
  x = s32[60] parameter(0), sharding={devices=[$n]<=[$n]}
  y = s32[3000] parameter(1), sharding={devices=[$n]<=[$n]}
  z = s32[64] parameter(2), sharding={devices=[$n]<=[$n]}
  ROOT c = s32[3124] concatenate(x, y, z), dimensions={0}, sharding={devices=[$n]<=[$n]}
})";
  ExpectEquivalent(text, {}, {3, 64, 2048});
}

}  // namespace
}  // namespace toroid
