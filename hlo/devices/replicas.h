// The number of replicas of a module whose header does not state it.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "hlo/ir/module.h"

namespace toroid {

// One more than the largest replica id in groups and source-target pairs; 1 if there are none. Only
// collectives without a channel count, since only their ids are replica ids.
//   all-reduce(x), replica_groups={{0,2},{1,3}}   =>   4
int64_t InferReplicas(const Module& module);

// The number of replicas to run a module on: from its header or device assignment, else `given` (0: not
// given), else from InferReplicas. For a module of several partitions only the stated number counts.
// Errors: kInvalidArgument if `given` differs from the header's number, or is too large.
absl::StatusOr<int64_t> ReplicasToRun(const Module& module, int64_t given);

}  // namespace toroid
