// A program as a search sees it: what happens to its values, op by op, how each op is computed now, and how it might be.
#ifndef TOROID_PARTITIONER_SEARCH_PROGRAM_STEPS_H_
#define TOROID_PARTITIONER_SEARCH_PROGRAM_STEPS_H_

#include <algorithm>
#include <vector>

#include "partitioner/search/op_choices.h"
#include "partitioner/search/version_sets.h"

namespace toroid {

// A choice with its shardings as numbers of a VersionSets.
struct NumberedChoice {
  OpChoice choice;
  absl::InlinedVector<int, 3> operands;
  absl::InlinedVector<int, 1> results;
};

// A value that has to be in one sharding, and becomes another one: at an output, a loop, an annotation, a manual region.
struct Delivery {
  int from = -1;
  int wanted = -1;  // Number of a sharding; -1: as it is.
  int to = -1;
  int made = -1;  // Number of a sharding; -1: in the versions that `from` has.
};

// An op that is computed, or values that are delivered.
struct ProgramStep {
  const FlowOp* op = nullptr;
  double times = 1;                     // How often it runs.
  std::vector<NumberedChoice> choices;  // The first: as it is now. None: deliveries.
  PartialOperands passed_on;            // Now.
  // Whether the result can be made anywhere, given what operands can, or are whole.
  bool may_be_free = false;
  std::vector<Delivery> deliveries;
};

class ProgramSteps {
 public:
  // `current`: how the ops are computed so far. All references are to outlive this.
  ProgramSteps(const PreparedProgram& program, const ShardingPlan& plan, const DecidedOps& current,
               AxisUnits units, VersionSets* versions);

  const std::vector<ProgramStep>& steps() const { return steps_; }
  const ProgramStep& step(int i) const { return steps_[i]; }
  int size() const { return static_cast<int>(steps_.size()); }

  // The last step that reads a tensor; -1: none.
  int last_use(int tensor) const { return last_use_[tensor]; }
  // The steps that read a tensor, and the one that makes it (-1: none).
  const std::vector<int>& users(int tensor) const { return users_[tensor]; }
  int producer(int tensor) const { return producer_[tensor]; }
  // The set of versions in which a tensor is there before any step.
  int initial(int tensor) const { return initial_[tensor]; }
  // Whether any device can make a tensor in any sharding.
  bool is_free(int tensor) const { return free_[tensor]; }

  // At most so many choices a step has, orders of axes apart; 1 where nothing is chosen.
  double CountChoices(int i) const;
  // Adds all choices of a step behind the current one; RemoveChoices leaves that alone.
  void AddChoices(int i);
  void RemoveChoices(int i) { steps_[i].choices.resize(std::min<size_t>(1, steps_[i].choices.size())); }
  // From now on the step is computed so.
  void Decide(int i, int choice, const PartialOperands& passed_on);
  // How all ops are computed now.
  DecidedOps Decisions() const;

 private:
  int Number(int tensor, Sharding sharding);
  void Fill(const FlowOp& op, ProgramStep* step);
  void AddAnnotation(const FlowOp& op, ProgramStep* step);
  void AddCrossings(const Instruction& instruction, const ManualBoundary& boundary, ProgramStep* step);
  NumberedChoice Numbered(OpChoice choice);

  const PreparedProgram& program_;
  const FlowGraph& graph_;
  const Annotations& annotations_;
  const ShardingPlan& plan_;
  const DecidedOps& current_;
  VersionSets& versions_;
  const AxisUnits units_;
  std::vector<ProgramStep> steps_;
  std::vector<int> last_use_, producer_, initial_;
  std::vector<std::vector<int>> users_;
  std::vector<bool> free_, may_be_free_;
};

}  // namespace toroid

#endif  // TOROID_PARTITIONER_SEARCH_PROGRAM_STEPS_H_
