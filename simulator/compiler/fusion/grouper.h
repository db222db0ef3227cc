// Merges written values into groups, for group_plan. In which order they are merged is part of what it follows.
#pragma once

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/algorithm/container.h"
#include "hlo/analysis/work.h"
#include "hlo/ir/unit_dims.h"
#include "simulator/compiler/fusion/group_plan.h"
#include "simulator/compiler/fusion/materialized_values.h"
#include "simulator/program/columns.h"
#include "simulator/program/elementwise.h"
#include "simulator/program/tiling.h"
#include "simulator/rules/compiler_scope.h"

namespace toroid {

// Levels are 1024 apart, so up to 1023 groups can be inserted between two.
inline constexpr size_t kMostRaised = 64;
inline constexpr int kBetweenLevels = 1024;
// Readers of an array that are looked at for one that has more in common.
inline constexpr size_t kMostReaders = 64;
// Values between a product and those that read it.
inline constexpr size_t kMostRead = 256;

// Results of a merged group at most.
inline size_t MostValues() { return static_cast<size_t>(Thresholds().most_results_of_group()); }

// Written values into groups: at first one each, then merged.
class Grouper {
 public:
  Grouper(const Computation& computation, const Tiling& tiling)
      : computation_(computation),
        users_(computation),
        n_(computation.size()),
        tiling_(tiling),
        made_(FindMaterializedValues(computation, users_, tiling)),
        inside_(computation, &made_) {}

  GroupPlan Run() {
    Group();
    Merge();
    Collect();
    return std::move(plan_);
  }

 private:
  const Instruction* At(int i) const { return computation_.instruction(i); }

