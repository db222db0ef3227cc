// Ops that exchange data between devices.
//
// Device groups (all with replica_groups)
//   C1 ids are non-negative and distinct; iota and mesh forms are consistent; groups are equally large, but
//   for all-reduce. C2 use_global_device_ids needs a channel_id and groups.
// all-reduce(-start)     C3 the computation reduces two scalars, of every operand's type. Result: the
// operands' shapes. all-gather             C3 one dimension, in range of every operand. C4 the result's size
// there is the operand's
//                        times the group size (any multiple where the group size is not known). Result: as
//                        given.
// reduce-scatter         C3 as all-gather; C4 the operand's size is the result's times the group size; C5 the
//                        computation as for all-reduce. Result: as given.
// all-to-all             array form: C3 one operand, the dimension in range and divisible by the group size.
// Tuple
//                        form: C4 operands of one shape, one per member. Result: the operands' shapes.
// ragged-all-to-all      C3 input and output agree but for dimension 0. C4 the four index operands are
// integers of one
//                        shape, rank 1 or 2. Result: the output's shape.
// collective-broadcast   Result: the operands' shapes.
// collective-permute     C3 sources distinct, targets distinct, all non-negative. C4 sliced form: 4 operands,
// slice
//                        sizes rank many each, inside input and output. Result: the operands' shapes; sliced:
//                        output's.
// all-gather-start       C3 a pair (operand, result) or ((operands), (results)) that all-gather would give.
// collective-permute-start  C5 a tuple (operand, result, ...). -done ops: C1 the operand is the state.
#ifndef TOROID_HLO_OPS_COLLECTIVES_H_
#define TOROID_HLO_OPS_COLLECTIVES_H_

#include "absl/status/statusor.h"
#include "hlo/ir/module.h"

namespace toroid {

// Errors of all: kInvalidArgument naming the violated constraint.
absl::StatusOr<Shape> InferAllReduceShape(const Instruction& instruction);
absl::StatusOr<Shape> InferAllGatherShape(const Instruction& instruction);
absl::StatusOr<Shape> InferReduceScatterShape(const Instruction& instruction);
absl::StatusOr<Shape> InferAllToAllShape(const Instruction& instruction);
absl::StatusOr<Shape> InferRaggedAllToAllShape(const Instruction& instruction);
absl::StatusOr<Shape> InferCollectiveBroadcastShape(const Instruction& instruction);
absl::StatusOr<Shape> InferCollectivePermuteShape(const Instruction& instruction);
absl::StatusOr<Shape> InferAllReduceStartShape(const Instruction& instruction);
absl::StatusOr<Shape> InferAllReduceDoneShape(const Instruction& instruction);
absl::StatusOr<Shape> InferAllGatherStartShape(const Instruction& instruction);
absl::StatusOr<Shape> InferAllGatherDoneShape(const Instruction& instruction);
absl::StatusOr<Shape> InferCollectivePermuteStartShape(const Instruction& instruction);
absl::StatusOr<Shape> InferCollectivePermuteDoneShape(const Instruction& instruction);

}  // namespace toroid

#endif  // TOROID_HLO_OPS_COLLECTIVES_H_
