// Sorting by a comparator that has to be run: a computation on two elements of each operand.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "runtime/plan/op_call.h"

namespace toroid {

// All operands of a sort as lines: [lines][length], and the order of the elements in the result.
struct SortLines {
  int64_t lines = 0, length = 0;
  std::vector<MeshBuffer> arrays;
  std::vector<int64_t> widths;
  // Offsets into the arrays, line after line; place i gets the element at order[i].
  std::vector<int64_t> order;

  int64_t size() const { return lines * length; }
};

// Bytes that sorting n elements takes, the order included; `width`: bytes of an element of all operands that the comparator
// looks at.
int64_t ComparatorSortBytes(int64_t n, int64_t width);

// Sorts each line, stably. `order` holds 0, 1, ..; the comparator is call.called(0). It is run on thousands of pairs at a time,
// about 1.2 n log2 n in all: the elements of all pieces of all lines are compared with the pivots of their pieces at once.
// Whatever the comparator answers, each element comes out once; if the pieces do not get smaller, runs are merged instead.
// Errors: those of the comparator, kResourceExhausted.
absl::Status SortByComparator(OpCall& call, SortLines& lines);

}  // namespace toroid
