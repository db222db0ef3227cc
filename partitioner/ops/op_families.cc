#include "partitioner/ops/op_families.h"

namespace toroid {
namespace families {

// Families whose ops run on replicated arrays, or that the partitioner handles as data flow. Each other family is defined in the
// file of its functions; one that is not defined is an error of the linker that names it.
constexpr OpFamily kOpaque = {OpaqueRule};
const OpFamily kBitcast = kOpaque, kTuple = kOpaque, kGetTupleElement = kOpaque, kParameter = kOpaque,
               kScan = kOpaque, kBatchNormTraining = kOpaque, kBatchNormInference = kOpaque,
               kBatchNormGrad = kOpaque, kRng = kOpaque, kRngGetAndUpdateState = kOpaque, kCall = kOpaque,
               kFusion = kOpaque, kWhile = kOpaque, kConditional = kOpaque, kAfterAll = kOpaque,
               kDeviceId = kOpaque, kRaggedAllToAll = kOpaque, kInfeed = kOpaque, kOutfeed = kOpaque,
               kSend = kOpaque, kSendDone = kOpaque, kRecv = kOpaque, kRecvDone = kOpaque,
               kCopyStart = kOpaque, kCopyDone = kOpaque, kAllReduceStart = kOpaque, kAllReduceDone = kOpaque,
               kAllGatherStart = kOpaque, kAllGatherDone = kOpaque, kCollectivePermuteStart = kOpaque,
               kCollectivePermuteDone = kOpaque, kAsyncStart = kOpaque, kAsyncUpdate = kOpaque,
               kAsyncDone = kOpaque, kGetDimensionSize = kOpaque, kSetDimensionSize = kOpaque,
               kDynamicReshape = kOpaque, kUnknown = kOpaque;

}  // namespace families

const OpFamily& FamilyOf(Opcode opcode) {
  switch (opcode) {
#define HLO_OP(enumerator, name, arity, family, attributes, traits) \
  case Opcode::enumerator:                                          \
    return families::k##family;
#include "hlo/opcode.inc"
#undef HLO_OP
    case Opcode::kUnknown:
      break;
  }
  return families::kUnknown;
}

const Instruction& SourceOf(const Instruction& op, int k) {
  const auto source = FamilyOf(op.opcode()).source;
  return source == nullptr ? *op.operand(k) : source(op, k);
}

ShardingRule ShardingRuleOf(const Instruction& instruction) {
  ShardingRule rule = FamilyOf(instruction.opcode()).rule(instruction);
  rule.MarkComposites();
  return rule;
}

absl::StatusOr<std::vector<Instruction*>> LocalProgram(OpContext& context) {
  // An empty result needs no halo, and no index arithmetic on sizes of zero.
  if (context.op->shape().IsArray() && context.op->shape().NumElements() == 0) {
    const Shape local = context.ResultShape();
    return std::vector<Instruction*>{
        context.b->Broadcast(context.b->Zero(local.element_type()), local.dims())};
  }
  const auto program = FamilyOf(context.op->opcode()).program;
  return program == nullptr ? PartitionByRule(context) : program(context);
}

bool CanCutLocally(const Instruction& op, FactorKind kind) {
  switch (kind) {
    case FactorKind::kPassThrough:
    case FactorKind::kReduction:
      return true;
    case FactorKind::kPermuting:
    case FactorKind::kExchanged:
    case FactorKind::kIndexed:
      return FamilyOf(op.opcode()).program != nullptr;
    case FactorKind::kNeedsReplication:
    case FactorKind::kBlocked:
      return false;
  }
  return false;
}

}  // namespace toroid
