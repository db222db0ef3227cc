// Recognizes reducers.
#pragma once

#include <optional>

#include "hlo/ir/module.h"

namespace toroid {

// The op of a computation (a, b) -> op(a, b), or of op(b, a); nullopt for any other.
std::optional<Opcode> OneOpReducer(const Computation& computation);

}  // namespace toroid
