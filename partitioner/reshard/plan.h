// Resharding as a search for the cheapest plan.
//
// A state says which axes cut each dimension and over which axes the value is partial; a move is one
// collective or local slice (Rink et al., "Memory-efficient array redistribution through portable collective
// communication", 2021, extended by partial values). A run of axes that source and target both keep together
// is one unit, so the search does not grow with the number of devices. The bytes that a device sends for each
// move, where v is the bytes of its local array and g the size of its group:
//
//   all-gather          drop minor-most units of a dimension                  v (g - 1)
//   slice               append a unit to a dimension                          0
//   all-to-all          minor-most unit of a dimension -> of another          v (g - 1) / g
//   reduce-scatter      partial unit -> minor-most of a dimension             v (g - 1) / g
//   all-reduce          drop partial units                                    2 v (g - 1) / g
//   collective-permute  any reordering of equal tile counts                   v
//   realign             a halo exchange between cuts that do not nest         the rows that travel
//
// Plans are compared by time under the cost model, then bytes sent, then the largest intermediate, then the
// number of moves. The search is A*; its lower bound comes from the bytes of the target shard that a device
// lacks. Intermediates are at most 1.25 times as large as the larger of the source and target shards (2.25
// times if a dimension has fewer elements than there are devices, for padding), unless no such plan exists.
// On uneven sizes, collectives move data only between tiles whose boundaries nest: gathering or cutting
// between t and t * g tiles of n elements needs g * ceil(n / (t g)) = ceil(n / t), unless t = 1. Elsewhere a
// halo exchange realigns the tiles.
//
// Example: f32[8,16] from [{x}, {}] to [{}, {x}], x = 4: one all-to-all of 128 local bytes, 96 sent.
// BUILD: srcs += "next_moves.h", "next_moves.cc"
#pragma once

#include <cstdint>
#include <memory>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "hlo/cost/cost_model.h"
#include "hlo/devices/mesh.h"

namespace toroid {

enum class MoveKind : uint8_t {
  kAllGather,
  kSlice,
  kAllToAll,
  kReduceScatter,
  kAllReduce,
  kPermute,
  kRealign
};

struct Move {
  MoveKind kind;
  AxisList axes;  // The group, in tile order; empty for permute and realign.
  int from_dim =
      -1;           // all-gather, all-to-all: the dimension that loses the axes; realign: the one dimension.
  int to_dim = -1;  // slice, all-to-all, reduce-scatter: the dimension that gains them.
  Sharding result;  // The sharding after the move.
};

struct ReshardPlan {
  std::vector<Move> moves;
  double time = 0;         // By the cost model.
  int64_t sent_bytes = 0;  // By one device.
  int64_t peak_bytes = 0;  // Of the largest local array.
  // True if no plan within the memory bound was found: an intermediate may be larger than both ends.
  bool exceeds_bound = false;
};

// The bytes that one device sends for a move of v local bytes over groups of g (hlo/analysis/collective.h).
int64_t SentBytes(MoveKind kind, int64_t v, int64_t g);

// True if each tile of n elements cut into t tiles is the union of g tiles of n elements cut into t * g
// tiles.
bool TilesNest(int64_t n, int64_t t, int64_t g);

// The bytes of the largest shard of an array of global dimensions `dims` and elements of `width` bytes.
int64_t LocalBytes(const Mesh& mesh, absl::Span<const int64_t> dims, int64_t width, const Sharding& sharding);

// An array of global dimensions `dims` and elements of `width` bytes, on its way from one sharding to another.
struct Resharding {
  const Mesh& mesh;
  const CostModel& cost;
  absl::Span<const int64_t> dims;
  int64_t width;
  const Sharding& from;
  const Sharding& to;

  int64_t LocalBytes(const Sharding& sharding) const {
    return toroid::LocalBytes(mesh, dims, width, sharding);
  }
  // The time of a move of v local bytes, by the cost model.
  double TimeOf(const Move& move, int64_t v) const;
};

class ReshardPlanner {
 public:
  explicit ReshardPlanner(const Mesh* mesh, const CostModel* cost = &DefaultCostModel())
      : mesh_(mesh), cost_(cost) {}

  const CostModel& cost() const { return *cost_; }

  // The cheapest plan for an array of global dimensions `dims` and elements of `width` bytes. Requires: the
  // target is partial only over axes over which the source is, and both have the same manual axes. Memoized;
  // the reference stays valid.
  const ReshardPlan& Plan(absl::Span<const int64_t> dims, int64_t width, const Sharding& from,
                          const Sharding& to);

  // The number of moves considered for all plans so far. Planning time is proportional to it.
  int64_t steps() const { return steps_; }

 private:
  using Key = std::tuple<Dims, int64_t, Sharding, Sharding>;  // The arguments of Plan.

  ReshardPlan Cheapest(absl::Span<const int64_t> dims, int64_t width, const Sharding& from,
                       const Sharding& to);

  const Mesh* mesh_;
  const CostModel* cost_;
  int64_t steps_ = 0;
  absl::flat_hash_map<Key, std::unique_ptr<ReshardPlan>> memo_;
};

}  // namespace toroid
