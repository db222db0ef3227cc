// Which values of a plan are views of other values.
#pragma once

#include <optional>
#include <vector>

#include "runtime/groups/view.h"
#include "runtime/plan/plan.h"

namespace toroid {

// Of the plan as it is when this is made.
class PlanViews {
 public:
  explicit PlanViews(const Plan& plan);

  // What a reader of a slot reads.
  struct Root {
    int slot = 0;  // The slot itself, or the array it is a view of; an iota's own slot.
    View view;
    bool counts = false;  // A view of the numbers 0, 1, 2, ..., not of an array.
  };
  const Root& RootOf(int slot) const { return roots_[slot]; }
  // The slot's value is worth reading through its root.
  bool IsView(int slot) const { return is_view_[slot]; }
  // The step that gives the slot its value; -1 for parameters and constants.
  int producer(int slot) const { return producer_[slot]; }

 private:
  std::vector<Root> roots_;
  std::vector<bool> is_view_;
  std::vector<int> producer_;
};

}  // namespace toroid
