// Gives every array of a computation its order of dimensions, op by op. layout_pass.h says by which rules.
// BUILD: srcs += "layout_of_moves.cc", "layout_of_reshapes.cc", "layout_of_windows.cc"
#pragma once

#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "hlo/ir/module.h"
#include "simulator/compiler/layout/layout_copies.h"

namespace toroid {

class LayoutAssigner : public LayoutCopies {
 public:
  using LayoutCopies::LayoutCopies;

  absl::Status Run();

 private:
  // A slice of one lane that a concatenation or pad reads. Not one of a matrix that is a concatenation itself: its edges are
  // mostly computed again where they are read.
  bool CutsOneLane(const Instruction& op) const;
  // Some arrays are cut into slices of one element along a dimension, which are worked on together. For such a slice: the order
  // of the array with that dimension outermost, so that slices are layers of it. Empty for others.
  Dims OrderOfLayers(const Instruction& slice);
  bool IsWorkedOnInLayers(const Instruction& array, int64_t d) const;
  void Assign(Instruction* op);
  // One for each family of ops: sets the order of the result, and copies operands that must lie otherwise.
  void AssignElementwise(Instruction* op);
  void AssignProduct(Instruction* op);
  void AssignTranspose(Instruction* op);
  void AssignReduce(Instruction* op);
  void AssignPart(Instruction* op);
  void AssignWindows(Instruction* op);
  // The order of a cumulative sum whose operand lies in `order`; `is_minor` says whether the summed dimension was along lanes.
  Dims OrderOfFold(const Instruction& op, Dims order, bool* is_minor) const;
  void AssignConcatenation(Instruction* op);
  void AssignExchange(Instruction* op);
  // Nothing but the program's result reads it.
  bool IsOnlyReturned(const Instruction& value) const;
  // A transposed argument, whose order is not the one with the least padding.
  bool IsTurnedArgument(const Instruction& value) const;
  // The dot's rows are single steps of several sequences (a dimension of one element), and a reshape cuts its columns.
  bool CutsColumnsOfSteps(const Instruction& dot) const;
  // The value is a product, or made elementwise from one with as many elements.
  bool IsOfProduct(const Instruction& value) const;
  // Follows what elementwise ops make of the value to one whose other operand is a product, or made from one: that operand.
  // Null if there is none.
  const Instruction* ProductMetBy(const Instruction& value) const;
  void AssignReshape(Instruction* op);
  // Sets the order of a reshape of a broadcast that repeats elements: as they lie before, as images for a convolution, or in
  // which the reshape moves nothing. False if none of these fits.
  bool AssignRepeated(Instruction* op);
  // Sets the order of a reshape that cuts or joins dimensions, if there is one in which it moves less than in its operand's.
  // False if not.
  bool AssignCut(Instruction* op);
  // What OrderOfLayers found, by array and dimension.
  absl::flat_hash_map<std::pair<const Instruction*, int64_t>, Dims> layers_;
  // Arguments of which an elementwise op needed a copy: how that lies.
  absl::flat_hash_map<const Instruction*, Dims> turned_;
};

}  // namespace toroid
