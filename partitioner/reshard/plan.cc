#include "partitioner/reshard/plan.h"

#include <algorithm>
#include <optional>
#include <queue>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/hash/hash.h"
#include "hlo/analysis/collective.h"
#include "hlo/base/math.h"
#include "hlo/base/status.h"
#include "partitioner/reshard/halo_plan.h"

namespace toroid {
namespace {

// A search that has expanded this many states without reaching the target gives up.
constexpr int kMaxExpansions = 4000;

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

double TimeOf(const CostModel& cost, const Mesh& mesh, const Move& move, int64_t v) {
  return move.kind == MoveKind::kSlice ? 0 : cost.CollectiveTime(CollectiveOf(move.kind), v, mesh, move.axes);
}

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

// Units: runs of axes that both shardings keep together. Axes a and b are joined if b follows a in every list
// that contains a, and a precedes b in every list that contains b.
class Units {
 public:
  Units(const Mesh& mesh, const Sharding& from, const Sharding& to) {
    next_.fill(-2);
    previous_.fill(-2);
    for (const Sharding* sharding : {&from, &to}) {
      for (const AxisList& dim : sharding->dims) Add(dim);
      Add(mesh.InOrder(sharding->partial));
    }
  }

  // Number of axes at the end of `axes` that form its minor-most unit.
  int MinorUnit(const AxisList& axes) const {
    int n = 1;
    while (n < axes.size() && Joined(axes[axes.size() - n - 1], axes[axes.size() - n])) ++n;
    return n;
  }
  // Splits `axes`, which are in mesh order or in the order of one of the lists, into units.
  std::vector<AxisList> Split(const AxisList& axes) const {
    std::vector<AxisList> units;
    for (int i = 0; i < axes.size(); ++i) {
      if (i > 0 && Joined(axes[i - 1], axes[i])) {
        units.back().push_back(axes[i]);
      } else {
        units.push_back(AxisList{axes[i]});
      }
    }
    return units;
  }

 private:
  void Add(const AxisList& axes) {
    for (int i = 0; i < axes.size(); ++i) {
      Note(&next_[axes[i]], i + 1 < axes.size() ? axes[i + 1] : -1);
      Note(&previous_[axes[i]], i > 0 ? axes[i - 1] : -1);
    }
  }
  // -1: end of a list; -2: not seen yet; -3: seen with different neighbours.
  static void Note(int* slot, int neighbour) { *slot = *slot == -2 || *slot == neighbour ? neighbour : -3; }
  bool Joined(int a, int b) const { return next_[a] == b && previous_[b] == a; }

  std::array<int, 32> next_;
  std::array<int, 32> previous_;
};

// A*: expands states in the order of their weight so far plus a lower bound on the weight to the target,
// which follows from the bytes that a device still lacks.
class Search {
 public:
  Search(const Mesh& mesh, const CostModel& cost, absl::Span<const int64_t> dims, int64_t width,
         const Sharding& from, const Sharding& to, bool bounded)
      : mesh_(mesh), cost_(cost), dims_(dims), width_(width), to_(to), units_(mesh, from, to) {
    bound_ = bounded ? PaddedBound(from) : INT64_MAX;
    for (const AxisList& axes : to.dims) to_units_.push_back(units_.Split(axes));
    target_bytes_ = LocalBytes(to);
    nodes_.reserve(32);
  }

  // The number of moves considered.
  int64_t steps() const { return steps_; }

  // False if the target was not reached.
  bool Run(const Sharding& from, ReshardPlan* plan) {
    nodes_.push_back({{}, -1, {MoveKind::kSlice, {}, -1, -1, from}});
    index_.insert(0);
    queue_.push({Weight(), 0});
    int expansions = 0;
    while (!queue_.empty()) {
      const int at = queue_.top().second;
      queue_.pop();
      if (nodes_[at].done) continue;
      nodes_[at].done = true;
      if (nodes_[at].move.result == to_) {
        for (int i = at; nodes_[i].parent >= 0; i = nodes_[i].parent) plan->moves.push_back(nodes_[i].move);
        std::reverse(plan->moves.begin(), plan->moves.end());
        plan->time = nodes_[at].weight.time;
        plan->sent_bytes = nodes_[at].weight.sent;
        plan->peak_bytes = nodes_[at].weight.peak;
        return true;
      }
      if (++expansions > kMaxExpansions) return false;
      Expand(at);
    }
    return false;
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

  int64_t LocalBytes(const Sharding& state) const {
    int64_t bytes = width_;
    for (size_t d = 0; d < dims_.size(); ++d) bytes *= CeilOfRatio(dims_[d], mesh_.Product(state.dims[d]));
    return bytes;
  }

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
    int64_t bound = std::max(LocalBytes(from), LocalBytes(to_));
    int64_t rows = 1;
    for (size_t d = 0; d < dims_.size(); ++d)
      rows = std::max(rows, CeilOfRatio(mesh_.num_devices(), std::max<int64_t>(1, dims_[d])));
    return bound * (rows > 1 ? 2 : 1) + bound / 4;
  }

