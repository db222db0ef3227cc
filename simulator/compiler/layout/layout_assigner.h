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
  // One lane of an array, to be put beside others: it stays where it is. Edges of a matrix that is put together itself are mostly made
  // where they are read.
  bool CutsOneLane(const Instruction& op) const;
  // Of a slice of one element along a dimension, of several such of an array that are worked on together: an order of the array with
  // that dimension outermost, so that they are layers of it. Empty for others.
  Dims OrderOfLayers(const Instruction& slice);
  bool IsWorkedOnInLayers(const Instruction& array, int64_t d) const;
  void Assign(Instruction* op);
  // For each family of ops: the order of the result, and of the operands that it needs so.
  void AssignElementwise(Instruction* op);
  void AssignProduct(Instruction* op);
  void AssignTranspose(Instruction* op);
  void AssignReduce(Instruction* op);
  void AssignPart(Instruction* op);
  void AssignWindows(Instruction* op);
  // The order of a cumulative sum whose operand lies in `order`, folded along some dimension; whether that was along lanes.
  Dims OrderOfFold(const Instruction& op, Dims order, bool* is_minor) const;
  void AssignConcatenation(Instruction* op);
  void AssignExchange(Instruction* op);
  // A result of the program, which nothing else reads.
  bool IsOnlyReturned(const Instruction& value) const;
  // An argument under a name with which it does not lie as values of those sizes do.
  bool IsTurnedArgument(const Instruction& value) const;
  // Its rows are single steps of several sequences, and what it makes of them is cut along columns: those become a dimension of the
  // product, along which its weights are copied.
  bool CutsColumnsOfSteps(const Instruction& dot) const;
  // A product of matrices, or made elementwise from one of those sizes.
  bool IsOfProduct(const Instruction& value) const;
  // Of what is made elementwise from the value: what it meets that a product made before. Null if nothing.
  const Instruction* ProductMetBy(const Instruction& value) const;
  void AssignReshape(Instruction* op);
  // Of a reshape of repeated elements without an order: as they lie once, or as images, or beside themselves. False if neither fits.
  bool AssignRepeated(Instruction* op);
  // An order of the reshape itself in which it moves less than in that of its operand. False if there is none.
  bool AssignCut(Instruction* op);
  // By array and dimension: orders of layers, empty where there are none.
  absl::flat_hash_map<std::pair<const Instruction*, int64_t>, Dims> layers_;
  // Arguments of which an elementwise op needed a copy: how that lies.
  absl::flat_hash_map<const Instruction*, Dims> turned_;
};

}  // namespace toroid
