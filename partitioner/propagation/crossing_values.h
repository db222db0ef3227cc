// Values that enter or leave a manual region, array by array.
//
// The buffer is the same on both sides of the boundary. Outside, a dimension is cut over its manual axes first and then
// over axes that are free inside; inside, over the free ones alone.
// Example: x f32[64,1024] is cut [{m, a}, {b}] outside; inside, manual over m, it is f32[32,1024] cut [{a}, {b}].
#ifndef TOROID_PARTITIONER_PROPAGATION_CROSSING_VALUES_H_
#define TOROID_PARTITIONER_PROPAGATION_CROSSING_VALUES_H_

#include <vector>

#include "absl/container/inlined_vector.h"
#include "partitioner/propagation/annotations.h"
#include "partitioner/propagation/flow_graph.h"

namespace toroid {

struct CrossingValue {
  int global = 0;  // Tensors.
  int local = 0;
  AxisSet manual_axes = 0;
  absl::InlinedVector<AxisList, 4> manual;  // The manual axes that cut each dimension outside.

  // The first of the free axes over which the tiles of dimension `dim`, of `local_size` elements inside, are the same
  // on both sides: behind manual axes only even tiles are. Over two manual and four free devices 10 elements are 8
  // tiles of 2 outside, but 5 are four tiles of 2 inside.
  AxisList Matching(const Mesh& mesh, int dim, int64_t local_size, const AxisList& free) const;

  // How the buffer is cut, inside and outside, if the local value is wanted in `planned`, the global one being local
  // to the axes `manual_outside`.
  struct Sides {
    Sharding local, global;
  };
  Sides SidesOf(const FlowGraph& graph, const Mesh& mesh, const Sharding& planned,
                AxisSet manual_outside) const;
};

// In the order of instructions; none without boundaries.
std::vector<CrossingValue> CrossingValues(const FlowGraph& graph, const Annotations& annotations);

// The crossing values of one boundary, in the order of its values.
std::vector<CrossingValue> CrossingValues(const FlowGraph& graph, const Instruction& instruction,
                                          const ManualBoundary& boundary);

}  // namespace toroid

#endif  // TOROID_PARTITIONER_PROPAGATION_CROSSING_VALUES_H_
