// Manual regions: parts of the program that are written per device, whose values are local.
//
// Calls of SPMDFullToShardShape and GlobalToLocalShape enter a region; SPMDShardToFullShape and
// LocalToGlobalShape leave it. A value computed from local values is local with respect to the same axes.
//
// An array that crosses the boundary has the same buffer on both sides. Outside the region, each dimension is
// cut over its manual axes first and then over the free axes (those that are not manual inside). Inside, it is
// cut over the free axes alone.
// Example: x f32[64,1024] is cut [{m, a}, {b}] outside; inside, manual over m, it is f32[32,1024] cut [{a},
// {b}].
#pragma once

#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "hlo/io/sdy_sharding.h"
#include "partitioner/propagation/annotations.h"

namespace toroid {

// Adds to `annotations` the boundaries, the shardings that Shardy boundaries state for the values on both
// sides, and the manual axes of every tensor. Requires its mesh and tensors to be filled in.
// Errors: kInvalidArgument "computation/instruction: ..." for a boundary without shardings, with a number of
// shardings that differs from the number of values, or with local sizes that are not the global sizes divided
// by the manual tiles; and for a sharding that cuts a value over axes with respect to which it is local.
// kUnimplemented for a boundary sharding in another device order than the mesh.
absl::Status ReadManualRegions(const Module& module, const FlowGraph& graph, const SdyMeshes& meshes,
                               Annotations* annotations);

struct CrossingValue {
  int global = 0;  // The tensor outside the region.
  int local = 0;   // The tensor inside.
  AxisSet manual_axes = 0;
  absl::InlinedVector<AxisList, 4> manual;  // The manual axes that cut each dimension outside.

  // The longest prefix of the axes `free` over which dimension `dim`, of `local_size` elements inside, has
  // the same tiles on both sides. If the dimension is also cut over manual axes, only even tiles agree.
  // Example: over 2 manual and 4 free devices, 10 elements make 8 tiles of 2 outside, the last three of them
  // empty. Inside, each of the two halves of 5 elements makes 4 tiles of 2.
  AxisList Matching(const Mesh& mesh, int dim, int64_t local_size, const AxisList& free) const;

  // The shardings of the buffer inside and outside the region if the plan gives the local tensor the sharding
  // `planned`. `manual_outside`: the axes that are manual outside as well (of an enclosing region).
  struct Sides {
    Sharding local, global;
  };
  Sides SidesOf(const FlowGraph& graph, const Mesh& mesh, const Sharding& planned,
                AxisSet manual_outside) const;
};

// The crossing values of all boundaries, in the order of instructions.
std::vector<CrossingValue> CrossingValues(const FlowGraph& graph, const Annotations& annotations);

// The crossing values of one boundary, in the order of its operands and results.
std::vector<CrossingValue> CrossingValues(const FlowGraph& graph, const Instruction& instruction,
                                          const ManualBoundary& boundary);

}  // namespace toroid
