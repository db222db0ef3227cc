#include <string>

#include "absl/strings/str_cat.h"
#include "tests/partitioner/equivalence.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string Reverse(int64_t size) {
  return absl::StrCat("ENTRY main {\n  x = f32[", size,
                      ",3] parameter(0), sharding={devices=[$n,1]<=[$n]}\n  ROOT y = f32[", size,
                      ",3] reverse(x), dimensions={0,1}, sharding={devices=[$n,1]<=[$n]}\n}\n");
}

TEST(ReverseTest, EvenUnevenAndDegenerateSizes) {
  for (const int64_t size : {0, 1, 2, 5, 8, 16, 17}) ExpectEquivalent(Reverse(size));
}

TEST(ReverseTest, EvenTilesTravelOnceAndWhole) {
  EXPECT_THAT(Collectives(Reverse(8), 4), ElementsAre("collective-permute 24"));
}

// One permute of the tiles of 4 x 3, then one row and one column to shift out the padding.
TEST(ReverseTest, TilesTravelOnceAlongSeveralDimensions) {
  EXPECT_THAT(Collectives(R"(ENTRY main {
  x = f32[7,5] parameter(0), sharding={devices=[2,2]<=[4]}
  ROOT y = f32[7,5] reverse(x), dimensions={0,1}, sharding={devices=[2,2]<=[4]}
})",
                          4),
              ElementsAre("collective-permute 48", "collective-permute 12", "collective-permute 16"));
  for (const auto& [cut, devices] :
       {std::pair{"[2,2]<=[4]", 4}, std::pair{"[2,3]<=[3,2]T(1,0)", 6}, std::pair{"[4,2]<=[8]", 8},
        std::pair{"[3,4]<=[2,6]T(1,0)", 12}, std::pair{"[4,2]<=[2,2,2]T(0,2,1)", 8}}) {
    SCOPED_TRACE(cut);
    for (const char* size : {"7,5", "5,7", "8,6", "3,1"}) {
      ExpectEquivalent(absl::StrCat("ENTRY main {\n  x = f32[", size,
                                    "] parameter(0), sharding={devices=", cut, "}\n  ROOT y = f32[", size,
                                    "] reverse(x), dimensions={0,1}, sharding={devices=", cut, "}\n}\n"),
                       {}, {devices});
    }
  }
}

TEST(ReverseTest, AnUncutDimensionStaysPut) {
  EXPECT_THAT(Collectives(R"(ENTRY main {
  x = f32[8,4] parameter(0), sharding={devices=[$n,1]<=[$n]}
  ROOT y = f32[8,4] reverse(x), dimensions={1}, sharding={devices=[$n,1]<=[$n]}
})",
                          4),
              IsEmpty());
}

}  // namespace
}  // namespace toroid
