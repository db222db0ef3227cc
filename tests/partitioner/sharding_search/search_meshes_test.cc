// BUILD: size = "small"
// Meshes that a number of devices can have.
#include "partitioner/sharding_search/search_meshes.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/partitioner/sharding_search/models.h"
#include "tests/partitioner/sharding_search/runs_as.h"
#include "tests/partitioner/sharding_search/searched_program.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> Texts(int64_t devices) {
  std::vector<std::string> texts;
  for (const auto& mesh : MeshesOf(devices)) {
    std::string& text = texts.emplace_back();
    for (const AxisSize& axis : mesh)
      absl::StrAppend(&text, text.empty() ? "" : ",", axis.name, "=", axis.size);
  }
  return texts;
}

TEST(SearchMeshesTest, EveryProductOfOneOrTwoDivisorsIsAMesh) {
  EXPECT_THAT(Texts(8), ElementsAre("x=8", "x=2,y=4", "x=4,y=2"));
  EXPECT_THAT(Texts(6), ElementsAre("x=6", "x=2,y=3", "x=3,y=2"));
  EXPECT_THAT(Texts(7), ElementsAre("x=7"));
  EXPECT_THAT(Texts(2), ElementsAre("x=2"));
  EXPECT_THAT(Texts(1), ElementsAre("x=1"));
}

absl::StatusOr<MeshFound> Find(const std::string& text, int64_t devices) {
  const auto module = OnMesh(text, "");
  absl::StatusOr<MeshFound> found = FindMeshAndShardings(*module, devices, 2, FewSteps());
  if (found.ok()) ExpectRunsAs(*module, *found->found.partitioned.module, {}, 1e-5);
  return found;
}

TEST(SearchMeshesTest, TheMeshHasAllDevices) {
  for (const int64_t devices : {2, 4, 6}) {
    ASSERT_OK_AND_ASSIGN(const MeshFound found, Find(MlpStep(48, 12, 24), devices));
    int64_t product = 1;
    for (const AxisSize& axis : found.mesh) product *= axis.size;
    EXPECT_EQ(product, devices);
    EXPECT_EQ(found.found.partitioned.num_partitions, devices);
  }
}

TEST(SearchMeshesTest, APrimeNumberOfDevicesHasOneMesh) {
  ASSERT_OK_AND_ASSIGN(const MeshFound found, Find(MlpStep(7 * 64, 14, 21), 7));
  EXPECT_EQ(found.mesh.size(), 1u);
  EXPECT_EQ(found.found.partitioned.num_partitions, 7);
}

TEST(SearchMeshesTest, OneDeviceIsAnError) {
  EXPECT_THAT(Find(MlpStep(16, 8, 8), 1), StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST(SearchMeshesTest, MemoryThatNoMeshKeepsIsAnError) {
  const auto module = OnMesh(MlpStep(64, 32, 32), "");
  ShardingSearchOptions options = FewSteps();
  options.memory = 100;
  EXPECT_THAT(FindMeshAndShardings(*module, 4, 2, options), StatusIs(absl::StatusCode::kResourceExhausted));
}

}  // namespace
}  // namespace toroid
