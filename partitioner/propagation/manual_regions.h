// Manual regions: parts of the program that are written per device, whose values are local.
//
// Calls of SPMDFullToShardShape and GlobalToLocalShape enter a region; SPMDShardToFullShape and
// LocalToGlobalShape leave it. A value computed from local values is local with respect to the same axes.
#pragma once

#include "absl/status/status.h"
#include "hlo/io/sdy_sharding.h"
#include "partitioner/propagation/annotations.h"
#include "partitioner/propagation/flow_graph.h"

namespace toroid {

// Adds to `annotations` the boundaries, the shardings that Shardy boundaries state for the values on both
// sides, and the manual axes of every tensor. Requires its mesh and tensors to be filled in.
// Errors: kInvalidArgument "computation/instruction: ..." for a boundary without shardings, with a number of
// shardings that differs from the number of values, or with local sizes that are not the global sizes divided
// by the manual tiles; and for a sharding that cuts a value over axes with respect to which it is local.
// kUnimplemented for a boundary sharding in another device order than the mesh.
absl::Status ReadManualRegions(const Module& module, const FlowGraph& graph, const SdyMeshes& meshes,
                               Annotations* annotations);

}  // namespace toroid
