// Resharding as a search for the cheapest plan.
//
// A state says which axes cut each dimension and over which axes the value is partial; a move is one
// collective or local slice (Rink et al., "Memory-efficient array redistribution through portable collective
// communication", 2021, extended by partial values). Runs of axes that source and target treat alike are one
// unit, so the search does not grow with the number of devices. With v the bytes of the local array and g the
// group:
//
//   all-gather          drop minor-most units of a dimension                  v (g - 1)
//   slice               append a unit to a dimension                          0
//   all-to-all          minor-most unit of a dimension -> of another          v (g - 1) / g
//   reduce-scatter      partial unit -> minor-most of a dimension             v (g - 1) / g
//   all-reduce          drop partial units                                    2 v (g - 1) / g
//   collective-permute  any reordering of equal tile counts                   v
//   realign             a halo exchange between cuts that do not nest         the rows that travel
//
// Weight: time by the cost model, then bytes sent, then the largest intermediate, then the number of moves. The search is A*: a
// device has still to get what it lacks of its final array. No intermediate is larger than the larger end. On uneven
// sizes collectives move only between tiles whose boundaries nest: gathering or cutting between t and t * g tiles needs
// g * ceil(n / (t g)) = ceil(n / t), unless t = 1; elsewhere a halo exchange realigns.
//
// Example: f32[8,16] from [{x}, {}] to [{}, {x}], x = 4: one all-to-all of 128 local bytes, 96 sent.
#ifndef TOROID_PARTITIONER_RESHARD_PLAN_H_
#define TOROID_PARTITIONER_RESHARD_PLAN_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "hlo/cost/cost_model.h"
#include "hlo/ir/mesh.h"

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
  AxisList axes;  // The group, in tile order.
  int from_dim =
      -1;           // all-gather, all-to-all: the dimension that loses the axes; realign: the one dimension.
  int to_dim = -1;  // slice, all-to-all, reduce-scatter: the dimension that gains them.
  Sharding result;  // After the move.
};

struct ReshardPlan {
  std::vector<Move> moves;
  double time = 0;  // By the cost model.
  int64_t sent_bytes = 0;
  int64_t peak_bytes = 0;
  // No path kept to the memory bound: some intermediate is larger than both ends.
  bool exceeds_bound = false;
};

class ReshardPlanner {
 public:
  explicit ReshardPlanner(const Mesh* mesh, const CostModel* cost = &DefaultCostModel())
      : mesh_(mesh), cost_(cost) {}

  const CostModel& cost() const { return *cost_; }

  // The cheapest plan for an array of global dimensions `dims` and elements of `width` bytes. The target may
  // be partial only over axes over which the source is. Memoized; the reference stays valid.
  const ReshardPlan& Plan(absl::Span<const int64_t> dims, int64_t width, const Sharding& from,
                          const Sharding& to);

  // How many moves were looked at for all plans so far: what the time for plans is proportional to.
  int64_t steps() const { return steps_; }

 private:
  struct Key {
    Dims dims;
    int64_t width;
    Sharding from, to;
    bool operator==(const Key& o) const {
      return width == o.width && dims == o.dims && from == o.from && to == o.to;
    }
    template <typename H>
    friend H AbslHashValue(H h, const Key& k) {
      return H::combine(std::move(h), k.dims, k.width, k.from, k.to);
    }
  };

  ReshardPlan Search(absl::Span<const int64_t> dims, int64_t width, const Sharding& from, const Sharding& to,
                     bool bounded);

  const Mesh* mesh_;
  const CostModel* cost_;
  int64_t steps_ = 0;
  absl::flat_hash_map<Key, std::unique_ptr<ReshardPlan>> memo_;
};

// Bytes one device sends for a move over groups of g on v local bytes (hlo/analysis/collective.h).
int64_t SentBytes(MoveKind kind, int64_t v, int64_t g);

// True if tiles of a dimension of n elements cut t ways are unions of g tiles of it cut t * g ways.
bool TilesNest(int64_t n, int64_t t, int64_t g);

}  // namespace toroid

#endif  // TOROID_PARTITIONER_RESHARD_PLAN_H_
