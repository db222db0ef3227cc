#include "hlo/devices/hlo_sharding.h"

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "google/protobuf/text_format.h"
#include "hlo/base/math.h"
#include "hlo/io/sharding_text.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::ElementsAre;

absl::StatusOr<HloSharding> FromText(const std::string& text) {
  const absl::StatusOr<xla::OpSharding> proto = ParseSharding(text);
  TOROID_CHECK(proto.ok(), text, proto.status().message());
  return HloSharding::FromProto(*proto);
}

absl::StatusOr<HloSharding> FromProtoText(const std::string& text) {
  xla::OpSharding proto;
  TOROID_CHECK(google::protobuf::TextFormat::ParseFromString(text, &proto), text);
  return HloSharding::FromProto(proto);
}

// The devices of an explicit tile array, row-major, computed from the definition.
std::vector<int64_t> DevicesByDefinition(const std::vector<int64_t>& reshape, const std::vector<int>& perm) {
  std::vector<int64_t> strides(reshape.size(), 1);
  for (int i = static_cast<int>(reshape.size()) - 2; i >= 0; --i)
    strides[i] = strides[i + 1] * reshape[i + 1];
  std::vector<int64_t> devices;
  const std::function<void(size_t, int64_t)> visit = [&](size_t k, int64_t device) {
    if (k == perm.size()) {
      devices.push_back(device);
      return;
    }
    for (int64_t i = 0; i < reshape[perm[k]]; ++i) visit(k + 1, device + i * strides[perm[k]]);
  };
  visit(0, 0);
  return devices;
}

struct Iota {
  std::vector<int64_t> reshape;
  std::vector<int> perm;
};

const Iota kIotas[] = {{{8}, {0}},
                       {{2, 4}, {1, 0}},
                       {{2, 3, 4}, {1, 0, 2}},
                       {{2, 3, 4}, {2, 1, 0}},
                       {{2, 3, 4}, {0, 2, 1}},
                       {{2, 2, 2, 3}, {3, 1, 0, 2}},
                       {{1, 5}, {1, 0}},
                       {{7}, {0}}};

TEST(DeviceOrderTest, IotaIsReshapeTransposeFlatten) {
  for (const Iota& iota : kIotas) {
    ASSERT_OK_AND_ASSIGN(const DeviceOrder order, DeviceOrder::Iota(iota.reshape, iota.perm));
    const std::vector<int64_t> devices = DevicesByDefinition(iota.reshape, iota.perm);
    ASSERT_EQ(order.size(), static_cast<int64_t>(devices.size()));
    EXPECT_TRUE(order.is_iota());
    for (int64_t i = 0; i < order.size(); ++i) {
      EXPECT_EQ(order.DeviceAt(i), devices[i]);
      EXPECT_EQ(order.PositionOf(devices[i]), i);
    }
    ASSERT_OK_AND_ASSIGN(const DeviceOrder listed, DeviceOrder::Explicit(devices));
    for (int64_t i = 0; i < order.size(); ++i) {
      EXPECT_EQ(listed.DeviceAt(i), devices[i]);
      EXPECT_EQ(listed.PositionOf(devices[i]), i);
    }
  }
}

TEST(DeviceOrderTest, AListInOrderIsTheIota) {
  ASSERT_OK_AND_ASSIGN(const DeviceOrder order, DeviceOrder::Explicit({0, 1, 2}));
  EXPECT_TRUE(order.is_iota());
}

