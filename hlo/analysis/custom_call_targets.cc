#include "hlo/analysis/custom_call_targets.h"

namespace toroid {
namespace {

struct Target {
  absl::string_view name;
  bool speaks_of_shardings;
};

constexpr Target kTargets[] = {
    {"Sharding", true},
    {"xla.sdy.FuncResultSharding", true},
    {"xla.sdy.PropagationBarrier", true},
    {"ShardBarrierFrom", true},
    {"ShardBarrierTo", true},
    {"annotate_device_placement", false},
    {"LayoutConstraint", false},
    {"MoveToHost", false},
    {"MoveToDevice", false},
    {"PinToDevice", false},
    {"PinToDeviceSram", false},
    {"InspectSharding", false},
    {"AssumeGatherIndicesInBound", false},
};

const Target* Find(const Instruction& instruction) {
  if (instruction.opcode() != Opcode::kCustomCall || instruction.num_operands() != 1) return nullptr;
  for (const Target& target : kTargets) {
    if (target.name == instruction.custom_call_target()) return &target;
  }
  return nullptr;
}

}  // namespace

bool IsCallTo(const Instruction& instruction, absl::string_view target) {
  return instruction.opcode() == Opcode::kCustomCall && instruction.custom_call_target() == target;
}

bool IsIdentityTarget(const Instruction& instruction) { return Find(instruction) != nullptr; }

bool IsShardingAnnotation(const Instruction& instruction) {
  const Target* target = Find(instruction);
  return target != nullptr && target->speaks_of_shardings && HandsLeavesOn(instruction);
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
