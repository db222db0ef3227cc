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
  // Other names of memory that is written, which no group makes: transposes and reshapes that move nothing, slices of the first
  // tiles.
  std::vector<bool> renamed;
  // The value can be computed again inside of the groups that read it (fusible_producers.h).
  std::vector<bool> recomputed;
  // Of a product or reduction and the ops that run in its group behind it: the value that leaves the group. Of a reduction that
  // joins the group of the value that it reduces: that value. Null for others.
  std::vector<const Instruction*> owner;
  // The value need not be written after all: only reductions that joined its group read it.
  std::vector<bool> only_joined;

  // The value is written, is another name of one that is, or takes no work (an argument, a constant).
  bool IsInMemory(const Instruction& value) const;
  // What a value is another name of, itself if it is none.
  const Instruction* SourceOf(const Instruction* value) const {
    while (renamed[value->index()]) value = value->operand(0);
    return value;
  }
};

MaterializedValues FindMaterializedValues(const Computation& computation, const UserMap& users,
                                          const Tiling& tiling);

// From what a value is made inside of its group.
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

  // The same, but where the group cuts a piece of a value, of at most `most_part` of its elements, visit(piece) instead: each
  // piece is read for itself.
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
