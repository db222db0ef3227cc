#include "partitioner/ops/local_program.h"

#include "partitioner/spmd/reducer.h"

namespace toroid {

Shape OpContext::ResultShape(int i) const {
  const Shape& global = op->shape().IsTuple() ? op->shape().tuple_shape(i) : op->shape();
  return b->ShardShape(global, results[i]);
}

std::vector<Instruction*> OpContext::CloneLocal(const xla::HloInstructionProto* attrs) const {
  std::vector<Shape> shapes;
  for (size_t i = 0; i < results.size(); ++i) shapes.push_back(ResultShape(static_cast<int>(i)));
  const bool tuple = op->shape().IsTuple();
  Instruction* clone = b->Clone(*op, tuple ? Shape::Tuple(shapes) : shapes[0], operands);
  if (attrs != nullptr) clone->set_attrs(attrs);
  if (!op->called().empty()) {
    std::vector<Computation*> called;
    for (const Computation* computation : op->called()) called.push_back(copy_computation(computation));
    clone->set_called(called);
  }
  return b->Flatten(clone);
}

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
