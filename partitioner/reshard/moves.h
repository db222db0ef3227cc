// The moves that a resharding is made of: collectives and local slices.
#pragma once

#include <cstdint>
#include <vector>

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

// The bytes of the largest local array of a value of elements of `width` bytes.
int64_t BytesOfShard(const Mesh& mesh, absl::Span<const int64_t> dims, int64_t width,
                     const Sharding& sharding);

// The bytes that one device sends for a move of v local bytes over groups of g (hlo/analysis/collective.h).
int64_t SentBytes(MoveKind kind, int64_t v, int64_t g);

// True if each tile of n elements cut into t tiles is the union of g tiles of n elements cut into t * g
// tiles.
bool TilesNest(int64_t n, int64_t t, int64_t g);

// The cost of a move of v local bytes, by the cost model.
double TimeOf(const CostModel& cost, const Mesh& mesh, const Move& move, int64_t v);

}  // namespace toroid
