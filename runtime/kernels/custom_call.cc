#include "runtime/kernels/custom_call.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/dynamic/dynamic_size.h"
#include "runtime/kernels/approximate_topk.h"
#include "runtime/kernels/custom_elementwise.h"
#include "runtime/kernels/custom_halo.h"
#include "runtime/kernels/topk.h"

namespace toroid {
namespace {

// One operand: it is the result. Several: they are the elements of a result tuple.
absl::Status Identity(OpCall& call) {
  const int n = call.num_operands();
  bool same = n == 1 || (call.shape().IsTuple() && static_cast<int>(call.shape().tuple_shapes().size()) == n);
  for (int i = 0; same && i < n; ++i) {
    same = call.operand_shape(i).Compatible(n == 1 ? call.shape() : call.shape().tuple_shape(i));
  }
  if (!same) {
    std::vector<std::string> operands;
    for (int i = 0; i < n; ++i) operands.push_back(call.operand_shape(i).ToString());
    return absl::UnimplementedError(absl::StrCat(call.instruction().custom_call_target(), " from ",
                                                 absl::StrJoin(operands, ", "), " to ",
                                                 call.shape().ToString(), ": partition the module first"));
  }
  if (n == 1) {
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
      {"Pin", Identity},
      {"Unpin", Identity},
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

using Finder = Kernel (*)(absl::string_view target);

std::vector<Finder>& GetFinders() {
  static std::vector<Finder>* const finders = new std::vector<Finder>;
  return *finders;
}

// Tells the user what to do about a target that cannot run.
std::string UnknownTargetText(absl::string_view target) {
  const std::string what = absl::StrCat("custom-call target \"", target, "\" ");
  if (absl::StrContains(target, "callback")) {
    return absl::StrCat(what,
                        "calls Python of the program that made the module, which cannot run here; leave "
                        "the callback or debug print out, or dump the function without it");
  }
  if (absl::StrContains(target, "lapack") || absl::StrContains(target, "blas")) {
    return absl::StrCat(what,
                        "is a routine of linear algebra that cannot run here; docs/commands.md lists those "
                        "that can. A program in C++ has them if it links //runtime/kernels/linear_algebra");
  }
  if (absl::StrContains(target, "triton") || absl::StrContains(target, "mosaic") ||
      target == "tpu_custom_call") {
    return absl::StrCat(what,
                        "is a kernel written for another machine; dump the function without it, for "
                        "example with its reference implementation");
  }
  return absl::StrCat(what,
                      "cannot run here; dump the function without it. In C++ a kernel can be given with "
                      "RegisterCustomCall (runtime/kernels/custom_call.h); those of linear algebra come with "
                      "//runtime/kernels/linear_algebra");
}

}  // namespace

absl::Status ExecuteCustomCall(OpCall& call) {
  const absl::string_view target = call.instruction().custom_call_target();
  const auto it = GetRegistry().find(target);
  if (it != GetRegistry().end()) return it->second(call);
  for (const Finder find : GetFinders()) {
    if (const Kernel kernel = find(target); kernel != nullptr) return kernel(call);
  }
  if (target == "xla.sdy.ShardingGroup") {
    // The target relates shardings; its result is empty.
    call.result() = MeshBuffer::Tuple(0);
    return absl::OkStatus();
  }
  if (absl::StartsWith(target, "xla.sdy.")) return Identity(call);
  return absl::UnimplementedError(UnknownTargetText(target));
}

void RegisterCustomCall(absl::string_view target, Kernel kernel) {
  GetRegistry()[std::string(target)] = kernel;
}

void RegisterCustomCallFinder(Kernel (*find)(absl::string_view target)) { GetFinders().push_back(find); }

std::vector<std::string> KnownCustomCalls() {
  std::vector<std::string> targets;
  for (const auto& [target, kernel] : GetRegistry()) targets.push_back(target);
  std::sort(targets.begin(), targets.end());
  return targets;
}

}  // namespace toroid
