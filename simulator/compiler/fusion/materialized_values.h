// Which values of a computation go to memory, and which are computed anew inside of the groups that read them.
// fusion_pass.h says by which rules.
// BUILD: srcs += "materialization_planner.h", "joined_reductions.cc"
#pragma once

#include <cstdint>
#include <vector>

#include "hlo/ir/module.h"
#include "simulator/program/tiling.h"

namespace toroid {

// All by index.
struct MaterializedValues {
  std::vector<bool> written;
  // Transposes and reshapes that give another name to memory that is written, slices that are the first of its tiles: no
  // group makes them.
  std::vector<bool> renamed;
  // Could be made where they are read (fusible_producers.h).
  std::vector<bool> recomputed;
  // Of what runs behind a dot or a reduction in its group, and of these: the value that leaves the group. Of a reduction
  // that joins the group that makes what it reads: that value. Null for others.
  std::vector<const Instruction*> owner;
  // Of what is written: only reductions that joined its group read it, so that it need not be.
  std::vector<bool> only_joined;

  // Written, or in memory under this or another name, or no work at all.
  bool IsInMemory(const Instruction& value) const;
  // What a value is another name of, itself if it is none.
  const Instruction* SourceOf(const Instruction* value) const {
    while (renamed[value->index()]) value = value->operand(0);
    return value;
  }
};

MaterializedValues FindMaterializedValues(const Computation& computation, const UserMap& users,
                                          const Tiling& tiling);

// What values are made from inside of their groups.
class InsideOfGroups {
 public:
  // `values` may still change.
  InsideOfGroups(const Computation& computation, const MaterializedValues* values)
      : values_(*values), seen_(computation.size(), -1) {}

  // Calls visit(leaf) for each written value or argument that the value `op` is made from.
  template <typename Visit>
  void ForLeaves(const Instruction* op, Visit visit) {
    ++visit_;
    std::vector<const Instruction*> todo = {op};
    while (!todo.empty()) {
      const Instruction* value = todo.back();
      todo.pop_back();
      for (const Instruction* operand : value->operands()) {
        if (!IsFirst(*operand)) continue;
        if (values_.IsInMemory(*operand)) {
          visit(operand);
        } else {
          todo.push_back(operand);
        }
      }
    }
  }

  // The same, but where the group cuts a piece of a value, of at most `most_part` of its elements, visit(piece) instead: each piece is
  // read for itself.
  template <typename Visit>
  void ForPieces(const Instruction* op, double most_part, Visit visit) {
    ++visit_;
    std::vector<const Instruction*> todo = {op};
    while (!todo.empty()) {
      const Instruction* value = todo.back();
      todo.pop_back();
      for (const Instruction* operand : value->operands()) {
        if (!IsFirst(*operand)) continue;
        const bool is_part = operand->opcode() == Opcode::kSlice &&
                             static_cast<double>(operand->shape().NumElements()) <=
                                 most_part * static_cast<double>(operand->operand(0)->shape().NumElements());
        if (values_.IsInMemory(*operand) || is_part) {
          visit(operand);
        } else {
          todo.push_back(operand);
        }
      }
    }
  }

  // Ops that a group makes the value with, itself included; `limit` if there are as many.
  int64_t CountOps(const Instruction* op, int64_t limit);

 private:
  bool IsFirst(const Instruction& value) {
    int& seen = seen_[value.index()];
    if (seen == visit_) return false;
    seen = visit_;
    return true;
  }

  const MaterializedValues& values_;
  std::vector<int> seen_;
  int visit_ = 0;
};

}  // namespace toroid
