// Writes the program of one partition under a plan, and runs the passes over it. Chooses nothing.
#ifndef TOROID_PARTITIONER_STAGES_EMIT_PLAN_H_
#define TOROID_PARTITIONER_STAGES_EMIT_PLAN_H_

#include "absl/status/statusor.h"
#include "partitioner/plan/plan.h"
#include "partitioner/prepare/prepared_program.h"
#include "partitioner/stages/partitioned.h"

namespace toroid {

// Requires: the plan decides every op that is computed (DecideGreedily).
absl::StatusOr<Partitioned> EmitPlan(const PreparedProgram& program, const Plan& plan,
                                     const PartitionOptions& options);

}  // namespace toroid

#endif  // TOROID_PARTITIONER_STAGES_EMIT_PLAN_H_
