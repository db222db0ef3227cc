#include "partitioner/reshard/plan.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "hlo/base/status.h"
#include "partitioner/reshard/plan_search.h"

namespace toroid {
namespace {

// All-reduces, gathers every dimension that differs, then slices: possible for all pairs of shardings.
ReshardPlan GatherAndCut(const Mesh& mesh, const CostModel& cost, absl::Span<const int64_t> dims,
                         int64_t width, const Sharding& from, const Sharding& to) {
  ReshardPlan plan;
  plan.exceeds_bound = true;
  Sharding state = from;
  const auto bytes = [&] { return BytesOfShard(mesh, dims, width, state); };
  const auto apply = [&](Move move) {
    plan.time += TimeOf(cost, mesh, move, bytes());
    plan.sent_bytes += SentBytes(move.kind, bytes(), mesh.Product(move.axes));
    plan.peak_bytes = std::max(plan.peak_bytes, bytes());
    state = move.result;
    plan.peak_bytes = std::max(plan.peak_bytes, bytes());
    plan.moves.push_back(std::move(move));
  };
  if (const AxisSet pending = state.partial & ~to.partial; pending != 0) {
    Move move{MoveKind::kAllReduce, mesh.InOrder(pending), -1, -1, state};
    move.result.partial &= ~pending;
    if (move.result.partial == 0) move.result.reducer = Reducer::kAdd;
    apply(std::move(move));
  }
  for (size_t d = 0; d < dims.size(); ++d) {
    if (state.dims[d].empty() || state.dims[d] == to.dims[d]) continue;
    Move move{MoveKind::kAllGather, state.dims[d], static_cast<int>(d), -1, state};
    move.result.dims[d] = AxisList();
    apply(std::move(move));
  }
  for (size_t d = 0; d < dims.size(); ++d) {
    if (to.dims[d].empty() || state.dims[d] == to.dims[d]) continue;
    Move move{MoveKind::kSlice, to.dims[d], -1, static_cast<int>(d), state};
    move.result.dims[d] = to.dims[d];
    apply(std::move(move));
  }
  return plan;
}

}  // namespace

const ReshardPlan& ReshardPlanner::Plan(absl::Span<const int64_t> dims, int64_t width, const Sharding& from,
                                        const Sharding& to) {
  Key key{Dims(dims.begin(), dims.end()), width, from, to};
  const auto it = memo_.find(key);
  if (it != memo_.end()) return *it->second;
  auto plan = std::make_unique<ReshardPlan>(Cheapest(dims, width, from, to));
  return *memo_.emplace(std::move(key), std::move(plan)).first->second;
}

ReshardPlan ReshardPlanner::Cheapest(absl::Span<const int64_t> dims, int64_t width, const Sharding& from,
                                     const Sharding& to) {
  if (from == to) return {};
  TOROID_CHECK((to.partial & ~from.partial) == 0 && from.manual == to.manual);
  for (const bool bounded : {true, false}) {
    std::optional<ReshardPlan> plan = SearchPlan(*mesh_, *cost_, dims, width, from, to, bounded, &steps_);
    if (!plan) continue;
    plan->exceeds_bound = !bounded;
    return *std::move(plan);
  }
  return GatherAndCut(*mesh_, *cost_, dims, width, from, to);
}

}  // namespace toroid
