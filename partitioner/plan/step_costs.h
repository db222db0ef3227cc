// Computes the cost of one step of a program, and the versions of its values after the step from those before
// it.
#pragma once

#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "partitioner/plan/program_steps.h"

namespace toroid {

// Pairs of a tensor and the number of its set of versions.
using SetsOfTensors = absl::InlinedVector<std::pair<int, int>, 6>;
// The number of a tensor's set of versions.
using SetOf = absl::FunctionRef<int(int tensor)>;

// The set of a tensor in a list; `otherwise` if it is not there.
inline int SetIn(const SetsOfTensors& sets, int tensor, SetOf otherwise) {
  for (const auto& [t, set] : sets) {
    if (t == tensor) return set;
  }
  return otherwise(tensor);
}
inline int SetIn(const SetsOfTensors& sets, int tensor, int otherwise) {
  return SetIn(sets, tensor, [&](int) { return otherwise; });
}

class StepCosts {
 public:
  StepCosts(const ProgramSteps& steps, PlanMemo* memo)
      : graph_(*memo->program().graph), steps_(steps), versions_(memo->versions()) {}

  struct Taken {
    // Of all executions of the step.
    double cost = 0;
    double sent_bytes = 0;
    double collectives = 0;
    // After the step: the sets of the tensors that it reads, then of the tensors that it makes.
    SetsOfTensors after;
  };
  // Computes step `i` by a choice, from the sets `set_of`. False if the choice excludes
  // `passed_on`, or if an operand cannot be brought to the sharding that the choice needs.
  bool Compute(int i, const OpChoice& choice, const PartialOperands& passed_on, SetOf set_of, Taken* taken);
  // The same for a step that delivers values.
  bool Deliver(int i, SetOf set_of, Taken* taken);

  // The sets of operands that step `i` may take partial, without reducing them first; the empty set comes
  // first.
  std::vector<PartialOperands> Passings(int i, SetOf set_of) const;

  // The number of the sharding in which a choice takes an operand.
  int Wanted(const OpChoice& choice, size_t operand, const PartialOperands& passed_on) {
    const int wanted = choice.operands[operand];
    return passed_on.Has(operand) ? WithPartial(wanted, passed_on) : wanted;
  }

  int64_t count() const { return count_; }  // The number of calls of Compute and Deliver.

 private:
  // Whether the op's result is a free value if its operands have the sets `set_of`.
  bool IsFree(const FlowOp& op, SetOf set_of) const;
  bool HasPartial(int set, const Sharding& partial) const;
  int WithPartial(int sharding, const PartialOperands& passed_on);

  const FlowGraph& graph_;
  const ProgramSteps& steps_;
  VersionSets& versions_;
  int64_t count_ = 0;
};

}  // namespace toroid
