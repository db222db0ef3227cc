#include "partitioner/reshard/halo_plan.h"

#include <algorithm>
#include <vector>

#include "hlo/base/math.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

// The plan for a dimension of n rows cut over all axes of a mesh.
HaloPlan Plan(int64_t n, int64_t tiles, const TileWindows& windows, int64_t row_bytes = 4) {
  const Mesh mesh(tiles, {}, DeviceOrder(tiles));
  const AxisList all = mesh.InOrder(mesh.AllAxes());
  return PlanHalo(mesh, DefaultCostModel(), {n, CeilOfRatio(n, tiles), all, all, windows, row_bytes});
}

TEST(PlanHaloTest, ALowPadTakesOneRowFromTheLeftNeighbor) {
  const HaloPlan plan = Plan(/*n=*/8, /*tiles=*/2, {/*scale=*/5, /*shift=*/-2, /*length=*/5});
  ASSERT_EQ(plan.steps.size(), 1);
  const HaloStep& step = plan.steps[0];
  ASSERT_EQ(step.lanes.size(), 1);
  ASSERT_EQ(step.lanes[0].hops.size(), 2);
  EXPECT_EQ(step.lanes[0].hops[0].lo, 3);
  EXPECT_EQ(step.lanes[0].hops[0].hi, 4);
  EXPECT_FALSE(step.lanes[0].hops[0].stays);
  EXPECT_TRUE(step.lanes[0].hops[1].stays);
  EXPECT_EQ(plan.sent_rows, 1);
}

TEST(PlanHaloTest, AnAlignedWindowTravelsNowhere) {
  const HaloPlan plan = Plan(8, 4, {2, 0, 2});
  EXPECT_EQ(plan.permutes, 0);
  EXPECT_EQ(plan.sent_rows, 0);
}

TEST(PlanHaloTest, AShiftByMoreThanATileSkipsTheNeighbor) {
  // Tile i needs tile i + 2.
  const HaloPlan plan = Plan(8, 4, {2, 4, 2});
  EXPECT_EQ(plan.permutes, 1);
  EXPECT_EQ(plan.sent_rows, 2);
}

TEST(PlanHaloTest, AWindowOverSeveralTilesTakesAHopFromEach) {
  const HaloPlan plan = Plan(8, 8, {1, -2, 5});  // x[i-2 .. i+2]
  EXPECT_EQ(plan.permutes, 4);
  EXPECT_EQ(plan.sent_rows, 4);
}

TEST(PlanHaloTest, WindowsOutsideTheArrayNeedNothing) {
  EXPECT_EQ(Plan(4, 2, {29, -9, 3}).permutes, 0);
  EXPECT_EQ(Plan(0, 2, {1, 0, 3}).permutes, 0);
}

TEST(PlanHaloTest, PermutesDoNotGrowWithTheTiles) {
  for (int64_t tiles = 256; tiles <= int64_t{1} << 20; tiles *= 16) {
    SCOPED_TRACE(tiles);
    // The first half; two rows of padding; strides; a tail that begins inside a tile.
    EXPECT_LE(Plan(4 * tiles, tiles, {2, 0, 2}).permutes, 2);
    EXPECT_LE(Plan(128 * tiles, tiles, {129, -2, 129}).permutes, 3);
    EXPECT_LE(Plan(128 * tiles, tiles, {63, 1, 63}).permutes, 8);
    EXPECT_LE(Plan(128 * tiles, tiles, {128, 100, 128}).permutes, 2);
    // Windows over hundreds of tiles; a hundred windows in one tile.
    EXPECT_LE(Plan(tiles, tiles, {1, -500, 501}).permutes, 16);
    EXPECT_LE(Plan(128 * tiles, tiles, {1, 7, 1}, 1 << 20).permutes, 32);
  }
}

