#include "partitioner/reshard/plan.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "hlo/base/math.h"
#include "hlo/io/hlo_text.h"
#include "partitioner/rewrite/poison_padding.h"
#include "runtime/numerics/compare.h"
#include "tests/partition_and_run.h"
#include "tests/partitioner/equivalence.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::ElementsAre;

Sharding Dimensions(std::initializer_list<AxisList> dims, AxisSet partial = 0) {
  Sharding sharding;
  sharding.dims.assign(dims.begin(), dims.end());
  sharding.partial = partial;
  return sharding;
}

std::vector<MoveKind> Kinds(const ReshardPlan& plan) {
  std::vector<MoveKind> kinds;
  for (const Move& move : plan.moves) kinds.push_back(move.kind);
  return kinds;
}

// A mesh of 8 devices: the axes 0 and 1 together have size 4, axis 2 has size 2.
class PlanTest : public testing::Test {
 protected:
  const ReshardPlan& Plan(std::vector<int64_t> dims, const Sharding& from, const Sharding& to,
                          int64_t width = 4) {
    return planner_.Plan(dims, width, from, to);
  }

  Mesh mesh_{8, {2}, DeviceOrder(8)};
  ReshardPlanner planner_{&mesh_};
};

// The default cost model, but with one kind of collective at `times` the cost, and with no lower bound
// (LeastTime).
class Dear : public CostModel {
 public:
  Dear(CollectiveKind kind, double times) : kind_(kind), times_(times) {}
  double CollectiveTime(CollectiveKind kind, int64_t bytes, const Mesh& mesh,
                        const AxisList& axes) const override {
    return DefaultCostModel().CollectiveTime(kind, bytes, mesh, axes) * (kind == kind_ ? times_ : 1);
  }
  double PermuteDelay(int64_t count) const override { return DefaultCostModel().PermuteDelay(count); }
  double MemoryTime(double bytes) const override { return DefaultCostModel().MemoryTime(bytes); }
  double OpTime(const Work& work) const override { return DefaultCostModel().OpTime(work); }
  double SecondsPerLinkByte() const override { return DefaultCostModel().SecondsPerLinkByte(); }

 private:
  const CollectiveKind kind_;
  const double times_;
};

// From 2 x 4 to 4 x 2 tiles: an all-to-all moves one axis from the second dimension to the first, then a
// permute reorders the tiles.
TEST_F(PlanTest, TurningAMeshThatIsNotSquareGathersNothing) {
  const ReshardPlan& turned = Plan({64, 64}, Dimensions({{2}, {0, 1}}), Dimensions({{0, 1}, {2}}));
  EXPECT_THAT(Kinds(turned), ElementsAre(MoveKind::kAllToAll, MoveKind::kPermute));
  EXPECT_EQ(turned.sent_bytes, 2048 / 2 + 2048);
  EXPECT_FALSE(turned.exceeds_bound);
}

// From two tiles to four tiles over other axes, and back.
TEST_F(PlanTest, OneDimensionGoesOverToOtherAxesByAPermute) {
  const ReshardPlan& finer = Plan({64}, Dimensions({{2}}), Dimensions({{0, 1}}));
  EXPECT_THAT(Kinds(finer), ElementsAre(MoveKind::kSlice, MoveKind::kPermute));
  EXPECT_EQ(finer.sent_bytes, 64);
  const ReshardPlan& coarser = Plan({64}, Dimensions({{0, 1}}), Dimensions({{2}}));
  EXPECT_THAT(Kinds(coarser), ElementsAre(MoveKind::kPermute, MoveKind::kAllGather));
  EXPECT_EQ(coarser.sent_bytes, 128);
}

