// Sharding propagation: spreads the annotations of some tensors to a sharding for every tensor.
//
// 1. In every op, each factor takes the longest list of axes on which the tensors that have the factor agree.
//    Those tensors' dimensions are cut over these axes, unless another factor of the op wants the axis,
//    another dimension of the tensor uses it, or the dimension is closed. This runs to a fixed point: first
//    through elementwise ops and ops that move data, then through all ops but broadcasts from operand to
//    result, then through all. Contractions of which only smaller tensors are cut wait for the larger ones.
// 2. Ops whose tensors disagree are decided by cost (ChooseAssignment), the op with the most bytes first. The
//    shardings that result spread as in 1. A tensor's sharding only ever grows, so this ends.
// A dimension whose annotation has a later priority is cut after the earlier ones have settled. At the
// boundary of a manual region, axes that are free inside flow from either side to the other.
//
// Example: x[G,S] * m[G,E] -> y[E,S] with x [{e}, {}] and y [{e}, {}]. Factors G and E both want axis e, so
// the op's cheapest assignment decides how m is cut, if no other op cuts it.
// Sources: GSPMD, arXiv:2105.04663, section 3.5, for priorities; Shardy's factor propagation.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "partitioner/propagation/annotations.h"

namespace toroid {

// Whether two dimensions of the tensors of one op have a factor in common.
inline bool SharesFactor(const DimFactors& a, const DimFactors& b) {
  const auto is_of_b = [&](uint8_t factor) {
    return std::find(b.factor, b.factor + b.size, factor) != b.factor + b.size;
  };
  return std::any_of(a.factor, a.factor + a.size, is_of_b);
}

// How a tensor came to be cut over an axis that no annotation of its own states.
struct Growth {
  int from =
      -1;  // The tensor that handed the axis on; -1: the cheapest assignment of the op, whose tensors disagree.
  int from_dim = 0;
  const Instruction* through =
      nullptr;  // The op of both tensors; null: they are one value at two places of control flow.
};
// By tensor and axis.
using GrowthLog = absl::flat_hash_map<std::pair<int, int>, Growth>;

// Returns the sharding of every tensor, without partial axes. `even`: by tensor, whether it may be cut only into equal parts;
// empty: no tensor is so restricted. `log`, if not null, gets every growth.
std::vector<Sharding> PropagateShardings(const FlowGraph& graph, const Annotations& annotations,
                                         const std::vector<bool>& even, const Pricing& pricing,
                                         GrowthLog* log = nullptr);

}  // namespace toroid
