// Indices as 64-bit integers.
#pragma once

#include <cstdint>

#include "hlo/ir/types.h"

namespace toroid {

// The i-th of the integers at `data`; unsigned values beyond int64 become the largest int64.
int64_t IndexValue(PrimitiveType type, const char* data, int64_t i);

// The first n of these integers.
void ReadIndexValues(PrimitiveType type, const char* data, int64_t n, int64_t* values);

}  // namespace toroid
