#include "simulator/lowering/shared_functions.h"

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "hlo/base/status.h"
#include "hlo/ir/edit.h"

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

absl::StatusOr<std::unique_ptr<Module>> WithSharedFunctionsApart(const Module& module) {
  std::unique_ptr<Module> copy = CloneModule(module);
  absl::flat_hash_map<const Computation*, int> calls;
  for (const auto& computation : copy->computations()) {
    for (const auto& op : computation->instructions()) {
      if (op->opcode() == Opcode::kCall) ++calls[op->called(0)];
    }
  }
  for (const auto& computation : copy->computations()) {
    const auto found = calls.find(computation.get());
    if (found != calls.end() && found->second > 1) RETURN_IF_ERROR(PutBarriers(computation.get()));
  }
  return copy;
}

}  // namespace toroid
