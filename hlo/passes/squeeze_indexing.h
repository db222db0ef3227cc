// gather and scatter without unit dimensions (squeeze_op.h).
//
// The ops have three arrays: x, which is read or written; the indices; and the windows, which are a gather's
// result or a scatter's updates. A unit dimension of x may go if no index counts along it. A batching
// dimension goes together with its partner in the indices and with that batch dimension of the windows, a
// window dimension together with that of the windows; a collapsed dimension goes alone. Other dimensions of
// the indices stay, because Google's compiler for TPU v3 writes the elements of a row one by one, a step
// each, unless a dimension states the length of the row.
// Example: one logit of 32,000 for each token, x f32[1,4,512,32000], indices s32[1,4,512,1,1], windows
// f32[1,4,512,1]: x f32[4,512,32000], indices s32[4,512,1,1], windows f32[4,512,1].
#pragma once

#include <optional>

#include "hlo/passes/squeeze_dims.h"

namespace toroid {

// nullopt for a scatter into several arrays. Requires: the op's arrays have plain layouts.
std::optional<SqueezedOp> SqueezeIndexing(const Instruction& op);

void SqueezeIndexingAttributes(const SqueezedOp& squeezed, Instruction* op);

}  // namespace toroid
