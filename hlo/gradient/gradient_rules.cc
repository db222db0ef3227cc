#include "hlo/gradient/gradient_rules.h"

#include "absl/strings/str_cat.h"
#include "hlo/analysis/custom_call_targets.h"
#include "hlo/gradient/collectives.h"
#include "hlo/gradient/control_flow.h"
#include "hlo/gradient/convolution.h"
#include "hlo/gradient/data_movement.h"
#include "hlo/gradient/dot.h"
#include "hlo/gradient/elementwise.h"
#include "hlo/gradient/indexing.h"
#include "hlo/gradient/linear_algebra.h"
#include "hlo/gradient/normalization.h"
#include "hlo/gradient/pullback.h"
#include "hlo/gradient/reduce.h"
#include "hlo/gradient/sort.h"
#include "hlo/gradient/windows.h"

namespace toroid {
namespace {

// Null: no gradient.
GradientRule GradientRuleOf(const Instruction& op) {
  switch (op.opcode()) {
    case Opcode::kAbs:
    case Opcode::kNegate:
    case Opcode::kSign:
    case Opcode::kFloor:
    case Opcode::kCeil:
    case Opcode::kRoundNearestAfz:
    case Opcode::kRoundNearestEven:
    case Opcode::kExp:
    case Opcode::kExpm1:
    case Opcode::kLog:
    case Opcode::kLog1p:
    case Opcode::kSqrt:
    case Opcode::kRsqrt:
    case Opcode::kCbrt:
    case Opcode::kLogistic:
    case Opcode::kSin:
    case Opcode::kCos:
    case Opcode::kTan:
    case Opcode::kSinh:
    case Opcode::kCosh:
    case Opcode::kTanh:
    case Opcode::kAsin:
    case Opcode::kAcos:
    case Opcode::kAsinh:
    case Opcode::kAcosh:
    case Opcode::kAtanh:
    case Opcode::kErf:
    case Opcode::kReal:
    case Opcode::kImag:
    case Opcode::kReducePrecision:
      return UnaryGradient;
    case Opcode::kAdd:
    case Opcode::kSubtract:
    case Opcode::kMultiply:
    case Opcode::kDivide:
    case Opcode::kRemainder:
    case Opcode::kPower:
    case Opcode::kMaximum:
    case Opcode::kMinimum:
    case Opcode::kAtan2:
    case Opcode::kComplex:
      return BinaryGradient;
    case Opcode::kSelect:
      return SelectGradient;
    case Opcode::kClamp:
      return ClampGradient;
    case Opcode::kConvert:
    case Opcode::kStochasticConvert:
      return ConvertGradient;
    case Opcode::kBroadcast:
      return BroadcastGradient;
    case Opcode::kReshape:
      return ReshapeGradient;
    case Opcode::kTranspose:
      return TransposeGradient;
    case Opcode::kReverse:
      return ReverseGradient;
    case Opcode::kConcatenate:
      return ConcatenateGradient;
    case Opcode::kSlice:
      return SliceGradient;
    case Opcode::kPad:
      return PadGradient;
    case Opcode::kTuple:
      return TupleGradient;
    case Opcode::kGetTupleElement:
      return GetTupleElementGradient;
    case Opcode::kDynamicSlice:
      return DynamicSliceGradient;
    case Opcode::kDynamicUpdateSlice:
      return DynamicUpdateSliceGradient;
    case Opcode::kGather:
      return GatherGradient;
    case Opcode::kScatter:
      return ScatterGradient;
    case Opcode::kDot:
      return DotGradient;
    case Opcode::kRaggedDot:
      return RaggedDotGradient;
    case Opcode::kScaledDot:
      return ScaledDotGradient;
    case Opcode::kConvolution:
      return ConvolutionGradient;
    case Opcode::kReduce:
      return ReduceGradient;
    case Opcode::kReduceWindow:
      return ReduceWindowGradient;
    case Opcode::kSelectAndScatter:
      return SelectAndScatterGradient;
    case Opcode::kSort:
      return SortGradient;
    case Opcode::kTopK:
      return TopKGradient;
    case Opcode::kFft:
      return FftGradient;
    case Opcode::kCholesky:
      return CholeskyGradient;
    case Opcode::kTriangularSolve:
      return TriangularSolveGradient;
    case Opcode::kBatchNormTraining:
      return BatchNormTrainingGradient;
    case Opcode::kBatchNormInference:
      return BatchNormInferenceGradient;
    case Opcode::kBatchNormGrad:
      return BatchNormGradGradient;
    case Opcode::kCall:
    case Opcode::kFusion:
      return CallGradient;
    case Opcode::kConditional:
      return ConditionalGradient;
    case Opcode::kWhile:
      return WhileGradient;
    case Opcode::kMap:
      return MapGradient;
    case Opcode::kScan:
      return ScanGradient;
    case Opcode::kAllReduce:
      return AllReduceGradient;
    case Opcode::kAllGather:
      return AllGatherGradient;
    case Opcode::kReduceScatter:
      return ReduceScatterGradient;
    case Opcode::kAllToAll:
      return AllToAllGradient;
    case Opcode::kCollectivePermute:
      return CollectivePermuteGradient;
    default:
      if (IsCallTo(op, "SPMDFullToShardShape")) return IntoRegionGradient;
      if (IsCallTo(op, "SPMDShardToFullShape")) return OutOfRegionGradient;
      return HandsLeavesOn(op) ? IdentityGradient : nullptr;
  }
}

}  // namespace

absl::Status ApplyGradientRule(const Instruction& op, ReverseSweep* sweep) {
  const auto custom = sweep->options().custom.find(&op);
  if (custom != sweep->options().custom.end()) {
    Pullback pullback(op, sweep, custom->second.reads);
    return custom->second.rule(pullback);
  }
  Pullback pullback(op, sweep);
  const GradientRule rule = GradientRuleOf(op);
  if (rule != nullptr) return rule(pullback);
  return absl::UnimplementedError(absl::StrCat(op.opcode_name(),
                                               " has no gradient; stop the gradient at its result, or give "
                                               "a rule of your own"));
}

}  // namespace toroid
