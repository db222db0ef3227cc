// A program as steps for the search: each step computes an op, by its present choice or another one, or
// delivers values.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/functional/function_ref.h"
#include "partitioner/plan/plan.h"
#include "partitioner/plan/plan_memo.h"

namespace toroid {

// A value `from` that must have a certain sharding and becomes the value `to`: at an output, a loop, a
// branch, an annotation or the boundary of a manual region.
struct Delivery {
  int from = -1;
  int wanted = -1;  // Number of the sharding that `from` must have; -1: any.
  int to = -1;
  int made = -1;  // Number of the sharding that `to` has; -1: the versions of `from`.
};

// Computes an op by its present decision, or delivers values.
struct ProgramStep : StepDecision {
  const FlowOp* op = nullptr;
  double times = 1;  // The number of its executions.
  bool is_decided =
      false;  // Whether the op is computed by a choice: it neither delivers values nor is always free.
  // Whether the op hands on one leaf of a tuple (FlowGraph::LeafOps). It is decided even if its operand is free.
  bool hands_on = false;
  // Whether the result is a free value (IsMadeAnywhere) if certain operands are free or
  // replicated.
  bool may_be_free = false;
  std::vector<Delivery> deliveries;
};

class ProgramSteps {
 public:
  // The plan's decisions are the present ones. All references must outlive this object.
  ProgramSteps(const Plan& plan, PlanMemo* memo);

  const std::vector<ProgramStep>& steps() const { return steps_; }
  const ProgramStep& step(int i) const { return steps_[i]; }
  int size() const { return static_cast<int>(steps_.size()); }
  int num_tensors() const { return graph_.num_tensors(); }

  // The last step that reads a tensor; -1: none.
  int last_use(int tensor) const { return last_use_[tensor]; }
  // The steps that read a tensor, and the step that makes it (-1: none).
  const std::vector<int>& users(int tensor) const { return users_[tensor]; }
  int producer(int tensor) const { return producer_[tensor]; }
  // The set of versions of a tensor before any step: its sharding in the plan.
  int initial(int tensor) const { return initial_[tensor]; }
  // Whether a tensor is a free value (IsMadeAnywhere) under any decisions.
  bool is_free(int tensor) const { return free_[tensor]; }

  void SetDecision(int i, const StepDecision& decision) { static_cast<StepDecision&>(steps_[i]) = decision; }
  // The plan with the present decisions.
  Plan Decided() const;

 private:
  int Number(int tensor, Sharding sharding);
  void Fill(const FlowOp& op, ProgramStep* step);
  void AddAnnotation(const FlowOp& op, ProgramStep* step);
  void NoteOneDevice(const Instruction& instruction);
  void AddOutfeed(const Instruction& outfeed, absl::Span<const Sharding> data, ProgramStep* step);
  void AddDelivery(int t, const Sharding& wanted, ProgramStep* step);
  void AddCrossings(const Instruction& instruction, const ManualBoundary& boundary, ProgramStep* step);

  PlanMemo& memo_;
  const PreparedProgram& program_;
  const FlowGraph& graph_;
  const Annotations& annotations_;
  const Plan& plan_;
  VersionSets& versions_;
  std::vector<ProgramStep> steps_;
  std::vector<int> last_use_, producer_, initial_;
  std::vector<std::vector<int>> users_;
  std::vector<bool> free_, may_be_free_;
};

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

// Computes the cost of one step of a program, and the versions of its values after the step from those before it.
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

// The shardings in which each value exists at one point of a program.
class ValuePlaces {
 public:
  // Before the first step. Both must outlive this object.
  ValuePlaces(const ProgramSteps& steps, const VersionSets& versions) : steps_(steps), versions_(versions) {
    for (int t = 0; t < steps.num_tensors(); ++t) sets_.push_back(steps.initial(t));
  }

  const ProgramSteps& steps() const { return steps_; }
  // The number of a tensor's set of shardings.
  int set(int tensor) const { return sets_[tensor]; }
  void Put(int tensor, int set) { sets_[tensor] = set; }

  // The pointers hold until a sharding gets a number that has none yet.
  absl::InlinedVector<const Sharding*, 4> PlacesOf(int tensor) const {
    absl::InlinedVector<const Sharding*, 4> places;
    for (const int number : versions_.set(sets_[tensor])) places.push_back(&versions_.sharding(number));
    return places;
  }
  // Whether each device can compute the tensor in any sharding, without communication (IsMadeAnywhere).
  bool IsFree(int tensor) const { return steps_.is_free(tensor) || sets_[tensor] == VersionSets::kAnywhere; }
  // True if the tensor exists and only as partial sums, maxima, ...: still to be reduced over devices.
  bool IsPartial(int tensor) const {
    const std::vector<int>& set = versions_.set(sets_[tensor]);
    return !set.empty() &&
           absl::c_all_of(set, [&](int number) { return versions_.sharding(number).partial != 0; });
  }

 private:
  const ProgramSteps& steps_;
  const VersionSets& versions_;
  std::vector<int> sets_;  // By tensor.
};

}  // namespace toroid
