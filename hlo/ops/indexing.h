// Ops that read and write at computed positions.
//
// dynamic-slice         operands x, s_0 .. s_rank-1 (old form: one vector of starts). C1 starts are integer
// scalars
//                       of one type, one per dimension. C2 one size per dimension, 0 <= size <= dimension.
// dynamic-update-slice  operands x, update, starts. C1 as above. C2 the update has x's type and rank and
// fits. gather                operands x, indices. Result: offset_dims take slice_sizes without collapsed and
// operand
//                       batching dimensions, the others the batch shape (indices without index_vector_dim).
//   C1 indices are integers, 0 <= index_vector_dim <= rank. C2 one start_index_map entry per index component,
//   distinct, in range. C3 one slice size per dimension, 0 <= size <= dimension; at most 1 at collapsed and
//   batching dimensions. C4 collapsed and batching dimensions ascending resp. distinct, disjoint from each
//   other and batching ones from start_index_map; batching dimensions pair up in equal sizes. C5 offset_dims
//   ascending, one per kept slice dimension, inside the result's rank.
// scatter               operands n arrays, indices, n updates. Result: the arrays (a tuple if n > 1).
//   C1 .. C4 as gather, with scatter_dims_to_operand_dims, inserted_window_dims and input_batching_dims. C5
//   update_window_dims ascending, inside the updates' rank; the updates' other sizes are the batch shape. C6
//   window sizes fit the operand. C7 arrays of equal sizes; update i has the type of array i. C8 the
//   computation reduces n accumulators with n values.
#ifndef TOROID_HLO_OPS_INDEXING_H_
#define TOROID_HLO_OPS_INDEXING_H_

#include "absl/status/statusor.h"
#include "hlo/ir/module.h"

namespace toroid {

// Errors of all: kInvalidArgument naming the violated constraint.
absl::StatusOr<Shape> InferDynamicSliceShape(const Instruction& instruction);
absl::StatusOr<Shape> InferDynamicUpdateSliceShape(const Instruction& instruction);
absl::StatusOr<Shape> InferGatherShape(const Instruction& instruction);
absl::StatusOr<Shape> InferScatterShape(const Instruction& instruction);

}  // namespace toroid

#endif  // TOROID_HLO_OPS_INDEXING_H_
