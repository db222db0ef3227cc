// Merges written values into groups, for group_plan. In which order they merge follows the compiler's: another order gives
// other groups.
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
// Limits of searches: readers of an array that are tried; values between a group and those that read what it writes.
inline constexpr size_t kMostReaders = 64;
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
  // Merges slices of one value that have the same sizes: the value is read once.
  void MergeSlices();
  // The slice that a group writes, converted or reshaped or as it is; null if it writes something else.
  const Instruction* SliceOf(const Instruction* op) const;
  // Merges the reduction that finds the largest element of each row with the one that finds its place.
  void MergeLargest();
  // Merges groups that share at least `shared` arrays of the sizes that they work on, or, if that is 0, any array.
  // `reductions`: only those that reduce.
  void MergeThatShare(int64_t shared, bool reductions);
  int Shared(int g, int other) const;
  // `input` is an array of those sizes, or one of as many elements and the same last dimension.
  bool IsOfSize(int input, absl::Span<const int64_t> dims) const {
    const Shape& shape = At(input)->shape();
    if (!shape.IsArray() || shape.rank() == 0 || dims.empty()) return false;
    int64_t elements = 1;
    for (const int64_t d : dims) elements *= d;
    return shape.dims() == dims || (shape.NumElements() == elements && shape.dims().back() == dims.back());
  }
  // The group is elementwise or a reduction, not part of a product, and not written to its place in a larger array.
  bool CanMerge(int g) const;
  // `into` makes all that `g` made; `g` is empty afterwards.
  void Move(int g, int into);
  // They work on arrays of the same sizes and type, and neither reads what the other makes.
  bool CanMeet(int g, int other) const;
  // The shape that a group works on: of what it reduces, or of its elementwise result; null if it is neither.
  const Shape* SpaceOf(int g) const;
  // Whether two groups' values can be made in one pass: they must compute one type, whatever they convert it to. A reduction of
  // two arrays (the largest element and its place) goes only with a maximum or minimum of one of these arrays over the same
  // dimensions.
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
  // `rounded` converts `sum`, a sum of values that were converted from the same narrow type: the sum counts as one of that
  // type.
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
  // Only a concatenation in place reads it: it is written to its place in the larger array.
  bool IsPlaced(const Instruction* op) const {
    const auto users = users_.users(*op);
    return users.size() == 1 && (IsConcatenatedInPlace(*users[0]) ||
                                 (users[0]->opcode() == Opcode::kReshape && IsPlaced(users[0])));
  }
  // The group contains a product.
  bool IsOfProduct(int g) const;
  // The lowest level of another group that reads what `g` writes.
  int LowestReader(int g, int except = -1) const;
  // The group that writes a value, or what it is another name of; -1 if none does.
  int MakerOf(int value) const;
  bool Reads(int g, int other) const;
  // Each element that `g` makes needs of what `other` writes only the element at the same place.
  bool ReadsInPlace(int g, int other) const;
  // The level of both as one group.
  int LevelWith(int g, int other) const;
  // Whether `g`, which reads what `other` makes elementwise, can be merged into it.
  bool CanJoin(int g, int other);
  // No group behind `g` in the program, of its level or a lower one, could join the group that makes `value`.
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
  // Groups of one level never wait for each other, so that they may merge. Raises the lower of the two to the other one's
  // level, and above that all that reads it. False, and nothing is changed, if the other one waits for it.
  bool ShareLevel(int a, int b);
  // The group's first value and those made of it that stay inside the group, if no other group reads any of them; empty if one
  // does.
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
  for (size_t steps = 0; !todo.empty(); ++steps) {
    if (steps > kMostRead) return false;
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
