// BUILD: size = "small"
// Shardings taken out of a module.
#include "partitioner/sharding_search/free_shardings.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hlo/io/hlo_text.h"
#include "tests/partitioner/sharding_search/searched_program.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kGspmd[] = R"(
ENTRY main {
  x = f32[8,4] parameter(0), sharding={devices=[2,1]<=[2]}, metadata={op_name="x"}
  w = f32[4,6] parameter(1), sharding={devices=[1,2]<=[2]}, metadata={op_name="params['w']"}
  y = f32[8,6] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  s = f32[8,6] custom-call(y), custom_call_target="Sharding", sharding={devices=[2,1]<=[2]}
  ROOT r = (f32[8,6]) tuple(s), sharding={{devices=[2,1]<=[2]}}
})";

TEST(FreeShardingsTest, AStarTakesAllOfThem) {
  const auto module = OnMesh(kGspmd, "");
  EXPECT_TRUE(StatesShardings(*module));
  EXPECT_THAT(FreeShardings({"*"}, {}, module.get()), IsOkAndHolds(4));
  EXPECT_FALSE(StatesShardings(*module));
  EXPECT_THAT(PrintModule(*module), Not(HasSubstr("devices=")));
  EXPECT_THAT(FreeShardings({"*"}, {}, module.get()), IsOkAndHolds(0)) << "nothing is left";
}

TEST(FreeShardingsTest, AGlobMeansNamesAndOpNames) {
  auto module = OnMesh(kGspmd, "");
  EXPECT_THAT(FreeShardings({"params*"}, {}, module.get()), IsOkAndHolds(1));
  EXPECT_EQ(module->entry()->parameter(1)->sharding(), nullptr);
  EXPECT_NE(module->entry()->parameter(0)->sharding(), nullptr);
  EXPECT_THAT(FreeShardings({"s", "r"}, {}, module.get()), IsOkAndHolds(2));
}

TEST(FreeShardingsTest, WhatIsKeptStays) {
  const auto module = OnMesh(kGspmd, "");
  EXPECT_THAT(FreeShardings({"*"}, {"x", "r"}, module.get()), IsOkAndHolds(2));
  EXPECT_NE(module->entry()->parameter(0)->sharding(), nullptr);
  EXPECT_EQ(module->entry()->parameter(1)->sharding(), nullptr);
  EXPECT_NE(module->entry()->root()->sharding(), nullptr);
}

TEST(FreeShardingsTest, AGlobThatMatchesNothingIsAnError) {
  const auto module = OnMesh(kGspmd, "");
  EXPECT_THAT(FreeShardings({"x", "no_such*"}, {}, module.get()),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("--free=no_such* matches no name")));
  EXPECT_NE(module->entry()->parameter(0)->sharding(), nullptr) << "nothing was taken";
}

TEST(FreeShardingsTest, ShardyKeepsItsMesh) {
  const auto module = OnMesh(
      R"(HloModule m, frontend_attributes={xla.sdy.meshes="{mesh = #sdy.mesh<[\"a\"=2]>}"}
ENTRY main {
  x = f32[8] parameter(0), frontend_attributes={xla.sdy.sharding="#sdy.sharding<@mesh, [{\"a\"}]>",other="kept"}
  ROOT y = f32[8] negate(x), frontend_attributes={xla.sdy.sharding="#sdy.sharding<@mesh, [{\"a\"}]>"}
})",
      "");
  EXPECT_THAT(FreeShardings({"*"}, {}, module.get()), IsOkAndHolds(2));
  EXPECT_THAT(PrintModule(*module), AllOf(HasSubstr("xla.sdy.meshes"), HasSubstr("other=\"kept\""),
                                          Not(HasSubstr("xla.sdy.sharding"))));
  EXPECT_TRUE(StatesShardings(*module)) << "there is a mesh to search";
}

TEST(FreeShardingsTest, BordersOfManualRegionsStay) {
  const auto module = OnMesh(R"(
ENTRY main {
  x = f32[8,4] parameter(0), sharding={devices=[2,1]<=[2]}
  a = f32[8,4] custom-call(x), custom_call_target="Sharding", sharding={devices=[2,1]<=[2]}
  in = f32[4,4] custom-call(a), custom_call_target="SPMDFullToShardShape", sharding={manual}
  n = f32[4,4] negate(in), sharding={manual}
  ROOT out = f32[8,4] custom-call(n), custom_call_target="SPMDShardToFullShape", sharding={devices=[2,1]<=[2]}
})",
                             "");
  EXPECT_THAT(FreeShardings({"*"}, {}, module.get()), IsOkAndHolds(1));
  EXPECT_EQ(module->entry()->parameter(0)->sharding(), nullptr);
  int kept = 0;
  for (const auto& instruction : module->entry()->instructions()) kept += instruction->sharding() != nullptr;
  EXPECT_EQ(kept, 4);
}

TEST(FreeShardingsTest, WithoutAnythingStatedThereIsNothingToTake) {
  const auto module = OnMesh("ENTRY e { ROOT x = f32[4] parameter(0) }", "");
  EXPECT_FALSE(StatesShardings(*module));
  EXPECT_THAT(FreeShardings({"*"}, {}, module.get()), IsOkAndHolds(0));
}

}  // namespace
}  // namespace toroid
