// What it costs to bring a value from one sharding to another, unit by unit of the mesh.
//
// A search asks for all pairs of shardings of all tensors. The planner (../reshard/plan.h) finds the cheapest sequence of
// collectives among all that split axes; here each unit (AxisUnits) moves as a whole, by the one collective that its change
// needs, and the order is the one in which collectives are small: partial sums that become parts, slices, sums, moves between
// dimensions, and at last gathers.
// Example: f32[64,64] partial over y, cut by x in dimension 0, to one cut by y in dimension 1: a reduce-scatter over y, then an
// all-gather over x.
#pragma once

#include <cstdint>
#include <tuple>

#include "absl/container/flat_hash_map.h"
#include "partitioner/plan/plan_memo.h"

namespace toroid {

class MovePrices {
 public:
  struct Price {
    double time = 0;  // By the cost model, in its unit; infinite if the move is impossible.
    double collectives = 0;
  };

  // All must outlive this object. Every sharding cuts dimensions by whole units.
  MovePrices(const AxisUnits& units, PlanMemo* memo) : units_(units), memo_(*memo) {}

  // `from`, `to`: numbers of shardings (PlanMemo::versions).
  Price Of(int tensor, int from, int to);

 private:
  Price Find(int tensor, const Sharding& from, const Sharding& to) const;

  const AxisUnits& units_;
  PlanMemo& memo_;
  absl::flat_hash_map<std::tuple<int64_t, Dims, int, int>, Price>
      known_;  // By width, dimensions and shardings.
};

}  // namespace toroid