  void Expand(int at) {
    const Sharding state = nodes_[at].move.result;
    const int64_t v = LocalBytes(state);
    const int rank = static_cast<int>(dims_.size());
    AxisSet used = state.DimAxes() | state.partial | state.manual;

    for (int d = 0; d < rank; ++d) {
      const AxisList& axes = state.dims[d];
      if (axes.empty() || axes == to_.dims[d]) continue;
      // All-gather the 1, 2, ... minor-most units.
      for (int n = units_.MinorUnit(axes);;) {
        Move move{MoveKind::kAllGather, axes.Suffix(axes.size() - n), d, -1, state};
        move.result.dims[d] = axes.Prefix(axes.size() - n);
        if (TilesNest(dims_[d], mesh_.Product(move.result.dims[d]), mesh_.Product(move.axes))) {
          Relax(at, v, std::move(move));
        } else {
          Realign(at, state, v, d, move.result.dims[d]);
        }
        if (n == axes.size()) break;
        n += units_.MinorUnit(axes.Prefix(axes.size() - n));
      }
      // All-to-all moves the minor unit to the end of another dimension e; or only the suffix of it that
      // leaves d, or gives e, the target's tile count.
      const int n = units_.MinorUnit(axes);
      for (int e = 0; e < rank; ++e) {
        if (e == d) continue;
        ExpandAllToAll(at, state, v, d, e, n);
        const int of_d = SuffixOf(axes, n, mesh_.Product(axes), mesh_.Product(to_.dims[d]));
        const int of_e = SuffixOf(axes, n, mesh_.Product(to_.dims[e]), mesh_.Product(state.dims[e]));
        if (of_d > 0) ExpandAllToAll(at, state, v, d, e, of_d);
        if (of_e > 0 && of_e != of_d) ExpandAllToAll(at, state, v, d, e, of_e);
        // Or all axes that e lacks, if d ends with them in the target's order.
        if (!state.dims[e].IsPrefixOf(to_.dims[e])) continue;
        const AxisList lacking = to_.dims[e].Suffix(state.dims[e].size());
        if (lacking.size() > n && lacking.size() <= axes.size() &&
            axes.Suffix(axes.size() - lacking.size()) == lacking) {
          ExpandAllToAll(at, state, v, d, e, lacking.size());
        }
      }
    }
    // Slice over unused axes the way the target does.
    for (int d = 0; d < rank; ++d) {
      for (const AxisList& unit : to_units_[d]) {
        if ((unit.Set() & used) != 0) continue;
        Move move{MoveKind::kSlice, unit, -1, d, state};
        move.result.dims[d].Append(unit);
        if (!TilesNest(dims_[d], mesh_.Product(state.dims[d]), mesh_.Product(unit))) {
          Realign(at, state, v, d, move.result.dims[d]);
          continue;
        }
        Relax(at, v, std::move(move));
        // Or slice over a suffix of the unit that yields the target's tile count; a permute then reorders the
        // tiles.
        const int n = SuffixOf(unit, unit.size(), mesh_.Product(to_.dims[d]), mesh_.Product(state.dims[d]));
        if (n == 0) continue;
        Move part{MoveKind::kSlice, unit.Suffix(unit.size() - n), -1, d, state};
        part.result.dims[d].Append(part.axes);
        if (TilesNest(dims_[d], mesh_.Product(state.dims[d]), mesh_.Product(part.axes)))
          Relax(at, v, std::move(part));
      }
    }
    ExpandPartial(at, state, v);
    ExpandPermute(at, state, v);
  }

  // The n < `most` for which the last n of `axes` have the product more / less; 0 if there is none.
  int SuffixOf(const AxisList& axes, int most, int64_t more, int64_t less) const {
    if (more <= less || more % less != 0) return 0;
    int64_t product = 1;
    for (int n = 1; n < most; ++n) {
      product *= mesh_.size(axes[axes.size() - n]);
      if (product >= more / less) return product == more / less ? n : 0;
    }
    return 0;
  }

