#include "partitioner/ops/local_program.h"

#include "hlo/base/status.h"

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

absl::StatusOr<std::vector<Instruction*>> LocalProgram(OpContext& context) {
  // Nothing to compute: no halo, no index arithmetic on sizes of zero.
  if (context.op->shape().IsArray() && context.op->shape().NumElements() == 0) {
    const Shape local = context.ResultShape();
    return std::vector<Instruction*>{
        context.b->Broadcast(context.b->Zero(local.element_type()), local.dims())};
  }
  switch (context.op->opcode()) {
    case Opcode::kIota:
      return PartitionIota(context);
    case Opcode::kSlice:
      return PartitionSlice(context);
    case Opcode::kPad:
      return PartitionPad(context);
    case Opcode::kReverse:
      return PartitionReverse(context);
    case Opcode::kConcatenate:
      return PartitionConcatenate(context);
    case Opcode::kDynamicSlice:
      return PartitionDynamicSlice(context);
    case Opcode::kDynamicUpdateSlice:
      return PartitionDynamicUpdateSlice(context);
    case Opcode::kGather:
      return PartitionGather(context);
    case Opcode::kScatter:
      return PartitionScatter(context);
    case Opcode::kConvolution:
      return PartitionConvolution(context);
    case Opcode::kReduce:
      return PartitionReduce(context);
    case Opcode::kReduceWindow:
      return PartitionReduceWindow(context);
    case Opcode::kSelectAndScatter:
      return PartitionSelectAndScatter(context);
    case Opcode::kCustomCall:
      return PartitionCustomCall(context);
    default:
      return PartitionByRule(context);
  }
}

bool CanCutLocally(const Instruction& op, FactorKind kind) {
  switch (kind) {
    case FactorKind::kPassThrough:
    case FactorKind::kReduction:
      return true;
    case FactorKind::kPermuting:
      switch (op.opcode()) {
        case Opcode::kSlice:
        case Opcode::kPad:
        case Opcode::kReverse:
        case Opcode::kConcatenate:
        case Opcode::kConvolution:
        case Opcode::kReduceWindow:
        case Opcode::kSelectAndScatter:
          return true;
        default:
          return false;
      }
    case FactorKind::kIndexed:
      switch (op.opcode()) {
        case Opcode::kDynamicSlice:
        case Opcode::kDynamicUpdateSlice:
        case Opcode::kGather:
        case Opcode::kScatter:
          return true;
        default:
          return false;
      }
    case FactorKind::kWhole:
    case FactorKind::kBlocked:
      return false;
  }
  return false;
}

}  // namespace toroid
