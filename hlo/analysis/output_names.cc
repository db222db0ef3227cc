#include "hlo/analysis/output_names.h"

#include "hlo/analysis/custom_call_targets.h"

namespace toroid {

std::string ResultInfo(const Instruction& value) {
  std::string info;
  for (const Instruction* at = &value;; at = at->operand(0)) {
    if (const std::string* result = at->FrontendAttribute("jax.result_info")) info = *result;
    if (!IsShardingAnnotation(*at) || at->num_operands() != 1) return info;
  }
}

std::vector<std::string> OutputNames(const Module& module) {
  const Instruction& root = *module.entry()->root();
  if (!root.shape().IsTuple()) return {ResultInfo(root)};
  std::vector<std::string> names(root.shape().tuple_shapes().size());
  if (root.opcode() != Opcode::kTuple) return names;
  for (size_t i = 0; i < names.size(); ++i) names[i] = ResultInfo(*root.operand(i));
  return names;
}

}  // namespace toroid
