#include "partitioner/reshard/halo_pairs.h"

#include <algorithm>
#include <numeric>

#include "absl/functional/function_ref.h"

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
