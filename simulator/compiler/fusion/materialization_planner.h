// Decides which values are written, for materialized_values. The order of decisions is part of what it follows.
#pragma once

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/types/span.h"
#include "hlo/analysis/work.h"
#include "hlo/ir/unit_dims.h"
#include "simulator/compiler/fusion/fusible_producers.h"
#include "simulator/compiler/fusion/materialized_values.h"
#include "simulator/compiler/fusion/product_groups.h"
#include "simulator/compiler/rewrites/packed_predicates_pass.h"
#include "simulator/program/data_movement.h"
#include "simulator/program/elementwise.h"
#include "simulator/program/tiling.h"
#include "simulator/program/walk.h"
#include "simulator/rules/compiler_scope.h"

namespace toroid {

// Instructions that are looked at to see whether one value is made from another.
inline constexpr int kMostSteps = 20000;
// Groups that read a value are told apart up to this number.
inline constexpr size_t kMostReaders = 16;

inline bool HasNoTime(const Instruction& op) {
  const Opcode opcode = op.opcode();
  return opcode == Opcode::kParameter || opcode == Opcode::kConstant || opcode == Opcode::kTuple ||
         opcode == Opcode::kGetTupleElement || opcode == Opcode::kAfterAll || opcode == Opcode::kReplicaId ||
         opcode == Opcode::kPartitionId;
}

// What takes a hundred instructions is not taken twice.
inline bool IsSine(const Instruction& op) {
  return op.opcode() == Opcode::kSin || op.opcode() == Opcode::kCos || op.opcode() == Opcode::kTan;
}

class MaterializationPlanner {
 public:
  MaterializationPlanner(const Computation& computation, const UserMap& users, const Tiling& tiling)
      : computation_(computation),
        users_(users),
        tiling_(tiling),
        n_(computation.size()),
        made_(computation, users, tiling),
        inside_(computation, &values_) {
    values_.written.assign(n_, false);
    values_.renamed.assign(n_, false);
    values_.only_joined.assign(n_, false);
    values_.recomputed = made_.values();
    joined_.assign(n_, {});
    values_.owner = ProductGroups(computation, users, made_).Owners();
    ends_product_.assign(n_, false);
    for (int i = 0; i < n_; ++i) {
      if (values_.owner[i] != nullptr && IsMatrixOp(At(i)->opcode()))
        ends_product_[values_.owner[i]->index()] = true;
    }
  }

  MaterializedValues Run() {
    TakeConverts();
    FindPlacesApart();
    // What is read by fewer groups once others are written need not be written itself.
    Write();
    Write();
    TakeReductions();
    return std::move(values_);
  }

 private:
  const Instruction* At(int i) const { return computation_.instruction(i); }

  // Reductions are rounded as they are written.
  void TakeConverts() {
    for (int i = 0; i < n_; ++i) {
      const Instruction* op = At(i);
      if (op->opcode() != Opcode::kReduce || !op->shape().IsArray() || users_.users(*op).size() != 1)
        continue;
      const Instruction* user = users_.users(*op)[0];
      if (user->opcode() != Opcode::kConvert || values_.owner[user->index()] != nullptr ||
          !Decides(Rule::kRoundedReductions, *user))
        continue;
      values_.owner[i] = values_.owner[user->index()] = user;
    }
  }
  void Write();
  // Which groups would make each value anew, by index; some of them if there are many.
  void CountReaders();
  // Making it anew in each of its r readers reads k arrays of its size each time; writing it, k + 1 + r are moved.
  bool IsWorthWriting(const Instruction* op);
  // All who read the value are elementwise or reduce, and none waits for another.
  bool CanRunAsOne(const Instruction* value) const;
  // One op of two different arrays in memory, of its sizes and type.
  bool IsOfTwoArrays(const Instruction& op) const;
  // Reductions and elementwise groups read the value itself, and one waits for another.
  bool IsReducedAndReadAgain(const Instruction& op) const;
  // A sine, rounded or not, whose readers do not run as one. What is rounded of vectors that are spread is made again.
  bool IsSineForSeveral(const Instruction* op) const;
  // Made elementwise of what is spread from fewer elements.
  bool IsSpread(const Instruction& value) const;
  // By index: written values on the longest way to each, itself included.
  std::vector<int> Levels() const;
  // Of the value, or of what is made from it elementwise, that do not wait for what is made from it by others.
  std::vector<const Instruction*> ReductionsOf(const Instruction* value, const std::vector<int>& level);
  void TakeReductions();
  // `op`, a reduction, is made in the group of `value`.
  void Join(const Instruction* op, const Instruction* value, const std::vector<int>& level);
  // The highest level for which a value of this level may wait, as groups are made as one.
  int WaitsFor(int level) const;
  // What `later` is made from, group by group, contains `value`, or is too much to look at.
  bool DependsOn(const Instruction* later, const Instruction* value) const {
    return later == value || DependsOnAny(later, absl::MakeConstSpan(&value, 1));
  }
  // The same for any of some other values, none of which is made from what stands at or before `apart`.
  bool DependsOnAny(const Instruction* later, absl::Span<const Instruction* const> values,
                    int apart = -1) const;
  // Products take nothing across some places between instructions: what stands before such a place is not made from what stands behind it.
  void FindPlacesApart();

  // A value of this level whose group waits for values of a higher one, by the reductions that joined it.
  struct LateGroup {
    int level, waits_for;
  };

  const Computation& computation_;
  const UserMap& users_;
  const Tiling tiling_;
  const int n_;
  const FusibleProducers made_;
  MaterializedValues values_;
  InsideOfGroups inside_;
  std::vector<std::vector<int>> readers_;
  std::vector<int>
      apart_;  // By index: the last instruction before it behind which there is such a place; -1: none.
  std::vector<bool> ends_product_;                       // By index: the last that a product takes behind it.
  std::vector<std::vector<const Instruction*>> joined_;  // By index of a value: reductions in its group.
  std::vector<LateGroup> late_groups_;
};

}  // namespace toroid
