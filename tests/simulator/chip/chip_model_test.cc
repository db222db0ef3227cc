// Times of single groups: what bounds them, and figures known in advance.
#include "simulator/chip/chip_model.h"

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "hlo/io/hlo_text.h"
#include "simulator/lowering/lower.h"
#include "simulator/machines/tpu_v3_core.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

// Of the root of the lowered program.
GroupTime TimeOfRoot(absl::string_view text) {
  auto module = ParseModule(text);
  EXPECT_OK(module.status());
  auto lowered = Lower(**module, TpuV3Core());
  EXPECT_OK(lowered.status());
  ChipModel model(TpuV3Core());
  return model.TimeOf(*(*lowered)->entry()->root());
}

// Of all convolutions of the lowered program, in microseconds.
double ConvolutionTime(absl::string_view text) {
  auto module = ParseModule(text);
  EXPECT_OK(module.status());
  auto lowered = Lower(**module, TpuV3Core());
  EXPECT_OK(lowered.status());
  ChipModel model(TpuV3Core());
  double sum = 0;
  for (const auto& op : (*lowered)->entry()->instructions()) {
    if (op->opcode() == Opcode::kConvolution) sum += static_cast<double>(model.TimeOf(*op).picoseconds) * 1e-6;
  }
  return sum;
}

TEST(ChipModelTest, ALargeDotReachesNineTenthsOfThePeakAndIsBoundByMatrixUnits) {
  const GroupTime time = TimeOfRoot(R"(ENTRY main {
    a = bf16[4096,4096] parameter(0)
    b = bf16[4096,4096] parameter(1)
    ROOT c = bf16[4096,4096] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0} })");
  EXPECT_EQ(time.bound, Bound::kMatrix);
  EXPECT_EQ(time.flops, 2.0 * 4096 * 4096 * 4096);
  // 61.6 Tflop/s: 2.231 ms.
  EXPECT_NEAR(static_cast<double>(time.roofline_picoseconds), 2.231e9, 0.001e9);
  EXPECT_GT(time.picoseconds, time.roofline_picoseconds);
  EXPECT_LT(static_cast<double>(time.picoseconds), 1.1 * static_cast<double>(time.roofline_picoseconds));
}

TEST(ChipModelTest, AnAdditionIsBoundByMemory) {
  const GroupTime time = TimeOfRoot(R"(ENTRY main {
    a = f32[4096,1024] parameter(0)
    b = f32[4096,1024] parameter(1)
    ROOT c = f32[4096,1024] add(a, b) })");
  EXPECT_EQ(time.bound, Bound::kMemory);
  EXPECT_EQ(time.bytes, 3.0 * 4 * 4096 * 1024);
  // 50.3 MB at 450 GB/s.
  EXPECT_NEAR(static_cast<double>(time.roofline_picoseconds), 111.8e6, 0.1e6);
}

TEST(ChipModelTest, APaddedRowCostsAsMuchAsAFullOne) {
  const auto add = [](int rows, int columns) {
    const std::string shape = absl::StrCat("bf16[", rows, ",", columns, "]");
    return TimeOfRoot(absl::StrCat("ENTRY main { a = ", shape, " parameter(0) ROOT c = ", shape, " add(a, a) }")).picoseconds;
  };
  EXPECT_EQ(add(8001, 1000), add(8008, 1000));
  EXPECT_LT(add(8000, 1024), add(8000, 1152));
}

TEST(ChipModelTest, SinesAreBoundByTheVectorUnitAndTinyGroupsByLatency) {
  EXPECT_EQ(TimeOfRoot("ENTRY main { a = f32[4096,1024] parameter(0) ROOT c = f32[4096,1024] sine(a) }").bound, Bound::kVector);
  EXPECT_EQ(TimeOfRoot("ENTRY main { a = f32[8,128] parameter(0) ROOT c = f32[8,128] negate(a) }").bound, Bound::kLatency);
}

TEST(ChipModelTest, FullPrecisionTakesSixPasses) {
  const auto dot = [](absl::string_view precision) {
    return static_cast<double>(TimeOfRoot(absl::StrCat(R"(ENTRY main {
      a = f32[2048,2048] parameter(0)
      b = f32[2048,2048] parameter(1)
      ROOT c = f32[2048,2048] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0})", precision, " }")).picoseconds);
  };
  EXPECT_NEAR(dot(", operand_precision={highest,highest}") / dot(""), 6, 0.6);
}

