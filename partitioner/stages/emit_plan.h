// Writes the program of one partition under a plan, and runs the passes over it. Chooses nothing.
#pragma once

#include "absl/status/statusor.h"
#include "partitioner/plan/plan.h"
#include "partitioner/stages/partitioned.h"

namespace toroid {

// Requires: the plan decides every op that is computed (DecideGreedily).
absl::StatusOr<Partitioned> EmitPlan(const PreparedProgram& program, const Plan& plan,
                                     const PartitionOptions& options);

}  // namespace toroid
