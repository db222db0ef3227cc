// Local programs of contractions: padding of a cut contracting dimension is zeroed in both operands, since
// 0 x NaN is NaN.
#include "hlo/base/math.h"
#include "hlo/base/status.h"
#include "partitioner/ops/local_program.h"

namespace toroid {

absl::StatusOr<std::vector<Instruction*>> PartitionDot(OpContext& context) {
  const auto& numbers = context.op->attrs().dot_dimension_numbers();
  SpmdBuilder& b = *context.b;
  for (int i = 0; i < numbers.lhs_contracting_dimensions_size(); ++i) {
    for (int side = 0; side < 2; ++side) {
      const int d = static_cast<int>(side == 0 ? numbers.lhs_contracting_dimensions(i)
                                               : numbers.rhs_contracting_dimensions(i));
      Instruction*& operand = context.operands[side];
      if (!context.IsCut(side, d)) continue;
      operand = b.MaskPadding(operand, d, context.GlobalDim(side, d), context.AxesOf(side, d),
                              b.Zero(operand->shape().element_type()));
    }
  }
  return context.CloneLocal();
}

}  // namespace toroid
