// Builds the plans of a module's computations.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "hlo/analysis/side_effects.h"
#include "hlo/ir/module.h"
#include "runtime/plan/plan.h"

namespace toroid {

struct PlanOptions {
  // Elementwise work runs in groups, movement of elements in moves; false: each instruction alone, to compare with.
  bool groups = true;
};

class PlanBuilder {
 public:
  explicit PlanBuilder(PlanOptions options = {}) : options_(options) {}

  // The plan of `computation` and of all computations it calls. An instruction that neither the root nor a
  // side effect needs has no step; the instructions of a called computation (call, fusion) are steps of the
  // caller, so that groups (groups/form_groups.h) reach across; an element of a tuple made here is the slot
  // that was put in. Errors: kInvalidArgument for an unknown opcode, a bad constant, calls
  // nested too deeply.
  absl::StatusOr<Plan*> Build(const Computation& computation);

 private:
  absl::StatusOr<Plan*> Build(const Computation& computation, int depth);
  // Adds the steps of a computation whose parameters have these slots; the result is the root's slot.
  absl::StatusOr<int> AddSteps(const Computation& computation, const std::vector<int>& arguments, int depth,
                               Plan& plan);
  absl::StatusOr<int> AddStep(const Instruction& instruction, const std::vector<int>& slots, int depth,
                              Plan& plan);
  const std::vector<bool>& Needed(const Computation& computation);

  const PlanOptions options_;
  std::vector<std::unique_ptr<Plan>> plans_;  // By computation index.
  std::vector<std::vector<bool>>
      needed_;  // By computation index: NeededInstructions, empty if not known yet.
  absl::flat_hash_map<std::pair<const Plan*, int>, int>
      tuple_step_;                             // Of plans being made: the step of a tuple's slot.
  std::unique_ptr<SideEffects> side_effects_;  // The whole module's.
};

// Sets the estimated work of all steps, for runs that show their progress.
void EstimateWork(Plan& plan);

}  // namespace toroid
