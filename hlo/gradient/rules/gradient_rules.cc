#include "hlo/gradient/rules/gradient_rules.h"

#include <type_traits>

#include "absl/strings/str_cat.h"
#include "hlo/analysis/custom_call_targets.h"
#include "hlo/gradient/rules/collectives.h"
#include "hlo/gradient/rules/control_flow.h"
#include "hlo/gradient/rules/convolution.h"
#include "hlo/gradient/rules/data_movement.h"
#include "hlo/gradient/rules/dot.h"
#include "hlo/gradient/rules/elementwise.h"
#include "hlo/gradient/rules/indexing.h"
#include "hlo/gradient/rules/linear_algebra.h"
#include "hlo/gradient/rules/normalization.h"
#include "hlo/gradient/rules/reduce.h"
#include "hlo/gradient/rules/sort.h"
#include "hlo/gradient/rules/windows.h"
#include "hlo/gradient/sweep/pullback.h"

namespace toroid {

// <Family>Gradient for every family of the opcode table; a missing one is a link error that names it.
#define HLO_OP(enumerator, name, arity, family, attributes, traits) \
  absl::Status family##Gradient(Pullback& p);
#include "hlo/opcode.inc"
#undef HLO_OP

namespace {

absl::Status HasNone(const Instruction& op) {
  return absl::UnimplementedError(absl::StrCat(op.opcode_name(),
                                               " has no gradient; stop the gradient at its result, or give "
                                               "a rule of your own"));
}

GradientRule GradientRuleOf(Opcode opcode) {
  static constexpr GradientRule kRules[] = {
#define HLO_OP(enumerator, name, arity, family, attributes, traits) family##Gradient,
#include "hlo/opcode.inc"
#undef HLO_OP
  };
  static_assert(std::extent_v<decltype(kRules)> == kNumOpcodes);
  return opcode == Opcode::kUnknown ? nullptr : kRules[static_cast<int>(opcode)];
}

}  // namespace

// Families without a gradient: their results are integers, states or tokens, or no program has needed one.
#define TOROID_NO_GRADIENT(family) \
  absl::Status family##Gradient(Pullback& p) { return HasNone(p.op()); }
TOROID_NO_GRADIENT(Compare)
TOROID_NO_GRADIENT(BitcastConvert)
TOROID_NO_GRADIENT(Bitcast)
TOROID_NO_GRADIENT(Iota)
TOROID_NO_GRADIENT(Constant)
TOROID_NO_GRADIENT(Parameter)
TOROID_NO_GRADIENT(Rng)
TOROID_NO_GRADIENT(RngGetAndUpdateState)
TOROID_NO_GRADIENT(RngBitGenerator)
TOROID_NO_GRADIENT(AfterAll)
TOROID_NO_GRADIENT(AddDependency)
TOROID_NO_GRADIENT(DeviceId)
TOROID_NO_GRADIENT(RaggedAllToAll)
TOROID_NO_GRADIENT(CollectiveBroadcast)
TOROID_NO_GRADIENT(Infeed)
TOROID_NO_GRADIENT(Outfeed)
TOROID_NO_GRADIENT(Send)
TOROID_NO_GRADIENT(SendDone)
TOROID_NO_GRADIENT(Recv)
TOROID_NO_GRADIENT(RecvDone)
TOROID_NO_GRADIENT(CopyStart)
TOROID_NO_GRADIENT(CopyDone)
TOROID_NO_GRADIENT(AllReduceStart)
TOROID_NO_GRADIENT(AllReduceDone)
TOROID_NO_GRADIENT(AllGatherStart)
TOROID_NO_GRADIENT(AllGatherDone)
TOROID_NO_GRADIENT(CollectivePermuteStart)
TOROID_NO_GRADIENT(CollectivePermuteDone)
TOROID_NO_GRADIENT(AsyncStart)
TOROID_NO_GRADIENT(AsyncUpdate)
TOROID_NO_GRADIENT(AsyncDone)
TOROID_NO_GRADIENT(GetDimensionSize)
TOROID_NO_GRADIENT(SetDimensionSize)
TOROID_NO_GRADIENT(DynamicReshape)
#undef TOROID_NO_GRADIENT

absl::Status FusionGradient(Pullback& p) { return CallGradient(p); }

absl::Status CustomCallGradient(Pullback& p) {
  if (IsCallTo(p.op(), "SPMDFullToShardShape")) return IntoRegionGradient(p);
  if (IsCallTo(p.op(), "SPMDShardToFullShape")) return OutOfRegionGradient(p);
  return HandsLeavesOn(p.op()) ? IdentityGradient(p) : HasNone(p.op());
}

absl::Status ApplyGradientRule(const Instruction& op, ReverseSweep* sweep) {
  const auto custom = sweep->options().custom.find(&op);
  if (custom != sweep->options().custom.end()) {
    Pullback pullback(op, sweep, custom->second.reads);
    return custom->second.rule(pullback);
  }
  const GradientRule rule = GradientRuleOf(op.opcode());
  if (rule == nullptr) return HasNone(op);
  Pullback pullback(op, sweep);
  return rule(pullback);
}

}  // namespace toroid
