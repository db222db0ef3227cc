// Times of single groups: what bounds them, and figures known in advance.
#include "simulator/chip/chip_model.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "hlo/io/hlo_text.h"
#include "simulator/compiler/lower.h"
#include "simulator/machines/tpu_v3_core.h"
#include "tests/status_matchers.h"
#include "tests/tolerances.h"

namespace toroid {
namespace {

// The time of the root of the lowered program.
GroupTime TimeOfRoot(absl::string_view text) {
  auto module = ParseModule(text);
  EXPECT_OK(module.status());
  auto lowered = Lower(**module, TpuV3Core());
  EXPECT_OK(lowered.status());
  ChipModel model(TpuV3Core());
  return model.TimeOf(*(*lowered)->entry()->root());
}

// Microseconds of all instructions of the lowered program for which `counts` returns true.
double TimeOf(absl::string_view text, bool (*counts)(const Instruction&)) {
  auto module = ParseModule(text);
  EXPECT_OK(module.status());
  auto lowered = Lower(**module, TpuV3Core());
  EXPECT_OK(lowered.status());
  ChipModel model(TpuV3Core());
  double sum = 0;
  for (const auto& op : (*lowered)->entry()->instructions()) {
    if (counts(*op)) sum += static_cast<double>(model.TimeOf(*op).picoseconds) * 1e-6;
  }
  return sum;
}
double ConvolutionTime(absl::string_view text) {
  return TimeOf(text, [](const Instruction& op) { return op.opcode() == Opcode::kConvolution; });
}
double TotalTime(absl::string_view text) {
  return TimeOf(text, [](const Instruction&) { return true; });
}

TEST(ChipModelTest, ALargeDotReachesNineTenthsOfThePeakAndIsBoundByMatrixUnits) {
  const GroupTime time = TimeOfRoot(R"(ENTRY main {
    a = bf16[4096,4096] parameter(0)
    b = bf16[4096,4096] parameter(1)
    ROOT c = bf16[4096,4096] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0} })");
  EXPECT_EQ(time.bound, Bound::kMatrix);
  EXPECT_EQ(time.flops, 2.0 * 4096 * 4096 * 4096);
  // Two units of 128 x 128 multiply and add at 940 MHz.
  EXPECT_THAT(time.roofline_picoseconds, IsWithin(kRounding, time.flops / (2 * 2 * 128 * 128) / 0.94e-3));
  EXPECT_GT(time.picoseconds, time.roofline_picoseconds);
  EXPECT_THAT(time.picoseconds, IsWithin(kTenPercent, time.roofline_picoseconds));
  EXPECT_THAT(time.picoseconds, IsWithin(kTwoPercent, 2342.0e6));  // The compiler's.
}

// 64 MiB in, 64 MiB out: what is read passes at 448 bytes a cycle, what is written as fast or, as measured, slower.
TEST(ChipModelTest, WhatIsWrittenPassesMemoryAtARateOfItsOwn) {
  ASSERT_OK_AND_ASSIGN(
      const auto module,
      ParseModule("ENTRY main { x = f32[4096,4096] parameter(0) ROOT y = f32[4096,4096] negate(x) }"));
  ASSERT_OK_AND_ASSIGN(const auto lowered, Lower(*module, TpuV3Core()));
  const auto microseconds = [&](const CoreSpec& core) {
    return static_cast<double>(ChipModel(core).TimeOf(*lowered->entry()->root()).picoseconds) * 1e-6;
  };
  const double bytes = 64 << 20, read = bytes / 421.1e3, written = bytes / (0.62 * 450e3);
  EXPECT_THAT(microseconds(TpuV3Core()), IsWithin(kTenPercent, 2 * read));  // And windows.
  EXPECT_THAT(microseconds(TpuV3Core()), IsWithin(kTwoPercent, 345.6));     // The compiler's.
  EXPECT_THAT(microseconds(TpuV3Core(Rates::kMeasured)) - microseconds(TpuV3Core()),
              IsWithin(kTwoPercent, written - read));
}

// 2,048 x 512 elements in windows of 128: an addition for each, two a cycle of a register, beside what windows take to begin.
TEST(ChipModelTest, AsMeasuredWindowsOfACumulativeSumAddElementByElement) {
  constexpr char kText[] = R"(
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }
ENTRY main { x = f32[16,128,512] parameter(0) z = f32[] constant(0)
  ROOT r = f32[16,128,512] reduce-window(x, z), window={size=1x128x1 pad=0_0x127_0x0_0}, to_apply=add })";
  ASSERT_OK_AND_ASSIGN(const auto module, ParseModule(kText));
  const auto cycles = [&](const CoreSpec& core) {
    return static_cast<double>(ChipModel(core).TimeOf(*module->entry()->root()).picoseconds) * 1e-12 *
           core.clock_hertz();
  };
  EXPECT_THAT(cycles(TpuV3Core(Rates::kMeasured)), IsWithin(kTenPercent, 0.5 * 128 * 2048 * 512 / 1024));
}

// Steps of a chain: `step`, $ being what was made last; x and y are arrays, c and d scalars everywhere.
double ChainTime(absl::string_view shape, absl::string_view step, int steps) {
  std::string text = absl::StrCat("ENTRY main { x = ", shape, " parameter(0) y = ", shape,
                                  " parameter(1) s = ", shape.substr(0, 3), "[] constant(2) c = ", shape,
                                  " broadcast(s), dimensions={} p0 = ", shape, " negate(x)\n");
  for (int i = 1; i <= steps; ++i) {
    absl::StrAppend(&text, i == steps ? "ROOT " : "", "p", i, " = ", shape, " ",
                    absl::StrReplaceAll(step, {{"$", absl::StrCat("p", i - 1)}}), "\n");
  }
  return static_cast<double>(TimeOfRoot(text + "}").picoseconds) * 1e-6;
}

