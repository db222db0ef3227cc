// Whole convolutions against what Google's compiler for TPU v3 estimates for them with the copies around them, in microseconds.
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "hlo/io/hlo_text.h"
#include "simulator/chip/chip_model.h"
#include "simulator/chip/matrix_work.h"
#include "simulator/lowering/lower.h"
#include "simulator/machines/tpu_v3_core.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

double TimeOf(absl::string_view entry) {
  auto module = ParseModule(absl::StrCat("ENTRY main {", entry, "}"));
  EXPECT_OK(module.status());
  auto lowered = Lower(**module, TpuV3Core());
  EXPECT_OK(lowered.status());
  ChipModel model(TpuV3Core());
  double sum = 0;
  for (const auto& op : (*lowered)->entry()->instructions())
    sum += static_cast<double>(model.TimeOf(*op).picoseconds) * 1e-6;
  return sum;
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
  EXPECT_NEAR(TimeOf(Same("f32", 32, 56, 64, 64, 3)), 656.5, 20);
  EXPECT_NEAR(TimeOf(Same("f32", 8, 56, 64, 64, 3)), 148.1, 6);
  EXPECT_NEAR(TimeOf(Same("bf16", 32, 56, 64, 64, 3)), 580.0, 20);
  // Of a window of 3 x 3 over 56 x 56 in 32 parts of 7 x 14 rows 9 x 16 are loaded, columns by eights.
  SlidingWindow places;
  places.rows = places.columns = 56;
  places.row_reach = places.column_reach = 3;
  EXPECT_DOUBLE_EQ(ReadsOfParts(places, 1), 1);
  EXPECT_DOUBLE_EQ(ReadsOfParts(places, 32), 9.0 * 16 / (7 * 14));
  places.column_tile = 8;
  EXPECT_NEAR(ReadsOfParts(places, 32), 9.0 * 24 / (7 * 14), 0.1);
}

TEST(ConvolutionTimeTest, ImagesInF32TakeMatrixUnitsAsLongAsRounded) {
  EXPECT_NEAR(TimeOf(Same("f32", 32, 28, 256, 256, 3)), 500.6, 15);
  EXPECT_NEAR(TimeOf(Same("bf16", 32, 28, 256, 256, 3)), 497.0, 15);
}

TEST(ConvolutionTimeTest, PartsOfTilesComeWithTheirNeighbours) {
  EXPECT_NEAR(TimeOf(Same("bf16", 32, 28, 96, 96, 3)), 117.0, 4);
  EXPECT_NEAR(TimeOf(Same("bf16", 16, 28, 80, 128, 3)), 61.1, 3);
  EXPECT_NEAR(TimeOf(Same("bf16", 16, 28, 96, 128, 5)), 154.0, 8);
  EXPECT_NEAR(TimeOf(Same("bf16", 32, 28, 192, 192, 5)), 850.4, 85);
  EXPECT_NEAR(TimeOf(Same("bf16", 16, 28, 64, 160, 3)), 68.6, 4);
}

TEST(ConvolutionTimeTest, PlacesOfFewImagesArePutTogetherChannelByChannel) {
  EXPECT_NEAR(TimeOf(Same("f32", 8, 28, 256, 256, 3, 256)), 45.8, 2);
  EXPECT_NEAR(TimeOf(Same("f32", 32, 28, 256, 256, 3, 256)), 177.4, 6);
  EXPECT_NEAR(TimeOf(Same("f32", 4, 28, 256, 256, 3, 256)), 39.6, 3);
  EXPECT_NEAR(TimeOf(Same("f32", 2, 28, 256, 256, 3, 256)), 30.9, 4);
  EXPECT_NEAR(TimeOf(Same("f32", 4, 28, 256, 256, 7, 256)), 94.7, 8);
  EXPECT_NEAR(TimeOf(Same("f32", 32, 56, 512, 512, 3, 512)), 2711.2, 300);
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
  EXPECT_NEAR(time(128, 3, 3), 73.1, 3);
  EXPECT_NEAR(time(16, 4, 5), 69.4, 3);
  // One feature: position by position.
  EXPECT_NEAR(time(1, 1, 3), 342.0, 10);
}

