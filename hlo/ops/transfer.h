// Transfers, asynchronous forms, dynamic shapes.
//
// infeed: Result: as given.
//   C1 the operand is a token.
//   C2 the result is (data, token).
// outfeed: operands data, token. Result: token.
//   C1 operand 1 is a token.
//   C2 outfeed_shape, if given, is the shape of the data.
//
// send: operands data, token. Result: (data, u32[], token).
//   C1 operand 1 is a token.
// recv: Result: as given.
//   C1 the operand is a token.
//   C2 the result is (data, u32[], token).
// send-done, recv-done: Results: token; (data, token).
//   C1 the operand is a state (data, u32[], token).
//
// copy-start: Result: (x, x, u32[]).
// copy-done: Result: element 0 of the state.
//   C1 the operand is a state (x, x, context).
//
// async-start: Result: as given.
//   C1 a computation is wrapped.
//   C2 it takes the operands.
//   C3 the result is ((operands), its result, ..).
// async-update, async-done: Results: the state; element 1 of it.
//   C1 operand 0 is a state ((operands), result, ..).
//   C2 the wrapped computation, if named, has that result.
//
// get-dimension-size: Result: s32[].
//   C1 one dimension, in range.
// set-dimension-size: Result: operand 0's shape, with the dimension dynamic or as given.
//   C1 one dimension, in range.
//   C2 operand 1 is s32[].
// dynamic-reshape: operands x and sizes. Result: as given.
//   C1 one s32[] size per result dimension.
//   C2 as many elements as the operand.
//   C3 the operand's type.
#pragma once

#include "absl/status/statusor.h"
#include "hlo/ir/module.h"

namespace toroid {

// Errors of all functions: kInvalidArgument, naming the violated constraint.
absl::StatusOr<Shape> InferInfeedShape(const Instruction& instruction);
absl::StatusOr<Shape> InferOutfeedShape(const Instruction& instruction);
absl::StatusOr<Shape> InferSendShape(const Instruction& instruction);
absl::StatusOr<Shape> InferSendDoneShape(const Instruction& instruction);
absl::StatusOr<Shape> InferRecvShape(const Instruction& instruction);
absl::StatusOr<Shape> InferRecvDoneShape(const Instruction& instruction);
absl::StatusOr<Shape> InferCopyStartShape(const Instruction& instruction);
absl::StatusOr<Shape> InferCopyDoneShape(const Instruction& instruction);
absl::StatusOr<Shape> InferAsyncStartShape(const Instruction& instruction);
absl::StatusOr<Shape> InferAsyncUpdateShape(const Instruction& instruction);
absl::StatusOr<Shape> InferAsyncDoneShape(const Instruction& instruction);
absl::StatusOr<Shape> InferGetDimensionSizeShape(const Instruction& instruction);
absl::StatusOr<Shape> InferSetDimensionSizeShape(const Instruction& instruction);
absl::StatusOr<Shape> InferDynamicReshapeShape(const Instruction& instruction);

}  // namespace toroid
