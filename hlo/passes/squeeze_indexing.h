// gather and scatter without dimensions of one element (squeeze_op.h).
//
// Three arrays: x, which is read or written; the indices; the windows, a gather's result or a scatter's updates. A dimension of x
// may go if no index counts along it: a batching dimension, with its partner in the indices and that batch dimension of the
// windows; one of the window, with the window's; one that windows lack. Other dimensions of the indices stay: Google's compiler
// for TPU v3 writes elements of rows one by one, each in a step, unless a dimension says how many there are in a row.
// Example: one of 32,000 for each token, x f32[1,4,512,32000], indices s32[1,4,512,1,1], windows f32[1,4,512,1]: x f32[4,512,32000],
// indices s32[4,512,1,1], windows f32[4,512,1].
#ifndef TOROID_HLO_PASSES_SQUEEZE_INDEXING_H_
#define TOROID_HLO_PASSES_SQUEEZE_INDEXING_H_

#include <optional>

#include "hlo/passes/squeeze_dims.h"

namespace toroid {

// Null for a scatter into several arrays. Requires: arrays of the op have plain layouts.
std::optional<SqueezedOp> SqueezeIndexing(const Instruction& op);

void SqueezeIndexingAttributes(const SqueezedOp& squeezed, Instruction* op);

}  // namespace toroid

#endif  // TOROID_HLO_PASSES_SQUEEZE_INDEXING_H_
