// Puts all-reduces that can run at once into one of several arrays.
//
//   a = all-reduce(x), b = all-reduce(y)  => (a, b) = all-reduce(x, y)
// Combined are those of equal groups, reducer, attributes and element type, neither of which waits for the other: those
// with as many all-reduces on the longest way before them. In program order, up to 120 MiB in one (docs/machine_model.md).
// Source: XLA's all_reduce_combiner.
#ifndef TOROID_SIMULATOR_LOWERING_ALL_REDUCE_COMBINER_PASS_H_
#define TOROID_SIMULATOR_LOWERING_ALL_REDUCE_COMBINER_PASS_H_

#include <memory>

#include "hlo/passes/pass.h"

namespace toroid {

class AllReduceCombinerPass : public Pass {
 public:
  absl::string_view name() const override { return "all_reduce_combiner"; }
  absl::StatusOr<bool> Run(std::unique_ptr<Module>* module) override;
};

}  // namespace toroid

#endif  // TOROID_SIMULATOR_LOWERING_ALL_REDUCE_COMBINER_PASS_H_
