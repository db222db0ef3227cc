// BUILD: size = "small"
// Device groups of every wire form and mode.
#include "hlo/devices/replica_groups.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "hlo/ir/module.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

class ReplicaGroupsTest : public testing::Test {
 protected:
  const Instruction& Make(Opcode opcode, const std::string& fields) {
    xla::HloInstructionProto* attrs;
    Instruction* instruction = computation_->Add(opcode, Shape(xla::F32, {}), {}, &attrs);
    TOROID_CHECK(google::protobuf::TextFormat::ParseFromString(fields, attrs), fields);
    return *instruction;
  }

  absl::StatusOr<std::vector<std::vector<int64_t>>> Groups(Opcode opcode, const std::string& fields,
                                                           int64_t replicas, int64_t partitions) {
    ASSIGN_OR_RETURN(const DeviceGroups groups,
                     ExpandDeviceGroups(Make(opcode, fields), replicas, partitions));
    std::vector<std::vector<int64_t>> lists;
    for (int64_t g = 0; g < groups.size(); ++g)
      lists.emplace_back(groups.group(g).begin(), groups.group(g).end());
    return lists;
  }

  Module module_{"m"};
  Computation* computation_ = module_.AddComputation("main");
};

constexpr char kGlobal[] = "channel_id: 1 use_global_device_ids: true ";

TEST_F(ReplicaGroupsTest, WireForms) {
  const std::string global = kGlobal;
  const auto expected = IsOkAndHolds(ElementsAre(ElementsAre(0, 2), ElementsAre(1, 3)));
  EXPECT_THAT(
      Groups(Opcode::kAllReduce,
             global + "replica_groups { replica_ids: [0, 2] } replica_groups { replica_ids: [1, 3] }", 1, 4),
      expected);
  EXPECT_THAT(Groups(Opcode::kAllReduce,
                     global + "collective_device_list { replica_groups { replica_ids: [0, 2] } "
                              "replica_groups { replica_ids: [1, 3] } }",
                     1, 4),
              expected);
  EXPECT_THAT(Groups(Opcode::kAllReduce,
                     global + "iota_collective_device_list { num_replica_groups: 2 num_devices_per_group: 2 "
                              "iota_reshape_dims: [2, 2] iota_transpose_perm: [1, 0] }",
                     1, 4),
              expected);
  EXPECT_THAT(
      Groups(
          Opcode::kAllReduce,
          global +
              "mesh_axes_replica_group_list { mesh { axes { name: 'a' size: 2 } axes { name: 'b' size: 2 } } "
              "axes { mesh_axis_index: 0 } }",
          1, 4),
      expected);
}

TEST_F(ReplicaGroupsTest, RetiredIotaInsideTheExplicitList) {
  xla::IotaReplicaGroupListProto iota;
  iota.set_num_replica_groups(1);
  iota.set_num_devices_per_group(2);
  iota.add_iota_reshape_dims(2);
  xla::HloInstructionProto* attrs;
  Instruction* instruction = computation_->Add(Opcode::kAllReduce, Shape(xla::F32, {}), {}, &attrs);
  attrs->set_channel_id(1);
  attrs->set_use_global_device_ids(true);
  auto* list = attrs->mutable_collective_device_list();
  list->GetReflection()->MutableUnknownFields(list)->AddLengthDelimited(2, iota.SerializeAsString());
  ASSERT_OK_AND_ASSIGN(const DeviceGroups groups, ExpandDeviceGroups(*instruction, 1, 2));
  EXPECT_THAT(groups.group(0), ElementsAre(0, 1));
}

TEST_F(ReplicaGroupsTest, MeshSubAxesAndDeviceOrder) {
  // Axis of 8 as 2 x 2 x 2: groups along the middle part.
  EXPECT_THAT(
      Groups(Opcode::kAllReduce,
             std::string(kGlobal) + "mesh_axes_replica_group_list { mesh { axes { name: 'a' size: 8 } } "
                                    "axes { mesh_axis_index: 0 sub_axis_info { pre_size: 2 size: 2 } } }",
             1, 8),
      IsOkAndHolds(ElementsAre(ElementsAre(0, 2), ElementsAre(1, 3), ElementsAre(4, 6), ElementsAre(5, 7))));
  EXPECT_THAT(
      Groups(Opcode::kAllReduce,
             std::string(kGlobal) + "mesh_axes_replica_group_list { mesh { axes { name: 'a' size: 2 } "
                                    "axes { name: 'b' size: 2 } device_ids: [3, 1, 2, 0] } "
                                    "axes { mesh_axis_index: 1 } }",
             1, 4),
      IsOkAndHolds(ElementsAre(ElementsAre(3, 1), ElementsAre(2, 0))));
  // Two axes, listed minor first.
  EXPECT_THAT(
      Groups(Opcode::kAllReduce,
             std::string(kGlobal) + "mesh_axes_replica_group_list { mesh { axes { name: 'a' size: 2 } "
                                    "axes { name: 'b' size: 2 } } axes { mesh_axis_index: 1 } "
                                    "axes { mesh_axis_index: 0 } }",
             1, 4),
      IsOkAndHolds(ElementsAre(ElementsAre(0, 2, 1, 3))));
}