TEST_F(PlanTest, AnotherCostModelChoosesAnotherPlan) {
  const Sharding from = Dimensions({{}, {}}, /*partial=*/0b11), to = Dimensions({{}, {}});
  EXPECT_THAT(Kinds(Plan({8, 16}, from, to)), ElementsAre(MoveKind::kAllReduce));
  const Dear dear(CollectiveKind::kAllReduce, 3);
  ReshardPlanner planner(&mesh_, &dear);
  const int64_t dims[] = {8, 16};
  const ReshardPlan& plan = planner.Plan(dims, 4, from, to);
  EXPECT_THAT(Kinds(plan), ElementsAre(MoveKind::kReduceScatter, MoveKind::kAllGather));
  EXPECT_EQ(plan.sent_bytes, Plan({8, 16}, from, to).sent_bytes);
}

TEST_F(PlanTest, EqualShardingsNeedNoMove) {
  const Sharding x = Dimensions({{0, 1}, {}});
  EXPECT_TRUE(Plan({8, 16}, x, x).moves.empty());
  EXPECT_EQ(Plan({8, 16}, x, x).sent_bytes, 0);
}

TEST_F(PlanTest, ReplicatedToTiledIsASlice) {
  const ReshardPlan& plan = Plan({8, 16}, Dimensions({{}, {}}), Dimensions({{0, 1}, {}}));
  EXPECT_THAT(Kinds(plan), ElementsAre(MoveKind::kSlice));
  EXPECT_EQ(plan.sent_bytes, 0);
}

TEST_F(PlanTest, TiledToReplicatedIsOneAllGather) {
  const ReshardPlan& plan = Plan({8, 16}, Dimensions({{0, 1}, {}}), Dimensions({{}, {}}));
  EXPECT_THAT(Kinds(plan), ElementsAre(MoveKind::kAllGather));
  EXPECT_EQ(plan.sent_bytes, 8 / 4 * 16 * 4 * 3);
}

TEST_F(PlanTest, AnAxisThatChangesDimensionMovesByAllToAll) {
  const ReshardPlan& plan = Plan({8, 16}, Dimensions({{0, 1}, {}}), Dimensions({{}, {0, 1}}));
  EXPECT_THAT(Kinds(plan), ElementsAre(MoveKind::kAllToAll));
  EXPECT_EQ(plan.sent_bytes, 128 * 3 / 4);  // 128 local bytes
}

TEST_F(PlanTest, PartialToTiledIsAReduceScatter) {
  const ReshardPlan& plan = Plan({8, 16}, Dimensions({{}, {}}, 0b011), Dimensions({{0, 1}, {}}));
  EXPECT_THAT(Kinds(plan), ElementsAre(MoveKind::kReduceScatter));
  EXPECT_EQ(plan.sent_bytes, 512 * 3 / 4);
}

TEST_F(PlanTest, PartialToReplicatedIsOneAllReduceOverAllAxes) {
  const ReshardPlan& plan = Plan({8, 16}, Dimensions({{}, {}}, 0b111), Dimensions({{}, {}}));
  EXPECT_THAT(Kinds(plan), ElementsAre(MoveKind::kAllReduce));
  EXPECT_EQ(plan.sent_bytes, 2 * 512 * 7 / 8);
}

TEST_F(PlanTest, OtherAxesOfTheSameTileCountsAreAPermute) {
  // Tile counts stay 4 x 2, over other axes.
  const ReshardPlan& plan = Plan({8, 16}, Dimensions({{0, 1}, {2}}), Dimensions({{2, 0}, {1}}));
  EXPECT_THAT(Kinds(plan), ElementsAre(MoveKind::kPermute));
  EXPECT_EQ(plan.sent_bytes, 2 * 8 * 4);
}

TEST_F(PlanTest, AMinorAxisIsGatheredAlone) {
  const ReshardPlan& plan = Plan({8, 16}, Dimensions({{0, 1}, {}}), Dimensions({{0}, {}}));
  EXPECT_THAT(Kinds(plan), ElementsAre(MoveKind::kAllGather));
  EXPECT_EQ(plan.moves[0].axes, AxisList({1}));
  EXPECT_EQ(plan.sent_bytes, 128);
}

