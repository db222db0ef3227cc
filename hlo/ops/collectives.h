// Ops that exchange data between devices.
//
// all-reduce, all-gather, reduce-scatter, all-to-all, ragged-all-to-all, collective-broadcast,
// all-reduce-start, all-gather-start: the groups of devices.
//   C1 ids are 0 or more, each in one group; no group is empty.
//   C2 the sizes of iota and mesh forms agree with each other.
//   C3 the groups have equal sizes, except for all-reduce and collective-broadcast.
//   C4 use_global_device_ids comes with a channel_id and groups.
//   C5 in a module of several replicas or partitions the groups hold every participant and no other
//      number (collective-broadcast: no other number).
//
// all-reduce, all-reduce-start: Result: the operands' shapes.
//   C6 the computation reduces two scalars, of every operand's type up to floats; a single addition,
//      multiplication, maximum or minimum may be of any type, since it is done in the operand's.
//
// all-gather, all-gather-start: Result: as given; the start gives the state of C8.
//   C6 one dimension, in range of every operand.
//   C7 one result per operand, of its sizes except there: the operand's size times the group size (any
//      multiple if the group size is unknown).
// all-gather-start:
//   C8 the state is (operand, result), or ((operands), (results)) for several operands.
//
// reduce-scatter: Result: as given.
//   C6 one dimension, in range of every operand.
//   C7 one result per operand, of its sizes except there: the operand's size is the result's times the
//      group size.
//   C8 the computation is as in C6 of all-reduce.
//
// all-to-all: Result: the operand's shape; for the tuple form a tuple of the operands' shapes.
//   C6 array form: one operand, one dimension in its range.
//   C7 array form: the size there is divisible by the group size.
//   C8 tuple form: the operands have one shape.
//   C9 tuple form: one operand per member of a group.
//
// ragged-all-to-all: Result: the output's shape.
//   C6 input and output have one type and equal sizes except for the leading dimension.
//   C7 offsets and sizes are integers of one shape, [members] or [members, updates].
//   C8 their leading size is the group size.
//
// collective-permute, collective-permute-start: Result: the operands' shapes; for the sliced form the
// output's; for the start (operand, result, ..).
//   C1 ids are 0 or more.
//   C2 no source occurs twice.
//   C3 no target occurs twice.
//   C4 in a module of several replicas or partitions all ids are participants'.
//   C5 sliced form: four operands input, output, starts in input, starts in output; per block one
//      start and one size per dimension, the sizes inside input and output; tuples of buffers alike.
// collective-permute-start:
//   C6 the state is (operand, result, ..).
//
// all-gather-done, collective-permute-done: Result: element 1 of the state.
//   C1 the operand is a state (operand, result, ..).
// all-reduce-done: Result: the operand's shape.
//   C1 the operand is an array or a tuple of arrays.
#pragma once

#include "absl/status/statusor.h"
#include "hlo/ir/module.h"

namespace toroid {

// Errors of all functions: kInvalidArgument, naming the violated constraint.
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
