#include "hlo/analysis/custom_call_targets.h"

namespace toroid {
namespace {

enum class TargetKind { kAnnotation, kIdentity, kElementwise };

struct Target {
  absl::string_view name;
  TargetKind kind;
};

constexpr Target kTargets[] = {
    {"Sharding", TargetKind::kAnnotation},
    {"xla.sdy.FuncResultSharding", TargetKind::kAnnotation},
    {"xla.sdy.PropagationBarrier", TargetKind::kAnnotation},
    {"ShardBarrierFrom", TargetKind::kAnnotation},
    {"ShardBarrierTo", TargetKind::kAnnotation},
    {"annotate_device_placement", TargetKind::kIdentity},
    {"LayoutConstraint", TargetKind::kIdentity},
    {"MoveToHost", TargetKind::kIdentity},
    {"MoveToDevice", TargetKind::kIdentity},
    {"PinToDevice", TargetKind::kIdentity},
    {"PinToDeviceSram", TargetKind::kIdentity},
    {"InspectSharding", TargetKind::kIdentity},
    {"AssumeGatherIndicesInBound", TargetKind::kIdentity},
    {"mhlo.erf", TargetKind::kElementwise},
    {"mhlo.tan", TargetKind::kElementwise},
    {"mhlo.sinh", TargetKind::kElementwise},
    {"mhlo.cosh", TargetKind::kElementwise},
    {"mhlo.asin", TargetKind::kElementwise},
    {"mhlo.acos", TargetKind::kElementwise},
    {"mhlo.atan", TargetKind::kElementwise},
    {"mhlo.asinh", TargetKind::kElementwise},
    {"mhlo.acosh", TargetKind::kElementwise},
    {"mhlo.atanh", TargetKind::kElementwise},
    {"X64Combine", TargetKind::kElementwise},
    {"X64SplitLow", TargetKind::kElementwise},
    {"X64SplitHigh", TargetKind::kElementwise},
};

const Target* Find(const Instruction& instruction) {
  if (instruction.opcode() != Opcode::kCustomCall) return nullptr;
  for (const Target& target : kTargets) {
    if (target.name == instruction.custom_call_target()) return &target;
  }
  return nullptr;
}

}  // namespace

bool IsCallTo(const Instruction& instruction, absl::string_view target) {
  return instruction.opcode() == Opcode::kCustomCall && instruction.custom_call_target() == target;
}

bool IsIdentityTarget(const Instruction& instruction) {
  const Target* target = Find(instruction);
  return target != nullptr && target->kind != TargetKind::kElementwise && instruction.num_operands() == 1;
}

bool IsShardingAnnotation(const Instruction& instruction) {
  const Target* target = Find(instruction);
  return target != nullptr && target->kind == TargetKind::kAnnotation && HandsLeavesOn(instruction);
}

bool IsElementwiseCall(const Instruction& instruction) {
  const Target* target = Find(instruction);
  if (target == nullptr || target->kind != TargetKind::kElementwise || instruction.num_operands() == 0)
    return false;
  if (!instruction.shape().IsArray()) return false;
  for (const Instruction* operand : instruction.operands()) {
    if (!operand->shape().IsArray() || !operand->shape().SameDims(instruction.shape())) return false;
  }
  return true;
}

bool HandsLeavesOn(const Instruction& instruction) {
  switch (instruction.opcode()) {
    case Opcode::kCopy:
    case Opcode::kOptimizationBarrier:
    case Opcode::kDomain:
      break;
    case Opcode::kCustomCall:
      if (!IsIdentityTarget(instruction)) return false;
      break;
    default:
      return false;
  }
  return instruction.num_operands() == 1 && instruction.shape().Compatible(instruction.operand(0)->shape());
}

}  // namespace toroid
