#include "partitioner/ops/rules.h"

namespace toroid {

// Families whose ops run on whole arrays, or that the partitioner handles as data flow.
#define TOROID_FOR_EACH_OPAQUE_FAMILY(F)                                                                \
  F(Bitcast)                                                                                            \
  F(Tuple)                                                                                              \
  F(GetTupleElement) F(Parameter) F(RaggedDot) F(ScaledDot) F(Scan) F(BatchNormTraining)                \
      F(BatchNormInference) F(BatchNormGrad) F(Rng) F(RngGetAndUpdateState) F(RngBitGenerator) F(Call)  \
          F(Fusion) F(While) F(Conditional) F(AfterAll) F(DeviceId) F(RaggedAllToAll)  \
              F(Infeed) F(Outfeed) F(Send) F(SendDone) F(Recv) F(RecvDone)       \
                  F(CopyStart) F(CopyDone) F(AllReduceStart) F(AllReduceDone) F(AllGatherStart)         \
                      F(AllGatherDone) F(CollectivePermuteStart) F(CollectivePermuteDone) F(AsyncStart) \
                          F(AsyncUpdate) F(AsyncDone) F(GetDimensionSize) F(SetDimensionSize)           \
                              F(DynamicReshape)
#define TOROID_OPAQUE(family) \
  ShardingRule family##ShardingRule(const Instruction& instruction) { return OpaqueRule(instruction); }
TOROID_FOR_EACH_OPAQUE_FAMILY(TOROID_OPAQUE)
#undef TOROID_OPAQUE

namespace {

void AddLeaves(const Shape& shape, ShardingRule* rule) {
  if (!shape.IsTuple()) {
    rule->results.emplace_back(TensorFactors(shape.rank()));
    return;
  }
  for (const Shape& element : shape.tuple_shapes()) AddLeaves(element, rule);
}

ShardingRule Dispatch(const Instruction& instruction) {
  switch (instruction.opcode()) {
#define HLO_OP(enumerator, name, arity, family, attributes, traits) \
  case Opcode::enumerator:                                  \
    return family##ShardingRule(instruction);
#include "hlo/opcode.inc"
#undef HLO_OP
    case Opcode::kUnknown:
      break;
  }
  return OpaqueRule(instruction);
}

}  // namespace

ShardingRule OpaqueRule(const Instruction& instruction) {
  ShardingRule rule;
  for (const Instruction* operand : instruction.operands()) {
    rule.operands.emplace_back(TensorFactors(operand->shape().rank()));
  }
  AddLeaves(instruction.shape(), &rule);
  return rule;
}

ShardingRule ShardingRuleOf(const Instruction& instruction) {
  ShardingRule rule = Dispatch(instruction);
  rule.MarkComposites();
  return rule;
}

}  // namespace toroid
