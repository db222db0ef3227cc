// Where partial sums are best reduced, analysed for a whole program before any op is written.
//
// A linear op may take a value partial, so that the op's result is reduced instead. That is cheaper if the
// result is smaller (a slice, a sum), and dearer if several users would each reduce a result of their own.
// From the outputs backwards, the analysis computes for every tensor the least bytes that a device sends to
// reduce it, either at once or behind its users. Over axes that cut its target sharding, the reduction is a
// reduce-scatter, else an all-reduce.
//
// Example, over 8 devices, g a partial f32[1024,4096]:
//   step = 0.1 g; norm = sum(g g)  g g needs g reduced; g is reduced once, and step is not partial
//   row = g[0]                     16 kB are reduced behind the slice
//   y = dot(g, w), w cut over 8    if g stayed partial, the 8 devices could not share the dot: g is reduced
//   y = g + d; z = tanh(d)         d is reduced for z, so g is reduced before it is added
//
// A product is linear in each of its operands. If both may be partial it takes neither partial: one of them
// would have to be reduced for it, and the other is then the same sum or is reduced too.
#pragma once

#include <vector>

#include "partitioner/propagation/flow_graph.h"

namespace toroid {

// By tensor: true if it is to be reduced before any user takes it. `targets`: the propagated shardings, by
// tensor.
std::vector<bool> MustReduce(const FlowGraph& graph, const std::vector<Sharding>& targets, const Mesh& mesh);

}  // namespace toroid