// Expects that each existing row that a place needs comes by a hop of its lane, from a place that holds it,
// and that no place sends twice in one permute.
void ExpectComplete(const HaloStep& step, int64_t rows_at_end) {
  struct Sent {
    int64_t from, to;
  };
  for (const HaloStep::Lane& lane : step.lanes) {
    for (const HaloStep::Hop& hop : lane.hops) {
      ASSERT_LE(0, hop.lo);
      ASSERT_LT(hop.lo, hop.hi);
      ASSERT_LE(hop.hi, step.tile);
    }
  }
  std::vector<std::vector<std::vector<int64_t>>> senders(step.lanes.size());
  for (size_t lane = 0; lane < step.lanes.size(); ++lane) senders[lane].resize(step.lanes[lane].hops.size());
  for (int64_t place = 0; place < step.places; ++place) {
    const int64_t begin = std::max<int64_t>(0, step.windows.Start(place));
    const int64_t end = std::min(rows_at_end, step.windows.Start(place) + step.windows.length);
    if (begin >= end) continue;
    const int64_t number = step.LaneOf(place);
    ASSERT_LT(number, step.lanes.size());
    const HaloStep::Lane& lane = step.lanes[number];
    ASSERT_LE(lane.lo, step.Offset(place));
    ASSERT_LE(step.Offset(place), lane.hi);
    for (int64_t source = begin / step.tile; source * step.tile < end; ++source) {
      const auto hop = std::find_if(lane.hops.begin(), lane.hops.end(), [&](const HaloStep::Hop& hop) {
        return hop.distance == source - step.Origin(place);
      });
      ASSERT_NE(hop, lane.hops.end()) << "place " << place << " wants tile " << source;
      ASSERT_LE(hop->lo, std::max<int64_t>(begin - source * step.tile, 0));
      ASSERT_GE(hop->hi, std::min(end - source * step.tile, step.tile));
      const int64_t sender = step.Source(place, source);
      ASSERT_EQ(sender / step.share, source);
      ASSERT_TRUE(!hop->stays || sender == place);
      if (!hop->stays) senders[number][hop - lane.hops.begin()].push_back(sender);
    }
  }
  for (auto& lane : senders) {
    for (auto& hop : lane) {
      std::sort(hop.begin(), hop.end());
      ASSERT_EQ(std::adjacent_find(hop.begin(), hop.end()), hop.end());
    }
  }
}

TEST(PlanHaloTest, HopsBringEveryRowOfEveryWindow) {
  for (int64_t n = 1; n < 18; ++n) {
    for (const int64_t tiles : {1, 2, 3, 7, 16, 2048}) {
      for (const int64_t length : {1, 3, 8}) {
        for (const int64_t shift : {-5, -1, 0, 2, 9}) {
          for (const int64_t scale : {1, 3, 4}) {
            for (const int64_t divisor : {1, 2}) {
              SCOPED_TRACE(::testing::Message()
                           << "n " << n << ", tiles " << tiles << ", length " << length << ", shift " << shift
                           << ", scale " << scale << "/" << divisor);
              const HaloPlan plan = Plan(n, tiles, {scale, shift, length, divisor});
              int64_t rows = n;
              for (size_t i = 0; i < plan.steps.size(); ++i) {
                ExpectComplete(plan.steps[i], rows);
                if (::testing::Test::HasFatalFailure()) return;
                if (i + 1 < plan.steps.size()) rows -= plan.steps[i].windows.shift;
              }
            }
          }
        }
      }
    }
  }
}

// f32[5] over {x, y} = 2 x 2 has tiles [0,2) [2,4) [4,5) []; over {x} it has [0,3) [3,5), which are not unions
// of these tiles.
TEST(RealignWindowsTest, CutsThatDoNotNestBecomeWindowsOfTheNewTiles) {
  const Mesh mesh(4, {}, DeviceOrder(4));
  const TileWindows halves = RealignWindows(5, 2);
  EXPECT_EQ(halves.Start(1), 3);
  EXPECT_EQ(halves.length, 3);
  // Pairs of tiles are gathered to [0,4) and [4,5), then tile 1 takes row 3.
  const HaloPlan plan = PlanHalo(mesh, DefaultCostModel(), {5, 2, AxisList{0, 1}, AxisList{0}, halves, 4});
  EXPECT_EQ(plan.gathered, 1);
  EXPECT_EQ(plan.sent_rows, 3);
  // In the other direction: the third window of 2 rows begins in the second tile.
  const HaloProblem split = {5, 3, AxisList{0}, AxisList{0, 1}, RealignWindows(5, 4), 4};
  EXPECT_EQ(PlanHalo(mesh, DefaultCostModel(), split).gathered, 0);
}

TEST(PlanHaloTest, RowsThatNoPositionReachesDoNotTravel) {
  // An image dilated by 3; tile i has the 8 positions from 5 i - 2 on. The tiles need rows {0, 1}, {1, 2, 3},
  // {3, 4, 5}, {5}.
  const TileWindows windows = {.scale = 5, .length = 3, .divisor = 3, .reach = 8};
  const HaloPlan plan = Plan(6, 4, windows);
  EXPECT_EQ(plan.permutes, 1);
  EXPECT_EQ(plan.sent_rows, 1);
}

TEST(PlanHaloTest, OfManyTilesThoseThatReadAreCounted) {
  // One row, from the last of 4,096 tiles.
  const HaloPlan plan = Plan(4096 * 16, 4096, {1, 4096 * 16 - 1, 1});
  EXPECT_EQ(plan.permutes, 1);
  EXPECT_EQ(plan.sent_rows, 1);
}

}  // namespace
}  // namespace toroid
