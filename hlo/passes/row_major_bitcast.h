// A bitcast between any layouts, rewritten on row-major arrays.
//
// Before: b = f32[6,4]{1,0} bitcast(f32[4,6]{0,1} a)
// After:  t = f32[6,4] transpose(a), dimensions={1,0}     a in its order in memory
//         b = f32[6,4] reshape(t)                         a bitcast-convert if the element type changes
// and, where the result is not row-major either, a transpose from its order in memory back.
// A bitcast is the only op whose values depend on layouts; without bitcasts, passes may drop layouts.
// Reshapes and transposes are partitioned like any others.
#ifndef TOROID_HLO_PASSES_ROW_MAJOR_BITCAST_H_
#define TOROID_HLO_PASSES_ROW_MAJOR_BITCAST_H_

#include "absl/status/statusor.h"
#include "hlo/ir/module.h"

namespace toroid {

// Appends to `to` the value of `bitcast` over `operand`, which has the shape of the bitcast's operand, but perhaps a wider
// element type; a bitcast that keeps the type keeps that one, too.
// Errors: those of WithoutTiles (hlo/ir/untiled_shapes.h), for layouts with tiles.
absl::StatusOr<Instruction*> AppendRowMajorBitcast(const Instruction& bitcast, Instruction* operand,
                                                   Computation* to);

}  // namespace toroid

#endif  // TOROID_HLO_PASSES_ROW_MAJOR_BITCAST_H_
