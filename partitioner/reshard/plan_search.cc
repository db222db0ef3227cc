#include "partitioner/reshard/plan_search.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/hash/hash.h"
#include "hlo/base/math.h"
#include "partitioner/reshard/next_moves.h"

namespace toroid {
namespace {

// A search that has expanded this many states without reaching the target gives up.
constexpr int kMaxExpansions = 4000;

struct Weight {
  double time = 0;
  int64_t sent = 0;
  int64_t peak = 0;
  int moves = 0;
  bool operator<(const Weight& o) const {
    return std::tie(time, sent, peak, moves) < std::tie(o.time, o.sent, o.peak, o.moves);
  }
  bool operator>(const Weight& o) const { return o < *this; }
};

class PlanSearch {
 public:
  PlanSearch(const Mesh& mesh, const CostModel& cost, absl::Span<const int64_t> dims, int64_t width,
             const Sharding& from, const Sharding& to, bool bounded)
      : mesh_(mesh),
        cost_(cost),
        dims_(dims),
        width_(width),
        to_(to),
        next_moves_(mesh, cost, dims, width, from, to),
        bound_(bounded ? PaddedBound(from) : INT64_MAX),
        target_bytes_(LocalBytes(to)) {
    nodes_.reserve(32);
  }

  std::optional<ReshardPlan> Run(const Sharding& from) {
    nodes_.push_back({{}, -1, {MoveKind::kSlice, {}, -1, -1, from}});
    index_.insert(0);
    queue_.push({Weight(), 0});
    int expansions = 0;
    while (!queue_.empty()) {
      const int at = queue_.top().second;
      queue_.pop();
      if (nodes_[at].done) continue;
      nodes_[at].done = true;
      if (nodes_[at].move.result == to_) return PlanTo(at);
      if (++expansions > kMaxExpansions) return std::nullopt;
      const Sharding state = nodes_[at].move.result;
      next_moves_.ForEach(state, [&](int64_t v, Move move) { Relax(at, v, std::move(move)); });
    }
    return std::nullopt;
  }

  // The number of moves considered.
  int64_t steps() const { return steps_; }

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
    ReshardPlan plan;
    for (int i = node; nodes_[i].parent >= 0; i = nodes_[i].parent) plan.moves.push_back(nodes_[i].move);
    std::reverse(plan.moves.begin(), plan.moves.end());
    plan.time = nodes_[node].weight.time;
    plan.sent_bytes = nodes_[node].weight.sent;
    plan.peak_bytes = nodes_[node].weight.peak;
    return plan;
  }

  int64_t LocalBytes(const Sharding& state) const { return BytesOfShard(mesh_, dims_, width_, state); }

  // A lower bound on the bytes that a device still has to receive: its target shard without the largest part
  // of it that the device can hold in `state`; the whole target shard while sums are incomplete.
  int64_t LackedBytes(const Sharding& state) const {
    if ((state.partial & ~to_.partial) != 0) return target_bytes_;
    int64_t had = width_;
    for (size_t d = 0; d < dims_.size(); ++d) {
      had *= CeilOfRatio(dims_[d], std::max(mesh_.Product(state.dims[d]), mesh_.Product(to_.dims[d])));
    }
    return target_bytes_ - had;
  }

  // The bound on intermediates, in bytes: 1.25 times the larger of the source and target shards; 2.25 times
  // if a dimension has fewer elements than the mesh has devices, because all-to-all and reduce-scatter then
  // pad it.
  int64_t PaddedBound(const Sharding& from) const {
    const int64_t bound = std::max(LocalBytes(from), LocalBytes(to_));
    int64_t rows = 1;
    for (const int64_t dim : dims_)
      rows = std::max(rows, CeilOfRatio(mesh_.num_devices(), std::max<int64_t>(1, dim)));
    return bound * (rows > 1 ? 2 : 1) + bound / 4;
  }

  // Notes that `move`, which sends or cuts `v` local bytes, leads from node `at` to its result.
  void Relax(int at, int64_t v, Move move) {
    ++steps_;
    const int64_t bytes = LocalBytes(move.result);
    if (bytes > bound_) return;
    Weight weight = nodes_[at].weight;
    weight.time += TimeOf(cost_, mesh_, move, v);
    weight.sent += SentBytes(move.kind, v, mesh_.Product(move.axes));
    weight.peak = std::max({weight.peak, v, bytes});
    ++weight.moves;
    const int64_t lacked = LackedBytes(move.result);
    Weight estimate = weight;  // A lower bound for any path through this state to the target.
    estimate.time += cost_.LeastTime(lacked);
    estimate.sent += lacked;
    // Every further move adds weight: a state that weighs as much as a known path to the target leads to no
    // better one.
    if (at_target_ >= 0 && !(estimate < nodes_[at_target_].weight)) return;
    int to = static_cast<int>(nodes_.size());
    if (const auto it = index_.find(move.result); it == index_.end()) {
      if (move.result == to_) at_target_ = to;
      nodes_.push_back({weight, at, std::move(move)});
      index_.insert(to);
    } else {
      to = *it;
      if (!(weight < nodes_[to].weight)) return;
      nodes_[to] = {weight, at, std::move(move)};
    }
    queue_.push({estimate, to});
  }

  const Mesh& mesh_;
  const CostModel& cost_;
  const absl::Span<const int64_t> dims_;
  const int64_t width_;
  const Sharding& to_;
  const NextMoves next_moves_;
  const int64_t bound_;
  const int64_t target_bytes_;
  std::vector<Node> nodes_;
  int at_target_ = -1;  // The target's node; -1 until a path reaches it.
  int64_t steps_ = 0;
  absl::flat_hash_set<int, HashOfState, SameState> index_{0, HashOfState{&nodes_}, SameState{&nodes_}};
  using Entry = std::pair<Weight, int>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<Entry>> queue_;
};

}  // namespace

std::optional<ReshardPlan> SearchPlan(const Mesh& mesh, const CostModel& cost, absl::Span<const int64_t> dims,
                                      int64_t width, const Sharding& from, const Sharding& to, bool bounded,
                                      int64_t* steps) {
  PlanSearch search(mesh, cost, dims, width, from, to, bounded);
  std::optional<ReshardPlan> plan = search.Run(from);
  *steps += search.steps();
  return plan;
}

}  // namespace toroid
