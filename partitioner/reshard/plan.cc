#include "partitioner/reshard/plan.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/hash/hash.h"
#include "hlo/analysis/collective.h"
#include "hlo/base/math.h"
#include "hlo/base/status.h"
#include "partitioner/reshard/next_moves.h"

namespace toroid {
namespace {

CollectiveKind CollectiveOf(MoveKind kind) {
  switch (kind) {
    case MoveKind::kAllGather:
      return CollectiveKind::kAllGather;
    case MoveKind::kAllToAll:
      return CollectiveKind::kAllToAll;
    case MoveKind::kReduceScatter:
      return CollectiveKind::kReduceScatter;
    case MoveKind::kAllReduce:
      return CollectiveKind::kAllReduce;
    default:
      return CollectiveKind::kPermute;
  }
}

// A search that has expanded this many states without reaching the target gives up.
constexpr int kMaxExpansions = 4000;

struct Weight {
  double time = 0;
  int64_t sent = 0;
  int64_t peak = 0;
  int moves = 0;
  auto operator<=>(const Weight&) const = default;

  // Adds a move that sends or cuts v local bytes and leads to a local array of `bytes`.
  void Add(const Resharding& task, const Move& move, int64_t v, int64_t bytes) {
    time += task.TimeOf(move, v);
    sent += SentBytes(move.kind, v, task.mesh.Product(move.axes));
    peak = std::max({peak, v, bytes});
    ++moves;
  }
  ReshardPlan PlanOf(std::vector<Move> list) const { return {std::move(list), time, sent, peak}; }
};

// A* over shardings: expands them in the order of their weight so far plus a lower bound on the weight to the
// target, which follows from the bytes that a device still lacks.
class PlanSearch {
 public:
  // `bounded`: whether intermediates must stay within the bound (plan.h). `steps` counts the moves
  // considered.
  PlanSearch(const Resharding& task, bool bounded, int64_t* steps)
      : task_(task),
        next_moves_(task),
        target_bytes_(task.LocalBytes(task.to)),
        bound_(bounded ? PaddedBound() : INT64_MAX),
        steps_(*steps) {
    nodes_.reserve(32);
  }

  // nullopt if the search gives up.
  std::optional<ReshardPlan> Run() {
    nodes_.push_back({{}, -1, {MoveKind::kSlice, {}, -1, -1, task_.from}});
    index_.insert(0);
    queue_.push({Weight(), 0});
    int expansions = 0;
    while (!queue_.empty()) {
      const int at = queue_.top().second;
      queue_.pop();
      if (nodes_[at].done) continue;
      nodes_[at].done = true;
      if (nodes_[at].move.result == task_.to) return PlanTo(at);
      if (++expansions > kMaxExpansions) return std::nullopt;
      const Sharding state = nodes_[at].move.result;
      next_moves_.ForEach(state, [&](int64_t v, Move move) { Relax(at, v, std::move(move)); });
    }
    return std::nullopt;
  }

 private:
  struct Node {
    Weight weight;
    int parent;
    Move move;  // The last move; its result is the state.
    bool done = false;
  };
  // The index holds node numbers and finds them by state.
  struct HashOfState {
    using is_transparent = void;
    size_t operator()(const Sharding& state) const { return absl::Hash<Sharding>()(state); }
    size_t operator()(int node) const { return (*this)((*nodes)[node].move.result); }
    const std::vector<Node>* nodes;
  };
  struct SameState {
    using is_transparent = void;
    bool operator()(int a, int b) const { return a == b; }
    bool operator()(int node, const Sharding& state) const { return (*nodes)[node].move.result == state; }
    const std::vector<Node>* nodes;
  };

  ReshardPlan PlanTo(int node) const {
    std::vector<Move> moves;
    for (int i = node; nodes_[i].parent >= 0; i = nodes_[i].parent) moves.push_back(nodes_[i].move);
    std::reverse(moves.begin(), moves.end());
    return nodes_[node].weight.PlanOf(std::move(moves));
  }

  // A lower bound on the bytes that a device still has to receive: its target shard without the largest part
  // of it that the device can hold in `state`; the whole target shard while sums are incomplete.
  int64_t LackedBytes(const Sharding& state) const {
    if ((state.partial & ~task_.to.partial) != 0) return target_bytes_;
    int64_t had = task_.width;
    for (size_t d = 0; d < task_.dims.size(); ++d) {
      had *= CeilOfRatio(task_.dims[d],
                         std::max(task_.mesh.Product(state.dims[d]), task_.mesh.Product(task_.to.dims[d])));
    }
    return target_bytes_ - had;
  }

  // The bound on intermediates, in bytes: 1.25 times the larger of the source and target shards; 2.25 times
  // if a dimension has fewer elements than the mesh has devices, because all-to-all and reduce-scatter then
  // pad it.
  int64_t PaddedBound() const {
    const int64_t bound = std::max(task_.LocalBytes(task_.from), target_bytes_);
    int64_t rows = 1;
    for (const int64_t dim : task_.dims)
      rows = std::max(rows, CeilOfRatio(task_.mesh.num_devices(), std::max<int64_t>(1, dim)));
    return bound * (rows > 1 ? 2 : 1) + bound / 4;
  }

