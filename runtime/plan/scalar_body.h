// Scalar computations, such as reducers, that amount to a single op.
#pragma once

#include <optional>

#include "hlo/ir/module.h"
#include "hlo/opcode.h"

namespace toroid {

// A body of one step: an associative and commutative binary op on its two parameters, or "the second
// parameter".
struct SimpleBody {
  Opcode opcode = Opcode::kParameter;  // kParameter: returns parameter 1, that is, overwrites.
};

// Looks through copies, Sharding custom-calls and calls. nullopt if the body does more, has other than two
// parameters, or types differ.
std::optional<SimpleBody> ClassifyBody(const Computation& computation);

}  // namespace toroid
