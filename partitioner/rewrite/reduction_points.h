// Where partial sums are best reduced, for a whole program before any op of it is written.
//
// A value may be left partial where a linear op uses it, and be reduced behind that op: cheaper if the op's result
// is smaller (a slice, a sum), dearer if several users would each reduce a result of their own. From the outputs
// backwards every tensor gets the bytes that are sent where it is best reduced, itself or by way of its users, by
// all-reduces or, where the target is cut over the axes of the sum, by reduce-scatters.
// Example, over 8 devices, g a partial f32[1024,4096]:
//   step = 0.1 g; norm = sum(g g)      the product needs g itself: g is reduced, once, and step is not partial
//   row = g[0]                         only a row is needed: 16 kB are reduced behind the slice
//   y = g w, w cut over the 8          passed on, the sum would keep the 8 devices from sharing the product: g is reduced
//   y = g + d; z = tanh(d)             d is reduced for z, so g is reduced before it is added
// An op that is linear in either of two operands, such as a product, is linear in neither where both may be
// partial: one of them would have to be reduced for it, and the other comes from the same sum or is reduced too.
#ifndef TOROID_PARTITIONER_REWRITE_REDUCTION_POINTS_H_
#define TOROID_PARTITIONER_REWRITE_REDUCTION_POINTS_H_

#include <vector>

#include "hlo/ir/mesh.h"
#include "partitioner/propagation/flow_graph.h"

namespace toroid {

// By tensor: whether it is to be reduced before any user takes it. `targets`: the propagated shardings.
std::vector<bool> MustReduce(const FlowGraph& graph, const std::vector<Sharding>& targets, const Mesh& mesh);

}  // namespace toroid

#endif  // TOROID_PARTITIONER_REWRITE_REDUCTION_POINTS_H_