  // An all-to-all that moves the last n axes of dimension d to the end of dimension e.
  void ExpandAllToAll(int at, const Sharding& state, int64_t v, int d, int e, int n) {
    const AxisList& axes = state.dims[d];
    const AxisList unit = axes.Suffix(axes.size() - n), rest = axes.Prefix(axes.size() - n);
    const int64_t g = mesh_.Product(unit);
    if (!TilesNest(dims_[d], mesh_.Product(rest), g) || !TilesNest(dims_[e], mesh_.Product(state.dims[e]), g))
      return;
    Move move{MoveKind::kAllToAll, unit, d, e, state};
    move.result.dims[d] = rest;
    move.result.dims[e].Append(unit);
    // The all-to-all sends the local array with dimension e padded to a multiple of g.
    const int64_t e_local = CeilOfRatio(dims_[e], mesh_.Product(state.dims[e]));
    const int64_t padded = e_local == 0 ? v : v / e_local * CeilOfRatio(e_local, g) * g;
    Relax(at, padded, std::move(move));
  }

  void ExpandPartial(int at, const Sharding& state, int64_t v) {
    const AxisSet pending = state.partial & ~to_.partial;
    if (pending == 0) return;
    const std::vector<AxisList> units = units_.Split(mesh_.InOrder(pending));
    for (size_t d = 0; d < dims_.size(); ++d) {
      // Also try all pending axes that cut dimension d of the target, in its order: one move then takes
      // several units.
      AxisList wanted = to_.dims[d].Only(pending);
      std::vector<AxisList> groups = units;
      if (wanted.size() > 1) groups.push_back(wanted);
      for (const AxisList& unit : groups) {
        const int64_t g = mesh_.Product(unit);
        if (!TilesNest(dims_[d], mesh_.Product(state.dims[d]), g)) continue;
        Move move{MoveKind::kReduceScatter, unit, -1, static_cast<int>(d), state};
        move.result.dims[d].Append(unit);
        move.result.partial &= ~unit.Set();
        if (move.result.partial == 0) move.result.reducer = Reducer::kAdd;
        const int64_t local = CeilOfRatio(dims_[d], mesh_.Product(state.dims[d]));
        Relax(at, local == 0 ? v : v / local * CeilOfRatio(local, g) * g, std::move(move));
      }
    }
    // All-reduce any subset of the first kMost units, or all units, in one move: that is cheaper than one
    // after the other.
    constexpr int kMost = 6;
    const int n = static_cast<int>(units.size());
    for (int subset = 1; subset <= 1 << std::min(n, kMost); ++subset) {
      AxisSet axes = 0;
      for (int i = 0; i < n; ++i) {
        if (subset >> i & 1) axes |= units[i].Set();
      }
      if (subset == 1 << std::min(n, kMost)) {
        if (n <= kMost) break;
        axes = pending;
      }
      Move move{MoveKind::kAllReduce, mesh_.InOrder(axes), -1, -1, state};
      move.result.partial &= ~axes;
      if (move.result.partial == 0) move.result.reducer = Reducer::kAdd;
      Relax(at, v, std::move(move));
    }
  }

  // A halo exchange that changes the cut of dimension d to `axes`. Requires: one of `axes` and the present
  // list is a prefix of the other.
  void Realign(int at, const Sharding& state, int64_t v, int d, const AxisList& axes) {
    const int64_t n = dims_[d];
    const int64_t rows = CeilOfRatio(n, mesh_.Product(state.dims[d]));
    if (rows == 0) return;
    const HaloPlan halo = PlanHalo(mesh_, cost_,
                                   {.n = n,
                                    .tile = rows,
                                    .from = state.dims[d],
                                    .to = axes,
                                    .windows = RealignWindows(n, mesh_.Product(axes)),
                                    .row_bytes = v / rows});
    Move move{MoveKind::kRealign, AxisList(), d, d, state};
    move.result.dims[d] = axes;
    Relax(at, v / rows * halo.sent_rows, std::move(move));
  }

  void ExpandPermute(int at, const Sharding& state, int64_t v) {
    if (state.partial != to_.partial || state.dims == to_.dims) return;
    const std::optional<Sharding> whole = PermutedToTarget(state);
    const Sharding permuted = whole.has_value() ? *whole : PermutedTowardsTarget(state);
    if (permuted.dims != state.dims) Relax(at, v, Move{MoveKind::kPermute, AxisList(), -1, -1, permuted});
  }

