// Turns an all-reduce of which every device reads its own part alone into a reduce-scatter, which sends half as much.
//
// Before: a = f32[8,4] all-reduce(x), replica_groups={{0,1},{2,3}}, ...
//         b = f32[4,4] dynamic-slice(a, i, zero), dynamic_slice_sizes={4,4}      i: 4 times the device's place in its group
// After:  b = f32[4,4] reduce-scatter(x), dimensions={0}, replica_groups={{0,1},{2,3}}, ...
// The partitioner's own reshardings plan such steps as one; this is for collectives that stand in the program as its author
// wrote them. The start must follow from the device's number by integer arithmetic and look-ups in constant tables, which
// is evaluated for every device. Groups stand in another order where parts do.
// Source: XLA's reduce_scatter_creator.
#ifndef TOROID_HLO_PASSES_REDUCE_SCATTER_PASS_H_
#define TOROID_HLO_PASSES_REDUCE_SCATTER_PASS_H_

#include <memory>

#include "hlo/passes/pass.h"

namespace toroid {

class ReduceScatterPass : public Pass {
 public:
  absl::string_view name() const override { return "reduce_scatter"; }
  absl::StatusOr<bool> Run(std::unique_ptr<Module>* module) override;
};

}  // namespace toroid

#endif  // TOROID_HLO_PASSES_REDUCE_SCATTER_PASS_H_