// As Google's compiler estimates them.
TEST(ChipModelTest, ChainsTakeSlotsAndALoadForEachArrayThatAStepReads) {
  EXPECT_THAT(ChainTime("f32[2048,1024]", "add($, y)", 32), IsWithin(kTwoPercent, 111.2));
  EXPECT_THAT(ChainTime("f32[2048,1024]", "tanh($)", 32), IsWithin(kTwoPercent, 76.0));
  EXPECT_THAT(ChainTime("f32[2048,1024]", "floor($)", 32), IsWithin(kTwoPercent, 110.9));
  EXPECT_THAT(ChainTime("s32[2048,1024]", "remainder($, y)", 8), IsWithin(kFivePercent, 311.6));
  EXPECT_EQ(ChainTime("f32[2048,1024]", "sqrt($)", 32), ChainTime("f32[2048,1024]", "abs($)", 32));
}

TEST(ChipModelTest, ATileOfFewRowsFillsARegister) {
  EXPECT_THAT(ChainTime("f32[21,4,9000]", "add($, y)", 48),
              IsWithin(kTwoPercent, ChainTime("f32[21,8,9000]", "add($, y)", 48)));
  EXPECT_THAT(ChainTime("f32[21,2,9000]", "add($, y)", 48),
              IsWithin(kTwoPercent, ChainTime("f32[21,8,9000]", "add($, y)", 48)));
}

TEST(ChipModelTest, EachSliceOfAnArrayIsReadForItself) {
  const GroupTime time = TimeOfRoot(R"(ENTRY main {
    x = f32[2056,1024] parameter(0)
    a = f32[2048,1024] slice(x), slice={[0:2048], [0:1024]}
    b = f32[2048,1024] slice(x), slice={[1:2049], [0:1024]}
    c = f32[2048,1024] slice(x), slice={[2:2050], [0:1024]}
    d = f32[2048,1024] subtract(a, b)
    ROOT e = f32[2048,1024] add(d, c) })");
  // And the tile at the end of those that do not begin with one.
  EXPECT_EQ(time.bytes, 4.0 * 4 * 2048 * 1024 + 2.0 * 4 * 8 * 1024);
  EXPECT_THAT(time.picoseconds, IsWithin(kTwoPercent, 83.7e6));
}

TEST(ChipModelTest, WhatIsPutTogetherIsReadForEachPieceOfIt) {
  const auto bytes = [](int pieces) {
    std::string text =
        R"(f { x = f32[2048,1024] parameter(0) y = f32[8,1024] parameter(1) c = f32[2056,1024] concatenate(x, y), dimensions={0}
      s0 = f32[2048,1024] slice(c), slice={[0:2048], [0:1024]})";
    for (int i = 1; i < pieces; ++i) {
      absl::StrAppend(&text, " t", i, " = f32[2048,1024] slice(c), slice={[", i, ":", 2048 + i,
                      "], [0:1024]} s", i, " = f32[2048,1024] add(s", i - 1, ", t", i, ")");
    }
    return TimeOfRoot(absl::StrCat(text, " ROOT r = f32[2048,1024] negate(s", pieces - 1, R"() }
      ENTRY main { x = f32[2048,1024] parameter(0) y = f32[8,1024] parameter(1)
        ROOT r = f32[2048,1024] fusion(x, y), kind=kLoop, calls=f })"))
        .bytes;
  };
  // And tiles at the ends of pieces.
  EXPECT_THAT(bytes(5) - bytes(3), IsWithin(kTwoPercent, 2.0 * 4 * 2056 * 1024));
}

TEST(ChipModelTest, PiecesArePutTogetherAlongLanesAndRowsAlike) {
  const auto microseconds = [](absl::string_view piece, absl::string_view whole, int d) {
    return static_cast<double>(TimeOfRoot(absl::StrCat("ENTRY main { a = ", piece, " parameter(0) b = ",
                                                       piece, " parameter(1) ROOT c = ", whole,
                                                       " concatenate(a, b), dimensions={", d, "} }"))
                                   .picoseconds) /
           1e6;
  };
  // As the compiler has them.
  EXPECT_THAT(microseconds("f32[4096,1024]", "f32[4096,2048]", 1), IsWithin(kTwoPercent, 202.1));
  EXPECT_THAT(microseconds("f32[64,64,1024]", "f32[64,128,1024]", 1), IsWithin(kTwoPercent, 202.1));
  EXPECT_THAT(microseconds("f32[16,4,64,1024]", "f32[16,8,64,1024]", 1), IsWithin(kTwoPercent, 202.1));
  EXPECT_THAT(microseconds("f32[64,64,1024]", "f32[128,64,1024]", 0), IsWithin(kFivePercent, 221.7));
  EXPECT_THAT(microseconds("bf16[64,64,1024]", "bf16[64,128,1024]", 1), IsWithin(kTwoPercent, 183.1));
}

