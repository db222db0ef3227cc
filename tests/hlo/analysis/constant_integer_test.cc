#include "hlo/analysis/constant_integer.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "hlo/io/hlo_text.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::ElementsAre;
using ::testing::Optional;

std::optional<std::vector<int64_t>> IntegersOfRoot(const std::string& body) {
  const auto module = ParseModule(absl::StrCat("HloModule m\nENTRY e {\n", body, "\n}\n"));
  EXPECT_OK(module.status());
  return module.ok() ? IntegersOf(*(*module)->entry()->root()) : std::nullopt;
}

TEST(ConstantIntegerTest, OfConstantsAndWhatIsMadeOfThem) {
  EXPECT_THAT(IntegersOfRoot("ROOT c = s8[2,2] constant({{1, -2}, {3, 4}})"),
              Optional(ElementsAre(1, -2, 3, 4)));
  EXPECT_THAT(IntegersOfRoot("c = u8[] constant(200)\nROOT b = u8[1,3] broadcast(c), dimensions={}"),
              Optional(ElementsAre(200, 200, 200)));
  EXPECT_THAT(
      IntegersOfRoot(
          "c = s32[1,5] constant({{1, 2, 3, 4, 5}})\nROOT s = s32[1,2] slice(c), slice={[0:1], [1:5:2]}"),
      Optional(ElementsAre(2, 4)));
  EXPECT_THAT(IntegersOfRoot("a = s32[1,1] constant({{7}})\nb = s32[] constant(8)\nc = s32[1,1] reshape(b)\n"
                             "ROOT s = s32[1,2] concatenate(a, c), dimensions={1}"),
              Optional(ElementsAre(7, 8)));
}

TEST(ConstantIntegerTest, OfNothingElse) {
  EXPECT_EQ(IntegersOfRoot("ROOT p = s32[2] parameter(0)"), std::nullopt);
  EXPECT_EQ(IntegersOfRoot("ROOT c = f32[2] constant({1, 2})"), std::nullopt);
  EXPECT_EQ(IntegersOfRoot("ROOT c = u64[] constant(18446744073709551615)"), std::nullopt);
  // Only one dimension may have more than one element.
  EXPECT_EQ(IntegersOfRoot(
                "c = s32[2,2] constant({{1, 2}, {3, 4}})\nROOT s = s32[2,1] slice(c), slice={[0:2], [1:2]}"),
            std::nullopt);
  EXPECT_EQ(IntegersOfRoot(
                "c = s32[2,1] constant({{1}, {2}})\nROOT s = s32[2,2] concatenate(c, c), dimensions={1}"),
            std::nullopt);
  EXPECT_EQ(IntegersOfRoot("c = s32[] constant(1)\nROOT b = s32[65] broadcast(c), dimensions={}"),
            std::nullopt);
}

}  // namespace
}  // namespace toroid
