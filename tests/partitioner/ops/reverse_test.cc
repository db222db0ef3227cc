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