// From where the whole begins, even if that is before the piece, in whole tiles; a piece of one tile once.
TEST(ChipModelTest, APieceIsReadFromTheFirstElementOfTheWhole) {
  const auto microseconds = [](absl::string_view a, absl::string_view b, int d) {
    return TotalTime(absl::StrCat("ENTRY main { a = f32", a, " parameter(0) b = f32", b,
                                  " parameter(1) ROOT c = f32[128,64,1024] concatenate(a, b), dimensions={",
                                  d, "} }"));
  };
  // As the compiler has them; rows and lanes that fill no tiles would be copied before.
  EXPECT_THAT(microseconds("[128,64,128]", "[128,64,896]", 2), IsWithin(kTwoPercent, 172.6));
  EXPECT_THAT(microseconds("[128,64,640]", "[128,64,384]", 2), IsWithin(kTwoPercent, 212.0));
  EXPECT_THAT(microseconds("[128,8,1024]", "[128,56,1024]", 1), IsWithin(kTwoPercent, 172.6));
  EXPECT_THAT(microseconds("[128,40,1024]", "[128,24,1024]", 1), IsWithin(kTwoPercent, 212.0));
  EXPECT_THAT(microseconds("[128,56,1024]", "[128,8,1024]", 1), IsWithin(kTwoPercent, 162.8));
}

// x * 2 and its neighbours on both sides, zero beyond the edges, as the compiler has them.
TEST(ChipModelTest, WhatIsPaddedIsReadInWholeTilesForEachSlice) {
  const auto microseconds = [](absl::string_view padded, absl::string_view padding, absl::string_view low,
                               absl::string_view high) {
    return TotalTime(absl::StrCat(
        "ENTRY main { x = f32[64,64,256] parameter(0) zero = f32[] constant(0) two = f32[] constant(2) b = f32[64,64,256] broadcast(two), dimensions={} p = f32",
        padded, " pad(x, zero), padding=", padding,
        " m = f32[64,64,256] multiply(x, b) s = f32[64,64,256] slice(p), slice={", low,
        "} t = f32[64,64,256] slice(p), slice={", high,
        "} u = f32[64,64,256] add(m, s) ROOT v = f32[64,64,256] add(u, t) }"));
  };
  EXPECT_THAT(
      microseconds("[66,64,256]", "1_1x0_0x0_0", "[0:64], [0:64], [0:256]", "[2:66], [0:64], [0:256]"),
      IsWithin(kTwoPercent, 42.3));
  EXPECT_THAT(
      microseconds("[64,66,256]", "0_0x1_1x0_0", "[0:64], [0:64], [0:256]", "[0:64], [2:66], [0:256]"),
      IsWithin(kTwoPercent, 44.7));
  EXPECT_THAT(
      microseconds("[64,64,258]", "0_0x0_0x1_1", "[0:64], [0:64], [0:256]", "[0:64], [0:64], [2:258]"),
      IsWithin(kTwoPercent, 52.2));
}

// As the compiler has them.
TEST(ChipModelTest, TilesOfFewRowsAreKeptAsWholeRegisters) {
  const auto microseconds = [](int n) {
    return TotalTime(absl::StrReplaceAll(
        R"(ENTRY main { x = f32[131072,#] parameter(0) c = f32[] constant(2) b = f32[131072,#] broadcast(c), dimensions={}
      m = f32[131072,#] multiply(x, b) ROOT r = f32[131072,#] add(m, b) })",
        {{"#", absl::StrCat(n)}}));
  };
  EXPECT_THAT(microseconds(2), IsWithin(kFivePercent, 16.5));
  EXPECT_THAT(microseconds(3), IsWithin(kTwoPercent, 21.4));
  EXPECT_THAT(microseconds(4), IsWithin(kTwoPercent, 21.4));
  EXPECT_THAT(microseconds(7), IsWithin(kTwoPercent, 21.4));
}

// x[:, 0] * x[:, 1] + 1; with w[N] in place of 1 what is cut is written first. As the compiler has them.
TEST(ChipModelTest, ColumnsOfATableAreReadWithTheirTiles) {
  const auto microseconds = [](int n, bool meets_vector) {
    return TotalTime(absl::StrReplaceAll(
        absl::StrCat(R"(ENTRY main { x = f32[131072,#] parameter(0)
      a = f32[131072,1] slice(x), slice={[0:131072], [0:1]} b = f32[131072,1] slice(x), slice={[0:131072], [1:2]}
      c = f32[131072] reshape(a) d = f32[131072] reshape(b) m = f32[131072] multiply(c, d) )",
                     meets_vector ? "w = f32[131072] parameter(1)"
                                  : "one = f32[] constant(1) w = f32[131072] broadcast(one), dimensions={}",
                     " ROOT r = f32[131072] add(m, w) }"),
        {{"#", absl::StrCat(n)}}));
  };
  EXPECT_THAT(microseconds(2, false), IsWithin(kTwoPercent, 17.3));
  EXPECT_THAT(microseconds(4, false), IsWithin(kTwoPercent, 22.1));
  EXPECT_THAT(microseconds(8, false), IsWithin(kTwoPercent, 31.9));
  EXPECT_THAT(microseconds(13, false), IsWithin(kTwoPercent, 31.9));
  EXPECT_THAT(microseconds(4, true) - microseconds(4, false), IsWithin(kTwoPercent, 4.4));
}

TEST(ChipModelTest, ARemainderByAPowerOfTwoTakesBits) {
  const auto bound = [](int by) {
    return TimeOfRoot(absl::StrCat("f { p = s32[1024,1024] parameter(0) c = s32[] constant(", by,
                                   R"() b = s32[1024,1024] broadcast(c), dimensions={}
      m = s32[1024,1024] remainder(p, b) n = s32[1024,1024] add(m, p) o = s32[1024,1024] remainder(n, b) ROOT r = s32[1024,1024] add(o, p) }
      ENTRY main { x = s32[1024,1024] parameter(0) ROOT y = s32[1024,1024] fusion(x), kind=kLoop, calls=f })"))
        .bound;
  };
  EXPECT_EQ(bound(8), Bound::kMemory);
  EXPECT_EQ(bound(7), Bound::kVector);
}

