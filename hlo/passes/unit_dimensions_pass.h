// Carries arrays without their dimensions of one element.
//
// Before: d = f32[1,4,512,64] dot(x, y), lhs_batch_dims={0}, ..      x f32[1,4,512,32], y f32[1,32,64]
//         s = f32[1,4,512,64] add(d, b)
// After:  d = f32[4,512,64] dot(x', y'), ..                          x' f32[4,512,32] reshape(x), y' f32[32,64] reshape(y)
//         s = f32[4,512,64] add(d, b')
// A dimension that is split into as many parts as it has elements leaves one element to each device, and so do the sums over
// all but one dimension of a network's layers. Arrays keep such dimensions where others see them: parameters, results of the
// computation, and ops that squeeze_op.h does not know (sorts, convolutions, exchanges of pieces, custom calls, control flow). A
// reshape stands between the two, which moves nothing. Ops that have a sharding, or wait for others than their operands, stay.
// Compilers drop such dimensions too, but op by op, each with reshapes around it, and copy what is added or multiplied on
// both sides of a reshape.
#ifndef TOROID_HLO_PASSES_UNIT_DIMENSIONS_PASS_H_
#define TOROID_HLO_PASSES_UNIT_DIMENSIONS_PASS_H_

#include <memory>

#include "hlo/passes/pass.h"

namespace toroid {

class UnitDimensionsPass : public Pass {
 public:
  absl::string_view name() const override { return "unit_dimensions"; }
  absl::StatusOr<bool> Run(std::unique_ptr<Module>* module) override;
};

}  // namespace toroid

#endif  // TOROID_HLO_PASSES_UNIT_DIMENSIONS_PASS_H_
