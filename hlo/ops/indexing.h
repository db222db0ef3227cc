// Ops that read and write at computed positions. Types are equal up to floats (see elementwise.h); scatter
// computes in the types of its computation.
//
// dynamic-slice, dynamic-update-slice: operands x, (update,) s_0 .. s_rank-1.
//   C1 the starts are integer scalars of one type, one per dimension; old form: one vector of them.
// dynamic-slice:
//   C2 one slice size per dimension, 0 <= size <= dimension.
// dynamic-update-slice:
//   C2 the update has x's type and rank.
//   C3 no size of the update exceeds that of x.
//
// gather, scatter: the names are gather's; scatter calls them inserted_window_dims,
// scatter_dims_to_operand_dims, input_batching_dims and scatter_indices_batching_dims.
//   C1 the indices are integers.
//   C2 0 <= index_vector_dim <= rank of the indices.
//   C3 start_index_map has one entry per component of an index vector.
//   C4 start_index_map is distinct and in range of the operand.
//   C5 collapsed_slice_dims are ascending and in range of the operand.
//   C6 operand_batching_dims are ascending and in range of the operand.
//   C7 start_indices_batching_dims are distinct, in range of the indices and without index_vector_dim.
//   C8 as many operand as indices batching dimensions, in pairs of equal size.
//   C9 operand_batching_dims share no dimension with collapsed_slice_dims or start_index_map.
//
// gather: operands x, indices. Result: offset_dims take slice_sizes without collapsed and operand
// batching dimensions, the others the batch shape (indices without index_vector_dim).
//   C10 one slice size per dimension, 0 <= size <= dimension.
//   C11 slice sizes of collapsed and batching dimensions are 1; 0 where the dimension is 0.
//   C12 offset_dims are ascending, one per slice dimension that is kept, inside the result's rank.
//
// scatter: operands n arrays, indices, n updates. Result: the arrays (a tuple if n > 1).
//   C10 as many updates as arrays, n > 0.
//   C11 update_window_dims are ascending and in range of the updates.
//   C12 one update window dimension per operand dimension that is neither inserted nor batching; the
//      rank of the updates is that number plus the rank of the batch shape.
//   C13 the updates' other sizes are the batch shape.
//   C14 no window size exceeds that of the operand.
//   C15 all arrays have the sizes of the first, all updates those of the first.
//   C16 update i has the type of array i.
//   C17 the computation reduces n accumulators with n values.
#pragma once

#include "absl/status/statusor.h"
#include "hlo/ir/module.h"

namespace toroid {

// Errors of all functions: kInvalidArgument, naming the violated constraint.
absl::StatusOr<Shape> InferDynamicSliceShape(const Instruction& instruction);
absl::StatusOr<Shape> InferDynamicUpdateSliceShape(const Instruction& instruction);
absl::StatusOr<Shape> InferGatherShape(const Instruction& instruction);
absl::StatusOr<Shape> InferScatterShape(const Instruction& instruction);

}  // namespace toroid
