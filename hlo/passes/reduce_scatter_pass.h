// Turns an all-reduce into a reduce-scatter if every device uses only its own part of the result. A
// reduce-scatter sends half as much.
//
// Before: a = f32[8,4] all-reduce(x), replica_groups={{0,1},{2,3}}, ...
//         b = f32[4,4] dynamic-slice(a, i, zero), dynamic_slice_sizes={4,4}
//         where i is 4 times the device's place in its group
// After:  b = f32[4,4] reduce-scatter(x), dimensions={0}, replica_groups={{0,1},{2,3}}, ...
// The partitioner already plans its own reshardings as reduce-scatters; this pass is for collectives written
// by the program's author. The slice's start must be computed from the device's number by integer arithmetic
// and look-ups in constant tables; the pass evaluates it for every device. If the parts are in another order
// than the members of a group, the members are reordered.
// Source: XLA's reduce_scatter_creator.
#pragma once

#include <memory>

#include "hlo/passes/pass.h"

namespace toroid {

class ReduceScatterPass : public Pass {
 public:
  absl::string_view name() const override { return "reduce_scatter"; }
  absl::StatusOr<bool> Run(std::unique_ptr<Module>* module) override;
};

}  // namespace toroid
