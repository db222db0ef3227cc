#include "hlo/gradient/rules/expansion.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "hlo/base/status.h"
#include "hlo/gradient/sweep/pullback_computation.h"

namespace toroid {

absl::Status GradientByExpansion(Pullback& p, Expand expand) {
  InstructionBuilder inner = p.b.InNewComputation(absl::StrCat(p.op().opcode_name(), ".expanded"));
  std::vector<Value> operands;
  for (int i = 0; i < p.op().num_operands(); ++i) operands.push_back(inner.Parameter(p.operand_shape(i), ""));
  ASSIGN_OR_RETURN(const Value result, expand(inner, operands));
  const Computation* callee = inner.Finish(result);
  if (!inner.status().ok()) return inner.status();
  return CalleeGradient(p, *callee);
}

absl::Status CalleeGradient(Pullback& p, const Computation& callee) {
  InstructionBuilder& b = p.b;
  std::vector<ActiveLeaves> active;
  for (int i = 0; i < p.op().num_operands(); ++i) active.push_back(p.sweep().active(*p.op().operand(i)));
  std::vector<int> with_cotangents;
  for (int leaf = 0; leaf < static_cast<int>(p.op().shape().NumLeaves()); ++leaf) {
    if (p.cotangent_or_null(leaf) != nullptr) with_cotangents.push_back(leaf);
  }
  const auto keeps_nothing = [](const Instruction&) { return false; };
  ASSIGN_OR_RETURN(const PullbackComputation pullback,
                   MakePullback(callee, active, with_cotangents, p.sweep().options(), p.sweep().visit(),
                                keeps_nothing, b));
  std::vector<Value> arguments;
  for (const int leaf : pullback.of_result) arguments.push_back(p.cotangent(leaf));
  for (const ForwardValue& value : pullback.needed) {
    arguments.push_back(
        LeafOf(b, p.operand(static_cast<int>(value.instruction->parameter_number())), value.leaf));
  }
  const Value cotangents = b.Call(pullback.computation, arguments);
  for (size_t i = 0; i < pullback.of_parameters.size(); ++i) {
    const auto& [operand, leaf] = pullback.of_parameters[i];
    p.Add(operand, b.GetTupleElement(cotangents, static_cast<int64_t>(i)), leaf);
  }
  return absl::OkStatus();
}

}  // namespace toroid
