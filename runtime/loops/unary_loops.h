// Loops of ops of one operand: out[i] = op(x[i]).
#pragma once

#include <cstdint>

#include "hlo/ir/types.h"
#include "hlo/opcode.h"
#include "runtime/loops/per_level.h"

namespace toroid {

// `out` may be `x` if both types have the same size.
using UnaryLoop = void (*)(const void* x, void* out, int64_t n);

// The loop of an op on elements of `type` (not a narrow float, see ComputeType); null if the op is not defined on it. The
// result type is `type`; pred for is-finite; the real type for abs, real and imag of complex numbers.
TOROID_PER_LEVEL(FindUnaryLoop, UnaryLoop(Opcode opcode, PrimitiveType type));

}  // namespace toroid