TEST_F(PlanTest, SlicingBeforeMovingSendsLess) {
  // An idle axis slices first; then an all-to-all or a permute carries smaller shards.
  const ReshardPlan& plan = Plan({8, 16}, Dimensions({{0, 1}, {}}), Dimensions({{}, {0, 1, 2}}));
  EXPECT_LE(plan.sent_bytes, 128 * 3 / 4);
  EXPECT_FALSE(plan.exceeds_bound);
}

TEST_F(PlanTest, UnevenTilesGatherOnlyWhereTheyNest) {
  EXPECT_TRUE(TilesNest(8, 2, 2));
  EXPECT_TRUE(TilesNest(5, 1, 4));
  EXPECT_FALSE(TilesNest(5, 2, 2));  // [0,3) [3,5) are no unions of [0,2) [2,4) [4,5) []
  EXPECT_TRUE(TilesNest(7, 2, 2));   // [0,4) [4,7): [0,2) [2,4) [4,6) [6,7)
}

TEST_F(PlanTest, UnevenTilesThatDoNotNestAreRealignedByAHaloExchange) {
  // [0,2) [2,4) [4,5) [] -> [0,3) [3,5): the four devices lack 1, 2, 1 and 2 rows.
  const ReshardPlan& plan = Plan({5}, Dimensions({{0, 1}}), Dimensions({{0}}));
  EXPECT_THAT(Kinds(plan), ElementsAre(MoveKind::kRealign));
  EXPECT_FALSE(plan.exceeds_bound);
  EXPECT_GT(plan.sent_bytes, 0);
  EXPECT_LT(plan.sent_bytes, 3 * 2 * 4);  // Less than an all-gather sends.
}

