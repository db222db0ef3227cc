// BUILD: size = "small"
// Cuts and assembles values by shardings.
#include "runtime/partitioned/shard_literal.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/runtime/evaluate.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::HasSubstr;

HloSharding Tiled(std::vector<int64_t> tiles, std::vector<int64_t> devices, int64_t replicas = 1) {
  std::vector<HloSharding::Subgroup> subgroups;
  if (replicas > 1) subgroups.push_back({xla::OpSharding::REPLICATED, replicas});
  return HloSharding::Tiled(std::move(tiles), std::move(subgroups),
                            *DeviceOrder::Explicit(std::move(devices)));
}

TEST(CutLiteralTest, PaddingIsPoison) {
  ASSERT_OK_AND_ASSIGN(const MeshValue shards,
                       CutLiteral(ParseLiteral("f32[5] {0, 1, 2, 3, 4}"), {Tiled({4}, {0, 1, 2, 3})}, 4));
  EXPECT_EQ(shards.shape().ToString(), "f32[2]");
  EXPECT_EQ(ToText(shards.ToLiteral(0)), "{0, 1}");
  EXPECT_EQ(ToText(shards.ToLiteral(2)), "{4, nan}");
  EXPECT_EQ(ToText(shards.ToLiteral(3)), "{nan, nan}");
  ASSERT_OK_AND_ASSIGN(const MeshValue ints,
                       CutLiteral(ParseLiteral("s32[3] {1, 2, 3}"), {Tiled({2}, {0, 1})}, 2));
  EXPECT_EQ(ToText(ints.ToLiteral(1)), "{3, 2147483647}");
}

TEST(CutLiteralTest, ReplicatedIsStoredOnce) {
  ASSERT_OK_AND_ASSIGN(const MeshValue value,
                       CutLiteral(ParseLiteral("f32[2] {1, 2}"), {HloSharding()}, 2048));
  EXPECT_TRUE(value.uniform());
  EXPECT_EQ(value.buffer().bytes(), 8);
}

TEST(CutLiteralTest, DeviceOrderAndReplicatedSubgroups) {
  ASSERT_OK_AND_ASSIGN(const MeshValue shards, CutLiteral(ParseLiteral("s32[2] {10, 20}"),
                                                          {Tiled({2}, {3, 1, 0, 2}, /*replicas=*/2)}, 4));
  EXPECT_EQ(ToText(shards.ToLiteral(0)), "{20}");
  EXPECT_EQ(ToText(shards.ToLiteral(1)), "{10}");
  EXPECT_EQ(ToText(shards.ToLiteral(2)), "{20}");
  EXPECT_EQ(ToText(shards.ToLiteral(3)), "{10}");
}

TEST(AssembleLiteralTest, InvertsCutting) {
  std::mt19937 random(8);
  for (int round = 0; round < 60; ++round) {
    const int64_t a = 1 + random() % 4, b = 1 + random() % 3, copies = 1 + random() % 3;
    std::vector<int64_t> devices(a * b * copies);
    std::iota(devices.begin(), devices.end(), 0);
    std::shuffle(devices.begin(), devices.end(), random);
    const HloSharding sharding = Tiled({a, b}, devices, copies);
    Literal global(
        Shape(xla::S32, {static_cast<int64_t>(random() % 10), static_cast<int64_t>(random() % 10)}));
    for (int32_t& x : global.mutable_data<int32_t>()) x = static_cast<int32_t>(random());
    const int64_t n = a * b * copies;
    ASSERT_OK_AND_ASSIGN(const MeshValue shards, CutLiteral(global, {sharding}, n));
    AssembleOptions options;
    options.check_replicas = true;
    ASSERT_OK_AND_ASSIGN(const Literal back, AssembleLiteral(shards, global.shape(), {sharding}, options));
    ASSERT_TRUE(back == global) << sharding.ToString() << " of " << global.shape().ToString();
  }
}

TEST(AssembleLiteralTest, ReplicasMustAgreeWhenAsked) {
  const std::vector<Literal> values = {ParseLiteral("s32[2] {1, 2}"), ParseLiteral("s32[2] {1, 3}")};
  ASSERT_OK_AND_ASSIGN(const MeshValue value, MeshValue::PerDevice(values));
  AssembleOptions options;
  EXPECT_THAT(AssembleLiteral(value, values[0].shape(), {HloSharding()}, options), IsOkAndHolds(values[0]));
  options.check_replicas = true;
  EXPECT_THAT(AssembleLiteral(value, values[0].shape(), {HloSharding()}, options),
              StatusIs(absl::StatusCode::kDataLoss,
                       HasSubstr("devices 0 and 1 disagree on element [1] of output 0")));
}

TEST(AssembleLiteralTest, AnyNanIsAsGoodAsAnother) {
  std::vector<Literal> values = {ParseLiteral("f32[2] {1, nan}"), ParseLiteral("f32[2] {1, nan}")};
  values[1].mutable_data<float>()[1] = -values[1].data<float>()[1];
  ASSERT_OK_AND_ASSIGN(const MeshValue value, MeshValue::PerDevice(values));
  AssembleOptions options;
  options.check_replicas = true;
  EXPECT_THAT(AssembleLiteral(value, values[0].shape(), {HloSharding()}, options), IsOkAndHolds(values[0]));
}