TEST(ChipModelTest, RowsOfNarrowTilesAreSummedOneByOne) {
  EXPECT_THAT(static_cast<double>(
                  TimeOfRoot(R"(s { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }
    ENTRY main { x = f32[16,64,2,128] parameter(0) z = f32[] constant(0)
      ROOT r = f32[16,64,128] reduce(x, z), dimensions={2}, to_apply=s })")
                      .picoseconds) /
                  1e6,
              IsWithin(kTwoPercent, 13.6));
}

TEST(ChipModelTest, ACopyIsAsFastAsMemory) {
  const GroupTime time = TimeOfRoot(R"(ENTRY main {
    x = f32[16,1024,512] parameter(0)
    t = f32[1024,16,512] transpose(x), dimensions={1,0,2}
    ROOT r = f32[1024,16,512] copy(t) })");
  EXPECT_THAT(time.picoseconds, IsWithin(kTwoPercent, 162e6));
}

TEST(ChipModelTest, AnAdditionIsBoundByMemory) {
  const GroupTime time = TimeOfRoot(R"(ENTRY main {
    a = f32[4096,1024] parameter(0)
    b = f32[4096,1024] parameter(1)
    ROOT c = f32[4096,1024] add(a, b) })");
  EXPECT_EQ(time.bound, Bound::kMemory);
  EXPECT_EQ(time.bytes, 3.0 * 4 * 4096 * 1024);
  // 50.3 MB at 450 GB/s.
  EXPECT_THAT(time.roofline_picoseconds, IsWithin(kRounding, time.bytes / 0.45));
}

TEST(ChipModelTest, APaddedRowCostsAsMuchAsAFullOne) {
  const auto add = [](int rows, int columns) {
    const std::string shape = absl::StrCat("bf16[", rows, ",", columns, "]");
    return TimeOfRoot(
               absl::StrCat("ENTRY main { a = ", shape, " parameter(0) ROOT c = ", shape, " add(a, a) }"))
        .picoseconds;
  };
  EXPECT_EQ(add(8001, 1000), add(8008, 1000));
  EXPECT_LT(add(8000, 1024), add(8000, 1152));
}

TEST(ChipModelTest, SinesInGroupsAreBoundByTheVectorUnitAndTinyGroupsByLatency) {
  EXPECT_EQ(
      TimeOfRoot(
          R"(f { p = f32[4096,1024] parameter(0) s = f32[4096,1024] sine(p) ROOT r = f32[4096,1024] add(s, p) }
    ENTRY main { a = f32[4096,1024] parameter(0) ROOT c = f32[4096,1024] fusion(a), kind=kLoop, calls=f })")
          .bound,
      Bound::kVector);
  EXPECT_EQ(TimeOfRoot("ENTRY main { a = f32[8,128] parameter(0) ROOT c = f32[8,128] negate(a) }").bound,
            Bound::kLatency);
}

// Six passes, behind which all is hidden; of one pass windows are larger, and some steps wait for memory.
TEST(ChipModelTest, SixPassesOfFullPrecisionTakeFiveTimesAsLongAsOneThatWaits) {
  const auto dot = [](absl::string_view precision) {
    return static_cast<double>(TimeOfRoot(absl::StrCat(R"(ENTRY main {
      a = f32[2048,2048] parameter(0)
      b = f32[2048,2048] parameter(1)
      ROOT c = f32[2048,2048] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0})",
                                                       precision, " }"))
                                   .picoseconds);
  };
  EXPECT_THAT(dot(", operand_precision={highest,highest}") / dot(""),
              IsWithin(kFivePercent, 5.21));  // The compiler's.
}

// Windows in which both operands change wait for memory, others do not; microseconds of the compiler.
TEST(ChipModelTest, AStepOfAProductWaitsForWhatItAloneLoads) {
  const auto microseconds = [](int m, int k, int n) {
    return static_cast<double>(
               TimeOfRoot(absl::StrCat("ENTRY main { a = f32[", m, ",", k, "] parameter(0) b = f32[", k, ",",
                                       n, "] parameter(1) ROOT c = f32[", m, ",", n,
                                       "] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0} }"))
                   .picoseconds) *
           1e-6;
  };
  EXPECT_THAT(microseconds(2048, 1024, 8192), IsWithin(kTwoPercent, 658.9));
  EXPECT_THAT(microseconds(4096, 1024, 4096), IsWithin(kFivePercent, 621.5));
  EXPECT_THAT(microseconds(2048, 2048, 4096), IsWithin(kFivePercent, 640.9));
  EXPECT_THAT(microseconds(1024, 4096, 4096), IsWithin(kFivePercent, 617.2));
  EXPECT_THAT(microseconds(512, 1024, 8192), IsWithin(kFivePercent, 157.5));
  EXPECT_THAT(microseconds(8192, 1024, 2048), IsWithin(kFivePercent, 602.9));
}

