// Batch dimensions that hide in the indices of gathers and scatters.
//
//   x[arange(8), i] of x f32[8,100] is a gather with indices s32[8,2], whose component 0 counts along dimension 0: row b of
//   the result comes from row b of x, as with batching dimensions.
// Frontends put ops between the iota and its use, which are looked through where they leave its values as they are:
//   - copies, conversions, broadcasts, transposes, reshapes, whole slices, concatenations in any order;
//   - negative indices moved up, select(i < 0, i + n, i), in any spelling of the comparison, for all components at once too;
//   - clamp, maximum and minimum with bounds that hold anyway; remainders by at least n; i + 0 and i * 1.
#ifndef TOROID_PARTITIONER_OPS_COUNTED_DIM_H_
#define TOROID_PARTITIONER_OPS_COUNTED_DIM_H_

#include <cstdint>
#include <optional>

#include "hlo/ir/instruction.h"

namespace toroid {

// The dimension of `indices`, of `size` rows, along which component k of their vectors counts the rows: position i has the
// index i. The vectors lie along `vector_dim`; the rank of `indices` if they are scalars. nullopt if none is to be seen.
std::optional<int> CountedDim(const Instruction& indices, int vector_dim, int k, int64_t size);

}  // namespace toroid

#endif  // TOROID_PARTITIONER_OPS_COUNTED_DIM_H_
