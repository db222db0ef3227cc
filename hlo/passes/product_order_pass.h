// Exchanges the sides of products whose result is transposed back.
//
// A dot gives batch dimensions, those of its first operand, those of its second. Where a transpose is all that reads
// it, and the other order of the operands gives what the transpose makes:
// Before: d = f32[8,1024,32] dot(x, y), lhs_batch_dims={0}, ..     x has 1024, y has 32
//         t = f32[8,32,1024] transpose(d), dimensions={0,2,1}
// After:  t = f32[8,32,1024] dot(y, x), lhs_batch_dims={0}, ..
// Dimensions of one element may stand elsewhere: a reshape of the product puts them in place.
// Writers of einsums order operands as they come and transpose the result; compilers keep the transpose, or the layout
// that goes with it, through everything behind it. The sums are those of before, term by term.
#ifndef TOROID_HLO_PASSES_PRODUCT_ORDER_PASS_H_
#define TOROID_HLO_PASSES_PRODUCT_ORDER_PASS_H_

#include <memory>

#include "hlo/passes/pass.h"

namespace toroid {

class ProductOrderPass : public Pass {
 public:
  absl::string_view name() const override { return "product_order"; }
  absl::StatusOr<bool> Run(std::unique_ptr<Module>* module) override;
};

}  // namespace toroid

#endif  // TOROID_HLO_PASSES_PRODUCT_ORDER_PASS_H_
