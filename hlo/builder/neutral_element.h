// Neutral elements of reducing ops.
#pragma once

#include <optional>

#include "hlo/ir/literal.h"
#include "hlo/opcode.h"

namespace toroid {

// A scalar e with op(e, x) = x for all x: add, or, xor 0; multiply 1; and all ones; maximum the lowest value
// (-inf if the type has it), minimum the largest. nullopt for other ops, and for types on which the op is not
// defined.
std::optional<Literal> NeutralElement(Opcode opcode, PrimitiveType type);

}  // namespace toroid
