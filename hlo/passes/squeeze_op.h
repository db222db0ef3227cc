// How an op is written without dimensions of one element.
//
// Example: the broadcast of x f32[4,1] to f32[1,4,512,1], dimensions={1,3}, is that of f32[4] to f32[4,512], dimensions={0}.
#ifndef TOROID_HLO_PASSES_SQUEEZE_OP_H_
#define TOROID_HLO_PASSES_SQUEEZE_OP_H_

#include <optional>

#include "hlo/ir/instruction.h"
#include "hlo/passes/squeeze_dims.h"

namespace toroid {

// Null if the op has no such dimensions, or keeps those it has. What it names by number it may keep: the dimension of a
// concatenate, or of a gather over devices. Ops that no case knows keep all of them, and so do ops with layouts of their own or
// dimensions sized at run time.
std::optional<SqueezedOp> Squeeze(const Instruction& op);

// Writes the numbers of the dimensions that are left, and what stands once per dimension, into the op's attributes.
void SqueezeAttributes(const SqueezedOp& squeezed, Instruction* op);

}  // namespace toroid

#endif  // TOROID_HLO_PASSES_SQUEEZE_OP_H_
