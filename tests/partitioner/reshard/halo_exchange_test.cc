#include "partitioner/reshard/halo_exchange.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "tests/partitioner/equivalence.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::ElementsAre;

// The windows themselves, by slices whose every tile reaches over one, several or no tiles.
TEST(FetchWindowTest, SlicesByAnyShiftEqualTheUnpartitionedOnes) {
  for (const int64_t start : {0, 1, 2, 5, 9, 16}) {
    const int64_t size = 17 - start;
    SCOPED_TRACE(absl::StrCat("start ", start));
    ExpectEquivalent(absl::StrCat("ENTRY main {\n  x = s32[17] parameter(0), sharding={devices=[$n]<=[$n]}\n"
                                  "  ROOT y = s32[", size, "] slice(x), slice={[", start, ":17]},"
                                  " sharding={devices=[$n]<=[$n]}\n}\n"));
  }
}

TEST(FetchWindowTest, SeveralHopsSendOnlyTheRowsThatAreNeeded) {
  // 16 devices of one element; windows of 5 reach two tiles to either side.
  const std::string text = R"(
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
ENTRY main {
  x = f32[16] parameter(0), sharding={devices=[$n]<=[$n]}
  zero = f32[] constant(0)
  ROOT y = f32[16] reduce-window(x, zero), window={size=5 pad=2_2}, to_apply=add, sharding={devices=[$n]<=[$n]}
})";
  ExpectEquivalent(text);
  EXPECT_THAT(Collectives(text, 16), ElementsAre("collective-permute 4", "collective-permute 4", "collective-permute 4",
                                                 "collective-permute 4"));
  // Tiles of 8: two rows from each neighbor.
  EXPECT_THAT(Collectives(text, 2), ElementsAre("collective-permute 8", "collective-permute 8"));
}

}  // namespace
}  // namespace toroid
