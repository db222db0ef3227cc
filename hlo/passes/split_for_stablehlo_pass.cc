#include "hlo/passes/split_for_stablehlo_pass.h"

#include <vector>

#include "hlo/base/status.h"
#include "hlo/ir/replace_instructions.h"
#include "hlo/passes/dce_pass.h"

namespace toroid {
namespace {

// True for one result for each operand; a permute of slices has other operands.
bool IsOfSeveralArrays(const Instruction& op) {
  if (op.opcode() != Opcode::kReduceScatter && op.opcode() != Opcode::kCollectivePermute) return false;
  return op.shape().IsTuple() && op.attrs().dynamic_slice_sizes_size() == 0 &&
         static_cast<int>(op.shape().tuple_shapes().size()) == op.num_operands();
}

absl::StatusOr<bool> SplitIn(Computation* computation) {
  const int size = computation->size();
  std::vector<Instruction*> now(size, nullptr);
  std::vector<std::vector<Instruction*>> parts(size);
  bool changed = false;
  for (int i = 0; i < size; ++i) {
    Instruction* op = computation->instruction(i);
    if (op->opcode() == Opcode::kGetTupleElement && !parts[op->operand(0)->index()].empty()) {
      now[i] = parts[op->operand(0)->index()][op->tuple_index()];
      // The element says why it was merged.
      if (op->cause() != 0) now[i]->set_cause(op->cause());
    }
    if (!IsOfSeveralArrays(*op)) continue;
    for (int k = 0; k < op->num_operands(); ++k) {
      Instruction* part = computation->AddClone(*op, op->shape().tuple_shape(k), {op->operand(k)});
      part->set_cause(op->cause());
      parts[i].push_back(part);
    }
    now[i] = computation->Add(Opcode::kTuple, op->shape(), parts[i]);
    changed = true;
  }
  if (changed) RETURN_IF_ERROR(ReplaceInstructions(computation, now));
  return changed;
}

}  // namespace

absl::StatusOr<bool> SplitForStableHloPass::Run(std::unique_ptr<Module>* module) {
  bool changed = false;
  for (const auto& computation : (*module)->computations()) {
    ASSIGN_OR_RETURN(const bool here, SplitIn(computation.get()));
    changed |= here;
  }
  if (changed) EliminateDeadCode(module->get());
  return changed;
}

}  // namespace toroid
