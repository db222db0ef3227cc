// A bitcast between any layouts, rewritten on row-major arrays.
//
// Before: b = f32[6,4]{1,0} bitcast(f32[4,6]{0,1} a)
// After:  t = f32[6,4] transpose(a), dimensions={1,0}     a in its order in memory
//         b = f32[6,4] reshape(t)                         a bitcast-convert if the element type changes
// and, where the result is not row-major either, a transpose from its order in memory back.
// A bitcast is the only op whose values depend on layouts; without bitcasts, passes may drop layouts.
// Reshapes and transposes are partitioned like any others. A bitcast that would read the padding of tiles has no value,
// which is an error where something needs it.
#pragma once

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "hlo/ir/module.h"

namespace toroid {

// Appends to `to` the value of `bitcast` over `operand`, which has the shape of the bitcast's operand, but perhaps a wider
// element type; a bitcast that keeps the type keeps that one, too.
// Errors: those of WithoutTiles (hlo/ir/untiled_shapes.h), for layouts with tiles.
absl::StatusOr<Instruction*> AppendRowMajorBitcast(const Instruction& bitcast, Instruction* operand,
                                                   Computation* to);

// The bitcasts of a module that a pass copies.
class RowMajorBitcasts {
 public:
  // As AppendRowMajorBitcast, but a bitcast without a value is copied as it is.
  Instruction* Append(const Instruction& bitcast, Instruction* operand, Computation* to);

  // To be called when `copy`, the module appended to, is complete. If it has bitcasts without a value, drops from it what
  // nothing needs, also from `given` if that is not null.
  // Errors: those of the first that the result or a side effect needs.
  absl::Status Finish(Module* copy);

 private:
  absl::flat_hash_map<const Instruction*, absl::Status> without_value_;
};

}  // namespace toroid
