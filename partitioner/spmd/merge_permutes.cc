#include "partitioner/spmd/merge_permutes.h"

#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "hlo/analysis/liveness.h"
#include "hlo/analysis/side_effects.h"
#include "hlo/devices/permute_pattern.h"
#include "hlo/ir/attribute_views.h"
#include "hlo/ir/edit.h"

namespace toroid {
namespace {

// The operand of a permute: an array, and the start, limit and stride by dimension of the slice of it; without these
// the whole array.
using Sent = std::pair<const Instruction*, Dims>;
Sent SentBy(const Instruction& permute) {
  const Instruction* operand = permute.operand(0);
  if (operand->opcode() != Opcode::kSlice) return {operand, {}};
  Dims bounds;
  for (int d = 0; d < operand->shape().rank(); ++d) {
    const SliceBounds slice = SliceView(*operand)[d];
    bounds.insert(bounds.end(), {slice.start, slice.limit, slice.stride});
  }
  return {operand->operand(0), bounds};
}

void MergeIn(Computation* computation, const SideEffects& side_effects,
             const absl::flat_hash_set<const Instruction*>& halo_permutes) {
  const std::vector<bool> needed = NeededInstructions(*computation, side_effects);
  absl::flat_hash_map<Sent, std::vector<Instruction*>> by_sent;
  std::vector<Instruction*> replacements(computation->size(), nullptr);
  bool changed = false;
  for (const auto& instruction : computation->instructions()) {
    if (!needed[instruction->index()] || !halo_permutes.contains(instruction.get())) continue;
    std::vector<Instruction*>& before = by_sent[SentBy(*instruction)];
    for (Instruction* merged : before) {
      if (!ArePairsApart(merged->attrs(), instruction->attrs())) continue;
      AppendPairs(instruction->attrs(), merged->MutableAttrs());
      replacements[instruction->index()] = merged;
      changed = true;
      break;
    }
    if (replacements[instruction->index()] == nullptr) before.push_back(instruction.get());
  }
  if (changed) ReplaceUses(computation, replacements);
}

}  // namespace

void MergeHaloPermutes(const SpmdModule& spmd) {
  if (spmd.halo_permutes.size() < 2) return;
  const SideEffects side_effects(*spmd.module);
  for (const auto& computation : spmd.module->computations()) {
    MergeIn(computation.get(), side_effects, spmd.halo_permutes);
  }
}

}  // namespace toroid
