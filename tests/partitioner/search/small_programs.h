// Random programs of a few products, sums and movements of matrices, and how far their partitioned forms are
// from optimal.
#pragma once

#include <cstdint>
#include <string>

#include "tests/partitioner/search/best_assignment.h"

namespace toroid {

struct SmallProgram {
  std::string text;
  AxisUnits units;
};

// At most 12 ops over at most 8 devices; equal programs for equal seeds.
SmallProgram MakeSmallProgram(uint64_t seed);

struct Optimality {
  double sent = 0;
  double fewest = 0;
  bool known = false;  // False if there were too many states to find the optimum.

  // Bytes sent divided by the fewest possible; 1 if nothing is sent.
  double Ratio() const { return sent == 0 ? 1 : sent / (fewest == 0 ? 1 : fewest); }
};

// Expects the results of one device, up to rounding of sums, with and without garbage in the padding.
void ExpectRunsEqual(const SmallProgram& program);

Optimality OptimalityOf(const SmallProgram& program, size_t max_states);

}  // namespace toroid
