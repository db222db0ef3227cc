// Gradients of collectives and of the borders of manual regions, where a program is written for each device.
//
// The scalar depends on what each device holds; a device's cotangent is that of its own copy. Transposes:
//   all-reduce (add)    all-reduce (add)        the copy of each member goes into all results
//   all-gather          reduce-scatter (add)    and the other way round
//   all-to-all          all-to-all
//   collective-permute  the same with sources and targets exchanged
//   into a region       out of it, after an all-reduce over the devices that were given the same part
//   out of a region     into it, divided by the number of devices that hold the same part
// so that replicated values have one cotangent in all, as in jax.shard_map.
// Example: w replicated over 4 devices into a region: its cotangent is the sum of the 4 of its copies.
#ifndef TOROID_HLO_GRADIENT_COLLECTIVES_H_
#define TOROID_HLO_GRADIENT_COLLECTIVES_H_

#include "hlo/gradient/pullback.h"

namespace toroid {

// Errors: kUnimplemented for reductions by anything but addition.
absl::Status AllReduceGradient(Pullback& p);
absl::Status AllGatherGradient(Pullback& p);
absl::Status ReduceScatterGradient(Pullback& p);
absl::Status AllToAllGradient(Pullback& p);
absl::Status CollectivePermuteGradient(Pullback& p);

// Custom calls SPMDFullToShardShape and SPMDShardToFullShape.
// Errors: kUnimplemented for regions that are manual along some axes only.
absl::Status IntoRegionGradient(Pullback& p);
absl::Status OutOfRegionGradient(Pullback& p);

}  // namespace toroid

#endif  // TOROID_HLO_GRADIENT_COLLECTIVES_H_
