// Reads the annotations of a module: shardings of either dialect, their mesh, manual regions, devices of side
// effects.
#pragma once

#include "absl/status/statusor.h"
#include "partitioner/propagation/annotations.h"
#include "partitioner/propagation/flow_graph.h"

namespace toroid {

// `num_devices`: 0 to take the number that the shardings name, or the module's num_partitions if none names
// one.
// Errors: kInvalidArgument "computation/instruction: ..." for shardings that are malformed, do not fit their
// array, or name different numbers of devices; kInvalidArgument if num_devices contradicts them, or, where it
// is 0, the module's num_partitions (but 1) does, or if there are more than kMaxDevices; those of ReadManualRegions.
absl::StatusOr<Annotations> ReadAnnotations(const Module& module, const FlowGraph& graph,
                                            int64_t num_devices);

}  // namespace toroid
