// Reshapes that are undone behind what is made elementwise: values stay, and weights scaled in blocks pass as they lie.
// Microseconds are those that Google's compiler for TPU v3 estimates.
#include "simulator/compiler/rewrites/reshape_cancellation.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/simulator/compiler/lowered_programs.h"
#include "tests/tolerances.h"

namespace toroid {
namespace {

using ::testing::ElementsAre;

// w[rows, columns] in blocks of `block` rows, each with a scale for each column, put together again as s. Weights of a byte and
// bf16 otherwise, or f32.
std::string Scaled(int rows, int columns, int block, bool bytes) {
  const int blocks = rows / block;
  const std::string sizes = absl::StrCat("[", blocks, ",", block, ",", columns, "]"),
                    whole = absl::StrCat("[", rows, ",", columns, "]");
  const std::string weight = bytes ? "s8" : "f32", type = bytes ? "bf16" : "f32";
  return absl::StrCat(" w = ", weight, whole, " parameter(0) v = ", type, "[", blocks, ",", columns,
                      "] parameter(1) c = ", weight, sizes, " reshape(w) f = ", type, sizes,
                      " convert(c) b = ", type, sizes, " broadcast(v), dimensions={0,2} m = ", type, sizes,
                      " multiply(f, b) s = ", type, whole, " reshape(m)");
}

std::string AsRight(int rows, int contracted, int columns, int block, bool bytes) {
  const std::string type = bytes ? "bf16[" : "f32[";
  return absl::StrCat(Scaled(contracted, columns, block, bytes), " x = ", type, rows, ",", contracted,
                      "] parameter(2) ROOT d = ", type, rows, ",", columns,
                      "] dot(x, s), lhs_contracting_dims={1}, rhs_contracting_dims={0}");
}

std::string AsLeft(int rows, int contracted, int columns, int block, bool bytes) {
  const std::string type = bytes ? "bf16[" : "f32[";
  return absl::StrCat(Scaled(rows, contracted, block, bytes), " x = ", type, contracted, ",", columns,
                      "] parameter(2) ROOT d = ", type, rows, ",", columns,
                      "] dot(s, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}");
}

TEST(UndoneReshapesTest, WeightsScaledInBlocksAreARightOperandAsTheyLie) {
  ExpectSameValues(AsRight(8, 24, 16, 6, false));
  ExpectSameValues(AsRight(5, 32, 12, 8, false));
  ExpectSameValues(AsLeft(24, 16, 8, 6, false));
  EXPECT_THAT(Groups(AsRight(160, 4096, 4096, 128, true)), ElementsAre("dot"));
  EXPECT_THAT(Microseconds(AsRight(160, 4096, 4096, 128, true)), IsWithin(kTwoPercent, 100.8));
  EXPECT_THAT(Microseconds(AsRight(1024, 4096, 4096, 128, true)), IsWithin(kTwoPercent, 596.2));
}

// x, a function of it in other sizes, back.
std::string ThereAndBack(absl::string_view sizes, absl::string_view cut, absl::string_view vector,
                         absl::string_view dims) {
  return absl::StrCat(" x = f32[", sizes, "] parameter(0) v = f32[", vector, "] parameter(1) y = f32[", sizes,
                      "] parameter(2) c = f32[", cut, "] reshape(x) d = f32[", cut,
                      "] reshape(y) two = f32[] constant(2) t = f32[", cut,
                      "] broadcast(two), dimensions={} b = f32[", cut, "] broadcast(v), dimensions={", dims,
                      "} p = f32[", cut, "] multiply(c, b) q = f32[", cut, "] add(p, d) r = f32[", cut,
                      "] power(t, q) ROOT back = f32[", sizes, "] reshape(r)");
}

TEST(UndoneReshapesTest, WhatIsSpreadGoesAlong) {
  // Over whole dimensions, over pieces of one, of two, in both; with dimensions of one element.
  ExpectSameValues(ThereAndBack("24,10", "4,6,10", "10", "2"));
  ExpectSameValues(ThereAndBack("24,10", "4,6,10", "4,6", "0,1"));
  ExpectSameValues(ThereAndBack("24,10", "4,6,10", "4", "0"));
  ExpectSameValues(ThereAndBack("24,10", "4,6,10", "6,10", "1,2"));
  ExpectSameValues(ThereAndBack("24,10", "4,6,2,5", "4,2", "0,2"));
  ExpectSameValues(ThereAndBack("24,10", "4,6,2,5", "6,5", "1,3"));
  ExpectSameValues(ThereAndBack("3,24,10", "3,4,6,10", "3,4", "0,1"));
  ExpectSameValues(ThereAndBack("24,10", "4,1,6,10", "4,1,10", "0,1,3"));
  ExpectSameValues(ThereAndBack("24,1,10", "4,6,10", "6", "1"));
  ExpectSameValues(ThereAndBack("4,6,10", "24,10", "24", "0"));
  ExpectSameValues(ThereAndBack("4,6,10", "240", "240", "0"));
  EXPECT_THAT(Groups(ThereAndBack("4096,512", "4096,4,128", "128", "2")), ElementsAre("loop", "loop"));
}

TEST(UndoneReshapesTest, WhatIsAlsoReadAsItWasCutStays) {
  const auto program = [](absl::string_view other) {
    return absl::StrCat(R"( x = f32[24,10] parameter(0) y = f32[4,6,10] parameter(1)
      c = f32[4,6,10] reshape(x)
      p = f32[4,6,10] multiply(c, )",
                        other, R"( )
      back = f32[24,10] reshape(p)
      ROOT t = (f32[24,10], f32[4,6,10]) tuple(back, p) )");
  };
  ExpectSameValues(program("c"));
  ExpectSameValues(program("y"));
}

}  // namespace
}  // namespace toroid
