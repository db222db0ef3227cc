// Random words as functions of a key and a counter, many at a time.
//
// Source: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
#pragma once

#include <array>
#include <cstdint>

#include "runtime/loops/per_level.h"

namespace toroid {

TOROID_PER_LEVEL(Threefry2x32,
                 std::array<uint32_t, 2>(std::array<uint32_t, 2> key, std::array<uint32_t, 2> input));
TOROID_PER_LEVEL(Philox4x32,
                 std::array<uint32_t, 4>(std::array<uint32_t, 2> key, std::array<uint32_t, 4> counter));

// (first[i], second[i]) = Threefry2x32 of the words of counter + i, the low one first, i < n. Threefish's 20 rounds.
TOROID_PER_LEVEL(ThreefryBlocks, void(std::array<uint32_t, 2> key, uint64_t counter, int64_t n,
                                      uint32_t* first, uint32_t* second));

// words[4 i .. 4 i + 3] = Philox4x32 of the words of the 128-bit number (high, low) plus i, from the least significant, i < n.
TOROID_PER_LEVEL(PhiloxBlocks,
                 void(std::array<uint32_t, 2> key, uint64_t low, uint64_t high, int64_t n, uint32_t* words));

// The words of (index, draw) instead: the low words of the counter are i, the high ones `draw`, for first <= i < first + n.
TOROID_PER_LEVEL(PhiloxOfIndices, void(std::array<uint32_t, 2> key, uint64_t first, uint64_t draw, int64_t n,
                                       uint32_t* words));

}  // namespace toroid
