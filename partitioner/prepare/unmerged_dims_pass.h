// Computes on arrays whose dimensions a reshape merges as if they were not merged.
//
//   y = reshape(x), [.., a, b] to [.., a b];  f(y, broadcast(m))  =>  f(x, broadcast(m))
//   reduce(y, the merged dimension)                               =>  reduce(x, both dimensions)
//   dot(y, w) that contracts the merged dimension                 =>  dot(x, reshape(w)), over both
//   reshape(f(y)) back to [.., a, b]                              =>  f(x)
//
// An op that needs the merged dimension reads the reshape. A cut along b is no cut of the merged dimension,
// so that merging gathers x. Elementwise ops, sums and contractions do not depend on the order of elements,
// so they need not merge.
// Example: group norm of f32[2,12,64,8], columns cut over 8 devices, takes means over its reshape
// f32[2,768,2,4]. After the pass only partial sums of 4 values are reduced. Without it 32 kB are gathered,
// and every device computes all that follows.
#pragma once

#include <memory>

#include "hlo/passes/pass.h"

namespace toroid {

class UnmergedDimsPass : public Pass {
 public:
  absl::string_view name() const override { return "unmerged_dims"; }
  absl::StatusOr<bool> Run(std::unique_ptr<Module>* module) override;
};

}  // namespace toroid
