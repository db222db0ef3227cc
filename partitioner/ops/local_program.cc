#include "partitioner/ops/local_program.h"

#include "hlo/ir/edit.h"
#include "partitioner/spmd/reducer.h"

namespace toroid {

Shape OpContext::ResultShape(int i) const {
  const Shape& global = op->shape().IsTuple() ? op->shape().tuple_shape(i) : op->shape();
  return b->ShardShape(global, results[i]);
}

Shape OpContext::LocalShape() const {
  if (!op->shape().IsTuple()) return ResultShape();
  std::vector<Shape> shapes;
  for (size_t i = 0; i < results.size(); ++i) shapes.push_back(ResultShape(static_cast<int>(i)));
  return Shape::Tuple(shapes);
}

std::vector<Instruction*> OpContext::CloneLocal(const xla::HloInstructionProto* attrs) const {
  Instruction* clone = b->Clone(*op, LocalShape(), operands);
  if (attrs != nullptr) clone->set_attrs(attrs);
  b->CopyCalled(clone);
  return b->Flatten(clone);
}

std::vector<Instruction*> OpContext::CopyInto(const Computation& from,
                                              absl::Span<Instruction* const> arguments,
                                              Computation* to) const {
  std::vector<Instruction*> copies = CloneInstructions(from, arguments, to);
  for (Instruction* copy : copies) b->CopyCalled(copy);
  return copies;
}

void OpContext::MaskReductions(int i, absl::FunctionRef<Instruction*(PrimitiveType type)> fill) {
  const TensorFactors& tensor = rule->operands[i];
  Instruction*& operand = operands[i];
  for (int d = 0; d < static_cast<int>(tensor.size()); ++d) {
    if (tensor[d].size != 1 || !IsCut(i, d)) continue;
    if (KindOf(i, d) != FactorKind::kReduction) continue;
    operand =
        b->MaskPadding(operand, d, GlobalDim(i, d), AxesOf(i, d), fill(operand->shape().element_type()));
  }
}

std::vector<Instruction*> PartitionByRule(OpContext& context) {
  for (int i = 0; i < static_cast<int>(context.operands.size()); ++i) {
    context.MaskReductions(i, [&](PrimitiveType type) {
      return context.b->Constant(NeutralElement(context.rule->reducer, type));
    });
  }
  return context.CloneLocal();
}

}  // namespace toroid
