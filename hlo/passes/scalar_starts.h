// Replaces a vector of starts of a dynamic-slice or dynamic-update-slice by one scalar for each dimension.
//
// Before: y = f32[1,6] dynamic-slice(x, v)       v s32[2], the old form
// After:  a = s32[1] slice(v), slice={[0:1]}
//         i = s32[] reshape(a)                   and likewise for dimension 1
//         y = f32[1,6] dynamic-slice(x, i, j)
#pragma once

#include <vector>

#include "absl/status/status.h"
#include "hlo/ir/module.h"

namespace toroid {

// True for the old form: one vector holds the starts.
bool HasVectorOfStarts(const Instruction& instruction);

// Appends the starts of `instruction`, which has the old form, to `to`, and replaces the vector, the last of
// `operands`, by them.
// Errors: kInvalidArgument "computation/instruction: ..." if the vector's size is known only at run time.
absl::Status AppendScalarStarts(const Instruction& instruction, Computation* to,
                                std::vector<Instruction*>* operands);

}  // namespace toroid
