// Copies between two arrays described by strides, for transpose, broadcast, slice, reverse, pad, concatenate,
// dynamic slices and gather windows.
#pragma once

#include <cstdint>

#include "runtime/loops/per_level.h"
#include "runtime/loops/strided_loop.h"

namespace toroid {

// Copies the elements of an optimized loop; ranges must not overlap.
TOROID_PER_LEVEL(StridedCopy, void(const StridedLoop& loop, const char* source, char* target));

// Copies, on several threads if that pays. Optimizes the loop itself.
TOROID_PER_LEVEL(ParallelStridedCopy, void(StridedLoop loop, const char* source, char* target));

// Writes n copies of one element of `width` bytes.
TOROID_PER_LEVEL(Fill, void(char* target, const char* element, int64_t width, int64_t n));

}  // namespace toroid
