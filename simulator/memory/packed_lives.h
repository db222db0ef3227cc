// Places in one memory for arrays whose lives are all known: what the memory must hold.
//
// Largest array first, of equal ones the one that lives longest: each goes into the smallest gap that holds it between those
// already placed that live at the same time, or beyond all of them.
// Of many arrays only the kMostPlaced largest are placed; for the others as much is added as is alive of them at a time.
// Example: 4 MiB alive in steps 0 to 1, 4 MiB in 1 to 2, 32 MiB in 2 to 3: 36 MiB, for the largest lies where the first one
// was.
// Source: XLA's GlobalDecreasingSizeBestFitHeap.
#pragma once

#include <cstdint>
#include <vector>

namespace toroid {

struct ArrayLife {
  int begin = 0, end = 0;  // Steps, both included.
  int64_t bytes = 0;
};

inline constexpr int kMostPlaced = 4096;

// The highest end of a place, in bytes; saturates. Time: O(n log n) for n arrays, and O(k log k) for each that is placed, k of
// these being alive at a time.
int64_t PackedBytes(std::vector<ArrayLife> lives);

}  // namespace toroid
