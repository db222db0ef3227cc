// A program under its present decisions: what each step costs, and the versions of values around it.
//
// Decisions of few steps are replaced in a time that grows with the steps whose values change, not with the program.
#pragma once

#include <vector>

#include "partitioner/plan/plan_memo.h"
#include "partitioner/plan/program_steps.h"
#include "partitioner/plan/step_costs.h"

namespace toroid {

class PresentProgram {
 public:
  // `plan` decides all ops. Both must outlive this object.
  PresentProgram(const Plan& plan, PlanMemo* memo);

  // Follows all steps once. False if some value cannot be brought to the sharding that a step needs.
  bool Follow();

  PlanMemo& memo() const { return memo_; }
  VersionSets& versions() { return memo_.versions(); }
  ProgramSteps& steps() { return steps_; }
  const ProgramSteps& steps() const { return steps_; }
  StepCosts& costs() { return costs_; }
  const StepCosts& costs() const { return costs_; }

  // The sets of the tensors that step `i` reads and makes, before and after it.
  const SetsOfTensors& before(int i) const { return before_[i]; }
  const SetsOfTensors& after(int i) const { return after_[i]; }
  double cost(int i) const { return cost_[i]; }
  double total() const { return total_; }
  // The cost of the reshardings of a step, without the op's own time.
  double Moves(int i) const {
    const ProgramStep& step = steps_.step(i);
    return step.choice == nullptr ? cost_[i] : cost_[i] - step.times * step.choice->choice.time;
  }
  // The first step after `i` that reads or makes a tensor; -1: none.
  int NextUse(int tensor, int i) const;

  // How a step is computed.
  struct Decision {
    int step = 0;
    const NumberedChoice* choice = nullptr;
    PartialOperands passed_on;
  };
  Decision DecisionOf(int i) const {
    const ProgramStep& step = steps_.step(i);
    return {i, step.choice, step.passed_on};
  }
  // Replaces decisions, in the order of steps. False, and nothing changed, if some value cannot be brought to the sharding
  // that a step needs.
  bool Replace(const std::vector<Decision>& decisions);

 private:
  bool Compute(int i, SetOf set_of, StepCosts::Taken* taken);
  bool Update(const std::vector<Decision>& decisions);

  PlanMemo& memo_;
  ProgramSteps steps_;
  StepCosts costs_;
  std::vector<SetsOfTensors> before_, after_;
  std::vector<double> cost_;
  double total_ = 0;
};

}  // namespace toroid
