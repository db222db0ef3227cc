// A program as steps for the search: each step computes an op, by its present choice or another one, or
// delivers values.
#pragma once

#include <vector>

#include "absl/algorithm/container.h"
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

// Computes an op, or delivers values.
struct ProgramStep {
  const FlowOp* op = nullptr;
  double times = 1;  // The number of its executions.
  bool is_decided =
      false;  // Whether the op is computed by a choice: it neither delivers values nor is always free.
  // Whether the op hands on one leaf of a tuple (FlowGraph::LeafOps). It is decided even if its operand is free.
  bool hands_on = false;
  // How it is computed at present. Null: the step delivers values, or makes free ones.
  const OpChoice* choice = nullptr;
  PartialOperands passed_on;  // The operands that the op takes partial at present.
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

  // Makes a choice the present one of a step.
  void SetChoice(int i, const OpChoice& choice, const PartialOperands& passed_on);
  // The plan with the present decisions.
  Plan Decided() const;

 private:
  int Number(int tensor, Sharding sharding);
  void Fill(const FlowOp& op, ProgramStep* step);
  void AddAnnotation(const FlowOp& op, ProgramStep* step);
  void NoteOneDevice(const Instruction& instruction);
  void AddOnDevice(const FlowOp& op, ProgramStep* step);
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
