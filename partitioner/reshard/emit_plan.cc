#include "partitioner/reshard/emit_plan.h"

#include <vector>

#include "partitioner/reshard/halo_exchange.h"
#include "partitioner/spmd/permute_tiles.h"

namespace toroid {

Instruction* Reshard(SpmdBuilder& b, Instruction* x, absl::Span<const int64_t> dims, const Sharding& from,
                     const ReshardPlan& plan) {
  Sharding state = from;
  for (const Move& move : plan.moves) {
    const int64_t g = b.mesh().Product(move.axes);
    const Dims local = b.mesh().ShardDims(dims, move.result);
    switch (move.kind) {
      case MoveKind::kAllReduce:
        x = b.AllReduce(x, move.axes, state.reducer);
        break;
      case MoveKind::kAllGather:
        x = b.AllGather(x, move.axes, move.from_dim);
        x = b.SliceAlong(x, move.from_dim, 0, local[move.from_dim]);
        break;
      case MoveKind::kSlice:
        x = b.CutTile(x, move.to_dim, move.axes, local[move.to_dim]);
        break;
      case MoveKind::kReduceScatter: {
        const int d = move.to_dim;
        x = b.PadAlong(x, d, 0, g * local[d] - x->shape().dim(d));
        x = b.ReduceScatter(x, move.axes, d, state.reducer);
        break;
      }
      case MoveKind::kAllToAll: {
        // [.., D, .., E, ..] -> [.., D, .., g, E/g, ..]; all-to-all over g; g becomes the major part of D.
        const int d = move.from_dim, e = move.to_dim;
        x = b.PadAlong(x, e, 0, g * local[e] - x->shape().dim(e));
        Dims split(x->shape().dims().begin(), x->shape().dims().end());
        split[e] /= g;
        split.insert(split.begin() + e, g);
        x = b.AllToAll(b.Reshape(x, split), move.axes, e);
        std::vector<int64_t> permutation;
        for (int i = 0; i < static_cast<int>(split.size()); ++i) {
          const int data = i < e ? i : i - 1;  // The dimension of the array that split[i] belongs to.
          if (i == e) continue;
          if (data == d) permutation.push_back(e);
          permutation.push_back(i);
        }
        x = b.Transpose(x, permutation);
        Dims merged(local.begin(), local.end());
        merged[d] = split[d < e ? d : d + 1] * g;
        x = b.SliceAlong(b.Reshape(x, merged), d, 0, local[d]);
        break;
      }
      case MoveKind::kRealign: {
        const AxisList& before = state.dims[move.from_dim];
        const AxisList& after = move.result.dims[move.from_dim];
        const int64_t n = dims[move.from_dim];
        x = FetchWindow(b, x, move.from_dim, n, before, after, RealignWindows(n, b.mesh().Product(after)));
        break;
      }
      case MoveKind::kPermute:
        x = PermuteTiles(b, x, state, move.result);
        break;
    }
    state = move.result;
  }
  return x;
}

}  // namespace toroid
