// Whole convolutions against what Google's compiler for TPU v3 estimates for them with the copies around them, in microseconds.
#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "hlo/io/hlo_text.h"
#include "simulator/chip/chip_model.h"
#include "simulator/chip/matrix_work.h"
#include "simulator/compiler/lower.h"
#include "simulator/machines/tpu_v3_core.h"
#include "tests/status_matchers.h"
#include "tests/tolerances.h"

namespace toroid {
namespace {

// Microseconds of each instruction of the lowered program.
std::vector<double> Times(absl::string_view entry) {
  auto module = ParseModule(absl::StrCat("ENTRY main {", entry, "}"));
  EXPECT_OK(module.status());
  auto lowered = Lower(**module, TpuV3Core());
  EXPECT_OK(lowered.status());
  ChipModel model(TpuV3Core());
  std::vector<double> times;
  for (const auto& op : (*lowered)->entry()->instructions())
    times.push_back(static_cast<double>(model.TimeOf(*op).picoseconds) * 1e-6);
  return times;
}
double TimeOf(absl::string_view entry) {
  const std::vector<double> times = Times(entry);
  return std::accumulate(times.begin(), times.end(), 0.0);
}

// Images of one size, a square kernel, as many places as before.
std::string Same(absl::string_view type, int images, int side, int in, int out, int kernel, int groups = 1) {
  const std::string pad = absl::StrCat(kernel / 2, "_", kernel / 2);
  return absl::StrCat(" x = ", type, "[", images, ",", side, ",", side, ",", in, "] parameter(0) w = ", type,
                      "[", kernel, ",", kernel, ",", in / groups, ",", out, "] parameter(1) ROOT y = ", type,
                      "[", images, ",", side, ",", side, ",", out,
                      "] convolution(x, w), window={size=", kernel, "x", kernel, " pad=", pad, "x", pad,
                      "}, dim_labels=b01f_01io->b01f, feature_group_count=", groups);
}

TEST(ConvolutionTimeTest, PartsOfImagesReachIntoTheirNeighbours) {
  EXPECT_THAT(TimeOf(Same("f32", 32, 56, 64, 64, 3)), IsWithin(kTwoPercent, 656.5));
  EXPECT_THAT(TimeOf(Same("f32", 8, 56, 64, 64, 3)), IsWithin(kTwoPercent, 148.1));
  EXPECT_THAT(TimeOf(Same("bf16", 32, 56, 64, 64, 3)), IsWithin(kTwoPercent, 580.0));
  // A window of 3 x 3 over 56 x 56 in 32 parts of 7 x 14: each part loads 9 rows and 16 columns.
  SlidingWindow places;
  places.rows = places.columns = 56;
  places.row_reach = places.column_reach = 3;
  EXPECT_DOUBLE_EQ(ReadsOfParts(places, 1), 1);
  EXPECT_DOUBLE_EQ(ReadsOfParts(places, 32), 9.0 * 16 / (7 * 14));
  // Columns by eights: parts of 4 x 28, of which 6 rows and 32 columns are loaded, and a tile for where they begin.
  places.column_tile = 8;
  EXPECT_DOUBLE_EQ(ReadsOfParts(places, 32), 6.0 * (32 + 8) / (4 * 28));
}

TEST(ConvolutionTimeTest, ImagesInF32TakeMatrixUnitsAsLongAsRounded) {
  EXPECT_THAT(TimeOf(Same("f32", 32, 28, 256, 256, 3)), IsWithin(kFivePercent, 500.6));
  EXPECT_THAT(TimeOf(Same("bf16", 32, 28, 256, 256, 3)), IsWithin(kFivePercent, 497.0));
}

TEST(ConvolutionTimeTest, PartsOfTilesComeWithTheirNeighbours) {
  EXPECT_THAT(TimeOf(Same("bf16", 32, 28, 96, 96, 3)), IsWithin(kFivePercent, 117.0));
  EXPECT_THAT(TimeOf(Same("bf16", 16, 28, 80, 128, 3)), IsWithin(kTwoPercent, 61.1));
  EXPECT_THAT(TimeOf(Same("bf16", 16, 28, 96, 128, 5)), IsWithin(kFivePercent, 154.0));
  EXPECT_THAT(TimeOf(Same("bf16", 32, 28, 192, 192, 5)), IsWithin(kTenPercent, 850.4));
  EXPECT_THAT(TimeOf(Same("bf16", 16, 28, 64, 160, 3)), IsWithin(kFivePercent, 68.6));
}

TEST(ConvolutionTimeTest, PlacesOfFewImagesArePutTogetherChannelByChannel) {
  EXPECT_THAT(TimeOf(Same("f32", 8, 28, 256, 256, 3, 256)), IsWithin(kTwoPercent, 45.8));
  EXPECT_THAT(TimeOf(Same("f32", 32, 28, 256, 256, 3, 256)), IsWithin(kTwoPercent, 177.4));
  EXPECT_THAT(TimeOf(Same("f32", 4, 28, 256, 256, 3, 256)), IsWithin(kFivePercent, 39.6));
  EXPECT_THAT(TimeOf(Same("f32", 2, 28, 256, 256, 3, 256)), IsWithin(kTenPercent, 30.9));
  EXPECT_THAT(TimeOf(Same("f32", 4, 28, 256, 256, 7, 256)), IsWithin(kTenPercent, 94.7));
  EXPECT_THAT(TimeOf(Same("f32", 32, 56, 512, 512, 3, 512)), IsWithin(kFivePercent, 2711.2));
}

TEST(ConvolutionTimeTest, GradientsOfImagesWithFewResultsMakeATileOfEachPlace) {
  const auto time = [](int in, int out, int kernel) {
    const std::string window = absl::StrCat("size=", kernel, "x", kernel, " pad=", kernel / 2, "_",
                                            kernel / 2, "x", kernel / 2, "_", kernel / 2);
    const std::string weights = absl::StrCat("f32[", kernel, ",", kernel, ",", in, ",", out, "]");
    return TimeOf(absl::StrCat(" g = f32[8,32,32,", out, "] parameter(0) w = ", weights, " parameter(1) r = ",
                               weights, " reverse(w), dimensions={0,1} ROOT d = f32[8,32,32,", in,
                               "] convolution(g, r), window={", window, "}, dim_labels=b01f_01oi->b01f"));
  };
  EXPECT_THAT(time(128, 3, 3), IsWithin(kTwoPercent, 73.1));
  EXPECT_THAT(time(16, 4, 5), IsWithin(kTwoPercent, 69.4));
  // One feature: position by position.
  EXPECT_THAT(time(1, 1, 3), IsWithin(kTwoPercent, 342.0));
}

TEST(ConvolutionTimeTest, FewChannelsOfImagesAlongLanesTakeARegisterForEightImages) {
  EXPECT_THAT(TimeOf(Same("f32", 8, 64, 3, 3, 11, 3)), IsWithin(kTwoPercent, 1178.3));
  EXPECT_THAT(TimeOf(Same("f32", 16, 64, 3, 3, 7, 3)), IsWithin(kTwoPercent, 973.8));
  EXPECT_THAT(TimeOf(Same("f32", 32, 32, 3, 3, 5, 3)), IsWithin(kTwoPercent, 256.6));
}

TEST(ConvolutionTimeTest, WhatMakesFewImagesIsNotHiddenBehindTheirPlaces) {
  EXPECT_THAT(
      TimeOf(
          R"( a = f32[4,48,48,128] parameter(0) b = f32[4,48,48,128] parameter(1) w = f32[1,1,128,128] parameter(2)
      u = f32[4,48,48,128] convolution(a, w), window={size=1x1}, dim_labels=b01f_01io->b01f
      v = f32[4,48,48,128] convolution(b, w), window={size=1x1}, dim_labels=b01f_01io->b01f
      t = f32[4,48,48,128] tanh(v)
      g = f32[4,48,48,128] multiply(u, t)
      ROOT y = f32[4,48,48,128] convolution(g, w), window={size=1x1}, dim_labels=b01f_01io->b01f )"),
      IsWithin(kTwoPercent, 170.1));
}

TEST(ConvolutionTimeTest, KernelsGradientsOfEachChannelShiftNothing) {
  const auto time = [](absl::string_view type, int images, int kernel) {
    const std::string pad = absl::StrCat(kernel / 2, "_", kernel / 2);
    return TimeOf(absl::StrCat(" x = ", type, "[", images, ",28,28,256] parameter(0) g = ", type, "[", images,
                               ",28,28,256] parameter(1) ROOT d = ", type, "[", kernel, ",", kernel,
                               ",1,256] convolution(x, g), window={size=28x28 pad=", pad, "x", pad,
                               "}, dim_labels=f01b_i01o->01bf, batch_group_count=256"));
  };
  EXPECT_THAT(time("f32", 8, 3), IsWithin(kFivePercent, 44.9));
  EXPECT_THAT(time("f32", 32, 3), IsWithin(kTwoPercent, 176.5));
  EXPECT_THAT(time("f32", 32, 7), IsWithin(kFivePercent, 534.9));
}

// The gradient of the kernel of Same, of images whose features lie along lanes.
std::string KernelGradient(int images, int side, int in, int out, int kernel) {
  const std::string pad = absl::StrCat(kernel / 2, "_", kernel / 2);
  return absl::StrCat(" x = bf16[", images, ",", side, ",", side, ",", in, "] parameter(0) g = bf16[", images,
                      ",", side, ",", side, ",", out, "] parameter(1) ROOT d = bf16[", kernel, ",", kernel,
                      ",", in, ",", out, "] convolution(x, g), window={size=", side, "x", side, " pad=", pad,
                      "x", pad, "}, dim_labels=f01b_i01o->01bf");
}

TEST(ConvolutionTimeTest, PositionsOfAKernelsGradientShareNoTiles) {
  EXPECT_THAT(TimeOf(KernelGradient(16, 24, 32, 128, 5)), IsWithin(kTwoPercent, 68.8));
  EXPECT_THAT(TimeOf(KernelGradient(16, 24, 64, 256, 5)), IsWithin(kTwoPercent, 135.8));
  EXPECT_THAT(TimeOf(KernelGradient(16, 24, 96, 256, 5)), IsWithin(kTwoPercent, 198.3));
  EXPECT_THAT(TimeOf(KernelGradient(16, 24, 192, 64, 5)), IsWithin(kTwoPercent, 258.8));
  EXPECT_THAT(TimeOf(KernelGradient(16, 24, 160, 128, 5)), IsWithin(kTwoPercent, 167.5));
}

TEST(ConvolutionTimeTest, PartsOfTilesOfATurnedKernelPassAlone) {
  // The gradient of images: 25 positions of two tiles, of which the second has 32 features.
  EXPECT_THAT(TimeOf(R"( g = f32[8,32,32,160] parameter(0) w = f32[5,5,160,160] parameter(1)
      r = f32[5,5,160,160] reverse(w), dimensions={0,1}
      ROOT d = f32[8,32,32,160] convolution(g, r), window={size=5x5 pad=2_2x2_2}, dim_labels=b01f_01oi->b01f )"),
              IsWithin(kTwoPercent, 497.7));
}

TEST(ConvolutionTimeTest, PlacesOfFewImagesPassRegistersOneByOne) {
  // However many channels there are, and positions of the kernel until these take longer.
  EXPECT_THAT(TimeOf(Same("f32", 2, 64, 3, 64, 3)), IsWithin(kTenPercent, 133.1));
  EXPECT_THAT(TimeOf(Same("f32", 2, 64, 192, 256, 3)), IsWithin(kTwoPercent, 188.7));
  EXPECT_THAT(TimeOf(Same("f32", 2, 40, 128, 128, 5)), IsWithin(kTwoPercent, 61.4));
  EXPECT_THAT(TimeOf(Same("f32", 2, 40, 128, 128, 7)), IsWithin(kTwoPercent, 106.1));
  EXPECT_THAT(TimeOf(Same("f32", 4, 40, 128, 128, 3)), IsWithin(kTwoPercent, 61.8));
  EXPECT_THAT(TimeOf(Same("bf16", 4, 40, 256, 256, 3)), IsWithin(kFivePercent, 167.1));
  // A single position: features of each place alone.
  EXPECT_THAT(TimeOf(Same("f32", 2, 48, 256, 256, 1)), IsWithin(kTwoPercent, 96.6));
  EXPECT_THAT(TimeOf(Same("f32", 4, 48, 96, 160, 1)), IsWithin(kTwoPercent, 129.4));
  const auto along_one_dimension = [](int images, int in, int out, int kernel) {
    return TimeOf(absl::StrCat(" x = f32[", images, ",2000,", in, "] parameter(0) w = f32[", kernel, ",", in,
                               ",", out, "] parameter(1) ROOT y = f32[", images, ",2000,", out,
                               "] convolution(x, w), window={size=", kernel, " pad=", kernel / 2, "_",
                               kernel / 2, "}, dim_labels=b0f_0io->b0f"));
  };
  EXPECT_THAT(along_one_dimension(2, 128, 128, 3), IsWithin(kFivePercent, 44.2));
  EXPECT_THAT(along_one_dimension(4, 160, 160, 3), IsWithin(kFivePercent, 194.8));
  EXPECT_THAT(along_one_dimension(4, 384, 128, 3), IsWithin(kTwoPercent, 89.8));
}

TEST(ConvolutionTimeTest, RowsArePassedOverByAWindowForEachRow) {
  const auto time = [](int images, int side, int in, int out) {
    return TimeOf(absl::StrCat(
        " x = f32[", images, ",", side, ",", side, ",", in, "] parameter(0) w = f32[1,1,", in, ",", out,
        "] parameter(1) ROOT y = f32[", images, ",", side / 2, ",", side / 2, ",", out,
        "] convolution(x, w), window={size=1x1 pad=0_-1x0_-1 stride=2x2}, dim_labels=b01f_01io->b01f"));
  };
  EXPECT_THAT(time(16, 56, 256, 128), IsWithin(kFivePercent, 89.5));
  EXPECT_THAT(time(8, 56, 128, 256), IsWithin(kTwentyPercent, 44.4));
  // If the images are few and small, all their rows are read.
  EXPECT_THAT(time(2, 56, 64, 128), IsWithin(kTwoPercent, 20.6));
  EXPECT_THAT(time(8, 14, 256, 512), IsWithin(kTenPercent, 9.2));
}

TEST(ConvolutionTimeTest, BothOperandsOfAKernelsGradientAreCopiedWithFeaturesAlongLanes) {
  const auto time = [](int images, int places, int features) {
    const std::string shape = absl::StrCat("f32[", images, ",", places, ",", features, "]");
    return TimeOf(absl::StrCat(" x = ", shape, " parameter(0) g = ", shape, " parameter(1) ROOT d = f32[3,",
                               features, ",", features, "] convolution(x, g), window={size=", places,
                               " pad=1_1}, dim_labels=f0b_i0o->0bf"));
  };
  EXPECT_THAT(time(4, 2000, 160), IsWithin(kTwoPercent, 158.1));
  EXPECT_THAT(time(16, 1000, 96), IsWithin(kTwoPercent, 121.5));
  // These lie so.
  EXPECT_THAT(time(4, 2000, 256), IsWithin(kFivePercent, 61.3));
}

// A square kernel over images of one size, with whatever window; `labels` as of the convolution.
std::string Windowed(absl::string_view x, absl::string_view w, absl::string_view y, absl::string_view window,
                     absl::string_view labels = "b01f_01io->b01f") {
  return absl::StrCat(" x = ", x, " parameter(0) w = ", w, " parameter(1) ROOT y = ", y,
                      " convolution(x, w), window={", window, "}, dim_labels=", labels);
}

TEST(ConvolutionTimeTest, TheSmallerOperandSlides) {
  // Gradients of what kernels as large as the images slid over: most of their positions meet padding.
  const auto gradient = [](int images, int side, int kernel, int in, int out) {
    const int places = side - kernel + 1, pad = kernel - 1;
    return TimeOf(Windowed(absl::StrCat("f32[", images, ",", places, ",", places, ",", out, "]"),
                           absl::StrCat("f32[", kernel, ",", kernel, ",", in, ",", out, "]"),
                           absl::StrCat("f32[", images, ",", side, ",", side, ",", in, "]"),
                           absl::StrCat("size=", kernel, "x", kernel, " pad=", pad, "_", pad, "x", pad, "_",
                                        pad, " rhs_reversal=1x1"),
                           "b01f_01oi->b01f"));
  };
  EXPECT_THAT(gradient(512, 5, 5, 16, 120), IsWithin(kFivePercent, 4.8));
  EXPECT_THAT(gradient(128, 7, 7, 256, 512), IsWithin(kTwoPercent, 83.1));
  EXPECT_THAT(gradient(64, 4, 4, 512, 1024), IsWithin(kFivePercent, 113.4));
  // The other way round 1,873 % too long.
  EXPECT_THAT(gradient(256, 6, 5, 16, 120), IsWithin(kTenPercent, 6.3));
  EXPECT_THAT(TimeOf(Same("f32", 128, 4, 96, 96, 7)), IsWithin(kFivePercent, 20.8));
  EXPECT_THAT(TimeOf(Same("f32", 64, 4, 128, 128, 5)), IsWithin(kTenPercent, 32.2));
}

TEST(ConvolutionTimeTest, OfImagesThatStayAlongLanesPartsOfTilesAreLoaded) {
  const char turned[] = "size=3x3 pad=1_1x1_1 rhs_reversal=1x1";
  EXPECT_THAT(
      TimeOf(Windowed("f32[128,16,16,32]", "f32[3,3,32,32]", "f32[128,16,16,32]", turned, "b01f_01oi->b01f")),
      IsWithin(kFivePercent, 46.1));
  EXPECT_THAT(
      TimeOf(Windowed("f32[128,32,32,16]", "f32[3,3,16,16]", "f32[128,32,32,16]", turned, "b01f_01oi->b01f")),
      IsWithin(kFivePercent, 87.1));
  // Where that saves more than it takes to add parts up: not of a kernel read from its front, into 64 features.
  EXPECT_THAT(
      TimeOf(absl::StrCat(
          " x = f32[128,28,28,32] parameter(0) w = f32[3,3,32,64] parameter(1) zero = f32[] constant(0) z = f32[128,28,28,64]",
          " broadcast(zero), dimensions={} c = f32[128,28,28,64] convolution(x, w), window={size=3x3 pad=1_1x1_1}, ",
          "dim_labels=b01f_01io->b01f ROOT y = f32[128,28,28,64] maximum(c, z)")),
      IsWithin(kFivePercent, 172.5));
  // Over what is dilated too.
  EXPECT_THAT(TimeOf(Windowed("f32[256,9,9,64]", "f32[4,4,32,64]", "f32[256,20,20,32]",
                              "size=4x4 pad=3_3x3_3 lhs_dilate=2x2 rhs_reversal=1x1", "b01f_01oi->b01f")),
              IsWithin(kTwoPercent, 120.4));
  // A gradient contracts them place by place.
  EXPECT_THAT(TimeOf(Windowed("f32[64,32,32,32]", "f32[64,32,32,32]", "f32[3,3,32,32]",
                              "size=32x32 pad=1_1x1_1", "f01b_i01o->01bf")),
              IsWithin(kFivePercent, 168.8));
}

TEST(ConvolutionTimeTest, PatchesOfManyPositionsPassLikeOthers) {
  EXPECT_THAT(TimeOf(Windowed("bf16[8,224,224,3]", "bf16[16,16,3,768]", "bf16[8,14,14,768]",
                              "size=16x16 stride=16x16")),
              IsWithin(kTwoPercent, 873.5));
  EXPECT_THAT(TimeOf(Windowed("f32[16,224,224,3]", "f32[16,16,3,768]", "f32[16,14,14,768]",
                              "size=16x16 stride=16x16")),
              IsWithin(kTenPercent, 941.4));
}

TEST(ConvolutionTimeTest, GroupsOfFewChannelsPassWithImagesAlongLanes) {
  EXPECT_THAT(TimeOf(Same("bf16", 32, 28, 256, 256, 3, 32)), IsWithin(kTwoPercent, 1655.1));
  EXPECT_THAT(TimeOf(Same("f32", 128, 14, 256, 256, 3, 32)), IsWithin(kTwoPercent, 528.2));
  EXPECT_THAT(TimeOf(Same("f32", 32, 14, 512, 512, 3, 32)), IsWithin(kTwoPercent, 835.8));
}

TEST(ConvolutionTimeTest, WhatResultsOfFewImagesMeetComesRowByRow) {
  // The largest of four convolutions, where it meets what earlier ones made, which lies as results do.
  const auto largest = [](absl::string_view last) {
    const char slides[] = "), window={size=3 pad=1_1}, dim_labels=b0f_0io->b0f";
    const std::vector<double> times = Times(absl::StrCat(
        " x = f32[4,4000,64] parameter(0) w = f32[3,64,64] parameter(1) a = f32[4,4000,64] convolution(x, w",
        slides, " b = f32[4,4000,64] convolution(a, w", slides, " c = f32[4,4000,64] convolution(b, w",
        slides, " d = f32[4,4000,64] convolution(c, w", slides,
        " e = f32[4,4000,64] add(d, a) f = f32[4,4000,64] multiply(e, b) ROOT y = f32[4,4000,64] convolution(",
        last, ", w", slides));
    return *std::max_element(times.begin(), times.end());
  };
  // 76.1, 95.7 and 115.9 us in the compiler.
  EXPECT_THAT(largest("e") - largest("d"), IsWithin(kTenPercent, 19.6));
  EXPECT_THAT(largest("f") - largest("e"), IsWithin(kTenPercent, 20.2));
}

TEST(ConvolutionTimeTest, ArgumentsThatResultsOfFewImagesMeetAreCopied) {
  const auto time = [](int others) {
    std::string text =
        " x = bf16[4,4000,64] parameter(0) w = f32[1,64,64] parameter(1) y0 = f32[4,4000,64] convolution(x, w), window={size=1}, dim_labels=b0f_0io->b0f";
    for (int i = 0; i < others; ++i) {
      absl::StrAppend(&text, " z", i, " = f32[4,4000,64] parameter(", i + 2, ") y", i + 1,
                      " = f32[4,4000,64] add(y", i, ", z", i, ")");
    }
    return TimeOf(text);
  };
  EXPECT_THAT(time(0), IsWithin(kFivePercent, 180.6));
  EXPECT_THAT(time(1), IsWithin(kTwentyPercent, 212.3));
  // An exception: the compiler copies what the convolution makes and adds arguments as they lie, the model copies each of them
  // (393.7 us).
  EXPECT_THAT(time(3), IsWithin(0.70, 232.2));
}

TEST(ConvolutionTimeTest, OneImageOfATransposedConvolutionIsCut) {
  // The compiler's, without copies of parts, another 149 us that the model leaves out. Each place by itself would take 2,305
  // us.
  EXPECT_THAT(TimeOf(Windowed("bf16[1,32,32,256]", "bf16[4,4,256,128]", "bf16[1,128,128,128]",
                              "size=4x4 pad=3_3x3_3 lhs_dilate=4x4")),
              IsWithin(kTwentyPercent, 359.1));
}

}  // namespace
}  // namespace toroid
