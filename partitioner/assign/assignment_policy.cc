#include "partitioner/assign/assignment_policy.h"

namespace toroid {
namespace {

class Cheapest : public AssignmentPolicy {
 public:
  explicit Cheapest(IdleAxes idle_axes) : idle_axes_(idle_axes) {}

  Assignment Choose(const AssignmentProblem& problem, const Pricing& pricing) const override {
    return ChooseAssignment(problem, pricing, idle_axes_);
  }

 private:
  const IdleAxes idle_axes_;
};

class Replicating : public AssignmentPolicy {
 public:
  void AdjustPlan(const std::vector<bool>& at_boundary, std::vector<Sharding>* plan) const override {
    for (size_t t = 0; t < plan->size(); ++t) {
      if (!at_boundary[t]) (*plan)[t] = Sharding::Replicated(static_cast<int>((*plan)[t].dims.size()));
    }
  }

  Assignment Choose(const AssignmentProblem& problem, const Pricing&) const override {
    Assignment uncut;
    uncut.factor_axes.resize(problem.rule->factors.size());
    return uncut;
  }
};

}  // namespace

void AssignmentPolicy::AdjustPlan(const std::vector<bool>&, std::vector<Sharding>*) const {}

const AssignmentPolicy& CheapestAssignments() { return CheapestAssignmentsOnIdleAxes(IdleAxes::kLeave); }

const AssignmentPolicy& CheapestAssignmentsOnIdleAxes(IdleAxes idle_axes) {
  static const Cheapest* const policies[] = {new Cheapest(IdleAxes::kLeave), new Cheapest(IdleAxes::kCut),
                                             new Cheapest(IdleAxes::kCutForFlops),
                                             new Cheapest(IdleAxes::kCutForFewFlops)};
  return *policies[static_cast<int>(idle_axes)];
}

const AssignmentPolicy& ReplicateEverything() {
  static const Replicating* const policy = new Replicating;
  return *policy;
}

}  // namespace toroid