TEST_F(PlanTest, IntermediatesStayWithinTheLargerEnd) {
  std::mt19937_64 random(3);
  const auto sharding = [&] {
    Sharding s = Sharding::Replicated(3);
    std::vector<int> axes(mesh_.num_axes());
    std::iota(axes.begin(), axes.end(), 0);
    std::shuffle(axes.begin(), axes.end(), random);
    for (const int axis : axes) {
      if (random() % 5 != 0) s.dims[random() % 3].push_back(axis);
    }
    return s;
  };
  const std::vector<int64_t> dims = {16, 8, 32};
  const auto local = [&](const Sharding& s) {
    int64_t bytes = 4;
    for (const int64_t size : mesh_.ShardDims(dims, s)) bytes *= size;
    return bytes;
  };
  for (int i = 0; i < 500; ++i) {
    const Sharding from = sharding(), to = sharding();
    const ReshardPlan& plan = Plan(dims, from, to);
    SCOPED_TRACE(absl::StrCat(mesh_.ToString(from), " -> ", mesh_.ToString(to)));
    EXPECT_FALSE(plan.exceeds_bound);
    Sharding at = from;
    int64_t sent = 0;
    for (const Move& move : plan.moves) {
      EXPECT_LE(local(move.result), std::max(local(from), local(to)));
      sent += toroid::SentBytes(move.kind, local(at), mesh_.Product(move.axes));
      at = move.result;
    }
    EXPECT_EQ(at, to);
    EXPECT_EQ(plan.sent_bytes, sent);
    // No more than gathering the whole array sends.
    const int64_t all = 16 * 8 * 32 * 4;
    EXPECT_LE(plan.sent_bytes, all);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(SentBytesTest, AreThoseOfBandwidthOptimalAlgorithms) {
  EXPECT_EQ(SentBytes(MoveKind::kAllGather, 100, 4), 300);
  EXPECT_EQ(SentBytes(MoveKind::kAllToAll, 100, 4), 75);
  EXPECT_EQ(SentBytes(MoveKind::kReduceScatter, 100, 4), 75);
  EXPECT_EQ(SentBytes(MoveKind::kAllReduce, 100, 4), 150);
  EXPECT_EQ(SentBytes(MoveKind::kPermute, 100, 4), 100);
  EXPECT_EQ(SentBytes(MoveKind::kSlice, 100, 4), 0);
}

TEST(PlanSizeTest, SixtyFiveThousandDevicesAreTwoMoves) {
  const int64_t n = 65536;
  const Mesh mesh(n, {256}, DeviceOrder(n));
  ReshardPlanner planner(&mesh);
  AxisList x, y;
  for (int axis = 0; axis < 8; ++axis) x.push_back(axis);
  for (int axis = 8; axis < 16; ++axis) y.push_back(axis);
  const ReshardPlan& plan =
      planner.Plan({4096, 4096, 4096}, 4, Dimensions({x, y, {}}), Dimensions({{}, y, x}));
  EXPECT_THAT(Kinds(plan), ElementsAre(MoveKind::kAllToAll));
}

// Many paths have equal cost; the search does not follow those that cannot be best.
TEST(PlanSizeTest, PlansOnNineAxesAreFound) {
  const Mesh mesh(512, {4, 32, 256}, DeviceOrder(512));
  ReshardPlanner planner(&mesh);
  const Sharding from = Dimensions({{0, 1, 2, 3}, {}, {7, 8}, {4, 5, 6}});
  const std::vector<int64_t> dims = {128, 256, 24, 128};
  const int64_t local = int64_t{128} * 256 * 24 * 128 * 4 / 512;
  const ReshardPlan& whole = planner.Plan(dims, 4, from, Dimensions({{}, {}, {}, {}}));
  EXPECT_FALSE(whole.exceeds_bound);
  EXPECT_EQ(whole.sent_bytes, 511 * local);
  const ReshardPlan& moved = planner.Plan(dims, 4, from, Dimensions({{}, {4, 5, 6}, {}, {}}));
  EXPECT_FALSE(moved.exceeds_bound);
  // One all-to-all, then an all-gather of an eighth of the array.
  EXPECT_EQ(moved.sent_bytes, local / 8 * 7 + 63 * local);
  EXPECT_LT(planner.steps(), 5000);
}

// The lower bound from the bytes that a device lacks changes the order of the search, not its result.
TEST(PlanSizeTest, PlansAreAsGoodWithoutABoundOnWhatIsLacking) {
  std::mt19937_64 random(7);
  const Dear unbounded(CollectiveKind::kAllGather, 1);
  for (int i = 0; i < 2000; ++i) {
    const std::vector<int64_t> counts = {4, 6, 8, 12, 16};
    const int64_t n = counts[random() % counts.size()];
    const Mesh mesh(n, n % 3 == 0 ? std::vector<int64_t>{3} : std::vector<int64_t>{}, DeviceOrder(n));
    std::vector<int64_t> dims;
    for (uint64_t d = 0; d <= random() % 3; ++d) {
      dims.push_back(static_cast<int64_t>(i % 2 == 0 ? n << random() % 3 : random() % 19));
    }
    AxisSet partial = 0;
    const auto sharding = [&](AxisSet without) {
      Sharding s = Sharding::Replicated(static_cast<int>(dims.size()));
      std::vector<int> axes(mesh.num_axes());
      std::iota(axes.begin(), axes.end(), 0);
      std::shuffle(axes.begin(), axes.end(), random);
      for (const int axis : axes) {
        if ((without >> axis & 1) == 0 && random() % 5 != 0) s.dims[random() % dims.size()].push_back(axis);
      }
      return s;
    };
    for (int axis = 0; axis < mesh.num_axes(); ++axis) partial |= AxisSet{random() % 4 == 0} << axis;
    Sharding from = sharding(partial), to = sharding(0);
    from.partial = partial;
    SCOPED_TRACE(absl::StrCat(absl::StrJoin(dims, ","), " ", mesh.ToString(from), " -> ", mesh.ToString(to)));
    ReshardPlanner bounded_planner(&mesh), plain_planner(&mesh, &unbounded);
    const ReshardPlan& plan = bounded_planner.Plan(dims, 4, from, to);
    const ReshardPlan& plain = plain_planner.Plan(dims, 4, from, to);
    ASSERT_EQ(plan.time, plain.time);
    ASSERT_EQ(plan.sent_bytes, plain.sent_bytes);
    ASSERT_EQ(plan.exceeds_bound, plain.exceeds_bound);
    ASSERT_LE(bounded_planner.steps(), plain_planner.steps());
  }
}

// Runs plans: a parameter in one sharding, a constraint to a second, the result in a third.
TEST(ReshardTest, RandomReshardsKeepTheValues) {
  std::mt19937_64 random(11);
  for (int i = 0; i < 250; ++i) {
    const std::vector<int64_t> counts = {2, 3, 4, 6, 8, 12, 16};
    const int64_t n = counts[random() % counts.size()];
    const Mesh mesh(n, n % 3 == 0 ? std::vector<int64_t>{3} : std::vector<int64_t>{}, DeviceOrder(n));
    const int rank = 1 + static_cast<int>(random() % 3);
    std::vector<int64_t> dims;
    for (int d = 0; d < rank; ++d) {
      dims.push_back(i % 3 == 0 ? n : static_cast<int64_t>(random() % 11 + (i % 11 == 0 ? 0 : 1)));
    }
    const auto sharding = [&] {
      Sharding s = Sharding::Replicated(rank);
      std::vector<int> axes(mesh.num_axes());
      std::iota(axes.begin(), axes.end(), 0);
      std::shuffle(axes.begin(), axes.end(), random);
      for (const int axis : axes) {
        if (random() % 5 != 0) s.dims[random() % rank].push_back(axis);
      }
      return mesh.ToHlo(s).ToString();
    };
    const std::string shape = absl::StrCat("s32[", absl::StrJoin(dims, ","), "]");
    const std::string text =
        absl::StrCat("ENTRY main {\n  a = ", shape, " parameter(0), sharding=", sharding(), "\n  b = ", shape,
                     " custom-call(a), custom_call_target=\"Sharding\", sharding=", sharding(),
                     "\n  ROOT c = ", shape, " copy(b), sharding=", sharding(), "\n}\n");
    const auto module = ProgramFor(text, n);
    const Literal argument = Integers(Shape(xla::S32, dims), random(), -1000000, 1000000);
    PartitionOptions options;
    options.num_partitions = n;
    if (i % 2 == 1) options.device_order_seed = random();
    if (i % 4 >= 2) options.on_local_value = PoisonPadding;
    ASSERT_OK_AND_ASSIGN(const Literal actual, PartitionAndRun(*module, options, {&argument, 1}));
    ASSERT_TRUE(Compare(actual, argument).equal) << n << " devices, case " << i << "\n" << text;
  }
}

// One array, evenly cut: the program of a reshard sends the bytes that its plan states.
TEST(ReshardTest, TheProgramSendsWhatThePlanSays) {
  const Mesh mesh(8, {2}, DeviceOrder(8));
  const Sharding shardings[] = {Dimensions({{0, 1}, {2}}), Dimensions({{2}, {0, 1}}),
                                Dimensions({{}, {}}),      Dimensions({{0}, {}}),
                                Dimensions({{}, {2, 0}}),  Dimensions({{0, 1, 2}, {}})};
  for (const Sharding& from : shardings) {
    for (const Sharding& to : shardings) {
      SCOPED_TRACE(absl::StrCat(mesh.ToString(from), " -> ", mesh.ToString(to)));
      ReshardPlanner planner(&mesh);
      const std::string text =
          absl::StrCat("ENTRY main {\n  a = f32[16,32] parameter(0), sharding=", mesh.ToHlo(from).ToString(),
                       "\n  ROOT b = f32[16,32] copy(a), sharding=", mesh.ToHlo(to).ToString(), "\n}\n");
      PartitionOptions options;
      options.num_partitions = 8;
      options.strategies = NoSearch();  // The search may send less, by way of a third sharding.
      ASSERT_OK_AND_ASSIGN(const Partitioned partitioned, PartitionModule(*ProgramFor(text, 8), options));
      EXPECT_EQ(SentBytes(*partitioned.module), planner.Plan({16, 32}, 4, from, to).sent_bytes);
    }
  }
}

}  // namespace
}  // namespace toroid
