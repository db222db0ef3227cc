#include <string>

#include "absl/strings/str_cat.h"
#include "tests/partitioner/equivalence.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::ElementsAre;

// x f32[2,`size`,4] cut along the spatial dimension, kernel f32[k,4/groups,6].
std::string Convolution(int64_t size, int64_t k, int64_t stride, int64_t low, int64_t high,
                        int64_t lhs_dilate, int64_t rhs_dilate = 1, int64_t groups = 1) {
  const int64_t spread = (size - 1) * lhs_dilate + 1 + low + high, reach = (k - 1) * rhs_dilate + 1;
  const int64_t out = (spread - reach) / stride + 1;
  return absl::StrCat(
      "ENTRY main {\n  x = f32[2,", size, ",4] parameter(0), sharding={devices=[1,$n,1]<=[$n]}\n",
      "  w = f32[", k, ",", 4 / groups, ",6] parameter(1), sharding={replicated}\n  ROOT y = f32[2,", out,
      ",6] convolution(x, w), window={size=", k, " stride=", stride, " pad=", low, "_", high,
      " lhs_dilate=", lhs_dilate, " rhs_dilate=", rhs_dilate,
      "}, dim_labels=b0f_0io->b0f, feature_group_count=", groups, ", sharding={devices=[1,$n,1]<=[$n]}\n}\n");
}

TEST(ConvolutionTest, SpatialSplitWithStrideDilationAndGroups) {
  for (const int64_t size : {16, 13}) {
    SCOPED_TRACE(size);
    ExpectEquivalent(Convolution(size, 3, 1, 1, 1, 1));
    ExpectEquivalent(Convolution(size, 4, 2, 0, 0, 1));
    ExpectEquivalent(Convolution(size, 2, 3, 1, 2, 1));
    ExpectEquivalent(Convolution(size, 3, 1, 2, 2, 1, 2));
    ExpectEquivalent(Convolution(size, 3, 1, 1, 1, 1, 1, 2));
    ExpectEquivalent(Convolution(size, 3, 1, -1, 0, 1));
    ExpectEquivalent(Convolution(size, 1, 1, 0, 0, 1));
  }
  ExpectEquivalent(Convolution(1, 3, 1, 1, 1, 1));
}

// GShard, A.4: how base dilation, stride and shard size meet.
TEST(ConvolutionTest, BaseDilationWhereStrideTimesOutputIsAMultipleOfIt) {
  ExpectEquivalent(Convolution(16, 3, 2, 1, 1, 2));  // Every window starts alike.
}
TEST(ConvolutionTest, BaseDilationWithStrideOne) {
  ExpectEquivalent(Convolution(16, 3, 1, 1, 1, 2));
  ExpectEquivalent(Convolution(13, 4, 1, 2, 1, 3));
}
TEST(ConvolutionTest, BaseDilationWithAnyStride) {
  ExpectEquivalent(Convolution(16, 3, 3, 1, 1, 2));
  ExpectEquivalent(Convolution(13, 4, 2, 0, 3, 3));
}

TEST(ConvolutionTest, AWindowOfThreeTakesOneRowFromEitherNeighbor) {
  // 2 x 1 x 4 floats.
  EXPECT_THAT(Collectives(Convolution(16, 3, 1, 1, 1, 1), 4),
              ElementsAre("collective-permute 32", "collective-permute 32"));
}

std::string Features(const std::string& x, const std::string& w, const std::string& y) {
  return absl::StrCat("ENTRY main {\n  x = f32[4,7,6] parameter(0), sharding={devices=", x, "<=[$n]}\n",
                      "  w = f32[3,6,5] parameter(1), sharding={devices=", w, "<=[$n]}\n",
                      "  ROOT y = f32[4,7,5] convolution(x, w), window={size=3 pad=1_1}, "
                      "dim_labels=b0f_0io->b0f, sharding={devices=",
                      y, "<=[$n]}\n}\n");
}

TEST(ConvolutionTest, BatchAndFeatureSplits) {
  ExpectEquivalent(Features("[$n,1,1]", "[1,1,$n]", "[$n,1,1]"));
  ExpectEquivalent(
      Features("[1,1,$n]", "[1,$n,1]", "[$n,1,1]"));  // Contracted, uneven for 4: masked on both sides.
  ExpectEquivalent(Features("[1,1,$n]", "[1,$n,1]", "[1,1,$n]"));
  ExpectEquivalent(Features("[1,$n,1]", "[$n,1,1]", "[1,$n,1]"));
}

TEST(ConvolutionTest, BatchGroupsOfAWeightGradient) {
  ExpectEquivalent(R"(ENTRY main {
  x = f32[4,9,2] parameter(0), sharding={devices=[1,$n,1]<=[$n]}
  w = f32[3,2,6] parameter(1), sharding={replicated}
  ROOT y = f32[2,7,6] convolution(x, w), window={size=3}, dim_labels=b0f_0io->b0f, batch_group_count=2, sharding={devices=[1,1,$n]<=[$n]}
})");
}

}  // namespace
}  // namespace toroid