  // Notes that `move`, which sends or cuts `v` local bytes, leads from node `at` to its result.
  void Relax(int at, int64_t v, Move move) {
    ++steps_;
    const int64_t bytes = task_.LocalBytes(move.result);
    if (bytes > bound_) return;
    Weight weight = nodes_[at].weight;
    weight.Add(task_, move, v, bytes);
    const int64_t lacked = LackedBytes(move.result);
    Weight estimate = weight;  // A lower bound for any path through this state to the target.
    estimate.time += task_.cost.LeastTime(lacked);
    estimate.sent += lacked;
    // Every further move adds weight: a state that weighs as much as a known path to the target leads to no
    // better one.
    if (at_target_ >= 0 && !(estimate < nodes_[at_target_].weight)) return;
    int to = static_cast<int>(nodes_.size());
    if (const auto it = index_.find(move.result); it == index_.end()) {
      if (move.result == task_.to) at_target_ = to;
      nodes_.push_back({weight, at, std::move(move)});
      index_.insert(to);
    } else {
      to = *it;
      if (!(weight < nodes_[to].weight)) return;
      nodes_[to] = {weight, at, std::move(move)};
    }
    queue_.push({estimate, to});
  }

  const Resharding& task_;
  const NextMoves next_moves_;
  const int64_t target_bytes_;
  const int64_t bound_;
  std::vector<Node> nodes_;
  int at_target_ = -1;  // The target's node; -1 until a path reaches it.
  int64_t& steps_;
  absl::flat_hash_set<int, HashOfState, SameState> index_{0, HashOfState{&nodes_}, SameState{&nodes_}};
  using Entry = std::pair<Weight, int>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<Entry>> queue_;
};

// All-reduces, gathers every dimension that differs, then slices: possible for all pairs of shardings.
ReshardPlan GatherAndCut(const Resharding& task) {
  Weight weight;
  std::vector<Move> moves;
  Sharding state = task.from;
  const Sharding& to = task.to;
  const auto apply = [&](Move move) {
    weight.Add(task, move, task.LocalBytes(state), task.LocalBytes(move.result));
    state = move.result;
    moves.push_back(std::move(move));
  };
  if (const AxisSet pending = state.partial & ~to.partial; pending != 0) {
    Move move{MoveKind::kAllReduce, task.mesh.InOrder(pending), -1, -1, state};
    move.result.partial &= ~pending;
    if (move.result.partial == 0) move.result.reducer = Reducer::kAdd;
    apply(std::move(move));
  }
  for (size_t d = 0; d < task.dims.size(); ++d) {
    if (state.dims[d].empty() || state.dims[d] == to.dims[d]) continue;
    Move move{MoveKind::kAllGather, state.dims[d], static_cast<int>(d), -1, state};
    move.result.dims[d] = AxisList();
    apply(std::move(move));
  }
  for (size_t d = 0; d < task.dims.size(); ++d) {
    if (to.dims[d].empty() || state.dims[d] == to.dims[d]) continue;
    Move move{MoveKind::kSlice, to.dims[d], -1, static_cast<int>(d), state};
    move.result.dims[d] = to.dims[d];
    apply(std::move(move));
  }
  ReshardPlan plan = weight.PlanOf(std::move(moves));
  plan.exceeds_bound = true;
  return plan;
}

}  // namespace

int64_t LocalBytes(const Mesh& mesh, absl::Span<const int64_t> dims, int64_t width,
                   const Sharding& sharding) {
  int64_t bytes = width;
  for (size_t d = 0; d < dims.size(); ++d) bytes *= CeilOfRatio(dims[d], mesh.Product(sharding.dims[d]));
  return bytes;
}

int64_t SentBytes(MoveKind kind, int64_t v, int64_t g) {
  return kind == MoveKind::kSlice ? 0 : SentBytes(CollectiveOf(kind), v, g);
}

bool TilesNest(int64_t n, int64_t t, int64_t g) {
  return t == 1 || CeilOfRatio(n, t * g) * g == CeilOfRatio(n, t);
}

double Resharding::TimeOf(const Move& move, int64_t v) const {
  return move.kind == MoveKind::kSlice ? 0 : cost.CollectiveTime(CollectiveOf(move.kind), v, mesh, move.axes);
}

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
  const Resharding task = {*mesh_, *cost_, dims, width, from, to};
  for (const bool bounded : {true, false}) {
    std::optional<ReshardPlan> plan = PlanSearch(task, bounded, &steps_).Run();
    if (!plan) continue;
    plan->exceeds_bound = !bounded;
    return *std::move(plan);
  }
  return GatherAndCut(task);
}

}  // namespace toroid
