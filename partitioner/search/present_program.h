// A program under its present decisions: what each step costs, and the versions of values around it.
//
// Decisions of few steps are replaced in a time that grows with the steps whose values change, not with the program.
// BUILD: srcs += "frontier_walk.cc"
#pragma once

#include <cstdint>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "partitioner/plan/program_steps.h"

namespace toroid {

class PresentProgram {
 public:
  // `plan` decides all ops. Both must outlive this object.
  PresentProgram(const Plan& plan, PlanMemo* memo);

  // Follows all steps once. False if some value cannot be brought to the sharding that a step needs.
  bool Follow();

  PlanMemo& memo() const { return memo_; }
  VersionSets& versions() { return memo_.versions(); }
  const ProgramSteps& steps() const { return steps_; }
  StepCosts& costs() { return costs_; }
  const StepCosts& costs() const { return costs_; }

  // The sets of the tensors that step `i` reads and makes, before and after it.
  const SetsOfTensors& before(int i) const { return before_[i]; }
  const SetsOfTensors& after(int i) const { return after_[i]; }
  int SetBefore(int i, int tensor) const { return SetIn(before_[i], tensor, steps_.initial(tensor)); }
  double cost(int i) const { return cost_[i]; }
  double total() const { return total_; }
  // The cost of the reshardings of a step, without the op's own time.
  double Moves(int i) const {
    const ProgramStep& step = steps_.step(i);
    return step.choice == nullptr ? cost_[i] : cost_[i] - step.times * step.choice->time;
  }
  // The first step after `i` that reads or makes a tensor; -1: none.
  int NextUse(int tensor, int i) const;

  // Steps, in order, and how they are computed.
  using Decisions = std::vector<std::pair<int, StepDecision>>;
  // Replaces decisions. False, and nothing changed, if some value cannot be brought to the sharding
  // that a step needs.
  bool Replace(const Decisions& decisions);

 private:
  bool Compute(int i, SetOf set_of, StepCosts::Taken* taken);
  bool Update(const Decisions& decisions);

  PlanMemo& memo_;
  ProgramSteps steps_;
  StepCosts costs_;
  std::vector<SetsOfTensors> before_, after_;
  std::vector<double> cost_;
  double total_ = 0;
};

// Estimates what the later users of a value cost if it exists in other versions than in the present program.
class LaterUses {
 public:
  // `units`: those that may cut a factor of a step that is decided anew. Both must outlive this object.
  LaterUses(PresentProgram* program, const AxisUnits& units) : program_(*program), units_(units) {}

  // The cost of step `user`, by the cheapest choice, if tensor `t` has the versions of `set` and all other tensors those of the
  // present program. `is_decided_anew`: whether any choice may be taken, or only the present one.
  double CheapestUse(int user, int t, int set, bool is_decided_anew);

  // Forgets all costs. To be called when a decision of the program has changed.
  void Clear();

 private:
  // The shardings in which some choice of a step takes a tensor, each behind the cost of the cheapest such choice without
  // fetching the tensor; the cheapest first.
  using Uses = std::vector<std::pair<double, int>>;

  double Compute(int user, int t, int set, bool is_decided_anew);
  const Uses& UsesOf(int user, int t, const PartialOperands& passed_on, bool is_decided_anew);
  void AddUse(int user, int t, const OpChoice& choice, const PartialOperands& passed_on, Uses* uses);
  double BackToPresent(int step, int result, int set);

  PresentProgram& program_;
  const AxisUnits& units_;
  absl::flat_hash_map<std::tuple<int, int, int, bool>, double> cheapest_;
  absl::flat_hash_map<std::tuple<int, int, uint32_t, AxisSet, bool>, std::unique_ptr<Uses>> uses_;
};

// The least part of the cost of a program that new decisions must save.
inline constexpr double kLeastGain = 1e-7;

// Decides the steps of `part`, which are in order, together; all others keep their decisions (frontier_walk.cc). `units`: those
// that may cut a factor. `most_states`: kept after each step. Returns the decisions of the cheapest path, in the order of
// steps, if it costs less than the present program and computes no more flops; none if there is no such path.
PresentProgram::Decisions DecideSteps(PresentProgram* program, const AxisUnits& units, LaterUses* later_uses,
                                      std::vector<int> part, size_t most_states);

}  // namespace toroid
