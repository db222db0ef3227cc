// Concatenations of several arrays, for products and alone: the groups of small programs, and the microseconds that Google's
// compiler for TPU v3 estimates for them.
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hlo/io/hlo_text.h"
#include "tests/simulator/compiler/lowered_programs.h"
#include "tests/tolerances.h"

namespace toroid {
namespace {

using ::testing::ElementsAre;

// `pieces` arguments of so many rows and columns, put together to y along `dimension`.
std::string Joined(int pieces, int rows, int columns, int dimension, absl::string_view type) {
  std::string text;
  std::vector<std::string> names;
  for (int i = 0; i < pieces; ++i) {
    names.push_back(absl::StrCat("p", i));
    absl::StrAppend(&text, " p", i, " = ", type, "[", rows, ",", columns, "] parameter(", i, ")");
  }
  return absl::StrCat(text, " y = ", type, "[", dimension == 0 ? pieces * rows : rows, ",",
                      dimension == 1 ? pieces * columns : columns, "] concatenate(",
                      absl::StrJoin(names, ", "), "), dimensions={", dimension, "}");
}

// As for the gradient of a weight: rows are contracted.
double GradientOfJoined(int pieces, int features, absl::string_view type) {
  return Microseconds(absl::StrCat(Joined(pieces, 2048, 3072 / pieces, 1, type), " x = ", type, "[2048,",
                                   features, "] parameter(", pieces, ") ROOT d = ", type, "[", features,
                                   ",3072] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}"));
}

TEST(ConcatenationRulesTest, EachArrayOfAProductsOperandIsReadFromWhereTheWholeBegins) {
  EXPECT_THAT(GradientOfJoined(2, 128, "f32"), IsWithin(kTwoPercent, 103.8));
  EXPECT_THAT(GradientOfJoined(3, 128, "f32"), IsWithin(kFivePercent, 135.4));
  EXPECT_THAT(GradientOfJoined(4, 128, "f32"), IsWithin(kTwoPercent, 165.6));
  EXPECT_THAT(GradientOfJoined(2, 128, "bf16"), IsWithin(kFivePercent, 60.9));
  EXPECT_THAT(GradientOfJoined(4, 128, "bf16"), IsWithin(kTenPercent, 93.3));
  // Sums of all windows stay: with them once, not twice, whole rows pass.
  EXPECT_THAT(GradientOfJoined(3, 512, "f32"), IsWithin(kFivePercent, 159.6));
  EXPECT_THAT(GradientOfJoined(4, 512, "f32"), IsWithin(kFivePercent, 193.2));
}

TEST(ConcatenationRulesTest, WhatIsMadeForAProductsOperandBesideOtherArraysIsWritten) {
  const auto program = [](absl::string_view type, int rows, int before, int columns, int results) {
    return absl::StrCat(" a = ", type, "[", rows, ",", before, "] parameter(0) m = ", type, "[", rows, ",",
                        columns, "] parameter(1) w = ", type, "[", before + columns, ",", results,
                        "] parameter(2) zero = ", type, "[] constant(0) z = ", type, "[", rows, ",", columns,
                        "] broadcast(zero), dimensions={} r = ", type, "[", rows, ",", columns,
                        "] maximum(m, z) y = ", type, "[", rows, ",", before + columns,
                        "] concatenate(a, r), dimensions={1} ROOT d = ", type, "[", rows, ",", results,
                        "] dot(y, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}");
  };
  ExpectSameValues(program("f32", 16, 128, 256, 24));
  EXPECT_THAT(Groups(program("f32", 768, 1536, 6144, 1536)), ElementsAre("loop", "dot"));
  EXPECT_THAT(Microseconds(program("f32", 768, 1536, 6144, 1536)), IsWithin(kFivePercent, 437.7));
  EXPECT_THAT(Microseconds(program("bf16", 768, 1536, 6144, 1536)), IsWithin(kTwoPercent, 414.2));
}

TEST(ConcatenationRulesTest, ManyArraysOfTwoBytesAreWrittenAsAllOfThem) {
  const auto time = [](absl::string_view type) {
    const std::string joined = Joined(6, 2048, 512, 1, type);
    return Microseconds(
        absl::StrCat(joined.substr(0, joined.find(" y = ")), " ROOT", joined.substr(joined.find(" y = "))));
  };
  EXPECT_THAT(time("bf16"), IsWithin(kFivePercent, 128.2));
  EXPECT_THAT(time("f32"), IsWithin(kFivePercent, 126.6));
}

TEST(ConcatenationRulesTest, AlongTheOutermostDimensionEachArrayIsReadFromWhereTheWholeBegins) {
  const auto time = [](int first) {
    return Microseconds(
        absl::StrCat(" a = f32[", first, ",512,256] parameter(0) b = f32[", 48 - first,
                     ",512,256] parameter(1) ROOT y = f32[48,512,256] concatenate(a, b), dimensions={0}"));
  };
  EXPECT_THAT(time(6), IsWithin(kTwoPercent, 137.1));
  EXPECT_THAT(time(24), IsWithin(kTwoPercent, 160.5));
  EXPECT_THAT(time(42), IsWithin(kTenPercent, 177.8));
}

TEST(ConcatenationRulesTest, AResultLiesAsTheCallerWantsIt) {
  // Two halves of each of 32 groups, put beside each other: no copy behind it.
  const char* program = R"( x = f32[32,64,4096] parameter(0) y = f32[32,64,4096] parameter(1)
    a = f32[32,64,4096] add(x, y) b = f32[32,64,4096] subtract(x, y)
    p = f32[32,1,64,4096] reshape(a) q = f32[32,1,64,4096] reshape(b)
    ROOT r = f32[32,2,64,4096] concatenate(p, q), dimensions={1} )";
  const std::vector<std::string> groups = Groups(program);
  EXPECT_EQ(std::count(groups.begin(), groups.end(), "copy"), 0);
}

}  // namespace
}  // namespace toroid
