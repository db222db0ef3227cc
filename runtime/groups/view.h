// A view: the elements of an array, in order, as elements of another array that is read at regular distances.
//
// Broadcasts, slices, reversals and transposes of an array that is in memory, and chains of them, are views of it: a group that
// reads them reads the array itself. An iota is a view of the numbers 0, 1, 2, ...; a reshape changes no view.
//
//   x = f32[4,6]; slice(x, rows 1 to 3) broadcast to f32[2,5,6]: dims {2: 6}, {5: 0}, {6: 1}, offset 6
#pragma once

#include <cstdint>
#include <optional>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "hlo/ir/instruction.h"

namespace toroid {

struct View {
  struct Dim {
    int64_t size;
    int64_t stride;  // Elements of the array that is read.
  };
  absl::InlinedVector<Dim, 4> dims;  // Outermost first.
  int64_t offset = 0;                // The first element that is read.

  // All n elements, in order.
  static View Whole(int64_t n) { return {{{n, 1}}, 0}; }

  int64_t elements() const;
  // Element i is element i of the array that is read.
  bool IsWhole() const { return offset == 0 && dims.size() == 1 && dims[0].stride == 1; }
  // All elements are the same one.
  bool IsOne() const;
  // Drops dimensions of size 1 and merges neighbours; at least one dimension stays.
  void Simplify();
};

// The view of the op's result through a view of its operand (for iota: of the numbers from 0). nullopt if the op is none of
// broadcast, reshape, slice, reverse, transpose and iota, if the operand's view cannot be cut by its dimensions, or for an
// empty array.
std::optional<View> ViewThrough(const Instruction& op, const View& operand);

// Reading the view block by block costs less than writing the array out and reading it again: neighbours are read in lines.
bool ReadsInLines(const View& view);

}  // namespace toroid
