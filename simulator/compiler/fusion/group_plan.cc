#include "simulator/compiler/fusion/group_plan.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/algorithm/container.h"
#include "hlo/analysis/work.h"
#include "hlo/ir/unit_dims.h"
#include "simulator/compiler/fusion/materialized_values.h"
#include "simulator/program/columns.h"
#include "simulator/program/elementwise.h"
#include "simulator/program/tiling.h"
#include "simulator/rules/compiler_scope.h"

namespace toroid {
namespace {

// Arrays of their size that groups are asked to share before they merge.
constexpr int kMostShared = 3;
// Levels are 1024 apart, so up to 1023 groups can be inserted between two.
constexpr size_t kMostRaised = 64;
constexpr int kBetweenLevels = 1024;
// Readers of an array that are looked at for one that has more in common.
constexpr size_t kMostReaders = 64;
// Values between a product and those that read it.
constexpr size_t kMostRead = 256;

// Results of a merged group at most.
size_t MostValues() { return static_cast<size_t>(Thresholds().most_results_of_group()); }

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
  void MergeThatShare(int shared, bool reductions);
  int Shared(int g, int other) const;
  // An array of those sizes, or one that has as many elements, whose rows are cut or joined.
  bool IsOfSize(int input, absl::Span<const int64_t> dims) const {
    const Shape& shape = At(input)->shape();
    if (!shape.IsArray() || shape.rank() == 0 || dims.empty()) return false;
    int64_t elements = 1;
    for (const int64_t d : dims) elements *= d;
    return shape.dims() == dims || (shape.NumElements() == elements && shape.dims().back() == dims.back());
  }
  // Arrays of any size that both read.
  int SharedArrays(int g, int other) const;
  bool Reduces(int g) const {
    return absl::c_any_of(values_[g], [&](int value) { return ReductionOf(At(value)) != nullptr; });
  }
  // A group that is made elementwise or reduces, by itself: not a product, nor what is written to its place.
  bool CanMerge(int g) const;
  // Whether `g`, elementwise, shares as many arrays with another elementwise group as with `reducing`, and can be made with it.
  bool FitsElementwise(int g, int reducing);
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

void Grouper::Group() {
  group_of_.assign(n_, -1);
  values_.resize(n_);
  inputs_.resize(n_);
  level_.assign(n_, 0);
  for (int i = 0; i < n_; ++i) {
    if (!made_.written[i]) continue;
    const Instruction* op = At(i);
    const bool reduces = op->opcode() == Opcode::kReduce ||
                         (op->opcode() == Opcode::kConvert && op->operand(0)->opcode() == Opcode::kReduce);
    const bool joins = reduces && made_.owner[i] != nullptr && made_.owner[i] != op;
    const int g = joins ? made_.owner[i]->index() : i;
    group_of_[i] = g;
    values_[g].push_back(i);
    inside_.ForLeaves(op, [&](const Instruction* leaf) {
      if (made_.SourceOf(leaf)->index() != g) inputs_[g].push_back(leaf->index());
    });
  }
  // Levels: every group above all that it reads. Values between groups (tuples, parts of them) pass levels on.
  std::vector<int>& level = levels_;
  level.assign(n_, 0);
  // Reductions that join a value may wait for more than it does, which stands behind it.
  constexpr int kMostRounds = 64;
  bool rises = true;
  for (int round = 0; round < kMostRounds && rises; ++round) {
    rises = false;
    for (int i = 0; i < n_; ++i) {
      const Instruction* op = At(i);
      int now = level[i];
      for (const Instruction* operand : op->operands()) {
        if (!made_.written[i] || MakerOf(operand->index()) != group_of_[i])
          now = std::max(now, level[operand->index()]);
      }
      for (const Instruction* before : op->control_predecessors())
        now = std::max(now, level[before->index()]);
      if (made_.written[i]) {
        const int g = group_of_[i];
        inside_.ForLeaves(op, [&](const Instruction* leaf) {
          if (MakerOf(leaf->index()) != g) now = std::max(now, level[leaf->index()] + kBetweenLevels);
        });
        now = std::max({now, level_[g], kBetweenLevels});
        rises |= now > level_[g];
        level_[g] = now;
      }
      level[i] = now;
    }
  }
}

const Shape* Grouper::SpaceOf(int g) const {
  const Instruction* op = At(g);
  if (const Instruction* reduction = ReductionOf(op)) return &reduction->operand(0)->shape();
  if (made_.written[g] && IsColumnToVector(*op, tiling_)) return &op->operand(0)->shape();
  const Shape* shape = &op->shape();
  // Under another name.
  while (op->opcode() == Opcode::kReshape && SameButUnitDims(op->shape(), op->operand(0)->shape()) &&
         !made_.IsInMemory(*op->operand(0))) {
    op = op->operand(0);
  }
  return made_.recomputed[g] && IsElementwise(*op) && op->opcode() != Opcode::kCopy ? shape : nullptr;
}

const Instruction* Grouper::SliceOf(const Instruction* op) const {
  while ((op->opcode() == Opcode::kReshape || op->opcode() == Opcode::kConvert) &&
         !made_.IsInMemory(*op->operand(0)))
    op = op->operand(0);
  return op->opcode() == Opcode::kSlice ? op : nullptr;
}

void Grouper::MergeSlices() {
  std::vector<std::vector<int>> slices(
      n_);  // By what they are of: in groups of their own, or the first of a group.
  for (int i = 0; i < n_; ++i) {
    if (group_of_[i] != i || values_[i].size() != 1 || made_.owner[i] != nullptr || IsPlaced(At(i))) continue;
    const Instruction* slice = SliceOf(At(i));
    if (slice == nullptr) continue;
    std::vector<int>& others = slices[slice->operand(0)->index()];
    const auto alike = absl::c_find_if(others, [&](int other) {
      const Shape &own = At(i)->shape(), &theirs = At(other)->shape();
      return own == theirs && SliceOf(At(other))->shape().dims() == slice->shape().dims() &&
             values_[other].size() < MostValues() && ShareLevel(other, i) &&
             Decides(Rule::kSlicesTogether, *At(i));
    });
    if (alike == others.end()) {
      others.push_back(i);
      continue;
    }
    group_of_[i] = *alike;
    values_[*alike].push_back(i);
    values_[i].clear();
    inputs_[*alike].insert(inputs_[*alike].end(), inputs_[i].begin(), inputs_[i].end());
  }
}

void Grouper::Merge() {
  MergeSlices();
  read_by_.assign(n_, {});
  for (int g = 0; g < n_; ++g) {
    for (const int input : inputs_[g]) {
      if (read_by_[input].empty() || read_by_[input].back() != g) read_by_[input].push_back(g);
    }
  }
  MergeLargest();
  // First those that have most to read in common; of these reductions, which leave nothing large behind.
  for (const bool reductions : {true, false}) {
    for (int shared = reductions ? kMostShared : 1; shared >= 0; --shared) MergeThatShare(shared, reductions);
  }
}

void Grouper::MergeLargest() {
  for (int g = 0; g < n_; ++g) {
    if (!CanMerge(g) || ReductionOf(At(g)) == nullptr || At(g)->shape().IsArray()) continue;
    const std::vector<int> inputs = inputs_[g];  // A group that moves adds its own.
    for (const int input : inputs) {
      for (size_t k = 0; k < std::min(kMostReaders, read_by_[input].size()); ++k) {
        const int other = group_of_[read_by_[input][k]];
        if (other != g && CanMerge(other) && CanMeet(g, other) && ShareLevel(g, other) &&
            Decides(Rule::kLargestBesidePlace, *At(other)))
          Move(other, g);
      }
    }
  }
}

int Grouper::Shared(int g, int other) const {
  const absl::Span<const int64_t> dims = SpaceOf(g)->dims();
  int shared = 0;
  std::vector<int> seen;
  for (const int input : inputs_[g]) {
    if (!IsOfSize(input, dims) || absl::c_linear_search(seen, input)) continue;
    seen.push_back(input);
    shared += absl::c_linear_search(inputs_[other], input);
  }
  return shared;
}

int Grouper::SharedArrays(int g, int other) const {
  int shared = 0;
  std::vector<int> seen;
  for (const int input : inputs_[g]) {
    const Shape& shape = At(input)->shape();
    if (!shape.IsArray() || shape.NumElements() == 1 || absl::c_linear_search(seen, input)) continue;
    seen.push_back(input);
    shared += absl::c_linear_search(inputs_[other], input);
  }
  return shared;
}

bool Grouper::CanMerge(int g) const {
  if (values_[g].empty()) return false;
  if (made_.owner[g] != nullptr && !made_.recomputed[g] && At(g)->opcode() != Opcode::kReduce) return false;
  if (made_.owner[g] != nullptr && IsOfProduct(g)) return false;  // Products stay apart.
  if (IsPlaced(At(g)) && ReductionOf(At(g)) == nullptr && !IsCutColumn(*At(g), tiling_) &&
      Decides(Rule::kPlacedRunAlone, *At(g)))
    return false;
  const Shape* own = SpaceOf(g);
  return own != nullptr && own->rank() > 0;
}

bool Grouper::FitsElementwise(int g, int reducing) {
  const Shape* own = SpaceOf(g);
  const int common = SharedArrays(g, reducing);
  std::vector<int> seen;
  for (const int input : inputs_[g]) {
    if (!IsOfSize(input, own->dims()) || read_by_[input].size() > kMostReaders) continue;
    for (const int value : read_by_[input]) {
      const int other = group_of_[value];
      if (other == g || other == reducing || absl::c_linear_search(seen, other)) continue;
      seen.push_back(other);
      if (!CanMerge(other) || Reduces(other) || !CanMeet(g, other) || SharedArrays(g, other) < common)
        continue;
      const bool has_predicates =
          own->element_type() == xla::PRED || SpaceOf(other)->element_type() == xla::PRED;
      if (has_predicates && IsOn(Rule::kPredicatesApart)) continue;
      const std::vector<int> before = level_;
      const bool can_meet = ShareLevel(g, other);
      level_ = before;
      if (can_meet) return true;
    }
  }
  return false;
}

void Grouper::MergeThatShare(int shared, bool reductions) {
  const auto counts = [&](int input, absl::Span<const int64_t> dims) {
    const Shape& shape = At(input)->shape();
    return shared > 0 ? IsOfSize(input, dims) : shape.IsArray() && shape.NumElements() > 1;
  };
  // Groups by the arrays of their sizes that they read.
  std::vector<std::vector<int>> readers(n_);
  for (int g = 0; g < n_; ++g) {
    if (!CanMerge(g)) continue;
    const bool is_reduction = ReductionOf(At(g)) != nullptr;
    const Shape* own = SpaceOf(g);
    if (reductions && !is_reduction) continue;
    int into = -1;
    for (const int input : inputs_[g]) {
      const int maker = group_of_[input];
      if (is_reduction || maker == into || !counts(input, own->dims()) || !CanJoin(g, maker) ||
          (!IsLastToJoin(g, input) && Decides(Rule::kLastReaderJoins, *At(g))) ||
          !Decides(Rule::kReaderJoinsMaker, *At(g)))
        continue;
      if (into < 0) {
        into = maker;
      } else if (CanMeet(into, maker) && ShareLevel(into, maker) &&
                 Decides(Rule::kMakersTogether, *At(maker))) {
        // What it reads of several groups is made together.
        Move(maker, into);
      }
    }
    for (const int input : inputs_[g]) {
      if (into >= 0) break;
      if (!counts(input, own->dims())) continue;
      // The last ones, nearest in level; first those that need not rise.
      const std::vector<int>& candidates = readers[input];
      for (size_t k = 0; k < 2 * std::min<size_t>(8, candidates.size()) && into < 0; ++k) {
        const bool rises = k >= std::min<size_t>(8, candidates.size());
        const int other = candidates[candidates.size() - 1 - k % std::min<size_t>(8, candidates.size())];
        if ((level_[other] != level_[g]) != rises) continue;
        if (values_[other].empty() || other == g || values_[other].size() + values_[g].size() > MostValues())
          continue;
        const Shape* theirs = SpaceOf(other);
        if (theirs->dims() != own->dims()) continue;
        const bool both_made = !is_reduction && ReductionOf(At(other)) == nullptr;
        if (both_made && (own->element_type() == xla::PRED || theirs->element_type() == xla::PRED) &&
            Decides(Rule::kPredicatesApart, *At(g)))
          continue;
        if (!GoTogether(At(g), At(other))) continue;
        if (Shared(g, other) < shared) continue;
        // What is made elementwise goes with what it has most in common with.
        if (Reduces(g) != Reduces(other) &&
            (Reduces(g) ? FitsElementwise(other, g) : FitsElementwise(g, other)) &&
            Decides(Rule::kMostInCommon, *At(g)))
          continue;
        if (!ShareLevel(g, other) ||
            !Decides(shared > 0 ? Rule::kReadersOfOneArray : Rule::kReadersOfOneVector, *At(g)))
          continue;
        into = other;
      }
    }
    if (into >= 0) {
      level_[into] = level_[g] = LevelWith(g, into);
      Move(g, into);
    }
    if (into >= 0 && IsOfProduct(into)) continue;
    for (const int input : inputs_[g]) {
      if (counts(input, own->dims())) readers[input].push_back(into >= 0 ? into : g);
    }
  }
}

void Grouper::Move(int g, int into) {
  for (const int value : values_[g]) {
    group_of_[value] = into;
    values_[into].push_back(value);
  }
  values_[g].clear();
  inputs_[into].insert(inputs_[into].end(), inputs_[g].begin(), inputs_[g].end());
}

bool Grouper::CanMeet(int g, int other) const {
  if (values_[g].size() + values_[other].size() >= MostValues() || Reads(g, other) || Reads(other, g))
    return false;
  const Shape *own = SpaceOf(g), *theirs = SpaceOf(other);
  return own != nullptr && theirs != nullptr && own->dims() == theirs->dims() && GoTogether(At(g), At(other));
}

bool Grouper::IsOfProduct(int g) const {
  for (const int value : values_[g]) {
    const Instruction* op = At(value);
    if (op->opcode() == Opcode::kReduce && made_.owner[value] != nullptr) op = made_.owner[value];
    if (IsMatrixOp(op->opcode())) return true;
    // What a product takes behind it ends in another op.
    for (const Instruction* operand : op->operands()) {
      if (made_.owner[operand->index()] == op && operand->opcode() != Opcode::kReduce) return true;
    }
  }
  return false;
}

int Grouper::MakerOf(int value) const {
  // Through other names of the same memory.
  while (group_of_[value] < 0 && At(value)->num_operands() == 1) value = At(value)->operand(0)->index();
  return group_of_[value];
}

bool Grouper::Reads(int g, int other) const {
  for (const int input : inputs_[g]) {
    if (group_of_[input] == other) return true;
  }
  return false;
}

int Grouper::LevelWith(int g, int other) const {
  if (!Reads(g, other)) return std::max(level_[g], level_[other]);
  int level = level_[other];
  for (const int input : inputs_[g]) {
    const int maker = MakerOf(input);
    if (maker >= 0 && maker != other) level = std::max(level, level_[maker] + 1);
  }
  return level;
}

bool Grouper::ReadsInPlace(int g, int other) const {
  std::vector<const Instruction*> todo;
  for (const int value : values_[g]) todo.push_back(At(value));
  for (size_t next = 0; next < todo.size(); ++next) {
    const Instruction* op = todo[next];
    for (const Instruction* operand : op->operands()) {
      if (!made_.IsInMemory(*operand)) {
        if (!absl::c_linear_search(todo, operand)) todo.push_back(operand);
        continue;
      }
      if (MakerOf(operand->index()) != other) continue;
      const bool shifts = op->opcode() == Opcode::kSlice || op->opcode() == Opcode::kPad ||
                          op->opcode() == Opcode::kConcatenate || op->opcode() == Opcode::kReverse ||
                          op->opcode() == Opcode::kDynamicSlice;
      // Nor a reduction, of which nothing is known before the end.
      if (shifts || operand->shape().dims() != At(g)->shape().dims()) return false;
    }
  }
  return true;
}

bool Grouper::CanJoin(int g, int other) {
  if (other < 0 || other == g || values_[other].empty() || values_[other].size() >= MostValues())
    return false;
  const Instruction* maker = At(other);
  const bool is_product = IsOfProduct(other);
  if ((!is_product && (!made_.recomputed[other] || !IsElementwise(*maker))) ||
      maker->shape().dims() != At(g)->shape().dims())
    return false;
  // Copies of it are made of what is in memory.
  if (is_product &&
      (At(g)->opcode() == Opcode::kCopy || PhysicalOrder(At(g)->shape()) != PhysicalOrder(maker->shape())))
    return false;
  // One reader of a value goes along, or its reductions; of what a product makes all of them.
  const bool is_first = is_product || absl::c_any_of(inputs_[g], [&](int input) {
                          return group_of_[input] == other && !HasReaderInside(input, other);
                        });
  if (!is_first) return false;
  // What else `g` reads waits for nothing that `other` makes, and stays below what reads either.
  for (const int input : inputs_[g]) {
    if (group_of_[input] == other) continue;
    const int from = MakerOf(input);
    if (from == other || (from < 0 && levels_[input] > level_[other])) return false;
  }
  if (!ReadsInPlace(g, other)) return false;
  const int level = LevelWith(g, other);
  return level == level_[other] || LowestReader(other, g) > level;
}

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

int Grouper::LowestReader(int g, int except) const {
  int lowest = std::numeric_limits<int>::max();
  const bool all = ForReaders(g, [&](int reader) {
    if (reader != except && reader != g) lowest = std::min(lowest, level_[reader]);
  });
  return all ? lowest : 0;
}

bool Grouper::ShareLevel(int a, int b) {
  if (level_[a] == level_[b]) return true;
  const int lower = level_[a] < level_[b] ? a : b, upper = lower == a ? b : a;
  // The lower one rises, and what waits for it stays above it: no group may fall, since others that it reads may be as high.
  std::vector<std::pair<int, int>> risen = {{lower, level_[lower]}};  // With the levels before.
  level_[lower] = level_[upper];
  bool can_rise = true;
  for (size_t next = 0; next < risen.size() && can_rise; ++next) {
    const int group = risen[next].first;
    can_rise = ForReaders(group,
                          [&](int reader) {
                            if (reader == group || level_[reader] > level_[group]) return;
                            can_rise &= reader != upper && risen.size() < kMostRaised;
                            if (!can_rise) return;
                            risen.push_back({reader, level_[reader]});
                            level_[reader] = level_[group] + 1;
                          }) &&
               can_rise;
  }
  if (!can_rise) {
    for (; !risen.empty(); risen.pop_back()) level_[risen.back().first] = risen.back().second;
  }
  return can_rise;
}

std::vector<int> Grouper::ReadInside(int g) const {
  std::vector<int> found = {g};
  for (size_t next = 0; next < found.size(); ++next) {
    if (At(found[next]) == computation_.root()) return {};
    for (const Instruction* user : users_.users(*At(found[next]))) {
      const int u = user->index();
      if (user == computation_.root() || (made_.written[u] && group_of_[u] != g) || found.size() > kMostRead)
        return {};
      if (!made_.written[u]) found.push_back(u);
    }
  }
  return found;
}

void Grouper::Collect() {
  plan_.written = made_.written;
  plan_.renamed = made_.renamed;
  for (int g = 0; g < n_; ++g) {
    if (values_[g].empty()) continue;
    // Of what a product makes, all that read it may have joined it.
    if (values_[g].size() > 1 && IsOfProduct(g)) {
      for (const int inside : ReadInside(g)) plan_.written[inside] = plan_.renamed[inside] = false;
    }
    std::vector<Instruction*> group;
    for (const int value : values_[g]) {
      if (made_.only_joined[value]) plan_.written[value] = false;
      if (plan_.written[value]) group.push_back(computation_.instruction(value));
    }
    plan_.groups.push_back(std::move(group));
  }
}

}  // namespace

GroupPlan PlanGroups(const Computation& computation, const Tiling& tiling) {
  return Grouper(computation, tiling).Run();
}

}  // namespace toroid
