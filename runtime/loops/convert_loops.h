// Loops of convert: out[i] = x[i] as another element type (convert_value.h states the rules).
#pragma once

#include <cstdint>

#include "hlo/ir/types.h"
#include "runtime/loops/per_level.h"

namespace toroid {

// `out` may be `in` if both types have the same size.
using ConvertLoop = void (*)(const void* in, void* out, int64_t n);

// Null if one of the types is no array type.
TOROID_PER_LEVEL(FindConvertLoop, ConvertLoop(PrimitiveType from, PrimitiveType to));

// The numbers first, first + step, ... as n elements of a type.
using CountLoop = void (*)(int64_t first, int64_t step, int64_t n, void* out);
TOROID_PER_LEVEL(FindCountLoop, CountLoop(PrimitiveType type));

}  // namespace toroid
