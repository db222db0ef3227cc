#include <random>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/partitioner/equivalence.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::ElementsAre;

// x f32[2,`size`,4], cut along the spatial dimension; kernel f32[k,4/groups,6].
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

// GShard, A.4: the cases of base dilation, stride and shard size.
TEST(ConvolutionTest, BaseDilationWhereStrideTimesOutputIsAMultipleOfIt) {
  ExpectEquivalent(Convolution(16, 3, 2, 1, 1, 2));  // All windows begin at the same phase.
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
  // A row has 2 x 1 x 4 floats.
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
  // Contracted features, uneven over 7 devices: both operands are masked.
  ExpectEquivalent(Features("[1,1,$n]", "[1,$n,1]", "[$n,1,1]"));
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

// x f32[batch,7,in] and w f32[3,in per group,out], in groups of features or of the batch, cut as given.
std::string Grouped(int64_t batch, int64_t in, int64_t out, int64_t feature_groups, int64_t batch_groups,
                    const std::string& x, const std::string& w, const std::string& y) {
  const auto cut = [](const std::string& tiles) {
    return absl::StrCat("sharding={devices=", tiles, "<=[$n]}");
  };
  return absl::StrCat(
      "ENTRY main {\n  x = f32[", batch, ",7,", in, "] parameter(0), ", cut(x), "\n  w = f32[3,",
      in / feature_groups, ",", out, "] parameter(1), ", cut(w), "\n  ROOT y = f32[", batch / batch_groups,
      ",7,", out,
      "] convolution(x, w), window={size=3 pad=1_1}, dim_labels=b0f_0io->b0f, feature_group_count=",
      feature_groups, ", batch_group_count=", batch_groups, ", ", cut(y), "\n}\n");
}

TEST(ConvolutionTest, GroupsAreCut) {
  const std::string batch = "[$n,1,1]", last = "[1,1,$n]", kernel_in = "[1,$n,1]", rows = "[1,$n,1]";
  for (const int64_t groups : {4, 6, 8, 12}) {
    for (const int64_t per_group : {1, 2}) {
      for (const std::string& x : {batch, last, rows}) {
        for (const std::string& y : {batch, last, rows}) {
          SCOPED_TRACE(absl::StrCat(groups, " groups of ", per_group, ", ", x, " -> ", y));
          ExpectEquivalent(Grouped(2, groups * per_group, groups, groups, 1, x, last, y));
          ExpectEquivalent(
              Grouped(2, groups, groups * per_group, groups, 1, x, per_group == 1 ? kernel_in : last, y));
          ExpectEquivalent(Grouped(groups * per_group, 3, groups, 1, groups, x, last, y));
          ExpectEquivalent(Grouped(groups, 3, groups * per_group, 1, groups, x, kernel_in, y));
        }
      }
    }
  }
}

// Each device convolves its own groups, also in a depthwise convolution whose channels do not divide evenly.
TEST(ConvolutionTest, CutGroupsSendNothing) {
  EXPECT_THAT(Collectives(Grouped(2, 16, 32, 8, 1, "[1,1,$n]", "[1,1,$n]", "[1,1,$n]"), 8),
              ::testing::IsEmpty());
  EXPECT_THAT(Collectives(Grouped(2, 10, 10, 10, 1, "[1,1,$n]", "[1,1,$n]", "[1,1,$n]"), 8),
              ::testing::IsEmpty());
  EXPECT_THAT(Collectives(Grouped(16, 3, 8, 1, 8, "[$n,1,1]", "[1,1,$n]", "[1,1,$n]"), 8),
              ::testing::IsEmpty());
}

struct Window {
  int64_t image, size, stride = 1, low = 0, high = 0, base_dilation = 1, window_dilation = 1;
  bool reversed = false;
  int64_t Output() const {
    const int64_t spread = image == 0 ? 0 : (image - 1) * base_dilation + 1;
    const int64_t reach = (size - 1) * window_dilation + 1;
    return spread + low + high < reach ? 0 : (spread + low + high - reach) / stride + 1;
  }
  std::string Text() const {
    return absl::StrCat("size=", size, " stride=", stride, " pad=", low, "_", high,
                        " lhs_dilate=", base_dilation, " rhs_dilate=", window_dilation,
                        reversed ? " rhs_reversal=1" : "");
  }
};

// Image and window are both cut along the convolved dimension.
std::string BothCut(const Window& w) {
  return absl::StrCat("ENTRY main {\n  x = f32[2,", w.image,
                      ",3] parameter(0), sharding={devices=[1,$n,1]<=[$n]}\n", "  g = f32[", w.size,
                      ",3,2] parameter(1), sharding={devices=[$n,1,1]<=[$n]}\n  ROOT y = f32[2,", w.Output(),
                      ",2] convolution(x, g), window={", w.Text(),
                      "}, dim_labels=b0f_0io->b0f, sharding={replicated}\n}\n");
}

TEST(ConvolutionTest, AWindowAsLargeAsTheImageIsCutWithIt) {
  for (const int64_t n : {16, 13, 5, 1}) {
    SCOPED_TRACE(n);
    ExpectEquivalent(BothCut({.image = n, .size = n, .low = 1, .high = 1}));
    ExpectEquivalent(BothCut({.image = n, .size = n}));  // The convolution is a dot.
    // As in the kernel gradient of a strided convolution.
    ExpectEquivalent(BothCut({.image = 2 * n, .size = n, .low = 1, .high = 1, .window_dilation = 2}));
    // As in the kernel gradient of a dilated convolution.
    ExpectEquivalent(BothCut({.image = n, .size = n, .stride = 2, .low = 2, .high = 2}));
    ExpectEquivalent(BothCut({.image = n, .size = 2 * n, .low = 2, .high = 1, .base_dilation = 2}));
    ExpectEquivalent(BothCut({.image = n, .size = n, .low = 2, .high = 1, .reversed = true}));
  }
}

// Windows longer and shorter than the output, so that either one is cut; any padding.
TEST(ConvolutionTest, AnyWindowOnAnyCut) {
  std::mt19937_64 random(7);
  const auto from = [&](int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random() % (high - low + 1));
  };
  for (int i = 0, done = 0; done < 60 && i < 1000; ++i) {
    const Window w = {.image = from(1, 20),
                      .size = from(1, 20),
                      .stride = from(1, 3),
                      .low = from(-2, 6),
                      .high = from(-2, 6),
                      .base_dilation = from(1, 3),
                      .window_dilation = from(1, 3),
                      .reversed = from(0, 3) == 0};
    if (w.Output() < 1) continue;
    ++done;
    SCOPED_TRACE(BothCut(w));
    ExpectEquivalent(BothCut(w), {}, {2, 3, 5, 8});
  }
}

