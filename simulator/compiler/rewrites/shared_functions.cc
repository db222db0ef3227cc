#include "simulator/compiler/rewrites/shared_functions.h"

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "hlo/base/math.h"
#include "hlo/base/status.h"
#include "hlo/ir/edit.h"
#include "hlo/passes/inline_calls_pass.h"
#include "simulator/rules/compiler_scope.h"

namespace toroid {
namespace {

absl::Status PutBarriers(Computation* function) {
  const std::vector<Instruction*> parameters(function->parameters().begin(), function->parameters().end());
  std::vector<Instruction*> now(function->size(), nullptr);
  for (Instruction* parameter : parameters) {
    now[parameter->index()] = function->Add(Opcode::kOptimizationBarrier, parameter->shape(), {parameter});
  }
  ReplaceUses(function, now);
  Instruction* root = function->root();
  function->set_root(function->Add(Opcode::kOptimizationBarrier, root->shape(), {root}));
  return SortInstructions(function);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Module>> InlineCallsApart(const Module& module) {
  absl::flat_hash_map<const Computation*, int> calls;
  for (const auto& computation : module.computations()) {
    for (const auto& op : computation->instructions()) {
      if (op->opcode() == Opcode::kCall) ++calls[op->called(0)];
    }
  }
  // Callees stand before their callers. Sizes with what was written into them.
  std::vector<int64_t> apart;
  absl::flat_hash_map<const Computation*, int64_t> sizes;
  for (int64_t c = 0; c < module.num_computations(); ++c) {
    const Computation* function = module.computation(c);
    const auto found = calls.find(function);
    if (found == calls.end()) continue;
    int64_t size = 0;
    for (const auto& op : function->instructions()) {
      const auto inner = op->opcode() == Opcode::kCall ? sizes.find(op->called(0)) : sizes.end();
      size = SaturatingAdd(size, inner == sizes.end() ? 1 : inner->second);
    }
    if (found->second > 1 && size > Thresholds().small_function() && IsOn(Rule::kFunctionsStayApart)) {
      apart.push_back(c);
    } else {
      sizes[function] = size - function->num_parameters();
    }
  }
  if (apart.empty()) return InlineCalls(module);
  const std::unique_ptr<Module> copy = CloneModule(module);
  for (const int64_t c : apart) RETURN_IF_ERROR(PutBarriers(copy->computation(c)));
  return InlineCalls(*copy);
}

}  // namespace toroid
