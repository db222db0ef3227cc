// Lists the moves that a search for a resharding tries from one sharding (plan_search.h).
#pragma once

#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "partitioner/reshard/axis_runs.h"
#include "partitioner/reshard/moves.h"

namespace toroid {

class NextMoves {
 public:
  // `v`: the bytes of the local array that the move sends or cuts, with the padding that it needs.
  using Visit = absl::FunctionRef<void(int64_t v, Move move)>;

  // For an array of global dimensions `dims` and elements of `width` bytes, on its way from one sharding to another. All
  // arguments must outlive the object.
  NextMoves(const Mesh& mesh, const CostModel& cost, absl::Span<const int64_t> dims, int64_t width,
            const Sharding& from, const Sharding& to);

  // Calls `visit` with each move from `state` that may lead to the target.
  void ForEach(const Sharding& state, Visit visit) const;

 private:
  class OfState;

  const Mesh& mesh_;
  const CostModel& cost_;
  const absl::Span<const int64_t> dims_;
  const int64_t width_;
  const Sharding& to_;
  const AxisRuns runs_;
  std::vector<std::vector<AxisList>> to_runs_;  // The target's axes, by dimension.
};

}  // namespace toroid
