// Transfers, asynchronous forms, dynamic shapes.
//
// infeed   C1 a token operand, result (data, token). outfeed C1 (data, token) -> token.
// send     C1 (data, token) -> (data, u32[], token). send-done C1 that state -> token.
// recv     C1 token -> (data, u32[], token) as given. recv-done C1 that state -> (data, token).
// copy-start  result (x, x, u32[]). copy-done C1 such a state -> x.
// async-start  C1 the wrapped computation takes the operands. C2 as given: ((operands), result, ..).
// async-update, async-done  C1 the operand is such a state. Result: the state; element 1 of it.
// get-dimension-size  C1 dimension in range. Result: s32[].
// set-dimension-size  C1 dimension in range, operand 1 is s32[]. Result: operand 0, the dimension dynamic or
// as given. dynamic-reshape     C1 one s32[] per result dimension. C2 equal type and number of elements.
// Result: as given.
#ifndef TOROID_HLO_OPS_TRANSFER_H_
#define TOROID_HLO_OPS_TRANSFER_H_

#include "absl/status/statusor.h"
#include "hlo/ir/module.h"

namespace toroid {

// Errors of all: kInvalidArgument naming the violated constraint.
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

#endif  // TOROID_HLO_OPS_TRANSFER_H_