TEST(DeviceOrderTest, RefusesWhatIsNoPermutation) {
  const auto invalid = StatusIs(absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(DeviceOrder::Explicit({0, 2}), invalid);
  EXPECT_THAT(DeviceOrder::Explicit({0, 0}), invalid);
  EXPECT_THAT(DeviceOrder::Explicit({1, -1}), invalid);
  EXPECT_THAT(DeviceOrder::Iota({2, 4}, {0}), invalid);
  EXPECT_THAT(DeviceOrder::Iota({2, 4}, {0, 0}), invalid);
  EXPECT_THAT(DeviceOrder::Iota({2, 4}, {0, 2}), invalid);
  EXPECT_THAT(DeviceOrder::Iota({2, 0}, {0, 1}), invalid);
  EXPECT_THAT(DeviceOrder::Iota({-2, -2}, {0, 1}), invalid);
  EXPECT_THAT(DeviceOrder::Iota({int64_t{1} << 40, int64_t{1} << 40}, {0, 1}), invalid);
}

TEST(HloShardingTest, TileOfEveryDeviceIsItsPlaceInTheTileArray) {
  for (const char* text :
       {"{devices=[2,4]<=[8]}", "{devices=[4,2]<=[2,4]T(1,0)}",
        "{devices=[2,2,6]<=[6,2,2]T(1,0,2) last_tile_dim_replicate}", "{devices=[3,2]5,0,4,1,3,2}",
        "{devices=[1,3,2]5,0,4,1,3,2 last_tile_dim_replicate}",
        "{devices=[2,1,2,2]<=[8] last_tile_dims={manual, replicated}}"}) {
    SCOPED_TRACE(text);
    ASSERT_OK_AND_ASSIGN(const HloSharding sharding, FromText(text));
    ASSERT_TRUE(sharding.IsTiled());
    const int rank = static_cast<int>(sharding.tiles().size());
    int64_t replicas = 1;
    for (const auto& subgroup : sharding.subgroups()) replicas *= subgroup.size;
    for (int64_t position = 0; position < sharding.NumDevices(); ++position) {
      int64_t rest = position / replicas;
      Dims expected(rank);
      for (int d = rank - 1; d >= 0; --d) {
        expected[d] = rest % sharding.tiles()[d];
        rest /= sharding.tiles()[d];
      }
      EXPECT_EQ(sharding.TileIndex(sharding.order().DeviceAt(position), rank), expected);
    }
  }
}

TEST(HloShardingTest, ShardsOfUnevenSizesRoundUpAndOffsetsStayInside) {
  ASSERT_OK_AND_ASSIGN(const HloSharding sharding, FromText("{devices=[2,2]<=[4]}"));
  EXPECT_THAT(sharding.ShardDims({5, 8}), ElementsAre(3, 4));
  EXPECT_THAT(sharding.TileOffset({5, 8}, 2), ElementsAre(3, 0));
  ASSERT_OK_AND_ASSIGN(const HloSharding four, FromText("{devices=[4]<=[4]}"));
  // [0,2) [2,4) [4,5) []
  EXPECT_THAT(four.ShardDims({5}), ElementsAre(2));
  std::vector<int64_t> offsets;
  for (int64_t d = 0; d < 4; ++d) offsets.push_back(four.TileOffset({5}, d)[0]);
  EXPECT_THAT(offsets, ElementsAre(0, 2, 4, 5));
  EXPECT_THAT(four.ShardDims({0}), ElementsAre(0));
  // Fewer elements than devices.
  EXPECT_THAT(four.ShardDims({2}), ElementsAre(1));
}

// The shards' valid parts cover an array once.
TEST(HloShardingTest, ShardsCoverTheArray) {
  for (const char* text : {"{devices=[4]<=[4]}", "{devices=[6]<=[2,3]T(1,0)}", "{devices=[3]2,0,1}"}) {
    ASSERT_OK_AND_ASSIGN(const HloSharding sharding, FromText(text));
    for (int64_t n = 0; n < 14; ++n) {
      std::vector<int> covered(n, 0);
      const int64_t shard = sharding.ShardDims({n})[0];
      for (int64_t d = 0; d < sharding.NumDevices(); ++d) {
        const int64_t offset = sharding.TileOffset({n}, d)[0];
        for (int64_t i = offset; i < std::min(n, offset + shard); ++i) ++covered[i];
      }
      EXPECT_THAT(covered, ::testing::Each(1)) << text << ", size " << n;
    }
  }
}

TEST(HloShardingTest, AllDevicesInOneSubgroupIsThePlainKind) {
  using Kind = HloSharding::Kind;
  const std::pair<const char*, Kind> cases[] = {
      {"{replicated}", Kind::kReplicated},
      {"{devices=[1,1,4]<=[4] last_tile_dim_replicate}", Kind::kReplicated},
      {"{devices=[1]0}", Kind::kReplicated},
      {"{devices=[1,4]<=[4] last_tile_dims={manual}}", Kind::kManual},
      {"{devices=[1,4]<=[4] last_tile_dims={unreduced}}", Kind::kUnreduced},
      {"{manual}", Kind::kManual},
      {"{unknown}", Kind::kUnknown},
      {"{maximal device=3}", Kind::kMaximal},
      {"{mesh['x'=2], [{}, {?}]}", Kind::kReplicated},
      {"{mesh['x'=2], [{}], manual={'x'}}", Kind::kManual},
      {"{devices=[1,2,2]<=[4] last_tile_dims={manual, replicated}}", Kind::kTiled}};
  for (const auto& [text, kind] : cases) {
    ASSERT_OK_AND_ASSIGN(const HloSharding sharding, FromText(text));
    EXPECT_EQ(sharding.kind(), kind) << text;
  }
  ASSERT_OK_AND_ASSIGN(const HloSharding maximal, FromText("{maximal device=3}"));
  EXPECT_EQ(maximal.maximal_device(), 3);
  EXPECT_EQ(maximal.NumDevices(), 0);
}

TEST(HloShardingTest, MeshFormIsTheTileFormOfItsAxes) {
  const std::pair<const char*, const char*> cases[] = {
      {"{mesh['x'=2,'y'=4], [{'x'}, {'y'}]}", "{devices=[2,4]<=[8]}"},
      {"{mesh['x'=2,'y'=4], [{'y'}, {'x'}]}", "{devices=[4,2]<=[2,4]T(1,0)}"},
      {"{mesh['x'=2,'y'=4], [{'y'}, {}]}", "{devices=[4,1,2]<=[2,4]T(1,0) last_tile_dim_replicate}"},
      {"{mesh['x'=2,'y'=4], [{'y','x'}]}", "{devices=[8]<=[2,4]T(1,0)}"},
      {"{mesh['x'=2,'y'=4], [{'y':(2)2}]}", "{devices=[2,4]<=[4,2]T(1,0) last_tile_dim_replicate}"},
      {"{mesh['x'=2,'y'=4], [{'x'}], manual={'y'}}", "{devices=[2,4]<=[8] last_tile_dims={manual}}"},
      {"{mesh['x'=2,'y'=2], device_ids=(3,1,2,0), [{'x'}, {'y'}]}", "{devices=[2,2]3,1,2,0}"}};
  for (const auto& [mesh, tiles] : cases) {
    ASSERT_OK_AND_ASSIGN(const HloSharding a, FromText(mesh));
    ASSERT_OK_AND_ASSIGN(const HloSharding b, FromText(tiles));
    EXPECT_TRUE(std::equal(a.tiles().begin(), a.tiles().end(), b.tiles().begin(), b.tiles().end())) << mesh;
    ASSERT_EQ(a.subgroups().size(), b.subgroups().size()) << mesh;
    for (int64_t d = 0; d < b.NumDevices(); ++d) {
      EXPECT_EQ(a.TileIndex(d, static_cast<int>(b.tiles().size())),
                b.TileIndex(d, static_cast<int>(b.tiles().size())))
          << mesh << ", device " << d;
    }
  }
}

TEST(HloShardingTest, WritingAndReadingKeepsTheSharding) {
  for (const char* text :
       {"{replicated}", "{manual}", "{unknown}", "{maximal device=3}", "{devices=[2,4]<=[8]}",
        "{devices=[2,1,4]<=[4,2]T(1,0) last_tile_dim_replicate}", "{devices=[2,2]0,3,1,2}",
        "{devices=[1,2,4]<=[8] last_tile_dims={manual, replicated}}"}) {
    ASSERT_OK_AND_ASSIGN(const HloSharding sharding, FromText(text));
    EXPECT_EQ(sharding.ToString(), text);
    xla::OpSharding proto;
    sharding.ToProto(&proto);
    ASSERT_OK_AND_ASSIGN(const HloSharding read, HloSharding::FromProto(proto));
    EXPECT_EQ(read.ToString(), text);
  }
}

TEST(HloShardingTest, TuplesHaveOneEntryPerLeafOrOneForAll) {
  const Shape pair = Shape::Tuple({Shape(xla::F32, {4}), Shape::Tuple({Shape(xla::S32, {})})});
  ASSERT_OK_AND_ASSIGN(const xla::OpSharding two, ParseSharding("{{devices=[2]<=[2]}, {replicated}}"));
  ASSERT_OK_AND_ASSIGN(const auto leaves, HloSharding::LeavesFromProto(two, pair));
  ASSERT_EQ(leaves.size(), 2);
  EXPECT_TRUE(leaves[0].IsTiled());
  EXPECT_FALSE(leaves[1].IsTiled());
  ASSERT_OK_AND_ASSIGN(const xla::OpSharding one, ParseSharding("{manual}"));
  ASSERT_OK_AND_ASSIGN(const auto same, HloSharding::LeavesFromProto(one, pair));
  EXPECT_EQ(same.size(), 2);
  EXPECT_EQ(same[1].kind(), HloSharding::Kind::kManual);
  ASSERT_OK_AND_ASSIGN(const xla::OpSharding three,
                       ParseSharding("{{replicated}, {replicated}, {replicated}}"));
  EXPECT_THAT(HloSharding::LeavesFromProto(three, pair), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(HloShardingTest, MessagesThatContradictThemselvesAreRefused) {
  for (const char* text : {
           "type: TUPLE",
           "type: MAXIMAL",
           "type: MAXIMAL tile_assignment_devices: [1, 2]",
           "type: MAXIMAL tile_assignment_devices: -1",
           "type: OTHER tile_assignment_dimensions: [2, 2] tile_assignment_devices: [0, 1, 2]",
           "type: OTHER tile_assignment_dimensions: 2 tile_assignment_devices: [0, 0]",
           "type: OTHER tile_assignment_dimensions: 2 tile_assignment_devices: [1, 2]",
           "type: OTHER tile_assignment_dimensions: [0, 2]",
           "type: OTHER tile_assignment_dimensions: [-1, -2] tile_assignment_devices: [0, 1]",
           "type: OTHER tile_assignment_dimensions: [2, 2] iota_reshape_dims: 8 iota_transpose_perm: 0",
           "type: OTHER tile_assignment_dimensions: 2 iota_reshape_dims: 2 tile_assignment_devices: [0, 1]",
           "type: OTHER tile_assignment_dimensions: [2, 2] iota_reshape_dims: [2, 2] iota_transpose_perm: "
           "[0, 0]",
           "type: OTHER tile_assignment_dimensions: [4294967296, 4294967296] iota_reshape_dims: 1",
           "type: OTHER tile_assignment_dimensions: 2 iota_reshape_dims: 2 last_tile_dims: [MANUAL, "
           "REPLICATED]",
           "type: OTHER tile_assignment_dimensions: [2, 2] iota_reshape_dims: 4 last_tile_dims: MAXIMAL",
           "type: OTHER tile_assignment_dimensions: [2, 2] iota_reshape_dims: 4 last_tile_dims: MANUAL "
           "replicate_on_last_tile_dim: true",
           "named_sharding { mesh { axes { name: 'x' size: 0 } } }",
           "named_sharding { mesh { axes { name: 'x' size: 2 } } dim_shardings { axes { mesh_axis_index: 1 } "
           "} }",
           "named_sharding { mesh { axes { name: 'x' size: 2 } } dim_shardings { axes { mesh_axis_index: -1 "
           "} } }",
           "named_sharding { mesh { axes { name: 'x' size: 2 } } dim_shardings { axes {} } dim_shardings { "
           "axes {} } }",
           "named_sharding { mesh { axes { name: 'x' size: 6 } } dim_shardings { axes { sub_axis_info { "
           "pre_size: 2 "
           "size: 2 } } } }",
           "named_sharding { mesh { axes { name: 'x' size: 4 } device_ids: [0, 1, 2] } dim_shardings { axes "
           "{} } }",
           "named_sharding { mesh { axes { name: 'x' size: 2 } device_ids: [0, 0] } dim_shardings { axes {} "
           "} }",
       }) {
    const absl::StatusOr<HloSharding> sharding = FromProtoText(text);
    EXPECT_THAT(sharding, StatusIs(absl::StatusCode::kInvalidArgument)) << text;
  }
}

TEST(HloShardingTest, RankMustBeTheArrays) {
  ASSERT_OK_AND_ASSIGN(const HloSharding sharding, FromText("{devices=[2,2]<=[4]}"));
  EXPECT_OK(sharding.Validate(Shape(xla::F32, {5, 8})));
  EXPECT_THAT(sharding.Validate(Shape(xla::F32, {5})), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(sharding.Validate(Shape(xla::F32, {5, 8, 1})), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_OK(HloSharding::Replicated().Validate(Shape(xla::F32, {5})));
}

}  // namespace
}  // namespace toroid
