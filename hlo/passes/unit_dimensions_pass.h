// Removes unit dimensions (dimensions of one element) from the arrays inside a computation.
//
// Before: d = f32[1,4,512,64] dot(x, y), lhs_batch_dims={0}, ..      x f32[1,4,512,32], y f32[1,32,64]
//         s = f32[1,4,512,64] add(d, b)
// After:  d = f32[4,512,64] dot(x', y'), ..                          x' f32[4,512,32] reshape(x)
//         s = f32[4,512,64] add(d, b')                               y' f32[32,64] reshape(y)
// Unit dimensions arise where a dimension is split into as many shards as it has elements, and in the
// reductions of a network's layers. Parameters, results of the computation, and ops that squeeze_op.h does
// not know (sorts, convolutions, all-to-all, custom calls, control flow) keep their unit dimensions; a
// reshape, which moves nothing, connects both forms. Ops with a sharding or with control predecessors stay.
// Compilers also drop unit dimensions, but op by op, with reshapes around each op, and they then copy values
// that elementwise ops use on both sides of such a reshape.
#pragma once

#include <memory>

#include "hlo/passes/pass.h"

namespace toroid {

class UnitDimensionsPass : public Pass {
 public:
  absl::string_view name() const override { return "unit_dimensions"; }
  absl::StatusOr<bool> Run(std::unique_ptr<Module>* module) override;
};

}  // namespace toroid
