// Constants that loops hand on to their bodies.
#pragma once

#include <optional>

#include "hlo/ir/instruction.h"
#include "hlo/ir/literal.h"

namespace toroid {

// The constant that `value` is, or is cut from, wherever a loop around it got it from: an element of a body's argument that
// the body returns as it is stands for the same element of what the loop begins with. Nullopt if it is no constant.
std::optional<Literal> LoopConstant(const Instruction& value);

}  // namespace toroid