TEST(ChipModelTest, BothOperandsOfAProductAreReadEvenIfTheyAreOneArray) {
  const auto product = [](absl::string_view right) {
    return TimeOfRoot(absl::StrCat(R"(ENTRY main {
      a = f32[256,256,256] parameter(0)
      b = f32[256,256,256] parameter(1)
      ROOT c = f32[256,256,256] dot(a, )", right, R"(), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2},
          rhs_contracting_dims={2} })")).picoseconds;
  };
  EXPECT_EQ(product("a"), product("b"));
}

TEST(ChipModelTest, ZerosOfADilatedInputAreNotMultipliedAndFewImagesPassAsManyRowsAsATile) {
  const auto transposed = [](int images) {
    return ConvolutionTime(absl::StrCat("ENTRY main { x = bf16[", images, R"(,8,8,512] parameter(0)
      w = bf16[4,4,512,256] parameter(1)
      ROOT c = bf16[)", images, R"(,16,16,256] convolution(x, w), window={size=4x4 pad=2_2x2_2 lhs_dilate=2x2},
          dim_labels=b01f_01io->b01f })"));
  };
  // As many multiplications as a convolution of 2 x 2 positions has, 17.2 G for 64 images, in half of each pass: 558 us.
  EXPECT_NEAR(transposed(64), 581.7, 25);  // Google's compiler.
  EXPECT_NEAR(transposed(64) / transposed(128), 1, 0.05);
  EXPECT_NEAR(transposed(256) / transposed(128), 2, 0.1);
}

TEST(ChipModelTest, AConvolutionChannelByChannelRunsOnTheVectorUnit) {
  const GroupTime time = TimeOfRoot(R"(ENTRY main {
    x = bf16[32,28,28,256] parameter(0)
    w = bf16[5,5,1,256] parameter(1)
    ROOT c = bf16[32,28,28,256] convolution(x, w), window={size=5x5 pad=2_2x2_2}, dim_labels=b01f_01io->b01f,
        feature_group_count=256 })");
  EXPECT_EQ(time.bound, Bound::kVector);
}

TEST(ChipModelTest, ASliceOfTheFirstTilesCostsNothing) {
  const auto slice = [](int rows) {
    return TimeOfRoot(absl::StrCat("ENTRY main { x = f32[4,129,256] parameter(0) ROOT s = f32[4,", rows, R"(,256] slice(x),
        slice={[0:4],[0:)", rows, "],[0:256]} }")).picoseconds;
  };
  EXPECT_EQ(slice(136 - 7), 0);
  EXPECT_GT(slice(64), 0);
}

TEST(ChipModelTest, WhatCostsNothingHasNoTime) {
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Module> module, ParseModule(R"(
  add { x = f32[] parameter(0) y = f32[] parameter(1) ROOT z = f32[] add(x, y) }
  ENTRY main {
    a = f32[8] parameter(0)
    c = f32[8] constant({1,2,3,4,5,6,7,8})
    t = (f32[8], f32[8]) tuple(a, c)
    g = f32[8] get-tuple-element(t), index=1
    ROOT r = f32[8] all-reduce(g), to_apply=add })"));
  ChipModel model(TpuV3Core());
  for (const auto& op : module->entry()->instructions()) {
    EXPECT_EQ(model.TimeOf(*op).picoseconds, 0) << op->name();
    EXPECT_EQ(model.TimeOf(*op).bound, Bound::kNothing) << op->name();
  }
}

TEST(ChipModelTest, EveryOpAloneHasAFiniteTime) {
  // Ops that no pass rewrites, empty arrays and arrays of many dimensions among them.
  for (const absl::string_view body : {
           "x = f32[0,128] parameter(0) ROOT r = f32[0,128] negate(x)",
           "x = f32[] parameter(0) ROOT r = f32[] negate(x)",
           "x = c64[16,16] parameter(0) ROOT r = c64[16,16] fft(x), fft_type=FFT, fft_length={16}",
           "x = f32[8,8] parameter(0) ROOT r = f32[8,8] cholesky(x), lower=true",
           "x = f32[4,0] parameter(0) y = f32[0,8] parameter(1) ROOT r = f32[4,8] dot(x, y), lhs_contracting_dims={1}, "
           "rhs_contracting_dims={0}",
           "x = f32[1,1,1,1,1,1,3] parameter(0) ROOT r = f32[1,1,1,1,1,1,3] negate(x)",
           "x = f32[9,7] parameter(0) i = s32[3,1] parameter(1) ROOT r = f32[3,7] gather(x, i), offset_dims={1}, "
           "collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,7}",
       }) {
    SCOPED_TRACE(body);
    const GroupTime time = TimeOfRoot(absl::StrCat("ENTRY main { ", body, " }"));
    EXPECT_GE(time.picoseconds, 0);
    EXPECT_LT(time.picoseconds, 1'000'000'000);
  }
}

}  // namespace
}  // namespace toroid
