// BUILD: size = "small"
// The comparison behind --check.
#include "runtime/numerics/compare.h"

#include <optional>
#include <string>

#include "gtest/gtest.h"
#include "tests/runtime/evaluate.h"

namespace toroid {
namespace {

Comparison Of(const std::string& actual, const std::string& expected,
              std::optional<double> tolerance = std::nullopt) {
  return Compare(ParseLiteral(actual), ParseLiteral(expected), tolerance);
}

TEST(CompareTest, RelativeToTheLargestElement) {
  const Comparison comparison = Of("f32[3] {100, 1.0005, 0}", "f32[3] {100, 1, 0}");
  EXPECT_TRUE(comparison.equal);
  EXPECT_NEAR(comparison.max_abs_error, 5e-4, 1e-6);
  EXPECT_NEAR(comparison.max_rel_error, 5e-6, 1e-8);
  EXPECT_FALSE(Of("f32[3] {100, 1.005, 0}", "f32[3] {100, 1, 0}").equal);
  EXPECT_TRUE(Of("f32[3] {100, 1.005, 0}", "f32[3] {100, 1, 0}", 1e-4).equal);
  EXPECT_FALSE(Of("f64[1] {1.00000000001}", "f64[1] {1}").equal);
  EXPECT_TRUE(Of("bf16[1] {1.0078125}", "bf16[1] {1}").equal);
}

TEST(CompareTest, ErrorsAreAbsoluteWhereAllIsZero) {
  EXPECT_EQ(Of("f32[2] {0.5, 0}", "f32[2] {0, 0}").max_rel_error, 0.5);
}

TEST(SameBitsTest, ZerosHaveSignsAndNansDoNot) {
  const auto same = [](const std::string& a, const std::string& b) {
    return SameBits(ParseLiteral(a), ParseLiteral(b));
  };
  EXPECT_FALSE(same("f32[2] {1, 0}", "f32[2] {1, -0}"));
  EXPECT_TRUE(same("s32[2] {1, 2}", "s32[2] {1, 2}"));
  EXPECT_FALSE(same("s32[2] {1, 2}", "s32[2] {1, 3}"));
  EXPECT_FALSE(same("f32[2] {1, 2}", "f32[1,2] {{1, 2}}"));
  Literal nan = ParseLiteral("f32[2] {1, nan}"), other = nan;
  other.mutable_data<float>()[1] = -other.data<float>()[1];
  ASSERT_FALSE(nan == other);
  EXPECT_TRUE(SameBits(nan, other));
  EXPECT_TRUE(SameBits(Literal::Tuple({nan, nan}), Literal::Tuple({nan, other})));
  EXPECT_FALSE(SameBits(nan, ParseLiteral("f32[2] {1, 3}")));
  EXPECT_TRUE(same("c64[1] {(1, nan)}", "c64[1] {(1, nan)}"));
  EXPECT_FALSE(same("c64[1] {(1, nan)}", "c64[1] {(2, nan)}"));
  EXPECT_EQ(FirstOtherElement(nan, ParseLiteral("f32[2] {1, 3}")), 1);
  EXPECT_EQ(FirstOtherElement(nan, other), std::nullopt);
}

TEST(CompareTest, NanEqualsNanAndInfinitiesMustMatch) {
  EXPECT_TRUE(Of("f32[3] {nan, inf, -inf}", "f32[3] {nan, inf, -inf}").equal);
  EXPECT_FALSE(Of("f32[1] {nan}", "f32[1] {1}").equal);
  EXPECT_FALSE(Of("f32[1] {inf}", "f32[1] {-inf}").equal);
  EXPECT_FALSE(Of("f32[1] {inf}", "f32[1] {3e38}").equal);
  EXPECT_FALSE(Of("c64[1] {(1, nan)}", "c64[1] {(1, 2)}").equal);
}

TEST(CompareTest, IntegersAndBooleansExactly) {
  EXPECT_TRUE(Of("s32[2] {1, 2}", "s32[2] {1, 2}").equal);
  EXPECT_FALSE(Of("s32[2] {1000000, 2}", "s32[2] {1000001, 2}", 1).equal);
  EXPECT_FALSE(Of("s64[1] {9007199254740993}", "s64[1] {9007199254740992}").equal);
  EXPECT_FALSE(Of("pred[1] {true}", "pred[1] {false}").equal);
  EXPECT_EQ(Of("s32[2,2] {{1, 2}, {3, 4}}", "s32[2,2] {{1, 2}, {9, 4}}").outputs[0].difference,
            "[1,0]: 3 instead of 9");
}

TEST(CompareTest, ShapesAndTuples) {
  EXPECT_FALSE(Of("f32[2] {1, 2}", "f32[1,2] {{1, 2}}").equal);
  const Literal a = Literal::Tuple({ParseLiteral("f32[1] {1}"), ParseLiteral("s32[] 3")});
  const Literal b = Literal::Tuple({ParseLiteral("f32[1] {1}"), ParseLiteral("s32[] 4")});
  const Comparison comparison = Compare(a, b);
  ASSERT_EQ(comparison.outputs.size(), 2);
  EXPECT_TRUE(comparison.outputs[0].equal);
  EXPECT_FALSE(comparison.outputs[1].equal);
  EXPECT_FALSE(comparison.equal);
}

}  // namespace
}  // namespace toroid