// The kernel gradient of a 3x3 convolution; image and output gradient are cut into tiles of rows and columns.
std::string KernelGradient(int64_t h, int64_t w) {
  return absl::StrCat("ENTRY main {\n  x = f32[4,", h, ",", w,
                      ",3] parameter(0), sharding={devices=[1,2,3,1]<=[6]}\n", "  g = f32[4,", h, ",", w,
                      ",2] parameter(1), sharding={devices=[1,2,3,1]<=[6]}\n",
                      "  ROOT dk = f32[3,3,3,2] convolution(x, g), window={size=", h, "x", w,
                      " pad=1_1x1_1}, dim_labels=f01b_i01o->01bf, sharding={replicated}\n}\n");
}

TEST(ConvolutionTest, TheGradientByAKernelTakesHalosAndOneReduction) {
  ExpectEquivalent(KernelGradient(8, 9), {}, {6});
  ExpectEquivalent(KernelGradient(7, 8), {}, {6});
  // A row of 3 columns from above or below, then a column of 5 or 6 rows from either side, each of 4 images
  // and 3 features.
  EXPECT_THAT(Collectives(KernelGradient(8, 9), 6),
              ElementsAre("collective-permute 144", "collective-permute 144", "collective-permute 288",
                          "collective-permute 288", "all-reduce 216"));
}

TEST(ConvolutionTest, BatchAndImageCutAreReducedTogether) {
  const std::string text = R"(ENTRY main {
  x = f32[4,8,6] parameter(0), sharding={devices=[2,3,1]<=[6]}
  g = f32[4,8,5] parameter(1), sharding={devices=[2,3,1]<=[6]}
  ROOT dk = f32[3,6,5] convolution(x, g), window={size=8 pad=1_1}, dim_labels=f0b_i0o->0bf, sharding={replicated}
})";
  ExpectEquivalent(text, {}, {6});
  EXPECT_THAT(Collectives(text, 6),
              ElementsAre("collective-permute 48", "collective-permute 48", "all-reduce 360"));
}

TEST(ConvolutionTest, AnImageWithAnInfinityMeetsNoFilledUpWindow) {
  // The last of 2 tiles of the window has 2 rows and one of padding; a zero in the padding times the infinity
  // would give NaN.
  ExpectEquivalent(R"(ENTRY main {
  x = f32[1,7,1] constant({{{1},{2},{3},{4},{5},{inf},{7}}})
  g = f32[5,1,1] parameter(0), sharding={devices=[$n,1,1]<=[$n]}
  ROOT y = f32[1,3,1] convolution(x, g), window={size=5}, dim_labels=b0f_0io->b0f, sharding={replicated}
})",
                   {}, {2, 3, 5});
}

