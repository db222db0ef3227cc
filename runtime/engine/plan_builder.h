// Builds the plans of a module's computations.
#pragma once

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "hlo/analysis/side_effects.h"
#include "hlo/ir/module.h"
#include "runtime/plan/plan.h"

namespace toroid {

class PlanBuilder {
 public:
  // The plan of `computation` and of all computations it calls. An instruction that neither the root nor a
  // side effect needs has no step. Errors: kInvalidArgument for an unknown opcode, a bad constant, calls
  // nested too deeply.
  absl::StatusOr<Plan*> Build(const Computation& computation);

 private:
  absl::StatusOr<Plan*> Build(const Computation& computation, int depth);
  absl::Status AddSteps(const Computation& computation, int depth, Plan& plan);

  std::vector<std::unique_ptr<Plan>> plans_;   // By computation index.
  std::unique_ptr<SideEffects> side_effects_;  // The whole module's.
};

}  // namespace toroid
