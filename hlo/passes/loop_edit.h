// Changing the state of a loop: further leaves, other first values, other results.
//
// The loop's state is a tuple, which its body takes apart by get-tuple-element and puts together in its root. What is asked for is
// collected and carried out at once by Apply.
#ifndef TOROID_HLO_PASSES_LOOP_EDIT_H_
#define TOROID_HLO_PASSES_LOOP_EDIT_H_

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

  // What leaf k is before the first trip, as a value outside.
  Instruction* First(int k);
  // Another one.
  void SetFirst(int k, Instruction* value) { firsts_[k] = value; }
  // What takes leaf k after the last trip, as a new value outside.
  Instruction* Last(int k);
  // What stands for leaf k outside from now on.
  void SetResult(int k, Instruction* value) { results_[k] = value; }
  // A leaf that all trips hand on; returns it inside the body.
  Instruction* AddInvariant(Instruction* first);

  // Puts the loop into effect; instructions of both computations stand in order again.
  absl::Status Apply();

 private:
  Instruction* Element(Computation* computation, Instruction* tuple, const Shape& shape, int k);
  Shape StateShape() const;

  Instruction* loop_;
  int old_leaves_;
  std::vector<Instruction*> firsts_;     // Null: what the old state holds.
  std::vector<Instruction*> results_;    // Null: the last value.
  std::vector<Instruction*> lasts_;      // Made so far.
  std::vector<Instruction*> handed_on_;  // New leaves in the body.
};

}  // namespace toroid

#endif  // TOROID_HLO_PASSES_LOOP_EDIT_H_
