// The local program of contractions, and of every op that needs no other.
#include "hlo/base/math.h"
#include "hlo/base/status.h"
#include "partitioner/ops/local_program.h"
#include "partitioner/spmd/reducer.h"

namespace toroid {

absl::StatusOr<std::vector<Instruction*>> PartitionByRule(OpContext& context) {
  SpmdBuilder& b = *context.b;
  for (int i = 0; i < static_cast<int>(context.operands.size()); ++i) {
    const TensorFactors& tensor = context.rule->operands[i];
    Instruction*& operand = context.operands[i];
    for (int d = 0; d < static_cast<int>(tensor.size()); ++d) {
      if (tensor[d].size != 1 || !context.IsCut(i, d)) continue;
      if (context.rule->factors[tensor[d].factor[0]].kind != FactorKind::kReduction) continue;
      const PrimitiveType type = operand->shape().element_type();
      operand = b.MaskPadding(operand, d, context.GlobalDim(i, d), context.AxesOf(i, d),
                              b.Constant(NeutralElement(context.rule->reducer, type)));
    }
  }
  return context.CloneLocal();
}

}  // namespace toroid
