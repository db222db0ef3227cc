// BUILD: size = "small"
// The number of replicas of a module.
#include "hlo/devices/replicas.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/runtime/evaluate.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::HasSubstr;

TEST(ReplicasTest, GroupsAndPairsWithoutAChannelNameReplicas) {
  const std::string add = ReducerText("add", "f32", "add");
  EXPECT_EQ(InferReplicas(*MakeModule("x = f32[] parameter(0) ROOT y = f32[] all-reduce(x), "
                                      "replica_groups={{0,2},{1,3}}, to_apply=add",
                                      add)),
            4);
  EXPECT_EQ(InferReplicas(*MakeModule("x = f32[] parameter(0) ROOT y = f32[] collective-permute(x), "
                                      "source_target_pairs={{0,1},{1,2}}")),
            3);
  EXPECT_EQ(InferReplicas(*MakeModule("x = f32[2] parameter(0) ROOT y = f32[12] all-gather(x), "
                                      "replica_groups=[1,6]<=[6], dimensions={0}")),
            6);
  EXPECT_EQ(InferReplicas(*MakeModule("x = f32[] parameter(0) ROOT y = f32[] all-reduce(x), "
                                      "replica_groups={}, to_apply=add",
                                      add)),
            1);
}

TEST(ReplicasTest, CollectivesWithAChannelAreBetweenPartitions) {
  EXPECT_EQ(InferReplicas(*MakeModule("x = f32[] parameter(0) ROOT y = f32[] collective-permute(x), "
                                      "channel_id=1, source_target_pairs={{0,1},{1,2}}")),
            1);
}

TEST(ReplicasTest, AGivenNumberStandsInForTheHeader) {
  const auto module =
      MakeModule("x = f32[] parameter(0) ROOT y = f32[] all-reduce(x), replica_groups={}, to_apply=add",
                 ReducerText("add", "f32", "add"));
  EXPECT_THAT(ReplicasToRun(*module, 5), IsOkAndHolds(5));
  EXPECT_THAT(ReplicasToRun(*module, 0), IsOkAndHolds(1));
  module->config().replica_count = 4;
  EXPECT_THAT(ReplicasToRun(*module, 0), IsOkAndHolds(4));
  EXPECT_THAT(ReplicasToRun(*module, 5),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("is written for 4 replicas")));
}

}  // namespace
}  // namespace toroid
