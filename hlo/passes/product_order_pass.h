// Swaps the operands of a dot whose result is transposed, so that the transpose goes.
//
// The result of a dot has the batch dimensions, then the free dimensions of the first operand, then those of
// the second. The pass swaps the operands if the dot's only user is a transpose, and the swapped dot yields
// the order of the transpose:
// Before: d = f32[8,1024,32] dot(x, y), lhs_batch_dims={0}, ..     x has 1024, y has 32
//         t = f32[8,32,1024] transpose(d), dimensions={0,2,1}
// After:  t = f32[8,32,1024] dot(y, x), lhs_batch_dims={0}, ..
// Unit dimensions may differ in place: a reshape of the product then moves them. Authors of einsums transpose
// the result instead of ordering the operands. Compilers keep such a transpose, or the layout it implies, in
// all ops that follow. The sums stay the same, term by term.
#pragma once

#include <memory>

#include "hlo/passes/pass.h"

namespace toroid {

class ProductOrderPass : public Pass {
 public:
  absl::string_view name() const override { return "product_order"; }
  absl::StatusOr<bool> Run(std::unique_ptr<Module>* module) override;
};

}  // namespace toroid
