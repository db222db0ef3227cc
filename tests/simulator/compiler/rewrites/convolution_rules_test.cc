// Ops around convolutions: zeros, pieces, copies, and arrays that are computed for them.
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "simulator/chip/chip_model.h"
#include "simulator/machines/tpu_v3_core.h"
#include "tests/simulator/compiler/lowered_programs.h"
#include "tests/tolerances.h"

namespace toroid {
namespace {

using ::testing::ElementsAre;

TEST(ConvolutionRulesTest, ZerosAroundImagesArePaddingOfTheWindow) {
  const char* program =
      R"( x = f32[2,9,7,3] parameter(0) w = f32[3,3,3,4] parameter(1) zero = f32[] constant(0)
    p = f32[2,12,9,3] pad(x, zero), padding=0_0x2_1x1_1x0_0
    ROOT y = f32[2,10,9,4] convolution(p, w), window={size=3x3 pad=0_0x1_1}, dim_labels=b01f_01io->b01f )";
  ExpectSameValues(program);
  EXPECT_THAT(
      Groups(R"( x = f32[8,2048,128] parameter(0) w = f32[7,128,128] parameter(1) zero = f32[] constant(0)
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
    ExpectSameValues(absl::StrCat(" x = f32[2,9,8,3] parameter(0) w = f32[", absl::string_view(window + 5, 1),
                                  ",", absl::string_view(window + 7, 1), R"(,3,4] parameter(1)
      y = f32[2,9,8,4] convolution(x, w), window={)",
                                  window, R"(}, dim_labels=b01f_01io->b01f
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
  EXPECT_THAT(
      Groups(R"( x = f32[8,32,32,128] parameter(0) w = f32[3,3,128,128] parameter(1) zero = f32[] constant(0)
    z = f32[8,32,32,128] broadcast(zero), dimensions={}
    r = f32[8,32,32,128] maximum(x, z)
    ROOT y = f32[8,32,32,128] convolution(r, w), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f )"),
      ElementsAre("loop", "dot", "copy"));
}

TEST(ConvolutionRulesTest, AResidualIsReadInPlaceWhateverComesFirst) {
  for (const char* sum : {"add(x, y)", "add(y, x)"}) {
    EXPECT_THAT(Groups(absl::StrCat(R"( x = f32[8,32,32,128] parameter(0) w = f32[3,3,128,128] parameter(1)
      y = f32[8,32,32,128] convolution(x, w), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f
      ROOT s = f32[8,32,32,128] )",
                                    sum)),
                ElementsAre("dot", "copy"));
  }
}

TEST(ConvolutionRulesTest, AProductMakesImagesForAConvolution) {
  EXPECT_THAT(
      Groups(
          R"( x = bf16[32,28,28,256] parameter(0) v = bf16[256,128] parameter(1) w = bf16[3,3,128,128] parameter(2)
    d = bf16[32,28,28,128] dot(x, v), lhs_contracting_dims={3}, rhs_contracting_dims={0}
    ROOT y = bf16[32,28,28,128] convolution(d, w), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f )"),
      ElementsAre("dot", "dot"));
}

TEST(ConvolutionRulesTest, ResultsAreWorkedOnBeforeTheyAreMoved) {
  // Four features of a place become four places: one group with the convolution, then copies of bf16.
  ExpectSameValues(
      R"( x = f32[2,4,5,3] parameter(0) w = f32[3,3,3,8] parameter(1) v = f32[3,3,2,3] parameter(2) zero = f32[] constant(0)
    y = f32[2,4,5,8] convolution(x, w), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f
    r = f32[2,4,5,2,2,2] reshape(y)
    t = f32[2,4,2,5,2,2] transpose(r), dimensions={0,1,3,2,4,5}
    s = f32[2,8,10,2] reshape(t)
    z = f32[2,8,10,2] broadcast(zero), dimensions={}
    m = f32[2,8,10,2] maximum(z, s)
    ROOT o = f32[2,8,10,3] convolution(m, v), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f )");
  const std::unique_ptr<Module> lowered =
      Lowered(*Parsed(R"( x = f32[4,48,48,64] parameter(0) w = f32[3,3,64,256] parameter(1)
    zero = f32[] constant(0)
    y = f32[4,48,48,256] convolution(x, w), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f
    r = f32[4,48,48,2,2,64] reshape(y)
    t = f32[4,48,2,48,2,64] transpose(r), dimensions={0,1,3,2,4,5}
    z = f32[4,48,2,48,2,64] broadcast(zero), dimensions={}
    ROOT m = f32[4,48,2,48,2,64] maximum(t, z) )"));
  for (const auto& op : lowered->entry()->instructions()) EXPECT_NE(op->opcode(), Opcode::kMaximum);
}

TEST(ConvolutionRulesTest, WhatIsPooledForConvolutionsIsRoundedBefore) {
  const std::unique_ptr<Module> lowered = Lowered(*Parsed(
      R"( x = f32[8,32,32,128] parameter(0) w = f32[3,3,128,128] parameter(1) low = f32[] constant(-inf)
    y = f32[8,32,32,128] convolution(x, w), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f
    p = f32[8,16,16,128] reduce-window(y, low), window={size=1x2x2x1 stride=1x2x2x1}, to_apply=max
    ROOT z = f32[8,16,16,128] convolution(p, w), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f )"));
  int between = 0;
  for (const auto& op : lowered->entry()->instructions()) {
    if (op->opcode() != Opcode::kFusion) continue;
    EXPECT_EQ(op->shape().element_type(), xla::BF16);
    ++between;
  }
  EXPECT_EQ(between, 2);
}

TEST(ConvolutionRulesTest, WhatIsRepeatedForConvolutionsIsWrittenRounded) {
  // 13.3 and 26.3 us.
  const std::unique_ptr<Module> lowered =
      Lowered(*Parsed(R"( x = f32[16,14,14,128] parameter(0) w = f32[3,3,128,128] parameter(1)
    y = f32[16,14,14,128] convolution(x, w), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f
    b = f32[16,14,2,14,128] broadcast(y), dimensions={0,1,3,4}
    r = f32[16,28,14,128] reshape(b)
    c = f32[16,28,14,2,128] broadcast(r), dimensions={0,1,2,4}
    s = f32[16,28,28,128] reshape(c)
    ROOT z = f32[16,28,28,128] convolution(s, w), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f )"));
  ChipModel model(TpuV3Core());
  std::vector<double> microseconds;
  for (const auto& op : lowered->entry()->instructions()) {
    if (op->opcode() != Opcode::kBroadcast) continue;
    EXPECT_EQ(op->shape().element_type(), xla::BF16);
    microseconds.push_back(static_cast<double>(model.TimeOf(*op).picoseconds) * 1e-6);
  }
  ASSERT_EQ(microseconds.size(), 2u);
  EXPECT_THAT(microseconds[0], IsWithin(kTwentyPercent, 13.3));
  EXPECT_THAT(microseconds[1], IsWithin(kTwentyPercent, 26.3));
}

TEST(ConvolutionRulesTest, AnArgumentThatLiesAsImagesIsRoundedByTheConvolutionThatTakesItBesideOthers) {
  const auto program = [](int images) {
    return absl::StrCat(
        " x = f32[", images, ",28,28,128] parameter(0) z = f32[", images,
        R"(,28,28,128] parameter(1) w = f32[3,3,128,128] parameter(2)
      v = f32[3,3,256,128] parameter(3) y = f32[)",
        images, R"(,28,28,128] convolution(x, w), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f
      c = f32[)",
        images, ",28,28,256] concatenate(y, z), dimensions={3} ROOT o = f32[", images,
        R"(,28,28,128] convolution(c, v), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f )");
  };
  const std::unique_ptr<Module> lowered = Lowered(*Parsed(program(16)));
  for (const auto& op : lowered->entry()->instructions()) {
    const bool rounds_argument = op->num_operands() == 1 && op->operand(0)->opcode() == Opcode::kParameter &&
                                 op->operand(0)->parameter_number() == 1;
    EXPECT_FALSE(rounds_argument);
  }
}

TEST(ConvolutionRulesTest, TheGradientOfATransposedConvolutionsKernelIsReversedAtTheEnd) {
  const char* program = R"( x = f32[2,5,5,3] parameter(0) g = f32[2,10,10,4] parameter(1)
    ROOT k = f32[4,4,3,4] convolution(x, g), window={size=10x10 pad=2_2x2_2 lhs_dilate=2x2}, dim_labels=f01b_i01o->01bf )";
  ExpectSameValues(program);
  // The compiler reverses what is small: 66.5 and 3.0 us for 16 images of 56 x 56.
  const std::unique_ptr<Module> lowered =
      Lowered(*Parsed(R"( x = f32[16,28,28,128] parameter(0) g = f32[16,56,56,64] parameter(1)
    ROOT k = f32[4,4,128,64] convolution(x, g), window={size=56x56 pad=2_2x2_2 lhs_dilate=2x2}, dim_labels=f01b_i01o->01bf )"));
  int reversed = 0;
  for (const auto& op : lowered->entry()->instructions()) {
    if (op->opcode() != Opcode::kReverse) continue;
    EXPECT_EQ(op->shape().NumElements(), 4 * 4 * 128 * 64);
    ++reversed;
  }
  EXPECT_EQ(reversed, 1);
}

TEST(ConvolutionRulesTest, AKernelLargerThanImagesIsSlidOver) {
  const auto program = [](absl::string_view x, absl::string_view w, absl::string_view y,
                          absl::string_view window) {
    return absl::StrCat(" x = f32", x, " parameter(0) w = f32", w, " parameter(1) ROOT y = f32", y,
                        " convolution(x, w), window={", window, "}, dim_labels=b01f_01io->b01f");
  };
  const auto positions = [](const std::string& text) {
    const std::unique_ptr<Module> lowered = Lowered(*Parsed(text));
    int64_t least = 0;
    for (const auto& computation : lowered->computations()) {
      for (const auto& op : computation->instructions()) {
        if (op->opcode() == Opcode::kConvolution) least = op->attrs().window().dimensions(0).size();
      }
    }
    return least;
  };
  // A kernel smaller and one larger than the result, read from its front and from its end; uneven sizes and padding.
  for (const char* end : {"", " rhs_reversal=1x1"}) {
    for (const int images : {1, 40}) {
      const std::string small =
          program(absl::StrCat("[", images, ",4,3,5]"), "[5,6,5,4]", absl::StrCat("[", images, ",8,4,4]"),
                  absl::StrCat("size=5x6 pad=4_4x3_3", end));
      ExpectSameValues(small);
      EXPECT_EQ(positions(small), 4);
      ExpectSameValues(program(absl::StrCat("[", images, ",2,3,5]"), "[3,3,5,4]",
                               absl::StrCat("[", images, ",2,3,4]"),
                               absl::StrCat("size=3x3 pad=1_1x1_1", end)));
    }
  }
  // Each way half of the window: it stays.
  EXPECT_EQ(
      positions(program("[8,6,3,5]", "[4,4,5,4]", "[8,9,6,4]", "size=4x4 pad=3_3x3_3 rhs_reversal=0x1")), 4);
  ExpectSameValues(program("[8,6,3,5]", "[4,4,5,4]", "[8,9,6,4]", "size=4x4 pad=3_3x3_3 rhs_reversal=0x1"));
  // One place stays, and strides do.
  EXPECT_EQ(positions(program("[8,1,1,5]", "[5,5,5,4]", "[8,5,5,4]", "size=5x5 pad=4_4x4_4")), 5);
  EXPECT_EQ(positions(program("[8,3,3,5]", "[5,5,5,4]", "[8,2,2,4]", "size=5x5 stride=2x2 pad=2_2x2_2")), 5);
}

TEST(ConvolutionRulesTest, OfImagesAlongLanesProducersComeInRowsOfFeatures) {
  const auto program = [](absl::string_view type, int features) {
    return absl::StrCat(
        " x = ", type, "[128,32,32,", features, "] parameter(0) w = f32[3,3,", features,
        R"(,32] parameter(1) scale = f32[] constant(0.004)
      s = f32[128,32,32,)",
        features, "] broadcast(scale), dimensions={} f = f32[128,32,32,", features,
        "] convert(x) m = f32[128,32,32,", features,
        "] multiply(f, s) ROOT y = f32[128,32,32,32] convolution(m, w), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f");
  };
  EXPECT_THAT(Groups(program("u8", 3)), ElementsAre("loop", "dot"));
  EXPECT_THAT(Groups(program("f32", 3)), ElementsAre("loop", "dot"));
  // Four of f32 are a tile's rows, four bytes are not.
  EXPECT_THAT(Groups(program("f32", 4)), ElementsAre("dot"));
  EXPECT_THAT(Groups(program("u8", 4)), ElementsAre("loop", "dot"));
  EXPECT_THAT(Groups(program("u8", 16)), ElementsAre("dot"));
}

}  // namespace
}  // namespace toroid