TEST(ChipModelTest, BothOperandsOfAProductAreReadEvenIfTheyAreOneArray) {
  const auto product = [](absl::string_view right) {
    return TimeOfRoot(absl::StrCat(R"(ENTRY main {
      a = f32[256,256,256] parameter(0)
      b = f32[256,256,256] parameter(1)
      ROOT c = f32[256,256,256] dot(a, )",
                                   right,
                                   R"(), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2},
          rhs_contracting_dims={2} })"))
        .picoseconds;
  };
  EXPECT_EQ(product("a"), product("b"));
}

TEST(ChipModelTest, ZerosOfADilatedInputAreNotMultipliedAndFewImagesPassAsManyRowsAsATile) {
  const auto transposed = [](int images) {
    return ConvolutionTime(
        absl::StrCat("ENTRY main { x = bf16[", images, R"(,8,8,512] parameter(0)
      w = bf16[4,4,512,256] parameter(1)
      ROOT c = bf16[)",
                     images, R"(,16,16,256] convolution(x, w), window={size=4x4 pad=2_2x2_2 lhs_dilate=2x2},
          dim_labels=b01f_01io->b01f })"));
  };
  // As many multiplications as a convolution of 2 x 2 positions has, 17.2 G for 64 images, in half of each pass: 558 us.
  EXPECT_THAT(transposed(64), IsWithin(kTwoPercent, 581.7));  // Google's compiler.
  EXPECT_THAT(transposed(64), IsWithin(kTwoPercent, transposed(128)));
  EXPECT_THAT(transposed(256), IsWithin(kTwoPercent, 2 * transposed(128)));
}

// As Google's compiler estimates them.
TEST(ChipModelTest, UnitsWithFeaturesOfTheirOwnDoNotWaitForEachOther) {
  const auto time = [](int size, int features) {
    return ConvolutionTime(absl::StrCat(
        "ENTRY main { x = bf16[2,", size, ",", size, ",", features, "] parameter(0) k = bf16[3,3,", features,
        ",", features, "] parameter(1) ROOT c = bf16[2,", size, ",", size, ",", features,
        "] convolution(x, k), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f }"));
  };
  EXPECT_THAT(time(64, 128), IsWithin(kTwoPercent, 66.2));
  EXPECT_THAT(time(64, 256), IsWithin(kTenPercent, 171.9));
  EXPECT_THAT(time(32, 512), IsWithin(kTwoPercent, 177.2));
}

TEST(ChipModelTest, AConvolutionChannelByChannelRunsOnTheVectorUnit) {
  const GroupTime time = TimeOfRoot(R"(ENTRY main {
    x = bf16[32,28,28,256] parameter(0)
    w = bf16[5,5,1,256] parameter(1)
    ROOT c = bf16[32,28,28,256] convolution(x, w), window={size=5x5 pad=2_2x2_2}, dim_labels=b01f_01io->b01f,
        feature_group_count=256 })");
  EXPECT_EQ(time.bound, Bound::kVector);
}

TEST(ChipModelTest, PredicatesArePackedBeforeTheyAreStored) {
  const auto compare = [](absl::string_view type) {
    return static_cast<double>(
               TimeOfRoot(
                   absl::StrCat(
                       "ENTRY main { x = ", type, "[2048,4096] parameter(0) y = ", type,
                       "[2048,4096] parameter(1) ROOT c = pred[2048,4096] compare(x, y), direction=GT }"))
                   .picoseconds) *
           1e-6;
  };
  EXPECT_THAT(compare("f32"), IsWithin(kTwoPercent, 271.1));  // Google's compiler. 167 us would pass memory.
}

TEST(ChipModelTest, WholeTilesAreJoinedWhereAProductReadsThem) {
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Module> module, ParseModule(R"(ENTRY main {
    x = f32[4096,512] parameter(0)
    y = f32[4096,512] parameter(1)
    w = f32[1024,1024] parameter(2)
    c = f32[4096,1024] concatenate(x, y), dimensions={1}
    ROOT d = f32[4096,1024] dot(c, w), lhs_contracting_dims={1}, rhs_contracting_dims={0} })"));
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Module> lowered, Lower(*module, TpuV3Core()));
  for (const auto& op : lowered->entry()->instructions()) EXPECT_NE(op->opcode(), Opcode::kConcatenate);
  ChipModel model(TpuV3Core());
  EXPECT_THAT(static_cast<double>(model.TimeOf(*lowered->entry()->root()).picoseconds) * 1e-6,
              IsWithin(kFivePercent, 160.4));  // The compiler's.
}

