// Combines rows of elements into places of an array.
#pragma once

#include <cstdint>

#include "hlo/ir/types.h"
#include "hlo/opcode.h"
#include "runtime/loops/per_level.h"

namespace toroid {

// For i < n in order, k < columns: out[places[i] + k] = op(out[places[i] + k], x[sources[i] + k]). Offsets in elements.
using ScatterLoop = void (*)(const void* x, const int64_t* sources, const int64_t* places, int64_t n,
                             int64_t columns, void* out);

// add, multiply, maximum, minimum, and kParameter: overwrite. Floats narrower than f32 are computed in float and rounded by
// each op. Null for other ops and types.
TOROID_PER_LEVEL(FindScatterLoop, ScatterLoop(Opcode opcode, PrimitiveType type));

}  // namespace toroid
