#include "partitioner/reshard/next_moves.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "hlo/base/math.h"
#include "partitioner/reshard/halo_plan.h"

namespace toroid {
namespace {

// `state` with its tiles reordered. Each dimension begins with the target's axes there, as many as its tile
// count allows. Behind them stand first the axes that other dimensions of the target lack, in the target's
// order, so that one all-to-all takes them there, then the others. Returns `state` if the remaining axes
// cannot make up the tile counts.
Sharding PermutedTowards(const Mesh& mesh, const Sharding& state, const Sharding& to) {
  Sharding permuted = state;
  std::vector<int64_t> left;
  AxisSet free = state.DimAxes();
  for (size_t d = 0; d < state.dims.size(); ++d) {
    permuted.dims[d] = AxisList();
    left.push_back(mesh.Product(state.dims[d]));
    for (const int axis : to.dims[d]) {
      if ((free >> axis & 1) == 0 || left[d] % mesh.size(axis) != 0) break;
      left[d] /= mesh.size(axis);
      free &= ~(AxisSet{1} << axis);
      permuted.dims[d].push_back(axis);
    }
  }
  AxisList pool;
  for (size_t d = 0; d < state.dims.size(); ++d) pool.Append(to.dims[d].Only(free));
  pool.Append(mesh.InOrder(free & ~pool.Set()));
  for (size_t d = 0; d < state.dims.size(); ++d) {
    for (const int axis : pool) {
      if ((free >> axis & 1) == 0 || left[d] % mesh.size(axis) != 0) continue;
      left[d] /= mesh.size(axis);
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
std::optional<Sharding> PermutedTo(const Mesh& mesh, const Sharding& state, const Sharding& to) {
  Sharding permuted = to;
  AxisSet free = state.DimAxes() & ~to.DimAxes();
  for (size_t d = 0; d < state.dims.size(); ++d) {
    const int64_t have = mesh.Product(state.dims[d]), wanted = mesh.Product(to.dims[d]);
    if (have % wanted != 0) return std::nullopt;
    int64_t left = have / wanted;
    for (const int axis : mesh.InOrder(free)) {
      if (left % mesh.size(axis) != 0) continue;
      left /= mesh.size(axis);
      free &= ~(AxisSet{1} << axis);
      permuted.dims[d].push_back(axis);
    }
    if (left != 1) return std::nullopt;
  }
  return permuted;
}

}  // namespace

// The moves from one state.
class NextMoves::OfState {
 public:
  OfState(const NextMoves& all, const Sharding& state, Visit visit)
      : all_(all),
        mesh_(all.task_.mesh),
        dims_(all.task_.dims),
        to_(all.task_.to),
        state_(state),
        rank_(static_cast<int>(dims_.size())),
        v_(all.task_.LocalBytes(state)),
        visit_(visit) {}

  void Visit() {
    for (int d = 0; d < rank_; ++d) {
      if (state_.dims[d].empty() || state_.dims[d] == to_.dims[d]) continue;
      AllGathers(d);
      AllToAlls(d);
    }
    for (int d = 0; d < rank_; ++d) Slices(d);
    if ((state_.partial & ~to_.partial) != 0) {
      ReduceScatters();
      AllReduces();
    }
    Permute();
  }

 private:
  int64_t Tiles(int d) const { return mesh_.Product(state_.dims[d]); }
  int64_t Rows(int d) const { return CeilOfRatio(dims_[d], Tiles(d)); }
  // The bytes of the local array with dimension d padded to a multiple of `g`.
  int64_t Padded(int d, int64_t g) const {
    const int64_t rows = Rows(d);
    return rows == 0 ? v_ : v_ / rows * CeilOfRatio(rows, g) * g;
  }

  // All-gathers over the 1, 2, ... minor-most runs of dimension d.
  void AllGathers(int d) {
    const AxisList& axes = state_.dims[d];
    for (int n = all_.runs_.MinorRun(axes);;) {
      Move move{MoveKind::kAllGather, axes.Suffix(axes.size() - n), d, -1, state_};
      move.result.dims[d] = axes.Prefix(axes.size() - n);
      if (TilesNest(dims_[d], mesh_.Product(move.result.dims[d]), mesh_.Product(move.axes))) {
        visit_(v_, std::move(move));
      } else {
        Realign(d, move.result.dims[d]);
      }
      if (n == axes.size()) return;
      n += all_.runs_.MinorRun(axes.Prefix(axes.size() - n));
    }
  }

  // All-to-alls that move the minor run of d to the end of another dimension e, or only that suffix of it which leaves d, or
  // gives e, the target's number of tiles; or all axes that e lacks, if d ends with them in the target's order.
  void AllToAlls(int d) {
    const AxisList& axes = state_.dims[d];
    const int n = all_.runs_.MinorRun(axes);
    for (int e = 0; e < rank_; ++e) {
      if (e == d) continue;
      AllToAll(d, e, n);
      const int of_d = SuffixOf(axes, n, mesh_.Product(axes), mesh_.Product(to_.dims[d]));
      const int of_e = SuffixOf(axes, n, mesh_.Product(to_.dims[e]), Tiles(e));
      if (of_d > 0) AllToAll(d, e, of_d);
      if (of_e > 0 && of_e != of_d) AllToAll(d, e, of_e);
      if (!state_.dims[e].IsPrefixOf(to_.dims[e])) continue;
      const AxisList lacking = to_.dims[e].Suffix(state_.dims[e].size());
      if (lacking.size() > n && lacking.size() <= axes.size() &&
          axes.Suffix(axes.size() - lacking.size()) == lacking) {
        AllToAll(d, e, lacking.size());
      }
    }
  }

  // An all-to-all that moves the last n axes of dimension d to the end of dimension e.
  void AllToAll(int d, int e, int n) {
    const AxisList& axes = state_.dims[d];
    const AxisList moved = axes.Suffix(axes.size() - n), rest = axes.Prefix(axes.size() - n);
    const int64_t g = mesh_.Product(moved);
    if (!TilesNest(dims_[d], mesh_.Product(rest), g) || !TilesNest(dims_[e], Tiles(e), g)) return;
    Move move{MoveKind::kAllToAll, moved, d, e, state_};
    move.result.dims[d] = rest;
    move.result.dims[e].Append(moved);
    visit_(Padded(e, g), std::move(move));
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

  // Slices of dimension d over unused axes, the way the target does.
  void Slices(int d) {
    const AxisSet used = state_.DimAxes() | state_.partial | state_.manual;
    for (const AxisList& run : all_.to_runs_[d]) {
      if ((run.Set() & used) != 0) continue;
      Move move{MoveKind::kSlice, run, -1, d, state_};
      move.result.dims[d].Append(run);
      if (!TilesNest(dims_[d], Tiles(d), mesh_.Product(run))) {
        Realign(d, move.result.dims[d]);
        continue;
      }
      visit_(v_, std::move(move));
      // Or over a suffix of the run that yields the target's number of tiles; a permute then reorders the tiles.
      const int n = SuffixOf(run, run.size(), mesh_.Product(to_.dims[d]), Tiles(d));
      if (n == 0) continue;
      Move part{MoveKind::kSlice, run.Suffix(run.size() - n), -1, d, state_};
      part.result.dims[d].Append(part.axes);
      if (TilesNest(dims_[d], Tiles(d), mesh_.Product(part.axes))) visit_(v_, std::move(part));
    }
  }

  // A halo exchange that changes the cut of dimension d to `axes`. Requires: one of `axes` and the present list is a prefix of
  // the other.
  void Realign(int d, const AxisList& axes) {
    const int64_t n = dims_[d], rows = Rows(d);
    if (rows == 0) return;
    const HaloPlan halo = PlanHalo(mesh_, all_.task_.cost,
                                   {.n = n,
                                    .tile = rows,
                                    .from = state_.dims[d],
                                    .to = axes,
                                    .windows = RealignWindows(n, mesh_.Product(axes)),
                                    .row_bytes = v_ / rows});
    Move move{MoveKind::kRealign, AxisList(), d, d, state_};
    move.result.dims[d] = axes;
    visit_(v_ / rows * halo.sent_rows, std::move(move));
  }

  // The axes over which the value is partial, and the target's is not, in runs.
  std::vector<AxisList> PendingRuns() const {
    return all_.runs_.Split(mesh_.InOrder(state_.partial & ~to_.partial));
  }
  static void Reduce(AxisSet axes, Move* move) {
    move->result.partial &= ~axes;
    if (move->result.partial == 0) move->result.reducer = Reducer::kAdd;
  }

  void ReduceScatters() {
    const std::vector<AxisList> runs = PendingRuns();
    for (int d = 0; d < rank_; ++d) {
      // Also over all pending axes that cut dimension d of the target, in its order: one move then takes several runs.
      const AxisList wanted = to_.dims[d].Only(state_.partial & ~to_.partial);
      std::vector<AxisList> groups = runs;
      if (wanted.size() > 1) groups.push_back(wanted);
      for (const AxisList& axes : groups) {
        const int64_t g = mesh_.Product(axes);
        if (!TilesNest(dims_[d], Tiles(d), g)) continue;
        Move move{MoveKind::kReduceScatter, axes, -1, d, state_};
        move.result.dims[d].Append(axes);
        Reduce(axes.Set(), &move);
        visit_(Padded(d, g), std::move(move));
      }
    }
  }

  // All-reduces over every subset of the first kMost runs, and over all runs: one costs less than one after the other.
  void AllReduces() {
    constexpr int kMost = 6;
    const std::vector<AxisList> runs = PendingRuns();
    const int n = static_cast<int>(runs.size()), few = std::min(n, kMost);
    const auto reduce = [&](AxisSet axes) {
      Move move{MoveKind::kAllReduce, mesh_.InOrder(axes), -1, -1, state_};
      Reduce(axes, &move);
      visit_(v_, std::move(move));
    };
    for (int subset = 1; subset < 1 << few; ++subset) {
      AxisSet axes = 0;
      for (int i = 0; i < few; ++i) {
        if (subset >> i & 1) axes |= runs[i].Set();
      }
      reduce(axes);
    }
    if (n > kMost) reduce(state_.partial & ~to_.partial);
  }

  void Permute() {
    if (state_.partial != to_.partial || state_.dims == to_.dims) return;
    const std::optional<Sharding> whole = PermutedTo(mesh_, state_, to_);
    Sharding permuted = whole ? *whole : PermutedTowards(mesh_, state_, to_);
    if (permuted.dims == state_.dims) return;
    visit_(v_, Move{MoveKind::kPermute, AxisList(), -1, -1, std::move(permuted)});
  }

  const NextMoves& all_;
  const Mesh& mesh_;
  const absl::Span<const int64_t> dims_;
  const Sharding& to_;
  const Sharding& state_;
  const int rank_;
  const int64_t v_;  // The bytes of the local array.
  const NextMoves::Visit visit_;
};

NextMoves::NextMoves(const Resharding& task) : task_(task), runs_(task.mesh, task.from, task.to) {
  for (const AxisList& axes : task.to.dims) to_runs_.push_back(runs_.Split(axes));
}

void NextMoves::ForEach(const Sharding& state, Visit visit) const { OfState(*this, state, visit).Visit(); }

}  // namespace toroid
