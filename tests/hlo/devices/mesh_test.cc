#include "hlo/devices/mesh.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "hlo/io/sharding_text.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::ElementsAre;
using ::testing::Optional;

HloSharding Parsed(const std::string& text) {
  const absl::StatusOr<xla::OpSharding> proto = ParseSharding(text);
  TOROID_CHECK(proto.ok(), proto.status().message());
  const absl::StatusOr<HloSharding> sharding = HloSharding::FromProto(*proto);
  TOROID_CHECK(sharding.ok(), sharding.status().message());
  return *sharding;
}

Sharding Dimensions(std::initializer_list<AxisList> dims) {
  Sharding sharding;
  sharding.dims.assign(dims.begin(), dims.end());
  return sharding;
}

// Expects the same tile from both, for every device.
void ExpectSameTiles(const Mesh& mesh, const Sharding& sharding, const HloSharding& hlo) {
  const int rank = static_cast<int>(sharding.dims.size());
  for (int64_t position = 0; position < mesh.num_devices(); ++position) {
    const Dims tile = hlo.TileIndex(mesh.order().DeviceAt(position), rank);
    for (int d = 0; d < rank; ++d) {
      ASSERT_EQ(tile[d], mesh.Coordinate(position, sharding.dims[d]))
          << "position " << position << ", dimension " << d << ", " << mesh.ToString(sharding) << " and "
          << hlo.ToString();
    }
  }
}

DeviceOrder Shuffled(int64_t n, uint64_t seed) {
  std::vector<int64_t> devices(n);
  std::iota(devices.begin(), devices.end(), 0);
  std::mt19937_64 random(seed);
  std::shuffle(devices.begin(), devices.end(), random);
  return *DeviceOrder::Explicit(devices);
}

TEST(MeshTest, AxesArePrimeAndMajorToMinor) {
  const Mesh mesh(24, {6}, DeviceOrder(24));  // "x"=4, "y"=6
  std::vector<int64_t> sizes, strides;
  for (int axis = 0; axis < mesh.num_axes(); ++axis) {
    sizes.push_back(mesh.size(axis));
    strides.push_back(mesh.stride(axis));
  }
  EXPECT_THAT(sizes, ElementsAre(2, 2, 2, 3));
  EXPECT_THAT(strides, ElementsAre(12, 6, 3, 1));
  EXPECT_EQ(mesh.Product(AxisList{0, 3}), 6);
  EXPECT_EQ(mesh.Product(AxisSet{0b0110}), 4);
  EXPECT_THAT(mesh.AxesOfPart(4, 6), Optional(AxisList({0, 1})));
  EXPECT_EQ(mesh.AxesOfPart(3, 2), std::nullopt);
}

TEST(MeshTest, CutsThatDoNotChainAreLeftOut) {
  const Mesh mesh(6, {2, 3}, DeviceOrder(6));  // 3 neither divides nor is divided by 2
  ASSERT_EQ(mesh.num_axes(), 2);
  EXPECT_EQ(mesh.stride(0), 2);
  EXPECT_EQ(mesh.stride(1), 1);
}

TEST(MeshTest, OneDeviceHasNoAxes) {
  const Mesh mesh;
  EXPECT_EQ(mesh.num_devices(), 1);
  EXPECT_EQ(mesh.num_axes(), 0);
  EXPECT_EQ(mesh.AllAxes(), 0u);
  EXPECT_EQ(mesh.ToHlo(Sharding::Replicated(2)).kind(), HloSharding::Kind::kReplicated);
}

TEST(MeshTest, LargeMeshesAreNotEnumerated) {
  const int64_t n = int64_t{1} << 20;
  const Mesh mesh(n, {}, DeviceOrder(n));
  EXPECT_EQ(mesh.num_axes(), 20);
  const HloSharding hlo = mesh.ToHlo(Dimensions({{0, 1}, {2}}));
  EXPECT_EQ(hlo.ToString(), "{devices=[4,2,131072]<=[1048576] last_tile_dim_replicate}");
  EXPECT_THAT(mesh.FromHlo(hlo, 2), Optional(Dimensions({{0, 1}, {2}})));
}

