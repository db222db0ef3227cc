// Decides which values are written, for materialized_values. The order of its decisions follows the compiler's: another order
// gives other groups.
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
// Groups that read a value are counted up to this number.
inline constexpr size_t kMostReaders = 16;

inline bool HasNoTime(const Instruction& op) {
  const Opcode opcode = op.opcode();
  return opcode == Opcode::kParameter || opcode == Opcode::kConstant || opcode == Opcode::kTuple ||
         opcode == Opcode::kGetTupleElement || opcode == Opcode::kAfterAll || opcode == Opcode::kReplicaId ||
         opcode == Opcode::kPartitionId;
}

// A sine, cosine or tangent: it takes some two hundred instructions.
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

  // A reduction that only a convert reads is converted in its own group.
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
  // Sets readers_: for each value the groups that would compute it again, up to kMostReaders.
  void CountReaders();
  // Whether writing the value moves fewer bytes than making it again: made of k arrays of its size for r groups, k + 1 + r
  // against k r.
  bool IsWorthWriting(const Instruction* op);
  // All groups that read the value are elementwise or reductions, and none needs a result of another one: they could be one
  // group.
  bool CanRunAsOne(const Instruction* value) const;
  // The op has two operands, different arrays in memory of its own sizes and type.
  bool IsOfTwoArrays(const Instruction& op) const;
  // Reductions and elementwise groups read the value, and one of them needs a result of another.
  bool IsReducedAndReadAgain(const Instruction& op) const;
  // A sine, rounded or not, that several groups read which cannot be one. Not if it is rounded and of broadcast vectors: that
  // is computed again.
  bool IsSineForSeveral(const Instruction* op) const;
  // The value is made elementwise of broadcasts of smaller arrays.
  bool IsSpread(const Instruction& value) const;
  // By index: the number of written values on the longest path to each value, itself included.
  std::vector<int> Levels() const;
  // Reductions of the value, or of what is made from it elementwise, that can be made with it: they need nothing that other
  // groups make of the value.
  std::vector<const Instruction*> ReductionsOf(const Instruction* value, const std::vector<int>& level);
  void TakeReductions();
  // `op`, a reduction, is made in the group of `value`.
  void Join(const Instruction* op, const Instruction* value, const std::vector<int>& level);
  // The highest level that a value of this level may have to wait for, since reductions that joined groups may wait for more.
  int WaitsFor(int level) const;
  // `later` needs `value`, counting whole groups; also true if the search is too long.
  bool DependsOn(const Instruction* later, const Instruction* value) const {
    return later == value || DependsOnAny(later, absl::MakeConstSpan(&value, 1));
  }
  // The same for any of `values`. Instructions up to index `apart` are not looked at: none of the values is among them.
  bool DependsOnAny(const Instruction* later, absl::Span<const Instruction* const> values,
                    int apart = -1) const;
  // Sets apart_: between some instructions no group reaches across. What stands before such a place needs nothing that stands
  // behind it, which makes searches short.
  void FindPlacesApart();

  // A value of this level whose group has to wait for values of a higher level, since reductions that joined it need them.
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
  // By index: the last instruction before it behind which there is such a place; -1: none.
  std::vector<int> apart_;
  std::vector<bool> ends_product_;                       // By index: the last value of a product's group.
  std::vector<std::vector<const Instruction*>> joined_;  // By index of a value: reductions in its group.
  std::vector<LateGroup> late_groups_;
};

}  // namespace toroid
