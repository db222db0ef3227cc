#include "simulator/compiler/memory/copy_insertion_pass.h"

#include <vector>

#include "absl/container/flat_hash_set.h"
#include "hlo/analysis/peak_memory.h"
#include "hlo/base/status.h"
#include "hlo/ir/edit.h"
#include "simulator/rules/compiler_scope.h"

namespace toroid {

namespace {

// Copies results that are arguments which the caller keeps, or that are returned a second time. Whether there were any.
bool CopyResults(Computation* entry, const std::vector<bool>& donated) {
  const auto is_kept = [&](const Instruction& value) {
    if (value.opcode() != Opcode::kParameter || !value.shape().IsArray()) return false;
    const int64_t number = value.parameter_number();
    return number >= static_cast<int64_t>(donated.size()) || !donated[number];
  };
  const auto copy_of = [&](Instruction* value) {
    Instruction* copy = entry->Add(Opcode::kCopy, value->shape(), {value});
    copy->set_metadata(value->metadata());
    return Marked(Rule::kReturnedArgumentsCopied, copy);
  };
  Instruction* root = entry->root();
  if (is_kept(*root)) {
    entry->set_root(copy_of(root));
    return true;
  }
  if (root->opcode() != Opcode::kTuple) return false;
  bool changed = false;
  absl::flat_hash_set<const Instruction*> seen;
  for (int k = 0; k < root->num_operands(); ++k) {
    Instruction* value = root->operand(k);
    if (!value->shape().IsArray()) continue;
    if (seen.insert(value).second && !is_kept(*value)) continue;
    root->set_operand(k, copy_of(value));
    changed = true;
  }
  return changed;
}

}  // namespace

absl::StatusOr<bool> CopyInsertionPass::Run(std::unique_ptr<Module>* module) {
  Computation* entry = (*module)->entry();
  const std::vector<bool> donated = DonatedParameters(**module);
  bool changed = false;
  const int n = entry->size();
  for (int i = 0; i < n; ++i) {
    Instruction* op = entry->instruction(i);
    if ((op->opcode() != Opcode::kDynamicUpdateSlice && op->opcode() != Opcode::kScatter) ||
        op->num_operands() < 3)
      continue;
    Instruction* updated = op->operand(0);
    const Instruction* source = updated;
    // A reshape that moves writes an array of its own.
    while (source->opcode() == Opcode::kTranspose || source->opcode() == Opcode::kBitcast ||
           (source->opcode() == Opcode::kReshape &&
            KeepsTiles(source->operand(0)->shape(), source->shape(), tiling_))) {
      source = source->operand(0);
    }
    if (source->opcode() != Opcode::kParameter || !IsOn(Rule::kUpdatedArgumentsCopied)) continue;
    const int64_t number = source->parameter_number();
    if (number < static_cast<int64_t>(donated.size()) && donated[number]) continue;
    Instruction* copy = entry->Add(Opcode::kCopy, updated->shape(), {updated});
    copy->set_metadata(op->metadata());
    op->set_operand(0, Marked(Rule::kUpdatedArgumentsCopied, copy));
    changed = true;
  }
  if (IsOn(Rule::kReturnedArgumentsCopied)) changed |= CopyResults(entry, donated);
  if (changed) RETURN_IF_ERROR(SortInstructions(entry));
  return changed;
}

}  // namespace toroid
