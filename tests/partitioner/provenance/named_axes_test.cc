// The mesh axes that a module names.
#include "partitioner/provenance/named_axes.h"

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hlo/io/hlo_text.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

std::unique_ptr<Module> WithMeshes(const std::string& meshes) {
  auto module = ParseModule(absl::StrCat("HloModule m, frontend_attributes={xla.sdy.meshes=\"", meshes,
                                         "\"}\nENTRY main { ROOT x = f32[8] parameter(0) }"));
  TOROID_CHECK(module.ok(), module.status().message());
  return *std::move(module);
}

TEST(NamedAxesTest, TheShardyMeshWithMostAxesOverAllDevicesCounts) {
  const auto module = WithMeshes(
      R"({flat = #sdy.mesh<[\"all\"=8]>, mesh = #sdy.mesh<[\"data\"=4, \"model\"=2]>, small = #sdy.mesh<[\"a\"=2, \"b\"=2]>})");
  EXPECT_THAT(ShardyAxes(*module, 8, nullptr), ElementsAre(Pair("data", 4), Pair("model", 2)));
  EXPECT_THAT(ShardyAxes(*module, 16, nullptr), IsEmpty());
}

TEST(NamedAxesTest, AShardyMeshMustHaveTheDeviceOrderAskedFor) {
  const auto module = WithMeshes(R"({mesh = #sdy.mesh<[\"x\"=2], device_ids=[1, 0]>})");
  const DeviceOrder plain(2);
  EXPECT_THAT(ShardyAxes(*module, 2, &plain), IsEmpty());
  EXPECT_THAT(ShardyAxes(*module, 2, nullptr), ElementsAre(Pair("x", 2)));
}

TEST(NamedAxesTest, AnOrdinaryShardingMayNameAxes) {
  ASSERT_OK_AND_ASSIGN(const auto module, ParseModule(R"(HloModule m
    ENTRY main {
      x = f32[8] parameter(0), sharding={devices=[8]<=[8]}
      ROOT y = f32[8] tanh(x), sharding={mesh['x'=2,'y'=4], [{'x'}]}
    })"));
  EXPECT_THAT(GspmdAxes(*module, 8), ElementsAre(Pair("x", 2), Pair("y", 4)));
  EXPECT_THAT(GspmdAxes(*module, 4), IsEmpty());
}

}  // namespace
}  // namespace toroid
