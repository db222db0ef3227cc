// What stands around convolutions: zeros, pieces, copies, what is made for them.
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/simulator/lowering/lowered_programs.h"

namespace toroid {
namespace {

using ::testing::ElementsAre;

TEST(ConvolutionRulesTest, ZerosAroundImagesArePaddingOfTheWindow) {
  const char* program = R"( x = f32[2,9,7,3] parameter(0) w = f32[3,3,3,4] parameter(1) zero = f32[] constant(0)
    p = f32[2,12,9,3] pad(x, zero), padding=0_0x2_1x1_1x0_0
    ROOT y = f32[2,10,9,4] convolution(p, w), window={size=3x3 pad=0_0x1_1}, dim_labels=b01f_01io->b01f )";
  ExpectSameValues(program);
  EXPECT_THAT(Groups(R"( x = f32[8,2048,128] parameter(0) w = f32[7,128,128] parameter(1) zero = f32[] constant(0)
    p = f32[8,2054,128] pad(x, zero), padding=0_0x6_0x0_0
    ROOT y = f32[8,2048,128] convolution(p, w), window={size=7}, dim_labels=b0f_0io->b0f )"),
              ElementsAre("dot", "copy"));
  // Others stay.
  ExpectSameValues(R"( x = f32[2,9,7,3] parameter(0) w = f32[3,3,3,4] parameter(1) one = f32[] constant(1)
    p = f32[2,12,9,3] pad(x, one), padding=0_0x2_1x1_1x0_0
    ROOT y = f32[2,10,9,4] convolution(p, w), window={size=3x3 pad=0_0x1_1}, dim_labels=b01f_01io->b01f )");
}

TEST(ConvolutionRulesTest, OnlyWhatIsTakenOfAConvolutionIsMade) {
  for (const char* window : {"size=3x3 pad=1_1x1_1", "size=3x3 pad=2_0x0_2", "size=5x3 pad=2_2x1_1"}) {
    ExpectSameValues(absl::StrCat(" x = f32[2,9,8,3] parameter(0) w = f32[", absl::string_view(window + 5, 1), ",", absl::string_view(window + 7, 1), R"(,3,4] parameter(1)
      y = f32[2,9,8,4] convolution(x, w), window={)", window, R"(}, dim_labels=b01f_01io->b01f
      ROOT s = f32[2,6,7,4] slice(y), slice={[0:2], [2:8], [0:7], [0:4]} )"));
  }
  ExpectSameValues(R"( x = f32[2,4,3,3] parameter(0) w = f32[4,4,3,4] parameter(1)
    y = f32[2,10,8,4] convolution(x, w), window={size=4x4 pad=3_3x3_3 lhs_dilate=2x2}, dim_labels=b01f_01io->b01f
    ROOT s = f32[2,6,5,4] slice(y), slice={[0:2], [1:7], [2:7], [0:4]} )");
  ExpectSameValues(R"( x = f32[2,11,9,3] parameter(0) w = f32[3,3,3,4] parameter(1)
    y = f32[2,5,4,4] convolution(x, w), window={size=3x3 stride=2x2}, dim_labels=b01f_01io->b01f
    ROOT s = f32[2,3,3,4] slice(y), slice={[0:2], [1:4], [0:3], [0:4]} )");
  // A causal filter.
  EXPECT_THAT(Groups(R"( x = f32[8,2048,128] parameter(0) w = f32[7,128,128] parameter(1)
    y = f32[8,2054,128] convolution(x, w), window={size=7 pad=6_6}, dim_labels=b0f_0io->b0f
    ROOT s = f32[8,2048,128] slice(y), slice={[0:8], [0:2048], [0:128]} )"),
              ElementsAre("dot", "copy"));
  // A gradient pads by less than nothing.
  ExpectSameValues(R"( x = f32[2,9,8,3] parameter(0) w = f32[3,3,3,4] parameter(1) zero = f32[] constant(0)
    y = f32[2,9,8,4] convolution(x, w), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f
    ROOT s = f32[2,7,7,4] pad(y, zero), padding=0_0x-1_-1x0_-1x0_0 )");
}

TEST(ConvolutionRulesTest, WhatIsMadeOfImagesInOtherRowsIsWritten) {
  // 26.3 us before the convolution's 46.2, and a copy; of what a convolution made nothing is written.
  EXPECT_THAT(Groups(R"( x = f32[8,32,32,128] parameter(0) w = f32[3,3,128,128] parameter(1) zero = f32[] constant(0)
    z = f32[8,32,32,128] broadcast(zero), dimensions={}
    r = f32[8,32,32,128] maximum(x, z)
    ROOT y = f32[8,32,32,128] convolution(r, w), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f )"),
              ElementsAre("loop", "dot", "copy"));
}

TEST(ConvolutionRulesTest, AResidualIsReadInPlaceWhateverComesFirst) {
  for (const char* sum : {"add(x, y)", "add(y, x)"}) {
    EXPECT_THAT(Groups(absl::StrCat(R"( x = f32[8,32,32,128] parameter(0) w = f32[3,3,128,128] parameter(1)
      y = f32[8,32,32,128] convolution(x, w), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f
      ROOT s = f32[8,32,32,128] )", sum)),
                ElementsAre("dot", "copy"));
  }
}

TEST(ConvolutionRulesTest, AProductMakesImagesForAConvolution) {
  EXPECT_THAT(Groups(R"( x = bf16[32,28,28,256] parameter(0) v = bf16[256,128] parameter(1) w = bf16[3,3,128,128] parameter(2)
    d = bf16[32,28,28,128] dot(x, v), lhs_contracting_dims={3}, rhs_contracting_dims={0}
    ROOT y = bf16[32,28,28,128] convolution(d, w), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f )"),
              ElementsAre("dot", "dot"));
}

}  // namespace
}  // namespace toroid
