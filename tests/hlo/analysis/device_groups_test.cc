// BUILD: size = "small"
#include "hlo/analysis/device_groups.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "hlo/analysis/module_stats.h"
#include "hlo/analysis/module_stats_report.h"
#include "hlo/io/file.h"
#include "hlo/io/hlo_text.h"
#include "nlohmann/json.hpp"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A module with the reducer `add` and this entry body.
std::string Text(const std::string& header, const std::string& body) {
  return absl::StrCat("HloModule m", header,
                      "\nadd { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }\n"
                      "ENTRY e {\n  x = f32[8] parameter(0)\n",
                      body, "\n}\n");
}

// The module as compilers write it: a proto, without a device assignment.
std::unique_ptr<Module> AsProto(const std::string& text) {
  HloFile file = ReadHlo(text).value();
  file.module->mutable_proto()->clear_device_assignment();
  file.module->config().identity_device_assignment = false;
  return std::move(ReadHlo(SerializeHlo(file, Format::kContainer).value()).value().module);
}

// "2,4" or "unknown" for each collective with groups, in order.
std::vector<std::string> Sizes(const Module& module) {
  const DeviceCounts counts = DeviceCountsOf(module);
  std::vector<std::string> out;
  for (const auto& i : module.entry()->instructions()) {
    if (!IsCollective(i->opcode()) || i->opcode() == Opcode::kCollectivePermute) continue;
    const auto sizes = GroupSizesOf(*i, counts);
    out.push_back(sizes ? absl::StrJoin(*sizes, ",") : "unknown");
  }
  return out;
}

const char kGlobal[] =
    "  r = f32[8] all-reduce(x), replica_groups={{0,1,2,3}}, channel_id=1, "
    "use_global_device_ids=true, to_apply=add\n";
const char kAll[] = "  y = f32[8] all-reduce(x), replica_groups={}, to_apply=add\n";
const char kAllChannel[] = "  z = f32[8] all-reduce(x), replica_groups={}, channel_id=2, to_apply=add\n";
const char kAllPartitions[] = "  t = f32[8] all-to-all(x), replica_groups={}, channel_id=3, dimensions={0}\n";

TEST(DeviceGroupsTest, ListedGroupsNeedNoNumberOfDevices) {
  EXPECT_THAT(Sizes(*AsProto(Text("", kGlobal))), ElementsAre("4"));
  EXPECT_THAT(
      Sizes(*AsProto(Text("", "y = f32[8] all-reduce(x), replica_groups={{0,1,2},{3}}, to_apply=add"))),
      ElementsAre("1,3"));
  EXPECT_THAT(
      Sizes(*AsProto(Text("",
                          "y = f32[16] all-gather(x), replica_groups=[4,2]<=[2,4]T(1,0), channel_id=1, "
                          "use_global_device_ids=true, dimensions={0}"))),
      ElementsAre("2"));
}

TEST(DeviceGroupsTest, EmptyGroupsMeanTheDevicesOfTheHeader) {
  ASSERT_OK_AND_ASSIGN(const auto module, ParseModule(Text(", replica_count=2, num_partitions=3",
                                                           absl::StrCat(kAll, kAllChannel, kAllPartitions))));
  EXPECT_THAT(Sizes(*module), ElementsAre("2", "6", "3"));
}

TEST(DeviceGroupsTest, EmptyGroupsMeanTheDevicesOfTheAssignment) {
  ASSERT_OK_AND_ASSIGN(const HloFile file,
                       ReadHlo(Text(", replica_count=2, num_partitions=3", absl::StrCat(kAll, kAllChannel))));
  ASSERT_OK_AND_ASSIGN(const HloFile proto, ReadHlo(SerializeHlo(file, Format::kContainer).value()));
  EXPECT_EQ(proto.module->config().num_partitions, 1);
  EXPECT_THAT(Sizes(*proto.module), ElementsAre("2", "6"));
}

TEST(DeviceGroupsTest, EmptyGroupsMeanTheDevicesOfRecordedShardings) {
  const auto module = AsProto(Text(", num_partitions=1", absl::StrCat(kAllPartitions, kAllChannel)));
  auto* sharding = module->mutable_proto()->add_spmd_parameters_shardings();
  sharding->set_type(xla::OpSharding::OTHER);
  sharding->add_tile_assignment_dimensions(5);
  EXPECT_THAT(Sizes(*module), ElementsAre("5", "5"));
}

TEST(DeviceGroupsTest, EmptyGroupsMeanAllDevicesThatOtherCollectivesName) {
  EXPECT_THAT(Sizes(*AsProto(Text("", absl::StrCat(kGlobal, kAllPartitions)))), ElementsAre("4", "4"));
  EXPECT_THAT(Sizes(*AsProto(Text("", absl::StrCat("  p = f32[8] collective-permute(x), "
                                                   "source_target_pairs={{0,5},{5,0}}\n",
                                                   kAll)))),
              ElementsAre("6"));
}

TEST(DeviceGroupsTest, WhatNothingTellsIsSaidToBeUnknown) {
  const auto module = AsProto(Text("", absl::StrCat(kAll, kAllChannel)));
  EXPECT_THAT(Sizes(*module), ElementsAre("unknown", "unknown"));
  const ModuleStats stats = ComputeModuleStats(*module);
  EXPECT_EQ(stats.collectives.at("all-reduce").unknown_groups, 2);
  EXPECT_THAT(ModuleStatsTable(stats, {"HloProto", false}, 120),
              HasSubstr("of unknown size in 2: the module names no number of devices"));
  const auto json = nlohmann::json::parse(ModuleStatsJson(stats, {"HloProto", false}));
  EXPECT_EQ(json["collectives"]["all-reduce"]["unknown_groups"], 2);
  // Under a channel, a replica id means all partitions of the replica.
  EXPECT_THAT(Sizes(*AsProto(Text(
                  "", "  y = f32[8] all-reduce(x), replica_groups={{0,1}}, channel_id=1, to_apply=add"))),
              ElementsAre("unknown"));
}

TEST(DeviceGroupsTest, ContradictionsAreUnknown) {
  const auto module = AsProto(Text("", kGlobal));
  auto* attrs = module->entry()->instruction(1)->MutableAttrs();
  attrs->clear_collective_device_list();
  attrs->clear_replica_groups();
  for (int i = 0; i < 2; ++i) attrs->add_replica_groups()->add_replica_ids(7);
  EXPECT_THAT(Sizes(*module), ElementsAre("unknown"));
}

}  // namespace
}  // namespace toroid
