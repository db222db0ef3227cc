// How an op is written without unit dimensions.
//
// Example: the broadcast of x f32[4,1] to f32[1,4,512,1], dimensions={1,3}, is that of f32[4] to f32[4,512],
// dimensions={0}.
#pragma once

#include <optional>

#include "hlo/ir/instruction.h"
#include "hlo/passes/squeeze_dims.h"

namespace toroid {

// nullopt if the op has no unit dimensions, or keeps all of them. A concatenate, all-gather or reduce-scatter
// keeps the dimension that it works along. Unknown ops, ops with a layout of their own and ops with dynamic
// dimensions keep all unit dimensions.
std::optional<SqueezedOp> Squeeze(const Instruction& op);

// Changes the op's attributes: renumbers dimensions, and drops the entries of squeezed ones from lists with
// one entry for each dimension.
void SqueezeAttributes(const SqueezedOp& squeezed, Instruction* op);

}  // namespace toroid
