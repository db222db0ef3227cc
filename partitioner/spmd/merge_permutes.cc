#include "partitioner/spmd/merge_permutes.h"

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "hlo/analysis/liveness.h"
#include "hlo/analysis/side_effects.h"
#include "hlo/ir/attribute_views.h"
#include "hlo/ir/edit.h"

namespace toroid {
namespace {

// What a permute sends: an array, or a slice of one.
struct Sent {
  const Instruction* array = nullptr;
  Dims bounds;  // Start, limit and stride by dimension; none: all of it.

  explicit Sent(const Instruction* operand) : array(operand) {
    if (operand->opcode() != Opcode::kSlice) return;
    array = operand->operand(0);
    for (int d = 0; d < operand->shape().rank(); ++d) {
      const SliceBounds slice = SliceView(*operand)[d];
      bounds.insert(bounds.end(), {slice.start, slice.limit, slice.stride});
    }
  }
  bool operator==(const Sent& other) const { return array == other.array && bounds == other.bounds; }
  template <typename H>
  friend H AbslHashValue(H h, const Sent& sent) {
    return H::combine(std::move(h), sent.array, sent.bounds);
  }
};

// A permute into which others are merged.
struct Merged {
  Instruction* permute;
  absl::flat_hash_set<int64_t> sources, targets;

  explicit Merged(Instruction* first) : permute(first) { Add(*first); }

  void Add(const Instruction& other) {
    for (const auto& pair : other.attrs().source_target_pairs()) {
      sources.insert(pair.source());
      targets.insert(pair.target());
    }
  }
  bool IsApartFrom(const Instruction& other) const {
    for (const auto& pair : other.attrs().source_target_pairs()) {
      if (sources.contains(pair.source()) || targets.contains(pair.target())) return false;
    }
    return true;
  }
  void Take(const Instruction& other) {
    Add(other);
    xla::HloInstructionProto* attrs = permute->MutableAttrs();
    for (const auto& pair : other.attrs().source_target_pairs()) *attrs->add_source_target_pairs() = pair;
  }
};

void MergeIn(Computation* computation, const SideEffects& side_effects,
             const absl::flat_hash_set<const Instruction*>& halo_permutes) {
  const std::vector<bool> needed = NeededInstructions(*computation, side_effects);
  absl::flat_hash_map<Sent, std::vector<Merged>> by_sent;
  std::vector<Instruction*> now(computation->size(), nullptr);
  bool changed = false;
  for (const auto& instruction : computation->instructions()) {
    if (!needed[instruction->index()] || !halo_permutes.contains(instruction.get())) continue;
    std::vector<Merged>& before = by_sent[Sent(instruction->operand(0))];
    for (Merged& merged : before) {
      if (!merged.IsApartFrom(*instruction)) continue;
      merged.Take(*instruction);
      now[instruction->index()] = merged.permute;
      changed = true;
      break;
    }
    if (now[instruction->index()] == nullptr) before.emplace_back(instruction.get());
  }
  if (changed) ReplaceUses(computation, now);
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
