#include "hlo/gradient/sweep/kept_values.h"

#include <algorithm>

#include "hlo/analysis/custom_call_targets.h"
#include "hlo/ir/module.h"

namespace toroid {
namespace {

const Instruction& TupleMaker(const Instruction& value) {
  const Instruction* at = &value;
  while (at->opcode() == Opcode::kGetTupleElement) at = at->operand(0);
  return *at;
}

bool ActsBeyondItsResult(const Instruction& op) {
  if (HasTrait(op.opcode(), kSideEffect)) return true;
  if (op.opcode() == Opcode::kCustomCall && op.attrs().custom_call_has_side_effect()) return true;
  return std::any_of(op.called().begin(), op.called().end(), [](const Computation* callee) {
    return std::any_of(callee->instructions().begin(), callee->instructions().end(),
                       [](const auto& inner) { return ActsBeyondItsResult(*inner); });
  });
}

}  // namespace

bool TakesNoWork(const Instruction& op) { return HasTrait(op.opcode(), kFreeToRepeat) || HandsLeavesOn(op); }

bool CannotBeRepeated(const Instruction& value) { return ActsBeyondItsResult(TupleMaker(value)); }

bool IsKept(const GradientOptions& options, const Instruction& value) {
  if (CannotBeRepeated(value)) return true;
  if (options.keep == nullptr) return value.opcode() == Opcode::kGetTupleElement || !TakesNoWork(value);
  if (options.keep(value)) return true;
  const Instruction& maker = TupleMaker(value);
  return &maker != &value && options.keep(maker);
}

}  // namespace toroid
