// The pairs of one permute of a halo exchange, as a pattern; the time to find it does not grow with the
// number of tiles.
//
// The windows of places that are a period apart begin at the same row of their origin tiles, and these are a
// fixed number of tiles apart. Take the places first, first + period, first + 2 period, ...: the receivers of
// a hop among them form an interval, because the array ends on both sides and, if windows and tiles advance
// differently, the source tile leaves the window. Bisection finds the ends of the interval; each `first` of
// one period gives one line of the pattern.
//
// Example: x[0:4096] of f32[8192] over 2,048 tiles: tiles have 4 rows, windows have 2 and begin at row 2 i.
// The period is 2: even places i take rows 0 and 1 of tile i / 2, a line of 1,024 pairs (j, 2 j).
#include <algorithm>
#include <numeric>

#include "absl/functional/function_ref.h"
#include "partitioner/reshard/halo_plan.h"

namespace toroid {
namespace {

// The numbers in [lo, hi).
struct Interval {
  int64_t lo, hi;

  // Keeps the numbers for which `holds` is true. Requires: `holds` changes at most once along them.
  void Keep(absl::FunctionRef<bool(int64_t)> holds) {
    if (lo >= hi) return;
    const bool at_first = holds(lo), at_last = holds(hi - 1);
    if (at_first == at_last) {
      if (!at_first) hi = lo;
      return;
    }
    int64_t like_first = lo, like_last = hi - 1;
    while (like_last - like_first > 1) {
      const int64_t middle = like_first + (like_last - like_first) / 2;
      (holds(middle) == at_first ? like_first : like_last) = middle;
    }
    (at_first ? hi : lo) = like_last;
  }
};

}  // namespace

void AddHopLines(const HaloStep& step, int64_t lane, const HaloStep::Hop& hop, xla::PermutePattern* pattern) {
  const TileWindows& windows = step.windows;
  if (windows.length <= 0 || windows.first >= step.rows) return;
  // The origin tiles of two places that are a period apart are `tiles` apart.
  int64_t period = step.share, tiles = 1;
  if (step.by_rank) {
    const int64_t tile = windows.divisor * step.tile;
    period = std::lcm(period, tile / std::gcd(windows.scale, tile));
    tiles = windows.scale * period / tile;
  }
  for (int64_t first = 0; first < std::min(period, step.places); ++first) {
    if (step.LaneOf(first) != lane) continue;
    const auto source = [&](int64_t i) { return step.Origin(first) + i * tiles + hop.distance; };
    const auto start = [&](int64_t i) { return windows.Start(first + i * period); };
    const auto end = [&](int64_t i) { return windows.End(first + i * period); };
    Interval alike = {0, CeilOfRatio(step.places - first, period)};
    // The window contains existing rows, and so does the source tile.
    alike.Keep([&](int64_t i) { return end(i) > windows.first; });
    alike.Keep([&](int64_t i) { return start(i) < step.rows; });
    alike.Keep([&](int64_t i) { return source(i) * step.tile < step.rows; });
    alike.Keep([&](int64_t i) { return (source(i) + 1) * step.tile > windows.first; });
    // The source tile and the window overlap.
    alike.Keep([&](int64_t i) { return source(i) * step.tile < end(i); });
    alike.Keep([&](int64_t i) { return (source(i) + 1) * step.tile > start(i); });
    if (alike.lo >= alike.hi) continue;
    xla::PermutePattern::Line* line = pattern->add_lines();
    line->set_count(alike.hi - alike.lo);
    line->set_source(step.Source(first + alike.lo * period, source(alike.lo)));
    line->set_source_step(tiles * step.share);
    line->set_target(first + alike.lo * period);
    line->set_target_step(period);
  }
}

}  // namespace toroid