TEST(ChipModelTest, ASliceOfTheFirstTilesCostsNothing) {
  const auto slice = [](int rows) {
    return TimeOfRoot(absl::StrCat("ENTRY main { x = f32[4,129,256] parameter(0) ROOT s = f32[4,", rows,
                                   R"(,256] slice(x),
        slice={[0:4],[0:)",
                                   rows, "],[0:256]} }"))
        .picoseconds;
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

TEST(ChipModelTest, OpsThatNoPassRewritesTakeTheStartOfAGroupAndWhatTheyMove) {
  // Empty arrays and arrays of many dimensions among them.
  constexpr double kStart = 250, kBytesPerCycle = 448;
  const struct {
    const char* body;
    double cycles;
  } cases[] = {
      {"x = f32[0,128] parameter(0) ROOT r = f32[0,128] negate(x)", kStart},
      {"x = f32[] parameter(0) ROOT r = f32[] negate(x)", kStart},
      {"x = c64[16,16] parameter(0) ROOT r = c64[16,16] fft(x), fft_type=FFT, fft_length={16}",
       kStart + 2 * 16 * 128 * 8 / kBytesPerCycle},
      {"x = f32[8,8] parameter(0) ROOT r = f32[8,8] cholesky(x), lower=true",
       kStart + 2 * 8 * 128 * 4 / kBytesPerCycle},
      // The unit is filled, a window begins, and so do three transfers, if of nothing.
      {"x = f32[4,0] parameter(0) y = f32[0,8] parameter(1) ROOT r = f32[4,8] dot(x, y), lhs_contracting_dims={1}, "
       "rhs_contracting_dims={0}",
       kStart + 350 + 220 + 3 * 120},
      // 0.273 us in the compiler.
      {"x = f32[1,1,1,1,1,1,3] parameter(0) ROOT r = f32[1,1,1,1,1,1,3] negate(x)", 0.273 * 940},
      // A transfer for each row.
      {"x = f32[9,7] parameter(0) i = s32[3,1] parameter(1) ROOT r = f32[3,7] gather(x, i), offset_dims={1}, "
       "collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,7}",
       kStart + 3 * 100},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.body);
    const GroupTime time = TimeOfRoot(absl::StrCat("ENTRY main { ", c.body, " }"));
    EXPECT_THAT(static_cast<double>(time.picoseconds) * 0.94e-3, IsWithin(kTwoPercent, c.cycles));
  }
}

// 16 images; each position takes as long as the smaller side of a tile of the kernel has rows, but no less than the images.
TEST(ChipModelTest, ATransposedConvolutionOfFewFeaturesLoadsSmallTiles) {
  const auto time = [](int inputs, int outputs) {
    return ConvolutionTime(absl::StrCat(
        "ENTRY main { x = bf16[16,16,16,", inputs, "] parameter(0) k = bf16[4,4,", inputs, ",", outputs,
        "] parameter(1) ROOT c = bf16[16,32,32,", outputs,
        "] convolution(x, k), window={size=4x4 pad=2_2x2_2 lhs_dilate=2x2}, dim_labels=b01f_01io->b01f }"));
  };
  EXPECT_THAT(time(128, 128), IsWithin(kFivePercent, 287.6));
  EXPECT_THAT(time(64, 128), IsWithin(kTwoPercent, 147.6));
  EXPECT_THAT(time(128, 64), IsWithin(kTwoPercent, 147.6));
  EXPECT_THAT(time(128, 8), IsWithin(kTwoPercent, 40.7));
}

TEST(ChipModelTest, TheGradientOfADepthwiseKernelNeedsNoMatrixUnit) {
  const double time = ConvolutionTime(R"(ENTRY main {
    x = bf16[8,28,28,192] parameter(0) y = bf16[8,28,28,192] parameter(1)
    ROOT c = bf16[3,3,1,192] convolution(x, y), window={size=28x28 pad=1_1x1_1}, dim_labels=f01b_i01o->01bf, batch_group_count=192 })");
  EXPECT_THAT(time, IsWithin(kTwoPercent, 32.2));
}

constexpr char kKernelGradient[] = R"(ENTRY main {
    x = bf16[8,32,32,128] parameter(0)
    g = bf16[8,64,64,64] parameter(1)
    ROOT y = f32[4,4,128,64] convolution(x, g), window={size=64x64 pad=2_2x2_2 lhs_dilate=2x2}, dim_labels=f01b_i01o->01bf })";

// The gradient of a transposed convolution's kernel, as it is written: a large array slides. Each of its 64 x 64 positions
// passes 4 x 4 places of 128 features through two units, a quarter of them no zeros; there is no window for each row.
TEST(ChipModelTest, WhatSlidesIsCutByPositions) {
  ASSERT_OK_AND_ASSIGN(const auto module, ParseModule(kKernelGradient));
  ChipModel model(TpuV3Core());
  const double time = static_cast<double>(model.TimeOf(*module->entry()->root()).picoseconds) * 1e-6;
  EXPECT_THAT(time, IsWithin(kTwoPercent, 64 * 64 * (4 * 4 * 128 / 2 / 4) * 1.03 / 940));
}

// The convolution alone, without the reversal of 86.7 us. Expected: the estimate of Google's compiler.
TEST(ChipModelTest, AKernelsGradientSlidesOverWhatIsReversed) {
  EXPECT_THAT(ConvolutionTime(kKernelGradient), IsWithin(kFivePercent, 42.9));
}

// The gradient contracts over 2 images, which fill tiles. Expected: the estimate of Google's compiler.
TEST(ChipModelTest, AKernelsGradientOfFewImagesFillsTiles) {
  EXPECT_THAT(
      ConvolutionTime(R"(ENTRY main { x = bf16[2,65,65,256] parameter(0) g = bf16[2,65,65,256] parameter(1)
    ROOT c = bf16[3,3,256,256] convolution(x, g), window={size=65x65 stride=2x2 pad=2_2x2_2}, dim_labels=f01b_i01o->01bf })"),
      IsWithin(kFivePercent, 187.5));
}

TEST(ChipModelTest, ImagesAreRowsOfTiles) {
  const auto time = [](int images) {
    return ConvolutionTime(absl::StrCat(
        "ENTRY main { x = bf16[", images,
        ",56,56,128] parameter(0) k = bf16[3,3,128,128] parameter(1) "
        "ROOT c = bf16[",
        images,
        ",56,56,128] convolution(x, k), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f }"));
  };
  EXPECT_THAT(time(12), IsWithin(kTwoPercent, time(16)));
  EXPECT_THAT(time(16), IsWithin(kFivePercent, 254.9));
  EXPECT_THAT(time(5), IsWithin(kFivePercent, 84.7));
}

