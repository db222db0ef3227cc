// How long a core takes for each group of a lowered module (simulator/compiler/lower.h).
//
// Cycles of a group without products, whose parts overlap:
//   group_cycles + max(D, V, X) + window_cycles x (number of windows that its bytes B fill, beyond the first)
//   + V / 2 / windows where memory is the longest: half of a window is worked on while the other half moves
//   D = B / stream,  stream = bytes_per_second x stream_efficiency / clock_hertz
//   V = slots of its ops / slots per cycle + cycles_per_register x registers + access_cycles x loads and stores
//   X = movement of elements within registers
// and of one with products: group_cycles + fill_cycles + TimeInWindows (matrix_work.h).
// Where TPU compilers give no estimate (gather, scatter, sort) this model assumes, as row_transfer_cycles and
// sort_stage_cycles of CoreSpec say: rows at indices are transfers of their own, one after the other; sorting is a bitonic
// network over registers.
// Groups that ask the same of the core are looked up, not computed again.
#pragma once

#include "absl/container/flat_hash_map.h"
#include "hlo/ir/instruction.h"
#include "simulator/chip/core_model.h"
#include "simulator/chip/group_work.h"
#include "simulator/machines/core.pb.h"
#include "simulator/rules/compiler_scope.h"
#include "simulator/rules/rule.h"

namespace toroid {

class ChipModel : public CoreModel {
 public:
  // With `decisions`, which outlive it, TimeOf records there by which rules it counts.
  explicit ChipModel(const CoreSpec& core, Decisions* decisions = nullptr)
      : core_(core), decisions_(decisions) {}

  // Of one instruction; zeros for what takes no time of its own (parameters, tuples, constants), and for calls, loops,
  // branches and collectives.
  const GroupTime& TimeOf(const Instruction& group) override;
  // The rules by which what the group asks of the core was counted.
  RuleSet RulesOf(const Instruction& group) const override;
  const CoreSpec& core() const { return core_; }

 private:
  GroupTime Compute(const GroupWork& work) const;
  // How often the inner of two products runs. The outer one passes in windows, as many as operands and results need with each
  // of them twice on the chip; what windows of the outer one share is made again for each.
  double TimesMade(const GroupWork& work) const;

  const CoreSpec core_;
  Decisions* const decisions_;
  absl::flat_hash_map<GroupWork, GroupTime> known_;
};

}  // namespace toroid
