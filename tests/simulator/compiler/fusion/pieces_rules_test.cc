// Pieces that are cut from arrays (layers, columns, single rows), and ops on them: each rule on a small program.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/simulator/compiler/lowered_programs.h"
#include "tests/tolerances.h"

namespace toroid {
namespace {

using ::testing::ElementsAre;

// x[:, 3] * x[:, 4], or x[:, 3] alone.
std::string Tokens(int batch, int tokens, int features, bool both) {
  const auto slice = [&](int t) {
    return absl::StrCat("f32[", batch, ",1,", features, "] slice(x), slice={[0:", batch, "], [", t, ":",
                        t + 1, "], [0:", features, "]}");
  };
  const std::string layer = absl::StrCat("f32[", batch, ",", features, "]");
  return absl::StrCat(" x = f32[", batch, ",", tokens, ",", features, "] parameter(0) a = ", slice(3),
                      " b = ", slice(both ? 4 : 3), " c = ", layer, " reshape(a) d = ", layer,
                      " reshape(b) ROOT r = ", layer, " multiply(c, d)");
}

TEST(PiecesRulesTest, SeveralLayersOfAnArgumentAreCutFromACopyInWhichTheyAreOutermost) {
  EXPECT_THAT(Groups(Tokens(64, 128, 256, true)), ElementsAre("copy", "loop"));
  ExpectSameValues(Tokens(4, 8, 16, true));
  // 42.0 us, as the compiler has it.
  EXPECT_THAT(Microseconds(Tokens(64, 128, 256, true)), IsWithin(kTwoPercent, 42.0));
}

TEST(PiecesRulesTest, WhatIsButSpreadOverABatchIsReadAtNoCost) {
  // Positions added to tokens.
  EXPECT_THAT(Microseconds(R"( x = f32[2,512,1024] parameter(0) p = f32[512,1024] parameter(1)
    b = f32[2,512,1024] broadcast(p), dimensions={1,2}
    ROOT s = f32[2,512,1024] add(x, b) )"),
              IsWithin(kTwoPercent, 21.65));
}

TEST(PiecesRulesTest, SumsStayOnTheChipIfThereIsRoomForAllOfThem) {
  const auto sum = [](int rows) {
    return Microseconds(absl::StrCat(" x = f32[2,", rows,
                                     ",1024] parameter(0) zero = f32[] constant(0) ROOT s = f32[", rows,
                                     ",1024] reduce(x, zero), dimensions={0}, to_apply=sum"));
  };
  EXPECT_THAT(sum(3072), IsWithin(kTwoPercent, 129.63));
  EXPECT_THAT(sum(4096), IsWithin(kTwoPercent, 217.06));
}

TEST(PiecesRulesTest, ColumnsAreWorkedOnAsColumnsAndWrittenAsVectorsForOthers) {
  const auto program = [](int rows) {
    const auto slice = [&](int k) {
      return absl::StrCat("f32[", rows, ",1] slice(x), slice={[0:", rows, "], [", k, ":", k + 1, "]}");
    };
    const std::string vector = absl::StrCat("f32[", rows, "]");
    return absl::StrCat(" x = f32[", rows, ",4] parameter(0) w = ", vector, " parameter(1) a = ", slice(0),
                        " b = ", slice(2), " c = ", vector, " reshape(a) d = ", vector,
                        " reshape(b) e = ", vector, " multiply(c, d) f = ", vector,
                        " add(e, c) ROOT r = ", vector, " multiply(f, w)");
  };
  EXPECT_THAT(Groups(program(131072)), ElementsAre("loop", "loop"));
  ExpectSameValues(program(200));
  ExpectSameValues(program(5));
}

TEST(PiecesRulesTest, ASumOfSumsIsOneSum) {
  const auto program = [](int n) {
    return absl::StrCat(" x = f32[", n, ",", n, ",8] parameter(0) zero = f32[] constant(0) a = f32[", n, ",",
                        n, "] reduce(x, zero), dimensions={2}, to_apply=sum ROOT b = f32[", n,
                        "] reduce(a, zero), dimensions={0}, to_apply=sum");
  };
  EXPECT_THAT(Groups(program(256)), ElementsAre("reduce"));
  ExpectSameValues(program(6));
}

// h_i = h_(i-1) * a + x[i], all of which are results.
TEST(PiecesRulesTest, StepsThatReadLayersAreWrittenBeforeTheyAreMadeAgainTooOften) {
  const auto program = [](int layers) {
    std::string text =
                    absl::StrCat(" x = f32[", layers, ",64,1024] parameter(0) a = f32[64,1024] parameter(1)"),
                results, types;
    for (int i = 0; i < layers; ++i) {
      absl::StrAppend(&text, " s", i, " = f32[1,64,1024] slice(x), slice={[", i, ":", i + 1,
                      "], [0:64], [0:1024]} t", i, " = f32[64,1024] reshape(s", i, ")");
      if (i == 0) absl::StrAppend(&text, " h0 = f32[64,1024] negate(t0)");
      if (i > 0)
        absl::StrAppend(&text, " m", i, " = f32[64,1024] multiply(h", i - 1, ", a) h", i,
                        " = f32[64,1024] add(m", i, ", t", i, ")");
      absl::StrAppend(&text, " n", i, " = bf16[64,1024] convert(h", i, ")");
      absl::StrAppend(&results, i == 0 ? "" : ", ", "n", i);
      absl::StrAppend(&types, i == 0 ? "" : ", ", "bf16[64,1024]");
    }
    return absl::StrCat(text, " ROOT r = (", types, ") tuple(", results, ")");
  };
  // The compiler's.
  EXPECT_EQ(Groups(program(64)).size(), 5u);
  EXPECT_THAT(Microseconds(program(64)), IsWithin(kFivePercent, 141.6));
  // Exceptions: the model has a group for each 16 steps, the compiler smaller ones (10.0 us, 41.0 us).
  EXPECT_THAT(Microseconds(program(8)), IsWithin(0.50, 19.7));
  EXPECT_THAT(Microseconds(program(24)), IsWithin(0.25, 54.0));
}

// Two averages of different arrays and a step that reads both.
TEST(PiecesRulesTest, WhatReadsSeveralGroupsIsMadeWithAllOfThem) {
  EXPECT_THAT(
      Groups(
          R"( g = f32[256,256] parameter(0) m0 = f32[256,256] parameter(1) u = f32[256,256] parameter(2) h0 = f32[256,256] parameter(3)
    p0 = f32[256,256] parameter(4) m = f32[256,256] add(m0, g) h = f32[256,256] add(h0, u) d = f32[256,256] divide(m, h)
    p = f32[256,256] subtract(p0, d) ROOT r = (f32[256,256], f32[256,256], f32[256,256]) tuple(p, m, h) )"),
      ElementsAre("loop"));
}

TEST(PiecesRulesTest, ARollAlongTwoDimensionsPutsPiecesOfPiecesTogether) {
  const auto program = [](bool forward) {
    return absl::StrCat(
        " a = f32[64,256] parameter(0) b = f32[64,256] parameter(1) x = f32[64,256] multiply(a, b) ",
        forward
            ? "r = f32[1,256] slice(x), slice={[63:64], [0:256]} q = f32[63,256] slice(x), slice={[0:63], [0:256]}"
            : "r = f32[63,256] slice(x), slice={[1:64], [0:256]} q = f32[1,256] slice(x), slice={[0:1], [0:256]}",
        " c = f32[64,256] concatenate(r, q), dimensions={0} ",
        forward
            ? "t = f32[64,1] slice(c), slice={[0:64], [255:256]} u = f32[64,255] slice(c), slice={[0:64], [0:255]}"
            : "t = f32[64,255] slice(c), slice={[0:64], [1:256]} u = f32[64,1] slice(c), slice={[0:64], [0:1]}",
        " d = f32[64,256] concatenate(t, u), dimensions={1} ROOT s = f32[64,256] add(d, a)");
  };
  ExpectSameValues(program(true));
  ExpectSameValues(program(false));
  // The product, one row of it, the sum; back, also the other rows, and what is moved by a lane.
  EXPECT_EQ(Groups(program(true)).size(), 3u);
  EXPECT_EQ(Groups(program(false)).size(), 5u);
}

}  // namespace
}  // namespace toroid