// Estimates of Google's compiler, in microseconds.
TEST(ChipModelTest, AKernelsFeaturesFillWholeTilesAndItsRowsSharePartsOfThem) {
  const auto time = [](int in, int out) {
    return ConvolutionTime(
        absl::StrCat("ENTRY main { x = bf16[16,28,28,", in, "]{3,0,2,1} parameter(0) w = bf16[3,3,", in, ",",
                     out, "] parameter(1) ROOT y = bf16[16,28,28,", out,
                     "] convolution(x, w), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f }"));
  };
  EXPECT_THAT(time(128, 144), IsWithin(kFivePercent, 129.7));
  EXPECT_THAT(time(128, 256), IsWithin(kFivePercent, 130.3));
  EXPECT_THAT(time(144, 128), IsWithin(kFivePercent, 89.0));
  EXPECT_THAT(time(192, 128), IsWithin(kFivePercent, 89.3));
  EXPECT_THAT(time(224, 128), IsWithin(kTwoPercent, 106.4));
  EXPECT_THAT(time(320, 128), IsWithin(kFivePercent, 131.5));
}

// The same, of kernels whose features fill half of a tile.
TEST(ChipModelTest, PositionsOfHalfATilePassByTwoUnlessTheirResultsFillLess) {
  const auto time = [](int in, int out, int kernel) {
    return ConvolutionTime(
        absl::StrCat("ENTRY main { x = bf16[32,32,32,", in, "] parameter(0) w = bf16[", kernel, ",", kernel,
                     ",", in, ",", out, "] parameter(1) ROOT y = bf16[32,32,32,", out,
                     "] convolution(x, w), window={size=", kernel, "x", kernel, " pad=", kernel / 2, "_",
                     kernel / 2, "x", kernel / 2, "_", kernel / 2, "}, dim_labels=01bf_01io->01bf }"));
  };
  EXPECT_THAT(time(64, 64, 3), IsWithin(kTwoPercent, 100.5));
  EXPECT_THAT(time(64, 128, 3), IsWithin(kTwoPercent, 100.5));
  EXPECT_THAT(time(64, 256, 3), IsWithin(kFivePercent, 167.5));
  EXPECT_THAT(time(64, 32, 3), IsWithin(kFivePercent, 167.8));
  EXPECT_THAT(time(192, 64, 3), IsWithin(kFivePercent, 327.1));
}

TEST(ChipModelTest, ImagesOfFewChannelsStayAlongLanesOrFillHalfATileForEachPlace) {
  const auto time = [](int images, int side, int in, int out, int kernel) {
    const std::string pad = absl::StrCat(kernel / 2, "_", kernel / 2);
    return ConvolutionTime(absl::StrCat("ENTRY main { x = f32[", images, ",", side, ",", side, ",", in,
                                        "] parameter(0) w = f32[", kernel, ",", kernel, ",", in, ",", out,
                                        "] parameter(1) ROOT y = f32[", images, ",", side, ",", side, ",",
                                        out, "] convolution(x, w), window={size=", kernel, "x", kernel,
                                        " pad=", pad, "x", pad, "}, dim_labels=b01f_01io->b01f }"));
  };
  EXPECT_THAT(time(512, 28, 1, 64, 3), IsWithin(kTwoPercent, 267.3));
  EXPECT_THAT(time(128, 28, 1, 32, 5), IsWithin(kTwoPercent, 38.1));
  EXPECT_THAT(time(8, 128, 1, 16, 3), IsWithin(kFivePercent, 573.7));
  EXPECT_THAT(time(16, 64, 3, 32, 5), IsWithin(kFivePercent, 150.7));
}

TEST(ChipModelTest, AnImageOfOneChannelIsCopiedIntoATileForEachPlace) {
  // Copies of 167.6 and 196.5 us around a convolution of 573.7.
  EXPECT_THAT(TotalTime(R"(ENTRY main { x = f32[8,128,128,1] parameter(0) w = f32[3,3,1,16] parameter(1)
    ROOT y = f32[8,128,128,16] convolution(x, w), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f })"),
              IsWithin(kTwoPercent, 937.7));
}

TEST(ChipModelTest, AKernelOfOneRowReadsTheRowsOnWhichItStands) {
  EXPECT_THAT(
      ConvolutionTime(R"(ENTRY main { x = f32[16,56,56,256] parameter(0) w = f32[1,1,256,512] parameter(1)
    ROOT y = f32[16,28,28,512] convolution(x, w), window={size=1x1 stride=2x2}, dim_labels=b01f_01io->b01f })"),
      IsWithin(kFivePercent, 136.7));
}

TEST(ChipModelTest, TransposesOfLargeMatricesTakeMoreForEachTile) {
  const auto time = [](int batch, int rows, int columns, absl::string_view type) {
    return TotalTime(absl::StrCat("ENTRY main { x = ", type, "[", batch, ",", rows, ",", columns,
                                  "] parameter(0) ROOT t = ", type, "[", batch, ",", columns, ",", rows,
                                  "] transpose(x), dimensions={0,2,1} }"));
  };
  EXPECT_THAT(time(8, 512, 512, "f32"), IsWithin(kTwoPercent, 43.7));
  EXPECT_THAT(time(8, 512, 512, "bf16"), IsWithin(kTwoPercent, 43.7));
  EXPECT_THAT(time(2, 2048, 2048, "f32"), IsWithin(kTwoPercent, 190.6));
}

