#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "partitioner/spmd/spmd_builder.h"

namespace toroid {
namespace {

using ::testing::ElementsAre;

// The groups that the attributes list.
std::vector<std::vector<int64_t>> Listed(const xla::HloInstructionProto& attrs) {
  std::vector<std::vector<int64_t>> groups;
  for (const auto& group : attrs.collective_device_list().replica_groups()) {
    groups.emplace_back(group.replica_ids().begin(), group.replica_ids().end());
  }
  return groups;
}

TEST(CollectiveGroupsTest, MinorAxesNeedNoTransposeAndMajorOnesDo) {
  const Mesh mesh(8, {4}, DeviceOrder(8));  // Three axes of two devices.
  xla::HloInstructionProto minor, major;
  SetGroups(mesh, {1, 2}, 1, &minor);
  EXPECT_EQ(minor.iota_collective_device_list().num_replica_groups(), 2);
  EXPECT_EQ(minor.iota_collective_device_list().num_devices_per_group(), 4);
  EXPECT_THAT(minor.iota_collective_device_list().iota_reshape_dims(), ElementsAre(8));
  SetGroups(mesh, {0}, 1, &major);
  EXPECT_EQ(major.iota_collective_device_list().num_replica_groups(), 4);
  EXPECT_THAT(major.iota_collective_device_list().iota_reshape_dims(), ElementsAre(2, 4));
  EXPECT_THAT(major.iota_collective_device_list().iota_transpose_perm(), ElementsAre(1, 0));
}

TEST(CollectiveGroupsTest, EachReplicaHasItsOwnGroups) {
  xla::HloInstructionProto attrs;
  SetGroups(Mesh(8, {4}, DeviceOrder(8)), {0}, 2, &attrs);
  EXPECT_EQ(attrs.iota_collective_device_list().num_replica_groups(), 8);
  EXPECT_THAT(attrs.iota_collective_device_list().iota_reshape_dims(), ElementsAre(2, 2, 4));
  EXPECT_THAT(attrs.iota_collective_device_list().iota_transpose_perm(), ElementsAre(0, 2, 1));
}

TEST(CollectiveGroupsTest, OtherDeviceOrdersAreListed) {
  xla::HloInstructionProto attrs;
  SetGroups(Mesh(4, {2}, *DeviceOrder::Explicit({1, 0, 3, 2})), {0}, 1, &attrs);
  EXPECT_THAT(Listed(attrs), ElementsAre(ElementsAre(1, 3), ElementsAre(0, 2)));
}

TEST(CollectiveGroupsTest, TheMemberThatSendsIsFirst) {
  xla::HloInstructionProto attrs;
  SetGroupsFrom(Mesh(4, {2}, DeviceOrder(4)), {0}, 1, &attrs);
  EXPECT_THAT(Listed(attrs), ElementsAre(ElementsAre(2, 0), ElementsAre(3, 1)));
}

}  // namespace
}  // namespace toroid
