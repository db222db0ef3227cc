// A program as steps for the search: each step computes an op, by its present choice or another one, or
// delivers values.
#pragma once

#include <algorithm>
#include <vector>

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
  const NumberedChoice* choice = nullptr;
  PartialOperands passed_on;  // The operands that the op takes partial at present.
  // Whether the result is a free value (../propagation/free_values.h) if certain operands are free or
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
  // Whether a tensor is a free value (../propagation/free_values.h) under any decisions.
  bool is_free(int tensor) const { return free_[tensor]; }

  // Makes a choice the present one of a step.
  void SetChoice(int i, const NumberedChoice& choice, const PartialOperands& passed_on);
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

}  // namespace toroid
