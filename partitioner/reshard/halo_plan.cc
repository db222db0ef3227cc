#include "partitioner/reshard/halo_plan.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <optional>

namespace toroid {
namespace {

// If at most this many places read any row, the rows of every hop are counted, place by place.
constexpr int64_t kCounted = 1024;
// Steps with more permutes are not considered.
constexpr int64_t kMaxPermutes = 64;
// If more windows than this begin in one tile, earlier exchanges divide the tile size by this number. Once a
// plan has at most this many permutes, gathering more axes is not tried.
constexpr int64_t kFewPermutes = 8;

// Rows, or places, [begin, end).
struct Span {
  int64_t begin, end;
};
// The rows of the window of `place` that exist and that it needs.
Span Existing(const HaloStep& step, int64_t place) {
  const int64_t start = step.windows.Start(place);
  return {std::max(start, step.windows.first), std::min(step.windows.End(place), step.rows)};
}

// The places whose windows may contain existing rows. They are an interval, because windows.Start does not
// decrease.
Span PlacesThatRead(const HaloStep& step) {
  const TileWindows& windows = step.windows;
  const auto first_from = [&](int64_t row) {  // The first place whose window begins at or behind `row`.
    return std::clamp<int64_t>(CeilOfSignedRatio(row * windows.divisor - windows.shift, windows.scale), 0,
                               step.places);
  };
  return {first_from(windows.first - windows.length + 1), first_from(step.rows)};
}

// Fills the lanes by visiting all places that read any row.
void Count(HaloStep* step) {
  const int64_t s = step->tile;
  std::vector<std::map<int64_t, HaloStep::Hop>> hops;
  const Span places = PlacesThatRead(*step);
  for (int64_t place = places.begin; place < places.end; ++place) {
    const Span span = Existing(*step, place);
    if (span.begin >= span.end) continue;
    const int64_t lane = step->LaneOf(place), origin = step->Origin(place), offset = step->Offset(place);
    if (lane >= static_cast<int64_t>(hops.size())) {
      hops.resize(lane + 1);
      step->lanes.resize(lane + 1);
    }
    HaloStep::Lane& into = step->lanes[lane];
    into.lo = hops[lane].empty() ? offset : std::min(into.lo, offset);
    into.hi = hops[lane].empty() ? offset : std::max(into.hi, offset);
    for (int64_t source = span.begin / s; source * s < span.end; ++source) {
      const auto [it, inserted] =
          hops[lane].try_emplace(source - origin, HaloStep::Hop{source - origin, s, 0, true});
      HaloStep::Hop& hop = it->second;
      hop.lo = std::min(hop.lo, std::max<int64_t>(span.begin - source * s, 0));
      hop.hi = std::max(hop.hi, std::min(span.end - source * s, s));
      hop.stays &= step->Source(place, source) == place;
    }
  }
  for (size_t lane = 0; lane < hops.size(); ++lane) {
    for (const auto& [distance, hop] : hops[lane]) step->lanes[lane].hops.push_back(hop);
  }
}

// Adds a hop for each source tile that a window of the lane may touch, for any position of its origin tile.
void AddHops(const HaloStep& step, HaloStep::Lane* lane) {
  const int64_t s = step.tile, end = lane->hi + step.windows.length;
  for (int64_t k = FloorOfRatio(lane->lo, s); k * s < end; ++k) {
    const int64_t lo = std::max<int64_t>(lane->lo - k * s, 0), hi = std::min(end - k * s, s);
    if (lo < hi) lane->hops.push_back({k, lo, hi, !step.by_rank && k == 0});
  }
}

// Adds the lane of the scheme by distance, with bounds on its rows. Returns false if windows and tiles do not
// advance by the same number of rows, since distances then grow with the place; also if kCounted places share
// a tile.
bool BoundByDistance(HaloStep* step) {
  if (step->windows.scale * step->share != step->windows.divisor * step->tile || step->share > kCounted)
    return false;
  HaloStep::Lane lane;
  lane.lo = lane.hi = step->Offset(0);
  for (int64_t place = 0; place < step->share; ++place) {
    lane.lo = std::min(lane.lo, step->Offset(place));
    lane.hi = std::max(lane.hi, step->Offset(place));
  }
  AddHops(*step, &lane);
  step->lanes.push_back(std::move(lane));
  return true;
}

// Adds the lanes of the scheme by rank, with bounds on their rows. In units of 1 / divisor rows, a window
// begins within its origin tile at `rest` plus a multiple of gcd(scale, divisor * tile); lane c holds the
// windows that begin in [c, c + 1) * scale * share.
void BoundByRank(HaloStep* step) {
  const int64_t period = step->windows.divisor * step->tile;
  const int64_t unit = std::gcd(step->windows.scale, period);
  const int64_t rest = step->windows.shift - FloorOfRatio(step->windows.shift, unit) * unit;
  const int64_t reach = step->windows.scale * step->share;
  for (int64_t begin = 0; begin < period; begin += reach) {
    const int64_t end = std::min(begin + reach, period);
    const int64_t first = rest + CeilOfRatio(std::max<int64_t>(begin - rest, 0), unit) * unit;
    if (first >= end) {
      step->lanes.emplace_back();
      continue;
    }
    const int64_t last = first + (end - 1 - first) / unit * unit;
    HaloStep::Lane lane;
    lane.lo = first / step->windows.divisor;
    lane.hi = last / step->windows.divisor;
    AddHops(*step, &lane);
    step->lanes.push_back(std::move(lane));
  }
}

struct Totals {
  int64_t rows = 0, permutes = 0;
};
Totals Sum(const HaloStep& step) {
  Totals totals;
  for (const HaloStep::Lane& lane : step.lanes) {
    for (const HaloStep::Hop& hop : lane.hops) {
      if (hop.stays) continue;
      totals.rows += hop.hi - hop.lo;
      ++totals.permutes;
    }
  }
  return totals;
}

// The cost of an exchange along `axes`.
struct Price {
  const CostModel& model;
  const Mesh& mesh;
  const AxisList& axes;
  int64_t row_bytes;