  void Group();
  void Merge();
  // Slices of as many elements of one value: its windows are cut once.
  void MergeSlices();
  // What a group cuts out of something to write it, converted or under another name; null for others.
  const Instruction* SliceOf(const Instruction* op) const;
  // The largest element of each row beside its place; what makes both goes with nothing else.
  void MergeLargest();
  // Groups that share at least so many arrays of the sizes that they work on; reductions alone, or all. 0: that share any array.
  void MergeThatShare(int64_t shared, bool reductions);
  int Shared(int g, int other) const;
  // An array of those sizes, or one that has as many elements, whose rows are cut or joined.
  bool IsOfSize(int input, absl::Span<const int64_t> dims) const {
    const Shape& shape = At(input)->shape();
    if (!shape.IsArray() || shape.rank() == 0 || dims.empty()) return false;
    int64_t elements = 1;
    for (const int64_t d : dims) elements *= d;
    return shape.dims() == dims || (shape.NumElements() == elements && shape.dims().back() == dims.back());
  }
  // A group that is made elementwise or reduces, by itself: not a product, nor what is written to its place.
  bool CanMerge(int g) const;
  // All that the group makes is made by the other.
  void Move(int g, int into);
  // Two groups that make values of the same sizes and type, none of the other's.
  bool CanMeet(int g, int other) const;
  // What a group works on: the sizes of what it reduces or makes elementwise; null for others.
  const Shape* SpaceOf(int g) const;
  // Whether two reductions, two elementwise values or one of each can be made in one pass: what they compute is of one type, whatever
  // they convert it to; of several arrays (the largest and its place) only with one of them, over the same dimensions.
  bool GoTogether(const Instruction* a, const Instruction* b) const {
    const bool is_one_type = ComputedType(a) == ComputedType(b);
    if (ReductionOf(a) != nullptr) a = ReductionOf(a);
    if (ReductionOf(b) != nullptr) b = ReductionOf(b);
    if (!a->shape().IsArray() || !b->shape().IsArray()) {
      const auto widened = [](const Instruction* op) {
        return op->opcode() == Opcode::kConvert ? op->operand(0) : op;
      };
      if (a->opcode() != b->opcode() || widened(a->operand(0)) != widened(b->operand(0)) ||
          a->dimensions() != b->dimensions())
        return false;
      const Opcode one = (a->shape().IsArray() ? a : b)->called(0)->root()->opcode();
      return one == Opcode::kMaximum || one == Opcode::kMinimum;
    }
    return is_one_type || !Decides(Rule::kOneTypePerGroup, *a);
  }
  // A sum of what was rounded to the type to which it is rounded itself: as a sum of that type.
  static bool SumsAsRounded(const Instruction& rounded, const Instruction& sum) {
    return rounded.opcode() == Opcode::kConvert && sum.opcode() == Opcode::kReduce &&
           sum.operand(0)->opcode() == Opcode::kConvert &&
           sum.operand(0)->operand(0)->shape().element_type() == rounded.shape().element_type();
  }
  static PrimitiveType ComputedType(const Instruction* op) {
    while (op->opcode() == Opcode::kConvert || op->opcode() == Opcode::kReshape) {
      const Instruction* sum = op->operand(0);
      if (SumsAsRounded(*op, *sum)) return op->shape().element_type();
      op = sum;
    }
    return op->shape().element_type();
  }
  // `op`, or what it rounds, if that is a reduction; null if not.
  const Instruction* ReductionOf(const Instruction* op) const {
    if (op->opcode() == Opcode::kConvert && made_.owner[op->index()] == op) op = op->operand(0);
    return op->opcode() == Opcode::kReduce ? op : nullptr;
  }
  // Written to its place in a larger array, and nowhere else.
  bool IsPlaced(const Instruction* op) const {
    const auto users = users_.users(*op);
    return users.size() == 1 && (IsConcatenatedInPlace(*users[0]) ||
                                 (users[0]->opcode() == Opcode::kReshape && IsPlaced(users[0])));
  }
  // Of a product, or of what it takes behind it.
  bool IsOfProduct(int g) const;
  // The lowest level of another group that reads what `g` writes.
  int LowestReader(int g, int except = -1) const;
  // The group that writes a value, or what it is another name of; -1 if none does.
  int MakerOf(int value) const;
  bool Reads(int g, int other) const;
  // `g` reads of what `other` writes nothing from another place than that at which it writes.
  bool ReadsInPlace(int g, int other) const;
  // Of both as one.
  int LevelWith(int g, int other) const;
  // Whether `g`, which reads what `other` makes elementwise, can be made with it.
  bool CanJoin(int g, int other);
  // Of those that could be made with `value`, which they read, and wait for no more than `g` does, `g` stands last.
  bool IsLastToJoin(int g, int value) {
    const int other = group_of_[value];
    if (other >= 0 && IsOfProduct(other)) return true;
    bool is_last = true;
    ForReaders(other, [&](int reader) {
      is_last &= reader <= g || level_[reader] > level_[g] ||
                 !absl::c_linear_search(inputs_[reader], value) || !made_.recomputed[reader] ||
                 !IsElementwise(*At(reader)) || IsPlaced(At(reader)) || !CanJoin(reader, other);
    });
    return is_last;
  }
  // A value of the group is made from `value`, which is of the group too.
  bool HasReaderInside(int value, int group) const {
    return absl::c_linear_search(inputs_[group], value) || absl::c_any_of(values_[group], [&](int other) {
             return other != value && made_.owner[other] == At(value);
           });
  }
  // Calls visit(group) for each that reads what `g` writes; false if there is too much to look at.
  template <typename Visit>
  bool ForReaders(int g, Visit visit) const;
  // Groups of one level wait for each other never. The lower one rises to the other, and what reads it above both; false, and
  // nothing is changed, if the other waits for it.
  bool ShareLevel(int a, int b);
  // The group's first value and what is made of it to make the others, if nobody else reads it; nothing if somebody does.
  std::vector<int> ReadInside(int g) const;
  void Collect();

  const Computation& computation_;
  const UserMap users_;
  const int n_;
  const Tiling tiling_;
  const MaterializedValues made_;
  InsideOfGroups inside_;
  GroupPlan plan_;

  // Groups by number of their first value; values of each.
  std::vector<int> group_of_;
  std::vector<std::vector<int>> values_;
  std::vector<std::vector<int>> inputs_;   // Written values and arguments that a group reads.
  std::vector<std::vector<int>> read_by_;  // By index: values that are made from it, before groups merge.
  std::vector<int> level_;
  std::vector<int> levels_;  // Of values, by index, before groups merge.
};

template <typename Visit>
bool Grouper::ForReaders(int g, Visit visit) const {
  std::vector<int> todo = values_[g];
  for (int steps = 0; !todo.empty(); ++steps) {
    if (steps > 256) return false;
    const int value = todo.back();
    todo.pop_back();
    for (const Instruction* user : users_.users(*At(value))) {
      const int u = user->index();
      if (made_.written[u]) {
        visit(group_of_[u]);
      } else if (user != computation_.root() || user->opcode() != Opcode::kTuple) {
        todo.push_back(u);
      }
    }
  }
  return true;
}

}  // namespace toroid