TEST_F(ReplicaGroupsTest, Modes) {
  const std::string ids = "replica_groups { replica_ids: [1, 0] }";
  // Two replicas of two partitions.
  EXPECT_THAT(Groups(Opcode::kAllReduce, ids, 2, 2),
              IsOkAndHolds(ElementsAre(ElementsAre(2, 0), ElementsAre(3, 1))));
  EXPECT_THAT(Groups(Opcode::kAllReduce, "channel_id: 1 " + ids, 2, 2),
              IsOkAndHolds(ElementsAre(ElementsAre(2, 3, 0, 1))));
  EXPECT_THAT(Groups(Opcode::kAllToAll, "channel_id: 1 " + ids, 2, 2),
              IsOkAndHolds(ElementsAre(ElementsAre(1, 0), ElementsAre(3, 2))));
  EXPECT_THAT(Groups(Opcode::kAllReduce, kGlobal + ids, 2, 2), IsOkAndHolds(ElementsAre(ElementsAre(1, 0))));
  EXPECT_THAT(Groups(Opcode::kAllReduce, "", 2, 1), IsOkAndHolds(ElementsAre(ElementsAre(0, 1))));
}

TEST_F(ReplicaGroupsTest, RefusesWhatMakesNoSense) {
  EXPECT_THAT(Groups(Opcode::kAllReduce, "use_global_device_ids: true", 1, 2),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("needs a channel_id")));
  EXPECT_THAT(Groups(Opcode::kAllReduce, kGlobal, 1, 2),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("flattened ids need device groups")));
  EXPECT_THAT(
      Groups(Opcode::kAllReduce, std::string(kGlobal) + "replica_groups { replica_ids: [0, 2] }", 1, 2),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("name 2, ids go up to 1")));
  EXPECT_THAT(
      Groups(Opcode::kAllReduce, std::string(kGlobal) + "replica_groups { replica_ids: [0, 0] }", 1, 2),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("name 0 twice")));
  EXPECT_THAT(Groups(Opcode::kAllReduce,
                     std::string(kGlobal) + "iota_collective_device_list { num_replica_groups: 4000000000000 "
                                            "num_devices_per_group: 4000000000000 iota_reshape_dims: 1 }",
                     1, 2),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("do not fit 2 devices")));
  EXPECT_THAT(Groups(Opcode::kAllReduce,
                     std::string(kGlobal) +
                         "iota_collective_device_list { num_replica_groups: 1 "
                         "num_devices_per_group: 2 iota_reshape_dims: [2] iota_transpose_perm: [1] }",
                     1, 2),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("no permutation")));
}

TEST_F(ReplicaGroupsTest, SizesWithoutExpansion) {
  EXPECT_THAT(
      DeviceGroupSize(Make(Opcode::kAllReduce, std::string(kGlobal) +
                                                   "iota_collective_device_list { num_replica_groups: 1024 "
                                                   "num_devices_per_group: 64 iota_reshape_dims: 65536 }"),
                      1, 65536),
      IsOkAndHolds(64));
  EXPECT_THAT(
      DeviceGroupSize(Make(Opcode::kAllReduce, "channel_id: 1 replica_groups { replica_ids: [0, 1] }"), 2, 3),
      IsOkAndHolds(6));
  EXPECT_THAT(DeviceGroupSize(Make(Opcode::kAllToAll, "channel_id: 1"), 1, 8), IsOkAndHolds(8));
}

TEST_F(ReplicaGroupsTest, SourceTargetPairs) {
  EXPECT_THAT(ExpandSourceTargetPairs(Make(Opcode::kCollectivePermute,
                                           "channel_id: 1 source_target_pairs { source: 0 target: 1 }"),
                                      2, 2),
              IsOkAndHolds(ElementsAre(Pair(0, 1), Pair(2, 3))));
  EXPECT_THAT(ExpandSourceTargetPairs(
                  Make(Opcode::kCollectivePermute, "source_target_pairs { source: 0 target: 1 }"), 2, 2),
              IsOkAndHolds(ElementsAre(Pair(0, 2), Pair(1, 3))));
  EXPECT_THAT(ExpandSourceTargetPairs(Make(Opcode::kCollectivePermute,
                                           "channel_id: 1 source_target_pairs { source: 0 target: 1 } "
                                           "source_target_pairs { source: 1 target: 1 }"),
                                      1, 2),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("repeats")));
}

}  // namespace
}  // namespace toroid
