// Partitions a program, runs it on simulated devices and assembles the result, for equivalence tests.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "hlo/ir/literal.h"
#include "hlo/ir/module.h"
#include "partitioner/stages/spmd_partitioner.h"

namespace toroid {

// Partitions `module` under the options (the verifier runs after each phase), runs it on its mesh and
// assembles the result, checking that replicas agree.
absl::StatusOr<Literal> PartitionAndRun(const Module& module, const PartitionOptions& options,
                                        absl::Span<const Literal> arguments);

}  // namespace toroid