// Windows of k rows that do not overlap, with image and output cut into tiles of rows.
std::string Patches(int64_t patches, int64_t k) {
  return absl::StrCat("ENTRY main {\n  x = f32[2,", patches * k,
                      ",3] parameter(0), sharding={devices=[1,$n,1]<=[$n]}\n  w = f32[", k,
                      ",3,4] parameter(1), sharding={replicated}\n  ROOT y = f32[2,", patches,
                      ",4] convolution(x, w), window={size=", k, " stride=", k,
                      "}, dim_labels=b0f_0io->b0f, sharding={devices=[1,$n,1]<=[$n]}\n}\n");
}

TEST(ConvolutionTest, PatchesLongerThanTheirNumberSendNothing) {
  for (const int64_t n : {2, 4}) {
    EXPECT_THAT(Collectives(Patches(4, 6), n), ::testing::IsEmpty());
    EXPECT_THAT(Collectives(Patches(12, 16), n), ::testing::IsEmpty());
  }
  for (const int64_t patches : {4, 5, 7}) {
    SCOPED_TRACE(patches);
    ExpectEquivalent(Patches(patches, 5));
    ExpectEquivalent(Patches(patches, 8));
  }
}

// The kernel gradient of Patches: its window is the dilated output gradient.
std::string PatchesKernelGradient(int64_t patches, int64_t k) {
  return absl::StrCat("ENTRY main {\n  x = f32[2,", patches * k,
                      ",3] parameter(0), sharding={devices=[1,$n,1]<=[$n]}\n  g = f32[2,", patches,
                      ",4] parameter(1), sharding={devices=[1,$n,1]<=[$n]}\n  ROOT dw = f32[", k,
                      ",3,4] convolution(x, g), window={size=", patches, " rhs_dilate=", k,
                      "}, dim_labels=f0b_i0o->0bf, sharding={replicated}\n}\n");
}

TEST(ConvolutionTest, TheGradientByAPatchIsASumOverTiles) {
  EXPECT_THAT(Collectives(PatchesKernelGradient(4, 6), 2), ElementsAre("all-reduce 288"));
  EXPECT_THAT(Collectives(PatchesKernelGradient(12, 16), 4), ElementsAre("all-reduce 768"));
  for (const int64_t patches : {4, 5, 7}) {
    SCOPED_TRACE(patches);
    ExpectEquivalent(PatchesKernelGradient(patches, 5));
    ExpectEquivalent(PatchesKernelGradient(patches, 8));
  }
}

// A dilated window of a few rows reaches further than the output, but has too few rows to be cut.
TEST(ConvolutionTest, ADilatedWindowOfThreeIsWhole) {
  const std::string atrous = Convolution(33, 3, 1, 18, 18, 1, 18);
  ExpectEquivalent(atrous);
  EXPECT_THAT(Collectives(atrous, 8), ::testing::Each(::testing::StartsWith("collective-permute")));
}

// A window of 4 over an image dilated by 3. Tile i needs rows only up to its last position: tiles of 5
// outputs need 2 or 3 rows.
TEST(ConvolutionTest, RowsBehindTheLastPositionDoNotTravel) {
  // A row of 2 x 1 x 4 floats, from the left neighbour only.
  EXPECT_THAT(Collectives(Convolution(6, 4, 1, 2, 3, 3), 4), ElementsAre("collective-permute 32"));
  for (const int64_t size : {6, 7, 12}) {
    for (const int64_t low : {1, 2, 3}) {
      ExpectEquivalent(Convolution(size, 4, 1, low, 3, 3));
      ExpectEquivalent(Convolution(size, 3, 2, low, 2, 3));
      ExpectEquivalent(Convolution(size, 5, 1, low, 4, 2));
    }
  }
}

TEST(ConvolutionTest, OfAWholeImageIsReadFromTheDevicesOwn) {
  for (const int64_t size : {16, 13}) {
    const std::string text = absl::StrCat(
        "ENTRY main {\n  x = f32[2,", size,
        ",4] parameter(0), sharding={replicated}\n  w = f32[3,4,6] parameter(1), sharding={replicated}\n",
        "  ROOT y = f32[2,", size,
        ",6] convolution(x, w), window={size=3 pad=1_1}, dim_labels=b0f_0io->b0f, sharding={devices=[1,$n,1]<=[$n]}\n}\n");
    EXPECT_THAT(Collectives(text, 4), ::testing::IsEmpty());
    ExpectEquivalent(text);
  }
}

}  // namespace
}  // namespace toroid
