// How many replicas a module is written for, where its header does not say.
#ifndef TOROID_HLO_IR_REPLICAS_H_
#define TOROID_HLO_IR_REPLICAS_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "hlo/ir/module.h"

namespace toroid {

// One more than the largest replica that its collectives name, in groups or in pairs of source and target; 1
// if none does. Only collectives without a channel are between replicas alone.
//   all-reduce(x), replica_groups={{0,2},{1,3}}   =>   4
int64_t InferReplicas(const Module& module);

// The replicas to run a module on: what its header or device assignment says, else `given` (0: not given),
// else what its collectives name. Modules of several partitions have what they say. Errors: kInvalidArgument
// if `given` is another number than the header's, or too large.
absl::StatusOr<int64_t> ReplicasToRun(const Module& module, int64_t given);

}  // namespace toroid

#endif  // TOROID_HLO_IR_REPLICAS_H_