TEST(MeshTest, ShardDimsRoundUp) {
  const Mesh mesh(6, {2}, DeviceOrder(6));
  EXPECT_THAT(mesh.ShardDims({5, 7, 0}, Dimensions({{0}, {1}, {}})), ElementsAre(2, 4, 0));
  EXPECT_THAT(mesh.ShardDims({5}, Dimensions({{0, 1}})), ElementsAre(1));
  EXPECT_THAT(mesh.ShardDims({0}, Dimensions({{0, 1}})), ElementsAre(0));
}

// Random axes on random dimensions, in plain, iota and explicit device orders.
TEST(MeshTest, ToHloAndFromHloKeepEveryDevicesTile) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 600; ++i) {
    const std::vector<int64_t> counts = {2, 3, 4, 6, 8, 12, 24, 30};
    const int64_t n = counts[random() % counts.size()];
    std::vector<int64_t> cuts;
    for (int64_t cut = 2; cut < n; ++cut) {
      if (n % cut == 0 && random() % 3 == 0) cuts.push_back(cut);
    }
    DeviceOrder order(n);
    if (i % 3 == 1) order = Shuffled(n, random());
    if (i % 3 == 2 && n % 2 == 0) order = *DeviceOrder::Iota({2, n / 2}, {1, 0});
    const Mesh mesh(n, cuts, order);
    const int rank = 1 + static_cast<int>(random() % 3);
    Sharding sharding = Sharding::Replicated(rank);
    std::vector<int> axes(mesh.num_axes());
    std::iota(axes.begin(), axes.end(), 0);
    std::shuffle(axes.begin(), axes.end(), random);
    for (const int axis : axes) {
      if (random() % 4 != 0) sharding.dims[random() % rank].push_back(axis);
    }
    SCOPED_TRACE(absl::StrCat(n, " devices, ", mesh.ToString(sharding)));
    const HloSharding hlo = mesh.ToHlo(sharding);
    ExpectSameTiles(mesh, sharding, hlo);
    const auto back = mesh.FromHlo(hlo, rank);
    ASSERT_TRUE(back.has_value());
    EXPECT_EQ(*back, sharding);
    // The written sharding reads back the same.
    xla::OpSharding proto;
    hlo.ToProto(&proto);
    ASSERT_OK_AND_ASSIGN(const HloSharding read, HloSharding::FromProto(proto));
    ExpectSameTiles(mesh, sharding, read);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(MeshTest, PartialAndManualAxesSurviveARoundTrip) {
  for (const DeviceOrder& order : {DeviceOrder(12), Shuffled(12, 3)}) {
    const Mesh mesh(12, {4}, order);  // axes 3 2 2
    Sharding sharding = Dimensions({{1}, {}});
    sharding.partial = AxisSet{1} << 0;
    EXPECT_THAT(mesh.FromHlo(mesh.ToHlo(sharding), 2), Optional(sharding));
    sharding.partial = 0;
    sharding.manual = AxisSet{1} << 2;
    EXPECT_THAT(mesh.FromHlo(mesh.ToHlo(sharding), 2), Optional(sharding));
    Sharding manual = Sharding::Replicated(2);
    manual.manual = mesh.AllAxes();
    EXPECT_EQ(mesh.ToHlo(manual).kind(), HloSharding::Kind::kManual);
    EXPECT_THAT(mesh.FromHlo(mesh.ToHlo(manual), 2), Optional(manual));
  }
}

struct Spelling {
  const char* text;
  int64_t devices;
  int rank;
};

const Spelling kSpellings[] = {
    {"{devices=[2,4]<=[8]}", 8, 2},
    {"{devices=[4,2]<=[2,4]T(1,0)}", 8, 2},
    {"{devices=[2,2,2]<=[2,2,2]T(2,0,1)}", 8, 3},
    {"{devices=[2,1,4]<=[8] last_tile_dim_replicate}", 8, 2},
    {"{devices=[2,1,4]<=[4,2]T(1,0) last_tile_dim_replicate}", 8, 2},
    {"{devices=[4,6]<=[2,3,4]T(2,1,0)}", 24, 2},
    {"{devices=[3,2,4]<=[2,3,4]T(1,0,2) last_tile_dim_replicate}", 24, 2},
    {"{devices=[2,2]0,1,2,3}", 4, 2},
    {"{devices=[2,2]0,2,1,3}", 4, 2},
    {"{devices=[2,1,2]0,2,1,3 last_tile_dim_replicate}", 4, 2},
    {"{mesh['x'=2,'y'=4], [{'y'}, {'x'}]}", 8, 2},
    {"{mesh['x'=2,'y'=4], [{'y':(1)2}, {}, {'y':(2)2,'x'}]}", 8, 3},
};

TEST(MeshTest, SpellingsOverThePlainOrderAreAxes) {
  for (const Spelling& spelling : kSpellings) {
    SCOPED_TRACE(spelling.text);
    const HloSharding hlo = Parsed(spelling.text);
    const DeviceOrder order(spelling.devices);
    const std::vector<int64_t> cuts = CutsOf(hlo, order);
    EXPECT_FALSE(cuts.empty());
    const Mesh mesh(spelling.devices, cuts, order);
    const auto sharding = mesh.FromHlo(hlo, spelling.rank);
    ASSERT_TRUE(sharding.has_value());
    ExpectSameTiles(mesh, *sharding, hlo);
    ExpectSameTiles(mesh, *sharding, mesh.ToHlo(*sharding));
  }
}

TEST(MeshTest, AListInNoRegularOrderFitsOnlyItsOwnMesh) {
  const HloSharding hlo = Parsed("{devices=[6]0,1,2,3,5,4}");
  EXPECT_TRUE(CutsOf(hlo, DeviceOrder(6)).empty());
  EXPECT_EQ(Mesh(6, {}, DeviceOrder(6)).FromHlo(hlo, 1), std::nullopt);
  const Mesh own(6, CutsOf(hlo, hlo.order()), hlo.order());
  const auto sharding = own.FromHlo(hlo, 1);
  ASSERT_TRUE(sharding.has_value());
  ExpectSameTiles(own, *sharding, hlo);
}

TEST(MeshTest, ShardingsWithoutTilesHaveNoAxes) {
  const Mesh mesh(4, {}, DeviceOrder(4));
  for (const char* text : {"{replicated}", "{maximal device=3}", "{unknown}"}) {
    EXPECT_THAT(mesh.FromHlo(Parsed(text), 2), Optional(Sharding::Replicated(2))) << text;
  }
  EXPECT_EQ(mesh.FromHlo(Parsed("{manual}"), 2)->manual, mesh.AllAxes());
  // A sharding over another number of devices.
  EXPECT_EQ(mesh.FromHlo(Parsed("{devices=[8]<=[8]}"), 1), std::nullopt);
}

TEST(MeshTest, RelabelingRenamesDevicesAndKeepsPositions) {
  const Mesh mesh(4, {}, DeviceOrder(4));
  ASSERT_OK_AND_ASSIGN(const Mesh relabeled, mesh.Relabeled({2, 0, 3, 1}));
  const Sharding sharding = Dimensions({{0}, {1}});
  const HloSharding before = mesh.ToHlo(sharding), after = relabeled.ToHlo(sharding);
  const int64_t relabel[] = {2, 0, 3, 1};
  for (int64_t d = 0; d < 4; ++d) EXPECT_EQ(after.TileIndex(relabel[d], 2), before.TileIndex(d, 2));
  EXPECT_THAT(mesh.Relabeled({0, 0, 1, 2}), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(AxisListTest, PrefixesAndSets) {
  const AxisList list = {3, 0, 2};
  EXPECT_TRUE(list.Prefix(2).IsPrefixOf(list));
  EXPECT_FALSE(list.IsPrefixOf(list.Prefix(2)));
  EXPECT_EQ(list.Suffix(1), AxisList({0, 2}));
  EXPECT_EQ(list.Set(), 0b1101u);
  EXPECT_EQ(list.Only(0b1001), AxisList({3, 0}));
  AxisList popped = list;
  popped.pop_back();
  EXPECT_EQ(popped, AxisList({3, 0}));
}

}  // namespace
}  // namespace toroid
