// Gradients of collectives, and of the boundaries of manual regions. In a manual region the program is written
// for one device.
//
// The scalar depends on the value of each device, and a device's cotangent is that of its own copy.
// Transposes:
//   all-reduce (add)    all-reduce (add)        each member's copy contributes to all results
//   all-gather          reduce-scatter (add)    and vice versa
//   all-to-all          all-to-all
//   collective-permute  the same with sources and targets swapped
//   into a region       out of it, after an all-reduce over the devices that got the same part
//   out of a region     into it, divided by the number of devices that hold the same part
// The copies of a replicated value thus share one cotangent, as in jax.shard_map.
// Example: w enters a region, replicated over 4 devices: its cotangent is the sum of the cotangents of its 4
// copies.
#pragma once

#include "hlo/gradient/sweep/pullback.h"

namespace toroid {

// Errors: kUnimplemented for reductions by anything but addition.
absl::Status AllReduceGradient(Pullback& p);
absl::Status AllGatherGradient(Pullback& p);
absl::Status ReduceScatterGradient(Pullback& p);
absl::Status AllToAllGradient(Pullback& p);
absl::Status CollectivePermuteGradient(Pullback& p);

// Custom calls SPMDFullToShardShape and SPMDShardToFullShape.
// Errors: kUnimplemented for regions that are manual only along some axes.
absl::Status IntoRegionGradient(Pullback& p);
absl::Status OutOfRegionGradient(Pullback& p);

}  // namespace toroid
