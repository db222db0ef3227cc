#include <algorithm>
#include <utility>
#include <vector>

#include "hlo/base/math.h"
#include "hlo/devices/permute_pattern.h"
#include "partitioner/reshard/halo_plan.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using Pairs = std::vector<std::pair<int64_t, int64_t>>;

// The pairs of a hop, found place by place.
Pairs PairsOneByOne(const HaloStep& step, int64_t lane, const HaloStep::Hop& hop) {
  Pairs pairs;
  for (int64_t place = 0; place < step.places; ++place) {
    const int64_t begin = std::max(step.windows.Start(place), step.windows.first);
    const int64_t end = std::min(step.windows.Start(place) + step.windows.length, step.rows);
    if (begin >= end || step.LaneOf(place) != lane) continue;
    const int64_t source = step.Origin(place) + hop.distance;
    if (source * step.tile >= end || (source + 1) * step.tile <= begin) continue;
    pairs.emplace_back(step.Source(place, source), place);
  }
  std::sort(pairs.begin(), pairs.end());
  return pairs;
}

Pairs PairsOfLines(const HaloStep& step, int64_t lane, const HaloStep::Hop& hop) {
  xla::HloInstructionProto attrs;
  xla::PermutePattern* pattern = attrs.mutable_permute_pattern();
  pattern->add_sizes(step.places);
  pattern->add_source_strides(1);
  pattern->add_target_strides(1);
  AddHopLines(step, lane, hop, pattern);
  Pairs pairs = SourceTargetPairs(attrs);
  std::sort(pairs.begin(), pairs.end());
  return pairs;
}

void ExpectSamePairs(const HaloPlan& plan, int* moved) {
  for (const HaloStep& step : plan.steps) {
    for (size_t lane = 0; lane < step.lanes.size(); ++lane) {
      for (const HaloStep::Hop& hop : step.lanes[lane].hops) {
        if (hop.stays) continue;
        const Pairs expected = PairsOneByOne(step, static_cast<int64_t>(lane), hop);
        *moved += static_cast<int>(expected.size());
        ASSERT_EQ(PairsOfLines(step, static_cast<int64_t>(lane), hop), expected)
            << "lane " << lane << ", distance " << hop.distance << (step.by_rank ? ", by rank" : "");
      }
    }
  }
}

TEST(AddHopLinesTest, GivesThePairsThatGoingThroughAllPlacesGives) {
  int moved = 0;
  for (const int64_t n : {1, 5, 8, 17, 100}) {
    for (const int64_t tiles : {2, 3, 6, 16, 45, 64}) {
      for (const int64_t length : {1, 3, 8}) {
        for (const int64_t shift : {-5, -1, 0, 2, 9}) {
          for (const int64_t scale : {1, 2, 3, 4, 7}) {
            for (const int64_t divisor : {1, 2, 3}) {
              for (const int64_t first : {0, 2}) {
                SCOPED_TRACE(::testing::Message()
                             << "n " << n << ", tiles " << tiles << ", length " << length << ", shift "
                             << shift << ", scale " << scale << "/" << divisor << ", first " << first);
                const Mesh mesh(tiles, {}, DeviceOrder(tiles));
                const AxisList all = mesh.InOrder(mesh.AllAxes());
                const TileWindows windows = {scale, shift, length, divisor, first};
                for (int cut = 0; cut <= all.size(); ++cut) {
                  const AxisList some = all.Prefix(cut);
                  const int64_t tile = CeilOfRatio(n, mesh.Product(some));
                  ExpectSamePairs(PlanHalo(mesh, DefaultCostModel(), {n, tile, some, all, windows, 4}),
                                  &moved);
                  if (::testing::Test::HasFatalFailure()) return;
                }
              }
            }
          }
        }
      }
    }
  }
  EXPECT_GT(moved, 100000);
}

TEST(AddHopLinesTest, LinesDoNotGrowWithTheTiles) {
  for (int64_t tiles = 256; tiles <= int64_t{1} << 20; tiles *= 16) {
    const Mesh mesh(tiles, {}, DeviceOrder(tiles));
    const AxisList all = mesh.InOrder(mesh.AllAxes());
    // The first half; two rows of padding; strides; neighbours on both sides.
    for (const TileWindows& windows : {TileWindows{2, 0, 2}, TileWindows{5, -2, 5}, TileWindows{3, 1, 3},
                                       TileWindows{4, -1, 6}, TileWindows{8, 1, 7}}) {
      const HaloPlan plan = PlanHalo(mesh, DefaultCostModel(), {4 * tiles, 4, all, all, windows, 4});
      for (const HaloStep& step : plan.steps) {
        for (size_t lane = 0; lane < step.lanes.size(); ++lane) {
          for (const HaloStep::Hop& hop : step.lanes[lane].hops) {
            xla::PermutePattern pattern;
            AddHopLines(step, static_cast<int64_t>(lane), hop, &pattern);
            EXPECT_LE(pattern.lines_size(), 4);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace toroid
