// Changes the state of a loop: adds leaves, replaces first values and results.
//
// The loop's state is a tuple, which the body reads by get-tuple-element and builds in its root. The changes
// are collected, and Apply makes them all at once.
#pragma once

#include <vector>

#include "absl/status/status.h"
#include "hlo/ir/module.h"

namespace toroid {

class LoopEdit {
 public:
  // Requires CanEdit(*loop), and that no other instruction calls the loop's computations.
  explicit LoopEdit(Instruction* loop);
  static bool CanEdit(const Instruction& loop);

  Computation* outside() const { return loop_->computation(); }
  Computation* body() const { return loop_->called(0); }
  int num_leaves() const { return static_cast<int>(firsts_.size()); }

  // The value of leaf k before the first trip, outside the loop.
  Instruction* First(int k);
  // Replaces that value.
  void SetFirst(int k, Instruction* value) { firsts_[k] = value; }
  // A new value outside the loop: leaf k after the last trip.
  Instruction* Last(int k);
  // Lets the users of leaf k outside the loop read `value` instead.
  void SetResult(int k, Instruction* value) { results_[k] = value; }
  // Adds a leaf that every trip hands on unchanged; returns it inside the body.
  Instruction* AddInvariant(Instruction* first);

  // Replaces the loop by the changed one, and sorts the instructions of both computations.
  absl::Status Apply();

 private:
  Instruction* Element(Computation* computation, Instruction* tuple, const Shape& shape, int k);
  Shape StateShape() const;

  Instruction* loop_;
  int old_leaves_;
  std::vector<Instruction*> firsts_;     // Null: the value in the old state.
  std::vector<Instruction*> results_;    // Null: the leaf after the last trip.
  std::vector<Instruction*> lasts_;      // Values made by Last so far.
  std::vector<Instruction*> handed_on_;  // New leaves in the body.
};

}  // namespace toroid
