// Index vectors that repeat where they stand.
//
// Before there were batching dimensions, a gather or scatter over a batch counted the batch itself: x[arange(8), i] of x
// [8,100] has indices [8,2] whose component 0 is an iota, put beside i by a concatenation. Frameworks place more between
// the iota and its use: broadcasts, reshapes, transposes, conversions, clamps that change nothing, and
// select(i < 0, i + n, i) for negative indices, before the concatenation or behind it.
#pragma once

#include <cstdint>
#include <optional>

#include "hlo/ir/instruction.h"

namespace toroid {

// The dimension of `indices`, of `size` rows and at least two, along which component k of their vectors is the position:
// the vector at position i has i there. `vector_dim` is the rank of `indices` where every index is a vector of one.
// nullopt if there is none to be seen: every value that is looked at must be exact, without overflow or rounding.
std::optional<int> PositionDim(const Instruction& indices, int vector_dim, int k, int64_t size);

}  // namespace toroid
