// Manual regions: where the program is written per device, and which values are local there.
//
// Calls of SPMDFullToShardShape and GlobalToLocalShape enter a region, SPMDShardToFullShape and LocalToGlobalShape
// leave it. What is computed from local values is local with respect to the same axes.
#ifndef TOROID_PARTITIONER_PROPAGATION_MANUAL_REGIONS_H_
#define TOROID_PARTITIONER_PROPAGATION_MANUAL_REGIONS_H_

#include "absl/status/status.h"
#include "hlo/io/sdy_sharding.h"
#include "partitioner/propagation/annotations.h"
#include "partitioner/propagation/flow_graph.h"

namespace toroid {

// Adds boundaries, what they ask of the values on both sides, and the manual axes of every tensor, to annotations whose
// mesh and tensors were read.
// Errors: kInvalidArgument "computation/instruction: ..." for boundaries without shardings, with another number of them
// than values, or whose local sizes are not the global ones over the manual tiles; and for a sharding that cuts a value
// over axes with respect to which it is local.
absl::Status ReadManualRegions(const Module& module, const FlowGraph& graph, const SdyMeshes& meshes,
                               Annotations* annotations);

}  // namespace toroid

#endif  // TOROID_PARTITIONER_PROPAGATION_MANUAL_REGIONS_H_