  // One permute of all the rows, plus the delay that the number of permutes adds.
  double Of(const Totals& totals) const {
    const int64_t bytes = SaturatingMultiply(totals.rows, row_bytes);
    return model.CollectiveTime(CollectiveKind::kPermute, bytes, mesh, axes) +
           model.PermuteDelay(totals.permutes);
  }
};

// The cheaper scheme; nullopt if both take too many permutes.
std::optional<HaloStep> PlanStep(const Price& price, HaloStep step) {
  if (step.tile <= 0 || step.windows.length <= 0) return step;
  const Span places = PlacesThatRead(step);
  const bool count = places.end - places.begin <= kCounted;
  const int64_t tiles = step.places / step.share;
  if (tiles == 1 && !count) {
    // Every device holds all rows. A window wholly outside of them has no specified values, so its first row
    // may be clamped.
    const int64_t begin = -step.windows.length;
    HaloStep::Lane lane;
    lane.lo = std::clamp(step.windows.Start(0), begin, step.rows);
    lane.hi = std::clamp(step.windows.Start(step.places - 1), begin, step.rows);
    const int64_t lo = std::max<int64_t>(lane.lo, 0);
    const int64_t hi = std::min(lane.hi + step.windows.length, step.rows);
    if (lo < hi) lane.hops.push_back({0, lo, hi, true});
    step.lanes.push_back(std::move(lane));
    return step;
  }
  const int64_t touched = std::min(tiles, CeilOfRatio(step.windows.length - 1, step.tile) + 1);
  if (touched > kMaxPermutes) return std::nullopt;
  std::optional<HaloStep> best;
  double best_cost = std::numeric_limits<double>::infinity();
  const auto consider = [&](HaloStep candidate) {
    const Totals totals = Sum(candidate);
    const double cost = price.Of(totals);
    if (totals.permutes > kMaxPermutes || cost >= best_cost) return;
    best = std::move(candidate);
    best_cost = cost;
  };
  HaloStep by_distance = step;
  if (count) Count(&by_distance);
  if (count || BoundByDistance(&by_distance)) consider(std::move(by_distance));
  step.by_rank = true;
  if (CeilOfRatio(step.windows.divisor * step.tile, step.windows.scale * step.share) * touched <=
      kMaxPermutes) {
    count ? Count(&step) : BoundByRank(&step);
    consider(std::move(step));
  }
  return best;
}

// The rows and permutes of several exchanges.
Totals Sum(const std::vector<HaloStep>& steps) {
  Totals totals;
  for (const HaloStep& step : steps) {
    const Totals own = Sum(step);
    totals.rows += own.rows;
    totals.permutes += own.permutes;
  }
  return totals;
}

// Plans several exchanges: while more than eight windows begin in one tile, an exchange makes the tiles an
// eighth as large. Nullopt if one exchange is enough, or if one of several has no plan.
std::optional<std::vector<HaloStep>> PlanSmallerTiles(const Price& price, HaloStep step) {
  std::vector<HaloStep> steps;
  for (;;) {
    const int64_t smaller = CeilOfRatio(step.tile, kFewPermutes);
    if (step.share > 1 || smaller >= step.tile || step.windows.length > smaller ||
        step.windows.scale * kFewPermutes >= step.windows.divisor * step.tile) {
      break;
    }
    HaloStep first = step;
    first.windows = {smaller, step.windows.Start(0), smaller, 1, step.windows.first};
    std::optional<HaloStep> planned = PlanStep(price, first);
    if (!planned) return std::nullopt;
    steps.push_back(*std::move(planned));
    step.rows -= first.windows.shift;
    step.windows.shift -= first.windows.shift * step.windows.divisor;
    step.windows.first = std::max<int64_t>(0, step.windows.first - first.windows.shift);
    step.tile = smaller;
  }
  if (steps.empty()) return std::nullopt;
  std::optional<HaloStep> last = PlanStep(price, step);
  if (!last) return std::nullopt;
  steps.push_back(*std::move(last));
  return steps;
}

// Plans one exchange or several, whichever costs less.
std::optional<std::vector<HaloStep>> PlanSteps(const Price& price, HaloStep step) {
  // No window needs rows behind the last window.
  step.rows = std::clamp<int64_t>(step.windows.End(step.places - 1), 0, std::max<int64_t>(step.rows, 0));
  std::optional<std::vector<HaloStep>> best = PlanSmallerTiles(price, step);
  std::optional<HaloStep> one = PlanStep(price, std::move(step));
  if (!one) return best;
  std::vector<HaloStep> alone;
  alone.push_back(*std::move(one));
  if (!best) return alone;
  return price.Of(Sum(*best)) < price.Of(Sum(alone)) ? best : alone;
}

}  // namespace

int64_t HaloStep::LaneOf(int64_t place) const {
  if (!by_rank) return 0;
  const int64_t at = windows.scale * place + windows.shift, period = windows.divisor * tile;
  return (at - FloorOfRatio(at, period) * period) / (windows.scale * share);
}

HaloPlan PlanHalo(const Mesh& mesh, const CostModel& model, const HaloProblem& problem) {
  const AxisList &from = problem.from, &to = problem.to;
  const Price price = {model, mesh, to.empty() ? from : to, problem.row_bytes};
  HaloPlan best;
  double best_cost = std::numeric_limits<double>::infinity();
  HaloStep step;
  step.rows = problem.n;
  step.windows = problem.windows;
  step.places = mesh.Product(to);
  for (int gathered = std::max(0, from.size() - to.size()); gathered <= from.size(); ++gathered) {
    const int64_t group = mesh.Product(from.Suffix(from.size() - gathered));
    step.tile = problem.tile * group;
    step.share = step.places / mesh.Product(from.Prefix(from.size() - gathered));
    std::optional<std::vector<HaloStep>> steps = PlanSteps(price, step);
    if (!steps) continue;
    HaloPlan plan;
    plan.gathered = gathered;
    const Totals totals = Sum(*steps);
    plan.sent_rows = problem.tile * (group - 1) + totals.rows;
    plan.permutes = totals.permutes;
    plan.steps = *std::move(steps);
    const double cost = price.Of({plan.sent_rows, plan.permutes});
    if (cost < best_cost) {
      best = std::move(plan);
      best_cost = cost;
    }
    // Gathering more axes makes the tiles larger, which only saves permutes.
    if (best.permutes <= kFewPermutes) break;
  }
  return best;
}

TileWindows RealignWindows(int64_t n, int64_t tiles) {
  const int64_t size = CeilOfRatio(n, tiles);
  return {size, 0, size};
}

}  // namespace toroid