TEST(ConvolutionTimeTest, FewChannelsOfImagesAlongLanesTakeARegisterForEightImages) {
  EXPECT_NEAR(TimeOf(Same("f32", 8, 64, 3, 3, 11, 3)), 1178.3, 30);
  EXPECT_NEAR(TimeOf(Same("f32", 16, 64, 3, 3, 7, 3)), 973.8, 20);
  EXPECT_NEAR(TimeOf(Same("f32", 32, 32, 3, 3, 5, 3)), 256.6, 6);
}

TEST(ConvolutionTimeTest, WhatMakesFewImagesIsNotHiddenBehindTheirPlaces) {
  EXPECT_NEAR(
      TimeOf(
          R"( a = f32[4,48,48,128] parameter(0) b = f32[4,48,48,128] parameter(1) w = f32[1,1,128,128] parameter(2)
      u = f32[4,48,48,128] convolution(a, w), window={size=1x1}, dim_labels=b01f_01io->b01f
      v = f32[4,48,48,128] convolution(b, w), window={size=1x1}, dim_labels=b01f_01io->b01f
      t = f32[4,48,48,128] tanh(v)
      g = f32[4,48,48,128] multiply(u, t)
      ROOT y = f32[4,48,48,128] convolution(g, w), window={size=1x1}, dim_labels=b01f_01io->b01f )"),
      170.1, 4);
}

TEST(ConvolutionTimeTest, KernelsGradientsOfEachChannelShiftNothing) {
  const auto time = [](absl::string_view type, int images, int kernel) {
    const std::string pad = absl::StrCat(kernel / 2, "_", kernel / 2);
    return TimeOf(absl::StrCat(" x = ", type, "[", images, ",28,28,256] parameter(0) g = ", type, "[", images,
                               ",28,28,256] parameter(1) ROOT d = ", type, "[", kernel, ",", kernel,
                               ",1,256] convolution(x, g), window={size=28x28 pad=", pad, "x", pad,
                               "}, dim_labels=f01b_i01o->01bf, batch_group_count=256"));
  };
  EXPECT_NEAR(time("f32", 8, 3), 44.9, 3);
  EXPECT_NEAR(time("f32", 32, 3), 176.5, 8);
  EXPECT_NEAR(time("f32", 32, 7), 534.9, 35);
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
  EXPECT_NEAR(TimeOf(KernelGradient(16, 24, 32, 128, 5)), 68.8, 2);
  EXPECT_NEAR(TimeOf(KernelGradient(16, 24, 64, 256, 5)), 135.8, 3);
  EXPECT_NEAR(TimeOf(KernelGradient(16, 24, 96, 256, 5)), 198.3, 4);
  EXPECT_NEAR(TimeOf(KernelGradient(16, 24, 192, 64, 5)), 258.8, 6);
  EXPECT_NEAR(TimeOf(KernelGradient(16, 24, 160, 128, 5)), 167.5, 3);
}

TEST(ConvolutionTimeTest, PartsOfTilesOfATurnedKernelPassAlone) {
  // The gradient of images: 25 positions of two tiles, of which the second has 32 features.
  EXPECT_NEAR(TimeOf(R"( g = f32[8,32,32,160] parameter(0) w = f32[5,5,160,160] parameter(1)
      r = f32[5,5,160,160] reverse(w), dimensions={0,1}
      ROOT d = f32[8,32,32,160] convolution(g, r), window={size=5x5 pad=2_2x2_2}, dim_labels=b01f_01oi->b01f )"),
              497.7, 15);
}