TEST(ChipModelTest, NarrowTilesAreCopiedOneByOne) {
  const auto time = [](absl::string_view type, int heads) {
    return TotalTime(
        absl::StrCat("ENTRY main { x = ", type, "[8,1024,", heads, ",128] parameter(0) y = ", type, "[8,1,",
                     heads, ",128] parameter(1) i = s32[] parameter(2) z = s32[] constant(0) ROOT u = ", type,
                     "[8,1024,", heads, ",128] dynamic-update-slice(x, y, z, i, z, z) }"));
  };
  EXPECT_THAT(time("bf16", 4), IsWithin(kTwoPercent, 122.9));
  EXPECT_THAT(time("f32", 2), IsWithin(kFivePercent, 121.8));
  EXPECT_THAT(time("f32", 8), IsWithin(kTwoPercent, 161.8));
}

TEST(ChipModelTest, RowsOfTilesBesideEachOtherMoveOneByOneToAVector) {
  // In groups of four, two and eight; the last fill whole tiles, as those that already lie below each other do.
  const auto time = [](absl::string_view sizes, absl::string_view vector) {
    return TotalTime(
        absl::StrCat("ENTRY main { x = f32", sizes, " parameter(0) ROOT v = f32", vector, " reshape(x) }"));
  };
  const double four = time("[2048,512]", "[1048576]"), two = time("[4096,256]", "[1048576]"),
               eight = time("[1024,1024]", "[1048576]"), one = time("[8192,128]", "[1048576]");
  EXPECT_GT(two, four);
  EXPECT_GT(four, eight);
  EXPECT_LE(one, eight);
  // An exception: a vector of 262,144 in 8.0 us, 10.8 in the compiler, which hides less of what it loads and stores.
  EXPECT_THAT(time("[512,512]", "[262144]"), IsWithin(0.27, 10.82));
}

TEST(ChipModelTest, AConvolutionRunsInsideOfOneOfASinglePosition) {
  const auto time = [](int images, int side, int in, int out, absl::string_view type) {
    const std::string places = absl::StrCat("[", side, ",", side, ",", images, ",");
    return TotalTime(absl::StrCat(
        "ENTRY main { x = ", type, places, in, "] parameter(0) w = ", type, "[3,3,", in, ",", in,
        "] parameter(1) v = ", type, "[1,1,", in, ",", out, "] parameter(2) y = ", type, places, in,
        "] convolution(x, w), window={size=3x3 pad=1_1x1_1}, dim_labels=01bf_01io->01bf t = ", type, places,
        in, "] negate(y) ROOT z = ", type, places, out,
        "] convolution(t, v), window={size=1x1}, dim_labels=01bf_01io->01bf }"));
  };
  EXPECT_THAT(time(32, 28, 64, 64, "f32"), IsWithin(kTwoPercent, 94.3));
  EXPECT_THAT(time(8, 28, 128, 512, "bf16"), IsWithin(kTenPercent, 67.7));
  // Weights of both are more than stay.
  EXPECT_THAT(time(8, 28, 256, 1024, "f32"), IsWithin(kTwoPercent, 214.6));
}

TEST(ChipModelTest, OfImagesAlongLanesATileIsLoadedForEachPlace) {
  EXPECT_THAT(ConvolutionTime(
                  R"(ENTRY main { x = bf16[32,32,64,32]{2,3,1,0} parameter(0) w = bf16[3,3,32,32] parameter(1)
    ROOT y = bf16[32,32,64,32]{2,3,1,0} convolution(x, w), window={size=3x3 pad=1_1x1_1}, dim_labels=01bf_01io->01bf })"),
              IsWithin(kTwentyPercent, 202.9));
}

TEST(ChipModelTest, SumsOfAProductOfAProductPassThroughMemory) {
  const auto time = [](int rows, int in, int between, int out) {
    return static_cast<double>(
               TimeOfRoot(
                   absl::StrCat(
                       "ENTRY main { x = bf16[", rows, ",", in, "] parameter(0) w = bf16[", in, ",", between,
                       "] parameter(1) v = bf16[", between, ",", out, "] parameter(2) a = bf16[", rows, ",",
                       between,
                       "] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0} ROOT b = bf16[", rows,
                       ",", out, "] dot(a, v), lhs_contracting_dims={1}, rhs_contracting_dims={0} }"))
                   .picoseconds) *
           1e-6;
  };
  EXPECT_THAT(time(2048, 256, 512, 512), IsWithin(kTwoPercent, 47.1));
  EXPECT_THAT(time(2048, 256, 1024, 512), IsWithin(kFivePercent, 86.0));
  EXPECT_THAT(time(2048, 1024, 1024, 1024), IsWithin(kFivePercent, 213.5));
}

TEST(ChipModelTest, RowsOfNarrowTilesAreSpreadOneByOne) {
  const auto time = [](int pieces) {
    const std::string shape = absl::StrCat("f32[4096,512,", pieces, "]");
    return static_cast<double>(
               TimeOfRoot(absl::StrCat("ENTRY main { x = ", shape, " parameter(0) r = f32[4096,", pieces,
                                       "] parameter(1) b = ", shape,
                                       " broadcast(r), dimensions={0,2} ROOT m = ", shape,
                                       " multiply(x, b) }"))
                   .picoseconds) *
           1e-6;
  };
  EXPECT_THAT(time(2), IsWithin(kTwoPercent, 243.4));
  // Memory takes as long.
  EXPECT_THAT(time(8), IsWithin(kTwoPercent, 321.9));
}

}  // namespace
}  // namespace toroid
