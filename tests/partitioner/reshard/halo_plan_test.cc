#include "partitioner/reshard/halo_plan.h"

#include <algorithm>
#include <vector>

#include "hlo/base/math.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::ElementsAre;

TEST(PlanHaloTest, ALowPadTakesOneRowFromTheLeftNeighbor) {
  const HaloPlan plan = PlanHalo(/*n=*/8, /*tiles=*/2, {-2, 3}, /*len=*/5);
  ASSERT_EQ(plan.hops.size(), 2);
  EXPECT_EQ(plan.hops[0].distance, -1);
  EXPECT_EQ(plan.hops[0].lo, 3);
  EXPECT_EQ(plan.hops[0].hi, 4);
  EXPECT_THAT(plan.hops[0].targets, ElementsAre(1));
  EXPECT_EQ(plan.hops[1].distance, 0);
  EXPECT_EQ(plan.sent_rows, 1);
}

TEST(PlanHaloTest, AnAlignedWindowTravelsNowhere) {
  const HaloPlan plan = PlanHalo(8, 4, {0, 2, 4, 6}, 2);
  ASSERT_EQ(plan.hops.size(), 1);
  EXPECT_EQ(plan.hops[0].distance, 0);
  EXPECT_EQ(plan.sent_rows, 0);
}

TEST(PlanHaloTest, AShiftByMoreThanATileSkipsTheNeighbor) {
  // Tile i wants tile i + 2: one hop of distance 2, whole tiles.
  const HaloPlan plan = PlanHalo(8, 4, {4, 6, 8, 10}, 2);
  ASSERT_EQ(plan.hops.size(), 1);
  EXPECT_EQ(plan.hops[0].distance, 2);
  EXPECT_THAT(plan.hops[0].targets, ElementsAre(0, 1));
  EXPECT_EQ(plan.sent_rows, 2);
}

TEST(PlanHaloTest, AWindowOverSeveralTilesTakesAHopFromEach) {
  const HaloPlan plan = PlanHalo(8, 8, {-2, -1, 0, 1, 2, 3, 4, 5}, 5);  // x[i-2 .. i+2]
  std::vector<int64_t> distances;
  for (const HaloPlan::Hop& hop : plan.hops) distances.push_back(hop.distance);
  EXPECT_THAT(distances, ElementsAre(-2, -1, 0, 1, 2));
  EXPECT_EQ(plan.sent_rows, 4);
}

TEST(PlanHaloTest, WindowsOutsideTheArrayNeedNothing) {
  EXPECT_TRUE(PlanHalo(4, 2, {-9, 20}, 3).hops.empty());
  EXPECT_TRUE(PlanHalo(0, 2, {0, 0}, 3).hops.empty());
}

// Every element a tile wants and the array has comes by some hop, from the tile that owns it.
TEST(PlanHaloTest, HopsBringEveryElementOfEveryWindow) {
  for (int64_t n = 1; n < 18; ++n) {
    for (const int64_t tiles : {1, 2, 3, 7, 16}) {
      for (const int64_t len : {1, 3, 8}) {
        for (const int64_t shift : {-5, -1, 0, 2, 9}) {
          for (const int64_t step : {0, 1, 3}) {
            std::vector<int64_t> start(tiles);
            for (int64_t i = 0; i < tiles; ++i) start[i] = shift + step * i;
            const HaloPlan plan = PlanHalo(n, tiles, start, len);
            const int64_t s = CeilOfRatio(n, tiles);
            int64_t before = -tiles - 1;
            for (const HaloPlan::Hop& hop : plan.hops) {
              ASSERT_GT(hop.distance, before);
              before = hop.distance;
              ASSERT_LE(0, hop.lo);
              ASSERT_LT(hop.lo, hop.hi);
              ASSERT_LE(hop.hi, s);
            }
            for (int64_t i = 0; i < tiles; ++i) {
              for (int64_t e = std::max<int64_t>(0, start[i]); e < std::min(n, start[i] + len); ++e) {
                const bool comes = std::any_of(plan.hops.begin(), plan.hops.end(), [&](const HaloPlan::Hop& hop) {
                  return hop.distance == e / s - i && hop.lo <= e % s && e % s < hop.hi &&
                         std::count(hop.targets.begin(), hop.targets.end(), i) == 1;
                });
                ASSERT_TRUE(comes) << "n " << n << ", tiles " << tiles << ", len " << len << ", tile " << i
                                   << " wants " << e;
              }
            }
          }
        }
      }
    }
  }
}

// f32[5] over {x, y} = 2 x 2 lies in [0,2) [2,4) [4,5) []; over {x} in [0,3) [3,5): no unions of those.
TEST(RealignStartsTest, CutsThatDoNotNestBecomeWindowsOfTheNewTiles) {
  const Mesh mesh(4, {}, DeviceOrder(4));
  // Places are those of the longer list; windows of 3.
  EXPECT_THAT(RealignStarts(mesh, 5, AxisList{0, 1}, AxisList{0}), ElementsAre(0, 0, 3, 3));
  // The other way: windows of 2.
  EXPECT_THAT(RealignStarts(mesh, 5, AxisList{0}, AxisList{0, 1}), ElementsAre(0, 2, 4, 6));
}

}  // namespace
}  // namespace toroid