TEST(AssembleLiteralTest, DifferencesByRoundingAreToldFromOthers) {
  const std::vector<Literal> values = {ParseLiteral("f32[2] {1, 2}"), ParseLiteral("f32[2] {1, 2.000001}"),
                                       ParseLiteral("f32[2] {1, 2.000001}")};
  ASSERT_OK_AND_ASSIGN(const MeshValue value, MeshValue::PerDevice(values));
  AssembleOptions options;
  options.check_replicas = true;
  EXPECT_THAT(AssembleLiteral(value, values[0].shape(), {HloSharding()}, options),
              StatusIs(absl::StatusCode::kDataLoss,
                       HasSubstr("devices 0 and 1 differ by rounding on element [1] of output 0")));
  std::vector<std::string> rounding;
  options.rounding = &rounding;
  EXPECT_THAT(AssembleLiteral(value, values[0].shape(), {HloSharding()}, options), IsOkAndHolds(values[0]));
  ASSERT_EQ(rounding.size(), 1);  // One line for the output, not one per device.
  const double exact[] = {0};
  options.tolerances = exact;
  EXPECT_THAT(AssembleLiteral(value, values[0].shape(), {HloSharding()}, options),
              StatusIs(absl::StatusCode::kDataLoss,
                       HasSubstr("devices 0 and 1 disagree on element [1] of output 0; beyond rounding at")));
}

// Subgroups: `size` devices hold addends of each tile.
HloSharding Unreduced(std::vector<int64_t> tiles, int64_t size, std::vector<int64_t> devices) {
  return HloSharding::Tiled(tiles, {{xla::OpSharding::UNREDUCED, size}},
                            *DeviceOrder::Explicit(std::move(devices)));
}

TEST(CutLiteralTest, UnreducedValuesAddUpOverTheirDevices) {
  const Literal global = ParseLiteral("s32[4] {1, 2, 3, 4}");
  const HloSharding sharding = Unreduced({2}, 2, {2, 0, 1, 3});
  ASSERT_OK_AND_ASSIGN(const MeshValue shards, CutLiteral(global, {sharding}, 4));
  EXPECT_EQ(ToText(shards.ToLiteral(2)), "{1, 2}");
  EXPECT_EQ(ToText(shards.ToLiteral(0)), "{0, 0}");
  EXPECT_EQ(ToText(shards.ToLiteral(1)), "{3, 4}");
  EXPECT_EQ(ToText(shards.ToLiteral(3)), "{0, 0}");
  EXPECT_THAT(AssembleLiteral(shards, global.shape(), {sharding}), IsOkAndHolds(global));
  ASSERT_OK_AND_ASSIGN(const MeshValue parts,
                       MeshValue::PerDevice({ParseLiteral("s32[2] {1, 1}"), ParseLiteral("s32[2] {2, 0}"),
                                             ParseLiteral("s32[2] {5, 5}"), ParseLiteral("s32[2] {7, 9}")}));
  EXPECT_THAT(AssembleLiteral(parts, global.shape(), {sharding}),
              IsOkAndHolds(ParseLiteral("s32[4] {6, 6, 9, 9}")));
}

TEST(CutLiteralTest, AWholeUnreducedValueIsOnTheFirstDevice) {
  const HloSharding sharding = HloSharding::OfKind(HloSharding::Kind::kUnreduced);
  const Literal global = ParseLiteral("f32[2] {1.5, 2}");
  ASSERT_OK_AND_ASSIGN(const MeshValue shards, CutLiteral(global, {sharding}, 3));
  EXPECT_EQ(ToText(shards.ToLiteral(0)), "{1.5, 2}");
  EXPECT_EQ(ToText(shards.ToLiteral(2)), "{0, 0}");
  EXPECT_THAT(AssembleLiteral(shards, global.shape(), {sharding}), IsOkAndHolds(global));
  // Addends that are uniform over all devices are added as well.
  ASSERT_OK_AND_ASSIGN(const MeshValue uniform, MeshValue::Uniform(global, 3));
  EXPECT_THAT(AssembleLiteral(uniform, global.shape(), {sharding}),
              IsOkAndHolds(ParseLiteral("f32[2] {4.5, 6}")));
}

TEST(AssembleLiteralTest, TuplesByLeaf) {
  const Literal tuple = Literal::Tuple({ParseLiteral("s32[4] {1, 2, 3, 4}"), ParseLiteral("s32[] 7")});
  const std::vector<HloSharding> shardings = {Tiled({2}, {1, 0}), HloSharding()};
  ASSERT_OK_AND_ASSIGN(const MeshValue shards, CutLiteral(tuple, shardings, 2));
  EXPECT_EQ(ToText(shards.ToLiteral(0)), "( {3, 4}, 7 )");
  EXPECT_THAT(AssembleLiteral(shards, tuple.shape(), shardings), IsOkAndHolds(tuple));
}

TEST(ShardShapeTest, RefusesOtherDeviceCounts) {
  EXPECT_THAT(ShardShape(Shape(xla::F32, {4}), {Tiled({2}, {0, 1})}, 4),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("names 2 devices, the mesh has 4")));
  EXPECT_THAT(ShardShape(Shape(xla::F32, {4}), {HloSharding::OfKind(HloSharding::Kind::kManual)}, 2),
              StatusIs(absl::StatusCode::kUnimplemented));
}

}  // namespace
}  // namespace toroid
