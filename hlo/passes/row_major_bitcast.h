// A bitcast between any layouts, said in arrays of row-major order.
//
// Before: b = f32[6,4]{1,0} bitcast(f32[4,6]{0,1} a)
// After:  t = f32[6,4] transpose(a), dimensions={1,0}     a in the order it lies in memory
//         b = f32[6,4] reshape(t)                         a bitcast still, if the element type changes
// and, where the result is not row-major either, a transpose from its order in memory back.
// A bitcast is the one op whose values hang on layouts: afterwards passes may drop them. Reshapes and transposes
// split over devices as any others do.
#ifndef TOROID_HLO_PASSES_ROW_MAJOR_BITCAST_H_
#define TOROID_HLO_PASSES_ROW_MAJOR_BITCAST_H_

#include "absl/status/statusor.h"
#include "hlo/ir/module.h"

namespace toroid {

// What a bitcast needs of both its shapes.
// Errors: kUnimplemented for tiled layouts, whose padding has no defined content.
absl::Status CheckUntiled(const Shape& shape);

// Appends what `bitcast` gives for `operand`, which has the shape of its operand, to `to`.
// Errors: those of CheckUntiled.
absl::StatusOr<Instruction*> AppendRowMajorBitcast(const Instruction& bitcast, Instruction* operand,
                                                   Computation* to);

}  // namespace toroid

#endif  // TOROID_HLO_PASSES_ROW_MAJOR_BITCAST_H_
