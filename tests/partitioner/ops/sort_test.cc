#include <string>

#include "absl/strings/str_cat.h"
#include "tests/partitioner/equivalence.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string Sort(const std::string& split, int64_t dimension) {
  return absl::StrCat(R"(
less {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  c = s32[] parameter(2)
  d = s32[] parameter(3)
  ROOT r = pred[] compare(a, b), direction=LT
}
ENTRY main {
  x = f32[7,10] parameter(0), sharding={devices=)",
                      split, R"(<=[$n]}
  y = s32[7,10] parameter(1), sharding={devices=)",
                      split, R"(<=[$n]}
  ROOT s = (f32[7,10], s32[7,10]) sort(x, y), dimensions={)",
                      dimension, R"(}, is_stable=true, to_apply=less
})");
}

TEST(SortTest, AlongCutAndUncutDimensions) {
  for (const int64_t dimension : {0, 1}) {
    ExpectEquivalent(Sort("[$n,1]", dimension));
    ExpectEquivalent(Sort("[1,$n]", dimension));
  }
}

TEST(SortTest, RowsSortWhereTheyAre) { EXPECT_THAT(Collectives(Sort("[$n,1]", 1), 7), IsEmpty()); }

TEST(SortTest, ACutMovesToTheOtherDimensionAndBack) {
  const std::string text = R"(
less { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = pred[] compare(a, b), direction=LT }
ENTRY main {
  x = f32[64,64] parameter(0), sharding={devices=[$n,1]<=[$n]}
  ROOT s = f32[64,64] sort(x), dimensions={0}, to_apply=less, sharding={devices=[$n,1]<=[$n]}
})";
  ExpectEquivalent(text);
  EXPECT_THAT(Collectives(text, 4), ElementsAre("all-to-all 4096", "all-to-all 4096"));
}

std::string TopK(const std::string& split) {
  return absl::StrCat("ENTRY main {\n  x = f32[7,10] parameter(0), sharding={devices=", split,
                      "<=[$n]}\n  ROOT t = (f32[7,3], s32[7,3]) topk(x), k=3, largest=true\n}\n");
}

TEST(TopKTest, AlongCutAndUncutDimensions) {
  ExpectEquivalent(TopK("[$n,1]"));
  ExpectEquivalent(TopK("[1,$n]"));
  EXPECT_THAT(Collectives(TopK("[$n,1]"), 7), IsEmpty());
}

}  // namespace
}  // namespace toroid
