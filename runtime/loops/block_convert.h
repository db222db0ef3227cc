// Narrow floats are computed in float, one block at a time, and rounded once per op.
#pragma once

#include <cstdint>

#include "hlo/ir/types.h"
#include "runtime/loops/per_level.h"

namespace toroid {

// Elements that a kernel converts at a time, on the stack.
inline constexpr int64_t kConvertBlock = 1024;

// Whether the type is a real floating-point type of at most 16 bits.
inline bool IsNarrowFloat(PrimitiveType type) { return IsFloat(type) && BitWidth(type) <= 16; }

// F32 for narrow floats, the type itself otherwise.
inline PrimitiveType ComputeType(PrimitiveType type) { return IsNarrowFloat(type) ? xla::F32 : type; }

// Conversions of n elements between a narrow float type and float.
TOROID_PER_LEVEL(NarrowToFloat, void(PrimitiveType type, const void* in, float* out, int64_t n));
TOROID_PER_LEVEL(FloatToNarrow, void(PrimitiveType type, const float* in, void* out, int64_t n));
// Rounds n floats to what the narrow type can state; `out` may be `in`.
TOROID_PER_LEVEL(RoundToNarrow, void(PrimitiveType type, const float* in, float* out, int64_t n));

}  // namespace toroid
