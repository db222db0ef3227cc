#include "partitioner/ops/op_families.h"

namespace toroid {
namespace {

constexpr OpFamily kOpaque = {OpaqueRule};

}  // namespace

// Families whose ops run on replicated arrays, or that the partitioner handles as data flow.
const OpFamily families::kBitcast = kOpaque;
const OpFamily families::kTuple = kOpaque;
const OpFamily families::kGetTupleElement = kOpaque;
const OpFamily families::kParameter = kOpaque;
const OpFamily families::kScan = kOpaque;
const OpFamily families::kBatchNormTraining = kOpaque;
const OpFamily families::kBatchNormInference = kOpaque;
const OpFamily families::kBatchNormGrad = kOpaque;
const OpFamily families::kRng = kOpaque;
const OpFamily families::kRngGetAndUpdateState = kOpaque;
const OpFamily families::kCall = kOpaque;
const OpFamily families::kFusion = kOpaque;
const OpFamily families::kWhile = kOpaque;
const OpFamily families::kConditional = kOpaque;
const OpFamily families::kAfterAll = kOpaque;
const OpFamily families::kDeviceId = kOpaque;
const OpFamily families::kRaggedAllToAll = kOpaque;
const OpFamily families::kInfeed = kOpaque;
const OpFamily families::kOutfeed = kOpaque;
const OpFamily families::kSend = kOpaque;
const OpFamily families::kSendDone = kOpaque;
const OpFamily families::kRecv = kOpaque;
const OpFamily families::kRecvDone = kOpaque;
const OpFamily families::kCopyStart = kOpaque;
const OpFamily families::kCopyDone = kOpaque;
const OpFamily families::kAllReduceStart = kOpaque;
const OpFamily families::kAllReduceDone = kOpaque;
const OpFamily families::kAllGatherStart = kOpaque;
const OpFamily families::kAllGatherDone = kOpaque;
const OpFamily families::kCollectivePermuteStart = kOpaque;
const OpFamily families::kCollectivePermuteDone = kOpaque;
const OpFamily families::kAsyncStart = kOpaque;
const OpFamily families::kAsyncUpdate = kOpaque;
const OpFamily families::kAsyncDone = kOpaque;
const OpFamily families::kGetDimensionSize = kOpaque;
const OpFamily families::kSetDimensionSize = kOpaque;
const OpFamily families::kDynamicReshape = kOpaque;

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
  return kOpaque;
}

const Instruction& SourceOf(const Instruction& op, int k) {
  const auto source = FamilyOf(op.opcode()).source;
  return source == nullptr ? *op.operand(k) : source(op, k);
}

ShardingRule ShardingRuleOf(const Instruction& op) {
  ShardingRule rule = FamilyOf(op.opcode()).rule(op);
  rule.MarkComposites();
  return rule;
}

std::vector<Instruction*> LocalProgram(OpContext& context) {
  // An empty result needs no halo, and no index arithmetic on sizes of zero.
  if (context.op->shape().IsArray() && context.op->shape().NumElements() == 0) {
    const Shape local = context.ResultShape();
    return {context.b->Broadcast(context.b->Zero(local.element_type()), local.dims())};
  }
  const auto program = FamilyOf(context.op->opcode()).program;
  return program == nullptr ? PartitionByRule(context) : program(context);
}

bool CanCutLocally(const Instruction& op, FactorKind kind) {
  if (kind == FactorKind::kPassThrough || kind == FactorKind::kReduction) return true;
  if (kind == FactorKind::kNeedsReplication || kind == FactorKind::kBlocked) return false;
  return FamilyOf(op.opcode()).program != nullptr;
}

bool CanTakeParts(const Instruction& op, const ShardingRule& rule, size_t operand) {
  for (const DimFactors& dim : rule.operands[operand]) {
    if (dim.size == 0) return false;
    for (int i = 0; i < dim.size; ++i) {
      if (!CanCutLocally(op, rule.factors[dim.factor[i]].kind)) return false;
    }
  }
  return true;
}

}  // namespace toroid