TEST(ConvolutionTimeTest, PlacesOfFewImagesPassRegistersOneByOne) {
  // However many channels there are, and positions of the kernel until these take longer.
  EXPECT_NEAR(TimeOf(Same("f32", 2, 64, 3, 64, 3)), 133.1, 8);
  EXPECT_NEAR(TimeOf(Same("f32", 2, 64, 192, 256, 3)), 188.7, 8);
  EXPECT_NEAR(TimeOf(Same("f32", 2, 40, 128, 128, 5)), 61.4, 3);
  EXPECT_NEAR(TimeOf(Same("f32", 2, 40, 128, 128, 7)), 106.1, 5);
  EXPECT_NEAR(TimeOf(Same("f32", 4, 40, 128, 128, 3)), 61.8, 3);
  EXPECT_NEAR(TimeOf(Same("bf16", 4, 40, 256, 256, 3)), 167.1, 8);
  // A single position: features of each place alone.
  EXPECT_NEAR(TimeOf(Same("f32", 2, 48, 256, 256, 1)), 96.6, 4);
  EXPECT_NEAR(TimeOf(Same("f32", 4, 48, 96, 160, 1)), 129.4, 5);
  const auto along_one_dimension = [](int images, int in, int out, int kernel) {
    return TimeOf(absl::StrCat(" x = f32[", images, ",2000,", in, "] parameter(0) w = f32[", kernel, ",", in,
                               ",", out, "] parameter(1) ROOT y = f32[", images, ",2000,", out,
                               "] convolution(x, w), window={size=", kernel, " pad=", kernel / 2, "_",
                               kernel / 2, "}, dim_labels=b0f_0io->b0f"));
  };
  EXPECT_NEAR(along_one_dimension(2, 128, 128, 3), 44.2, 2);
  EXPECT_NEAR(along_one_dimension(4, 160, 160, 3), 194.8, 8);
  EXPECT_NEAR(along_one_dimension(4, 384, 128, 3), 89.8, 4);
}

TEST(ConvolutionTimeTest, RowsArePassedOverByAWindowForEachRow) {
  const auto time = [](int images, int side, int in, int out) {
    return TimeOf(absl::StrCat(
        " x = f32[", images, ",", side, ",", side, ",", in, "] parameter(0) w = f32[1,1,", in, ",", out,
        "] parameter(1) ROOT y = f32[", images, ",", side / 2, ",", side / 2, ",", out,
        "] convolution(x, w), window={size=1x1 pad=0_-1x0_-1 stride=2x2}, dim_labels=b01f_01io->b01f"));
  };
  EXPECT_NEAR(time(16, 56, 256, 128), 89.5, 6);
  EXPECT_NEAR(time(8, 56, 128, 256), 44.4, 6);
  // Of few and small images all rows are read.
  EXPECT_NEAR(time(2, 56, 64, 128), 20.6, 1);
  EXPECT_NEAR(time(8, 14, 256, 512), 9.2, 1);
}

TEST(ConvolutionTimeTest, BothOperandsOfAKernelsGradientAreCopiedWithFeaturesAlongLanes) {
  const auto time = [](int images, int places, int features) {
    const std::string shape = absl::StrCat("f32[", images, ",", places, ",", features, "]");
    return TimeOf(absl::StrCat(" x = ", shape, " parameter(0) g = ", shape, " parameter(1) ROOT d = f32[3,",
                               features, ",", features, "] convolution(x, g), window={size=", places,
                               " pad=1_1}, dim_labels=f0b_i0o->0bf"));
  };
  EXPECT_NEAR(time(4, 2000, 160), 158.1, 5);
  EXPECT_NEAR(time(16, 1000, 96), 121.5, 5);
  // These lie so.
  EXPECT_NEAR(time(4, 2000, 256), 61.3, 3);
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
  EXPECT_NEAR(gradient(512, 5, 5, 16, 120), 4.8, 1);
  EXPECT_NEAR(gradient(128, 7, 7, 256, 512), 83.1, 6);
  EXPECT_NEAR(gradient(64, 4, 4, 512, 1024), 113.4, 8);
  // The other way round 1,873 % too long.
  EXPECT_NEAR(gradient(256, 6, 5, 16, 120), 6.3, 2.5);
  EXPECT_NEAR(TimeOf(Same("f32", 128, 4, 96, 96, 7)), 20.8, 3);
  EXPECT_NEAR(TimeOf(Same("f32", 64, 4, 128, 128, 5)), 32.2, 3);
}

