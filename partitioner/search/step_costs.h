// The cost of one step of a program, and the shardings of its values after it, from those before it.
#ifndef TOROID_PARTITIONER_SEARCH_STEP_COSTS_H_
#define TOROID_PARTITIONER_SEARCH_STEP_COSTS_H_

#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "partitioner/search/program_steps.h"

namespace toroid {

// Tensors and numbers of their sets of versions.
using SetsOfTensors = absl::InlinedVector<std::pair<int, int>, 6>;
// The set in which a tensor is there.
using SetOf = absl::FunctionRef<int(int tensor)>;

class StepCosts {
 public:
  StepCosts(const PreparedProgram& program, const ProgramSteps& steps, VersionSets* versions)
      : graph_(*program.graph), steps_(steps), versions_(*versions) {}

  struct Taken {
    double cost = 0;      // Of all executions.
    SetsOfTensors after;  // Of all tensors that the step reads or makes; one by one in that order.
  };
  // Computes step `i` by a choice. False if the operands cannot be brought there.
  bool Compute(int i, int choice, const PartialOperands& passed_on, SetOf set_of, Taken* taken);
  // The same of a step that delivers values.
  bool Deliver(int i, SetOf set_of, Taken* taken);

  // Nothing, and every set of partial operands that step `i` may take as they are.
  std::vector<PartialOperands> Passings(int i, SetOf set_of) const;

  // The sharding in which a choice takes an operand.
  int Wanted(int i, int choice, size_t operand, const PartialOperands& passed_on) {
    const int wanted = steps_.step(i).choices[choice].operands[operand];
    return passed_on.Has(operand) ? WithPartial(wanted, passed_on) : wanted;
  }

  int64_t count() const { return count_; }  // Steps that were asked for.

 private:
  // Whether every device can make the result in any sharding, of operands that are there in these sets.
  bool IsFree(const FlowOp& op, SetOf set_of) const;
  bool HasPartial(int set, const Sharding& partial) const;
  int WithPartial(int sharding, const PartialOperands& passed_on);

  const FlowGraph& graph_;
  const ProgramSteps& steps_;
  VersionSets& versions_;
  int64_t count_ = 0;
};

}  // namespace toroid

#endif  // TOROID_PARTITIONER_SEARCH_STEP_COSTS_H_
