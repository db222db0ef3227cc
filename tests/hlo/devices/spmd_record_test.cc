// BUILD: size = "small"
#include "hlo/devices/spmd_record.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hlo/io/hlo_text.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::HasSubstr;

std::unique_ptr<Module> Parse(const std::string& text) { return ParseModule(text).value(); }

TEST(SpmdRecordTest, TheDeviceAssignmentGivesTheNumber) {
  const auto module = Parse("HloModule m\nENTRY e { ROOT p = f32[4] parameter(0) }");
  EXPECT_FALSE(IsPartitioned(*module));
  module->mutable_proto()->mutable_spmd_output_sharding()->set_type(xla::OpSharding::REPLICATED);
  EXPECT_TRUE(IsPartitioned(*module));
  module->config().num_partitions = 4;
  EXPECT_EQ(PartitionsOf(*module).value(), 4);
  module->mutable_proto()->mutable_device_assignment()->set_computation_count(8);
  EXPECT_THAT(PartitionsOf(*module),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("num_partitions=4")));
  module->config().num_partitions = 1;
  EXPECT_EQ(PartitionsOf(*module).value(), 8);
}

TEST(SpmdRecordTest, NumbersOfDevicesAreBounded) {
  const auto module = Parse("HloModule m\nENTRY e { ROOT p = f32[4] parameter(0) }");
  for (const int64_t n : {int64_t{0}, int64_t{-3}, int64_t{9'000'000'000'000}}) {
    module->config().num_partitions = n;
    EXPECT_THAT(PartitionsOf(*module),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("possible are 1 to")));
  }
}

TEST(SpmdRecordTest, ParametersWithoutARecordAreReplicated) {
  const auto module = Parse("HloModule m\nENTRY e { ROOT p = (f32[4], f32[2]) parameter(0) }");
  ASSERT_OK_AND_ASSIGN(const auto shardings, ParameterShardings(*module, 0));
  EXPECT_EQ(shardings.size(), 2u);
}

TEST(SpmdRecordTest, TextOfAProgramOfOnePartitionIsKnown) {
  const auto looks = [](const std::string& header, const std::string& sharding, const std::string& root) {
    return LooksPartitioned(
        *Parse(header + "\nENTRY e { p = f32[4] parameter(0)" + sharding + " ROOT r = " + root + " }"));
  };
  const std::string cut = ", sharding={devices=[2]<=[2]}", two = "HloModule m, num_partitions=2";
  const std::string gather = "f32[8] all-gather(p), dimensions={0}, replica_groups={{0,1}}";
  EXPECT_TRUE(looks(two, cut, gather));
  EXPECT_FALSE(looks("HloModule m", cut, gather));
  EXPECT_FALSE(looks(two, "", gather));
  EXPECT_FALSE(looks(two, cut, "f32[4] negate(p)"));
  EXPECT_FALSE(looks(
      two, cut, "f32[2] custom-call(p), custom_call_target=\"SPMDFullToShardShape\", sharding={manual}"));
}

TEST(SpmdRecordTest, AProgramWithCollectivesAndNoShardingsIsOneDevices) {
  const auto is_one = [](const std::string& sharding, const std::string& root) {
    return IsProgramOfOneDevice(*Parse("HloModule m, num_partitions=2\nENTRY e { p = f32[4] parameter(0)" +
                                       sharding + " ROOT r = " + root + " }"));
  };
  const std::string gather = "f32[8] all-gather(p), dimensions={0}, replica_groups={{0,1}}";
  EXPECT_TRUE(is_one("", gather));
  EXPECT_FALSE(is_one(", sharding={devices=[2]<=[2]}", gather));
  EXPECT_FALSE(is_one("", "f32[4] negate(p)"));
  EXPECT_FALSE(is_one("", "f32[2] custom-call(p), custom_call_target=\"xla.sdy.GlobalToLocalShape\""));
}

TEST(SpmdRecordTest, ManualRegionsAndCollectivesNameDevices) {
  EXPECT_FALSE(HasManualRegions(*Parse("HloModule m\nENTRY e { ROOT p = f32[4] parameter(0) }")));
  EXPECT_TRUE(
      HasManualRegions(*Parse("HloModule m\nENTRY e { p = f32[4] parameter(0) ROOT g = f32[8] "
                              "all-gather(p), dimensions={0}, replica_groups={{0,1}} }")));
  EXPECT_TRUE(HasManualRegions(
      *Parse("HloModule m\nENTRY e { p = f32[4] parameter(0) ROOT g = f32[2] "
             "custom-call(p), custom_call_target=\"SPMDFullToShardShape\", sharding={manual} }")));
}

}  // namespace
}  // namespace toroid