  // `state` with its tiles reordered. Each dimension begins with the target's axes there, as many as its tile
  // count allows. Behind them stand first the axes that other dimensions of the target lack, in the target's
  // order, so that one all-to-all takes them there, then the others. Returns `state` if the remaining axes
  // cannot make up the tile counts.
  Sharding PermutedTowardsTarget(const Sharding& state) const {
    Sharding permuted = state;
    std::vector<int64_t> left;
    AxisSet free = state.DimAxes();
    for (size_t d = 0; d < dims_.size(); ++d) {
      permuted.dims[d] = AxisList();
      left.push_back(mesh_.Product(state.dims[d]));
      for (const int axis : to_.dims[d]) {
        if ((free >> axis & 1) == 0 || left[d] % mesh_.size(axis) != 0) break;
        left[d] /= mesh_.size(axis);
        free &= ~(AxisSet{1} << axis);
        permuted.dims[d].push_back(axis);
      }
    }
    AxisList pool;
    for (size_t d = 0; d < dims_.size(); ++d) pool.Append(to_.dims[d].Only(free));
    pool.Append(mesh_.InOrder(free & ~pool.Set()));
    for (size_t d = 0; d < dims_.size(); ++d) {
      for (const int axis : pool) {
        if ((free >> axis & 1) == 0 || left[d] % mesh_.size(axis) != 0) continue;
        left[d] /= mesh_.size(axis);
        free &= ~(AxisSet{1} << axis);
        permuted.dims[d].push_back(axis);
      }
      if (left[d] != 1) return state;
    }
    return permuted;
  }

  // `state` with its tiles reordered so that each dimension lists the target's axes, then axes to be gathered
  // afterwards. Nullopt if a tile count is no multiple of the target's, or the remaining axes cannot make up
  // the quotient.
  std::optional<Sharding> PermutedToTarget(const Sharding& state) const {
    Sharding permuted = to_;
    AxisSet free = state.DimAxes() & ~to_.DimAxes();
    for (size_t d = 0; d < dims_.size(); ++d) {
      const int64_t have = mesh_.Product(state.dims[d]), wanted = mesh_.Product(to_.dims[d]);
      if (have % wanted != 0) return std::nullopt;
      int64_t left = have / wanted;
      for (const int axis : mesh_.InOrder(free)) {
        if (left % mesh_.size(axis) != 0) continue;
        left /= mesh_.size(axis);
        free &= ~(AxisSet{1} << axis);
        permuted.dims[d].push_back(axis);
      }
      if (left != 1) return std::nullopt;
    }
    return permuted;
  }

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
  absl::Span<const int64_t> dims_;
  int64_t width_;
  const Sharding& to_;
  Units units_;
  std::vector<std::vector<AxisList>> to_units_;  // The target's units, by dimension.
  int64_t bound_;
  int64_t target_bytes_;
  std::vector<Node> nodes_;
  int at_target_ = -1;  // The target's node; -1 until a path reaches it.
  int64_t steps_ = 0;
  absl::flat_hash_set<int, HashOfState, SameState> index_{0, HashOfState{&nodes_}, SameState{&nodes_}};
  using Entry = std::pair<Weight, int>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<Entry>> queue_;
};

// All-reduces, gathers every dimension that differs, then slices: possible for all pairs of shardings.
ReshardPlan GatherAndCut(const Mesh& mesh, const CostModel& cost, absl::Span<const int64_t> dims,
                         int64_t width, const Sharding& from, const Sharding& to) {
  ReshardPlan plan;
  plan.exceeds_bound = true;
  Sharding state = from;
  const auto bytes = [&] {
    int64_t b = width;
    for (size_t d = 0; d < dims.size(); ++d) b *= CeilOfRatio(dims[d], mesh.Product(state.dims[d]));
    return b;
  };
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

int64_t SentBytes(MoveKind kind, int64_t v, int64_t g) {
  return kind == MoveKind::kSlice ? 0 : SentBytes(CollectiveOf(kind), v, g);
}

bool TilesNest(int64_t n, int64_t t, int64_t g) {
  return t == 1 || CeilOfRatio(n, t * g) * g == CeilOfRatio(n, t);
}

const ReshardPlan& ReshardPlanner::Plan(absl::Span<const int64_t> dims, int64_t width, const Sharding& from,
                                        const Sharding& to) {
  Key key{Dims(dims.begin(), dims.end()), width, from, to};
  const auto it = memo_.find(key);
  if (it != memo_.end()) return *it->second;
  auto plan = std::make_unique<ReshardPlan>(Search(dims, width, from, to, /*bounded=*/true));
  return *memo_.emplace(std::move(key), std::move(plan)).first->second;
}

ReshardPlan ReshardPlanner::Search(absl::Span<const int64_t> dims, int64_t width, const Sharding& from,
                                   const Sharding& to, bool bounded) {
  ReshardPlan plan;
  if (from == to) return plan;
  TOROID_CHECK((to.partial & ~from.partial) == 0 && from.manual == to.manual);
  toroid::Search search(*mesh_, *cost_, dims, width, from, to, bounded);
  const bool found = search.Run(from, &plan);
  steps_ += search.steps();
  if (found) {
    plan.exceeds_bound = !bounded;
    return plan;
  }
  if (bounded) return Search(dims, width, from, to, /*bounded=*/false);
  return GatherAndCut(*mesh_, *cost_, dims, width, from, to);
}

}  // namespace toroid