TEST(ConvolutionTimeTest, OfImagesThatStayAlongLanesPartsOfTilesAreLoaded) {
  const char turned[] = "size=3x3 pad=1_1x1_1 rhs_reversal=1x1";
  EXPECT_NEAR(
      TimeOf(Windowed("f32[128,16,16,32]", "f32[3,3,32,32]", "f32[128,16,16,32]", turned, "b01f_01oi->b01f")),
      46.1, 2);
  EXPECT_NEAR(
      TimeOf(Windowed("f32[128,32,32,16]", "f32[3,3,16,16]", "f32[128,32,32,16]", turned, "b01f_01oi->b01f")),
      87.1, 4);
  // Where that saves more than it takes to add parts up: not of a kernel read from its front, into 64 features.
  EXPECT_NEAR(
      TimeOf(absl::StrCat(
          " x = f32[128,28,28,32] parameter(0) w = f32[3,3,32,64] parameter(1) zero = f32[] constant(0) z = f32[128,28,28,64]",
          " broadcast(zero), dimensions={} c = f32[128,28,28,64] convolution(x, w), window={size=3x3 pad=1_1x1_1}, ",
          "dim_labels=b01f_01io->b01f ROOT y = f32[128,28,28,64] maximum(c, z)")),
      172.5, 8);
  // Over what is dilated too.
  EXPECT_NEAR(TimeOf(Windowed("f32[256,9,9,64]", "f32[4,4,32,64]", "f32[256,20,20,32]",
                              "size=4x4 pad=3_3x3_3 lhs_dilate=2x2 rhs_reversal=1x1", "b01f_01oi->b01f")),
              120.4, 12);
  // A gradient contracts them place by place.
  EXPECT_NEAR(TimeOf(Windowed("f32[64,32,32,32]", "f32[64,32,32,32]", "f32[3,3,32,32]",
                              "size=32x32 pad=1_1x1_1", "f01b_i01o->01bf")),
              168.8, 8);
}

TEST(ConvolutionTimeTest, PatchesOfManyPositionsPassLikeOthers) {
  EXPECT_NEAR(TimeOf(Windowed("bf16[8,224,224,3]", "bf16[16,16,3,768]", "bf16[8,14,14,768]",
                              "size=16x16 stride=16x16")),
              873.5, 45);
  EXPECT_NEAR(TimeOf(Windowed("f32[16,224,224,3]", "f32[16,16,3,768]", "f32[16,14,14,768]",
                              "size=16x16 stride=16x16")),
              941.4, 75);
}

TEST(ConvolutionTimeTest, GroupsOfFewChannelsPassWithImagesAlongLanes) {
  EXPECT_NEAR(TimeOf(Same("bf16", 32, 28, 256, 256, 3, 32)), 1655.1, 40);
  EXPECT_NEAR(TimeOf(Same("f32", 128, 14, 256, 256, 3, 32)), 528.2, 20);
  EXPECT_NEAR(TimeOf(Same("f32", 32, 14, 512, 512, 3, 32)), 835.8, 60);
  // Their kernel's gradient.
  EXPECT_NEAR(TimeOf(absl::StrCat(Windowed("f32[32,14,14,512]", "f32[32,14,14,512]", "f32[3,3,16,512]",
                                           "size=14x14 pad=1_1x1_1", "f01b_i01o->01bf"),
                                  ", batch_group_count=32")),
              839.0, 30);
}

TEST(ConvolutionTimeTest, WhatResultsOfFewImagesMeetComesRowByRow) {
  const auto time = [](int others) {
    std::string text =
        " x = bf16[4,4000,64] parameter(0) w = f32[1,64,64] parameter(1) y0 = f32[4,4000,64] convolution(x, w), window={size=1}, dim_labels=b0f_0io->b0f";
    for (int i = 0; i < others; ++i) {
      absl::StrAppend(&text, " z", i, " = f32[4,4000,64] parameter(", i + 2, ") y", i + 1,
                      " = f32[4,4000,64] add(y", i, ", z", i, ")");
    }
    return TimeOf(text);
  };
  // 4.8 cycles a place for each of 4,000.
  EXPECT_NEAR(time(2) - time(1), time(3) - time(2), 1);
  EXPECT_GT(time(3) - time(2), 14);
}

TEST(ConvolutionTimeTest, OneImageOfATransposedConvolutionIsCut) {
  // 46 to 359 us with the copies of parts; each place by itself takes 2,305.
  EXPECT_NEAR(TimeOf(Windowed("bf16[1,32,32,256]", "bf16[4,4,256,128]", "bf16[1,128,128,128]",
                              "size=4x4 pad=3_3x3_3 lhs_dilate=4x4")),
              300, 100);
}

}  // namespace
}  // namespace toroid
