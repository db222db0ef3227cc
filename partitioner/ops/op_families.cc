#include "partitioner/ops/op_families.h"

#include "partitioner/ops/op_functions.h"

namespace toroid {
namespace {

// One row per family: rule, local program, reads of tiles, sources. A family of hlo/opcode.inc
// without a row is a compile error that names the family.
namespace families {

// Families whose local program is the op itself on local shapes.
constexpr OpFamily kUnary = {UnaryShardingRule};
constexpr OpFamily kBinary = {BinaryShardingRule};
constexpr OpFamily kCompare = {ElementwiseShardingRule};
constexpr OpFamily kSelect = {SelectShardingRule};
constexpr OpFamily kClamp = {ElementwiseShardingRule};
constexpr OpFamily kConvert = {ConvertShardingRule};
constexpr OpFamily kMap = {ElementwiseShardingRule};
constexpr OpFamily kIdentity = {IdentityShardingRule};
constexpr OpFamily kAddDependency = {AddDependencyShardingRule};
constexpr OpFamily kConstant = {ConstantShardingRule};
constexpr OpFamily kBroadcast = {BroadcastShardingRule};
constexpr OpFamily kTranspose = {TransposeShardingRule};
constexpr OpFamily kBitcastConvert = {BitcastConvertShardingRule};
constexpr OpFamily kDot = {DotShardingRule};
constexpr OpFamily kAllReduce = {CollectiveShardingRule};
constexpr OpFamily kAllGather = {CollectiveShardingRule};
constexpr OpFamily kReduceScatter = {CollectiveShardingRule};
constexpr OpFamily kAllToAll = {AllToAllShardingRule};
constexpr OpFamily kCollectivePermute = {CollectivePermuteShardingRule};
constexpr OpFamily kCollectiveBroadcast = {CollectivePermuteShardingRule};

// Families with a local program of their own that fetches no rows.
constexpr OpFamily kIota = {IotaShardingRule, PartitionIota};
constexpr OpFamily kDynamicSlice = {DynamicSliceShardingRule, PartitionDynamicSlice};
constexpr OpFamily kGather = {GatherShardingRule, PartitionGather};
constexpr OpFamily kScatter = {ScatterShardingRule, PartitionScatter};
constexpr OpFamily kReduce = {ReduceShardingRule, PartitionReduce};
constexpr OpFamily kRaggedDot = {RaggedDotShardingRule, PartitionRaggedDot};
constexpr OpFamily kScaledDot = {ScaledDotShardingRule, PartitionScaledDot};
constexpr OpFamily kRngBitGenerator = {RngBitGeneratorShardingRule, PartitionRngBitGenerator};

// Families whose local program combines the results of all tiles.
constexpr OpFamily kSort = {SortShardingRule, PartitionSort};
constexpr OpFamily kTopK = {TopKShardingRule, PartitionTopK};
constexpr OpFamily kCustomCall = {CustomCallShardingRule, PartitionCustomCall};

// Families whose local program exchanges whole tiles.
constexpr OpFamily kFft = {FftShardingRule, PartitionFft};
constexpr OpFamily kCholesky = {CholeskyShardingRule, PartitionCholesky};
constexpr OpFamily kTriangularSolve = {TriangularSolveShardingRule, PartitionTriangularSolve};

// Families whose local program fetches rows of other tiles.
constexpr OpFamily kReshape = {ReshapeShardingRule, PartitionReshape, ReadsOfReshape};
constexpr OpFamily kSlice = {SliceShardingRule, PartitionSlice, ReadsOfSlice};
constexpr OpFamily kPad = {PadShardingRule, PartitionPad, ReadsOfPad, PadSource};
constexpr OpFamily kConcatenate = {ConcatenateShardingRule, PartitionConcatenate, ReadsOfConcatenate,
                                   ConcatenateSource};
constexpr OpFamily kDynamicUpdateSlice = {DynamicUpdateSliceShardingRule, PartitionDynamicUpdateSlice,
                                          ReadsOfDynamicUpdateSlice};
constexpr OpFamily kConvolution = {ConvolutionShardingRule, PartitionConvolution, ReadsOfConvolution};
constexpr OpFamily kReverse = {ReverseShardingRule, PartitionReverse, ReadsOfReverse};
constexpr OpFamily kReduceWindow = {ReduceWindowShardingRule, PartitionReduceWindow, ReadsOfReduceWindow};
constexpr OpFamily kSelectAndScatter = {SelectAndScatterShardingRule, PartitionSelectAndScatter,
                                        ReadsOfSelectAndScatter};

// Families whose ops run on replicated arrays, or that the partitioner handles as data flow.
constexpr OpFamily kBitcast = {OpaqueRule};
constexpr OpFamily kTuple = {OpaqueRule};
constexpr OpFamily kGetTupleElement = {OpaqueRule};
constexpr OpFamily kParameter = {OpaqueRule};
constexpr OpFamily kScan = {OpaqueRule};
constexpr OpFamily kBatchNormTraining = {OpaqueRule};
constexpr OpFamily kBatchNormInference = {OpaqueRule};
constexpr OpFamily kBatchNormGrad = {OpaqueRule};
constexpr OpFamily kRng = {OpaqueRule};
constexpr OpFamily kRngGetAndUpdateState = {OpaqueRule};
constexpr OpFamily kCall = {OpaqueRule};
constexpr OpFamily kFusion = {OpaqueRule};
constexpr OpFamily kWhile = {OpaqueRule};
constexpr OpFamily kConditional = {OpaqueRule};
constexpr OpFamily kAfterAll = {OpaqueRule};
constexpr OpFamily kDeviceId = {OpaqueRule};
constexpr OpFamily kRaggedAllToAll = {OpaqueRule};
constexpr OpFamily kInfeed = {OpaqueRule};
constexpr OpFamily kOutfeed = {OpaqueRule};
constexpr OpFamily kSend = {OpaqueRule};
constexpr OpFamily kSendDone = {OpaqueRule};
constexpr OpFamily kRecv = {OpaqueRule};
constexpr OpFamily kRecvDone = {OpaqueRule};
constexpr OpFamily kCopyStart = {OpaqueRule};
constexpr OpFamily kCopyDone = {OpaqueRule};
constexpr OpFamily kAllReduceStart = {OpaqueRule};
constexpr OpFamily kAllReduceDone = {OpaqueRule};
constexpr OpFamily kAllGatherStart = {OpaqueRule};
constexpr OpFamily kAllGatherDone = {OpaqueRule};
constexpr OpFamily kCollectivePermuteStart = {OpaqueRule};
constexpr OpFamily kCollectivePermuteDone = {OpaqueRule};
constexpr OpFamily kAsyncStart = {OpaqueRule};
constexpr OpFamily kAsyncUpdate = {OpaqueRule};
constexpr OpFamily kAsyncDone = {OpaqueRule};
constexpr OpFamily kGetDimensionSize = {OpaqueRule};
constexpr OpFamily kSetDimensionSize = {OpaqueRule};
constexpr OpFamily kDynamicReshape = {OpaqueRule};
constexpr OpFamily kUnknown = {OpaqueRule};

}  // namespace families

}  // namespace

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

}  // namespace toroid
