#include "runtime/kernels/custom_call.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "runtime/kernels/approximate_topk.h"
#include "runtime/kernels/custom_elementwise.h"
#include "runtime/kernels/custom_halo.h"
#include "runtime/kernels/decompositions.h"
#include "runtime/kernels/dynamic_size.h"
#include "runtime/kernels/topk.h"

namespace toroid {
namespace {

absl::Status Identity(OpCall& call) {
  if (call.num_operands() == 1) {
    if (!call.operand_shape(0).Compatible(call.shape())) {
      return absl::UnimplementedError(absl::StrCat(call.instruction().custom_call_target(), " from ",
                                                   call.operand_shape(0).ToString(), " to ",
                                                   call.shape().ToString(), ": partition the module first"));
    }
    call.result() = call.TakeOperand(0);
    return absl::OkStatus();
  }
  MeshBuffer tuple = MeshBuffer::Tuple(call.num_operands());
  for (int i = 0; i < call.num_operands(); ++i) tuple.mutable_element(i) = call.TakeOperand(i);
  call.result() = std::move(tuple);
  return absl::OkStatus();
}

using Registry = absl::flat_hash_map<std::string, Kernel>;

Registry& GetRegistry() {
  static Registry* const registry = new Registry{
      {"Sharding", Identity},
      {"SPMDFullToShardShape", Identity},
      {"SPMDShardToFullShape", Identity},
      {"ShardBarrierFrom", Identity},
      {"ShardBarrierTo", Identity},
      {"annotate_device_placement", Identity},
      {"MoveToHost", Identity},
      {"MoveToDevice", Identity},
      {"PinToDevice", Identity},
      {"PinToDeviceSram", Identity},
      {"LayoutConstraint", Identity},
      {"InspectSharding", Identity},
      {"AssumeGatherIndicesInBound", Identity},
      {"_SPMDInternalOp_RotateRight", RotateRight},
      {"_SPMDInternalOp_MultiRotate", MultiRotate},
      {"_SPMDInternalOp_MultiSlice", MultiSlice},
      {"_SPMDInternalOp_MultiPad", MultiPad},
      {"_SPMDInternalOp_Wrap", Wrap},
      {"TopK", ExecuteTopK},
      {"mhlo.topk", ExecuteTopK},
      {"ApproxTopK", ApproximateTopK},
      {"PartialReduce", ApproximateTopK},
      {"Cholesky", CholeskyCall},
      {"Eigh", EighCall},
      {"Qr", QrCall},
      {"LuDecomposition", LuCall},
      {"ProductOfElementaryHouseholderReflectors", HouseholderProductCall},
      {"mhlo.erf", ElementwiseCall},
      {"mhlo.tan", ElementwiseCall},
      {"mhlo.sinh", ElementwiseCall},
      {"mhlo.cosh", ElementwiseCall},
      {"mhlo.asin", ElementwiseCall},
      {"mhlo.acos", ElementwiseCall},
      {"mhlo.atan", ElementwiseCall},
      {"mhlo.asinh", ElementwiseCall},
      {"mhlo.acosh", ElementwiseCall},
      {"mhlo.atanh", ElementwiseCall},
      {"X64Combine", X64Combine},
      {"X64SplitLow", X64Split},
      {"X64SplitHigh", X64Split},
      {"PadToStatic", PadToStatic},
      {"SliceToDynamic", SliceToDynamic},
  };
  return *registry;
}

}  // namespace

absl::Status ExecuteCustomCall(OpCall& call) {
  const absl::string_view target = call.instruction().custom_call_target();
  const auto it = GetRegistry().find(target);
  if (it != GetRegistry().end()) return it->second(call);
  if (absl::StartsWith(target, "xla.sdy.")) return Identity(call);
  return absl::UnimplementedError(
      absl::StrCat("custom-call target \"", target,
                   "\" is not known; give it a kernel with RegisterCustomCall, or a line in "
                   "the table of runtime/kernels/custom_call.cc"));
}

void RegisterCustomCall(absl::string_view target, Kernel kernel) {
  GetRegistry()[std::string(target)] = kernel;
}

std::vector<std::string> KnownCustomCalls() {
  std::vector<std::string> targets;
  for (const auto& [target, kernel] : GetRegistry()) targets.push_back(target);
  std::sort(targets.begin(), targets.end());
  return targets;
}

}  // namespace toroid
