// BUILD: size = "small"
#include "hlo/ir/untiled_shapes.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/runtime/evaluate.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::HasSubstr;

Shape ParseShape(const std::string& text) {
  return MakeModule("ROOT x = " + text + " parameter(0)")->entry()->root()->shape();
}

std::string Untiled(const std::string& from, const std::string& to) {
  const auto shapes = WithoutTiles(ParseShape(from), ParseShape(to));
  if (!shapes.ok()) return std::string(shapes.status().message());
  return shapes->from.ToString(true) + " -> " + shapes->to.ToString(true);
}

TEST(UntiledShapesTest, TheSameTilesOverTheSameSizesAreLeftOut) {
  EXPECT_EQ(Untiled("bf16[100,64]{1,0:T(8,128)(2,1)}", "bf16[100,64,1]{1,0,2:T(8,128)(2,1)}"),
            "bf16[100,64]{1,0} -> bf16[100,64,1]{1,0,2}");
  EXPECT_EQ(Untiled("f32[256,2,60]{0,2,1:T(8,128)}", "f32[2,256,60]{1,2,0:T(8,128)}"),
            "f32[256,2,60]{0,2,1} -> f32[2,256,60]{1,2,0}");
  EXPECT_EQ(Untiled("f32[3,5,100]{2,1,0:T(8,128)}", "f32[15,100]{1,0:T(8,128)}").substr(0, 10), "bitcast of");
}

TEST(UntiledShapesTest, TilesWithoutPaddingAreDimensions) {
  EXPECT_EQ(Untiled("f32[16,256]{1,0:T(8,128)}", "f32[4096]{0:T(1024)}"),
            "f32[2,8,2,128]{3,1,2,0} -> f32[4,1024]{1,0}");
  EXPECT_EQ(Untiled("bf16[16,128]{1,0:T(8,128)(2,1)}", "bf16[2048]{0}"),
            "bf16[2,4,2,1,128,1]{5,2,4,1,3,0} -> bf16[2048]{0}");
}

TEST(UntiledShapesTest, PaddingThatTheOtherSideReadsIsAnError) {
  EXPECT_THAT(Untiled("f32[4,6]{1,0:T(2,128)}", "f32[24]{0}"),
              HasSubstr("bitcast of f32[4,6]{1,0:T(2,128)} to f32[24]{0}: what one side has in the padding"));
  EXPECT_THAT(Untiled("f32[]{:T(256)}", "f32[1]{0}"), HasSubstr("padding"));
}

TEST(UntiledShapesTest, BitcastsOfTilesGiveTheElementsInTheirOrderInMemory) {
  const std::string x = "x = f32[4,2]{1,0:T(2,1)} constant({{0, 1}, {2, 3}, {4, 5}, {6, 7}}) ";
  EXPECT_EQ(Evaluate(x + "ROOT b = f32[8] bitcast(x)"), "{0, 2, 1, 3, 4, 6, 5, 7}");
  EXPECT_EQ(
      Evaluate("x = f32[8] constant({0, 1, 2, 3, 4, 5, 6, 7}) ROOT b = f32[4,2]{1,0:T(2,1)} bitcast(x)"),
      "{ { 0, 2 }, { 1, 3 }, { 4, 6 }, { 5, 7 } }");
  EXPECT_EQ(Evaluate("x = f32[3,2]{1,0:T(8,128)} constant({{0, 1}, {2, 3}, {4, 5}}) "
                     "ROOT b = f32[2,3]{0,1:T(8,128)} bitcast(x)"),
            "{ { 0, 2, 4 }, { 1, 3, 5 } }");
}

}  // namespace
}  // namespace toroid
