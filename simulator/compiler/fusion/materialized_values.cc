#include "simulator/compiler/fusion/materialized_values.h"

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/types/span.h"
#include "hlo/analysis/work.h"
#include "hlo/ir/unit_dims.h"
#include "simulator/compiler/fusion/fusible_producers.h"
#include "simulator/compiler/fusion/product_groups.h"
#include "simulator/compiler/rewrites/packed_predicates_pass.h"
#include "simulator/program/data_movement.h"
#include "simulator/program/elementwise.h"
#include "simulator/program/tiling.h"
#include "simulator/program/walk.h"
#include "simulator/rules/compiler_scope.h"

namespace toroid {
namespace {

// Instructions that are looked at to see whether one value is made from another.
constexpr int kMostSteps = 20000;
// Groups that read a value are told apart up to this number.
constexpr size_t kMostReaders = 16;

bool HasNoTime(const Instruction& op) {
  const Opcode opcode = op.opcode();
  return opcode == Opcode::kParameter || opcode == Opcode::kConstant || opcode == Opcode::kTuple ||
         opcode == Opcode::kGetTupleElement || opcode == Opcode::kAfterAll || opcode == Opcode::kReplicaId ||
         opcode == Opcode::kPartitionId;
}

// What takes a hundred instructions is not taken twice.
bool IsSine(const Instruction& op) {
  return op.opcode() == Opcode::kSin || op.opcode() == Opcode::kCos || op.opcode() == Opcode::kTan;
}

// As compilers count it that take functions apart before they group.
int64_t OpsOf(const Instruction& op) {
  switch (op.opcode()) {
    case Opcode::kErf:
      return Thresholds().ops_of_error_function();
    case Opcode::kLogistic:
      return Thresholds().ops_of_logistic();
    case Opcode::kDivide: {
      const Instruction* numerator = op.operand(0);
      while (numerator->opcode() == Opcode::kBroadcast) numerator = numerator->operand(0);
      return numerator->opcode() == Opcode::kConstant ? Thresholds().ops_of_reciprocal()
                                                      : Thresholds().ops_of_divide();
    }
    default:
      return 1;
  }
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
  // Of the groups that read the value one goes along, the last in the order of the results: an elementwise one that waits for nothing
  // more, behind all of these reductions.
  bool IsTakenByLater(const Instruction* value, absl::Span<const Instruction* const> reductions,
                      const std::vector<int>& level) const;
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
  std::vector<int> place_;  // By index.
  std::vector<int>
      apart_;  // By index: the last instruction before it behind which there is such a place; -1: none.
  std::vector<bool> ends_product_;                       // By index: the last that a product takes behind it.
  std::vector<std::vector<const Instruction*>> joined_;  // By index of a value: reductions in its group.
  std::vector<LateGroup> late_groups_;
};

void MaterializationPlanner::CountReaders() {
  readers_.assign(n_, {});
  for (int i = n_ - 1; i >= 0; --i) {
    const Instruction* op = At(i);
    std::vector<int>& groups = readers_[i];
    const auto add = [&groups](int group) {
      if (groups.size() < kMostReaders && !absl::c_linear_search(groups, group)) groups.push_back(group);
    };
    if (op == computation_.root()) add(i);
    for (const Instruction* user : users_.users(*op)) {
      const int u = user->index();
      const Instruction* end = values_.owner[u] != nullptr ? values_.owner[u] : user;
      if (values_.owner[u] == nullptr && values_.recomputed[u] && !values_.written[u] &&
          !made_.MustBeWritten(user)) {
        for (const int group : readers_[u]) add(group);
      } else {
        // A result of the program is its own group.
        add(user == computation_.root() && user->opcode() == Opcode::kTuple ? i : end->index());
      }
    }
  }
}

bool MaterializationPlanner::IsWorthWriting(const Instruction* op) {
  const auto readers = static_cast<double>(readers_[op->index()].size());
  if (!made_.IsMade(*op) || op->shape().rank() == 0 || readers < 2) return false;
  double arrays = 0;
  const auto size = static_cast<double>(op->shape().NumElements());
  const auto count = [&](const Instruction* leaf) {
    const double part = leaf->shape().IsArray() ? static_cast<double>(leaf->shape().NumElements()) / size : 0;
    if (part > Thresholds().small_part()) arrays += std::min(1.0, part);
  };
  // Steps of a recurrence are read by many.
  if (readers > 2 && Decides(Rule::kPiecesOfSteps, *op)) {
    inside_.ForPieces(op, count);
  } else {
    inside_.ForLeaves(op, count);
  }
  if (IsOfTwoArrays(*op) && IsReducedAndReadAgain(*op) && Decides(Rule::kTwoArraysReduced, *op)) return true;
  if (arrays * readers <= arrays + 1 + readers || !Decides(Rule::kWorthWriting, *op)) return false;
  // Results that nothing else waits for become one group, and few others do.
  const bool all_results = absl::c_all_of(readers_[op->index()], [&](int reader) {
    const auto others = users_.users(*At(reader));
    return others.size() == 1 && others[0] == computation_.root() && others[0]->opcode() == Opcode::kTuple;
  });
  const CompilerSpec& most = Thresholds();
  const bool is_much = readers > most.most_readers_as_one() ||
                       inside_.CountOps(op, most.most_ops_as_one() + 1) > most.most_ops_as_one();
  if (!all_results && is_much && IsOn(Rule::kMuchIsWritten)) return true;
  return !CanRunAsOne(op) || !Decides(Rule::kReadersRunAsOne, *op);
}

bool MaterializationPlanner::CanRunAsOne(const Instruction* value) const {
  const std::vector<int>& readers = readers_[value->index()];
  const bool is_predicate = value->shape().element_type() == xla::PRED;
  for (const int reader : readers) {
    const Instruction* one = At(reader);
    const bool passes = IsElementwise(*one) || (one->opcode() == Opcode::kReduce && one->shape().IsArray());
    if (!passes || ends_product_[reader]) return false;
    // Groups compute one type.
    while (one->opcode() == Opcode::kConvert) one = one->operand(0);
    if (!is_predicate && one->shape().element_type() != value->shape().element_type()) return false;
  }
  std::vector<const Instruction*> all;
  for (const int reader : readers) all.push_back(At(reader));
  const int apart = apart_[*absl::c_min_element(readers)];
  return absl::c_none_of(all, [&](const Instruction* one) { return DependsOnAny(one, all, apart); });
}

bool MaterializationPlanner::IsOfTwoArrays(const Instruction& op) const {
  return op.num_operands() == 2 && op.operand(0) != op.operand(1) &&
         absl::c_all_of(op.operands(), [&](const Instruction* operand) {
           return values_.IsInMemory(*operand) && operand->shape().Compatible(op.shape());
         });
}

bool MaterializationPlanner::IsReducedAndReadAgain(const Instruction& op) const {
  const std::vector<int>& readers = readers_[op.index()];
  const auto is_product = [&](int reader) {
    return IsMatrixOp(At(reader)->opcode()) || ends_product_[reader];
  };
  const bool is_reduced =
      absl::c_any_of(readers, [&](int reader) { return At(reader)->opcode() == Opcode::kReduce; });
  return users_.users(op).size() > 1 && is_reduced && absl::c_none_of(readers, is_product) &&
         !CanRunAsOne(&op);
}

bool MaterializationPlanner::IsSineForSeveral(const Instruction* op) const {
  const Instruction* value = op;
  while (value->opcode() == Opcode::kConvert && users_.users(*value->operand(0)).size() == 1)
    value = value->operand(0);
  if (!IsSine(*value) || op->shape().rank() == 0 || users_.users(*op).size() < 2 ||
      readers_[op->index()].size() < 2 || CanRunAsOne(op))
    return false;
  return value == op || !IsSpread(*value);
}

bool MaterializationPlanner::IsSpread(const Instruction& value) const {
  constexpr WalkLimit kProducersOfSpread = {"producers of what is spread", 16};
  for (Walk walk(&value, kProducersOfSpread); const Instruction* at = walk.Next();) {
    for (const Instruction* operand : at->operands()) {
      if (operand->opcode() == Opcode::kBroadcast || operand->shape().rank() == 0) continue;
      if (!IsElementwise(*operand) || values_.written[operand->index()]) return false;
      walk.AddAgain(operand);
    }
  }
  return true;
}

void MaterializationPlanner::Write() {
  std::vector<int64_t> cost(n_, 0);
  CountReaders();
  for (int i = 0; i < n_; ++i) {
    const Instruction* op = At(i);
    if (HasNoTime(*op)) continue;
    values_.written[i] = values_.renamed[i] = false;
    if (values_.owner[i] != nullptr) {
      values_.written[i] = values_.owner[i] == op;
      continue;
    }
    if (!values_.recomputed[i]) {
      values_.written[i] = true;
      continue;
    }
    const bool is_name = op->opcode() == Opcode::kTranspose || op->opcode() == Opcode::kReshape ||
                         (IsFirstOfTiles(*op, tiling_) &&
                          !(made_.HasSibling(*op) && Decides(Rule::kSlicesBesideEachOther, *op)));
    if (is_name && values_.IsInMemory(*op->operand(0))) {
      values_.renamed[i] = true;
      continue;
    }
    cost[i] = OpsOf(*op);
    for (const Instruction* operand : op->operands()) {
      if (!values_.written[operand->index()])
        cost[i] = std::min<int64_t>(cost[i] + cost[operand->index()], 1 << 20);
    }
    // Counted once for each way to them so far.
    const int64_t most_anew = Thresholds().most_recomputed_ops(),
                  most_at_once = Thresholds().most_ops_at_once();
    if (cost[i] > most_anew) cost[i] = inside_.CountOps(op, most_at_once + 1);
    // Scalars and what is made from constants alone go along.
    // For one group it is made once, however long that takes; but what a product reads passes again and again.
    const auto is_of_product = [&](int group) {
      return IsMatrixOp(At(group)->opcode()) || ends_product_[group];
    };
    const bool is_anew = users_.users(*op).size() > 1 &&
                         (readers_[i].size() > 1 || absl::c_any_of(readers_[i], is_of_product));
    // A predicate of an f32 product that one choice with a product needs is taken out of its words before.
    const Instruction* words = WordsOf(*op);
    const Instruction* packed = words == nullptr ? nullptr : ProductOfPacked(*words);
    const bool is_taken_out = packed != nullptr && packed->shape().element_type() == xla::F32 &&
                              users_.users(*op).size() == 1 && readers_[i].size() == 1 &&
                              is_of_product(readers_[i][0]);
    const bool is_long =
        cost[i] > most_anew && made_.IsMade(*op) && op->shape().rank() > 0 && is_anew && !CanRunAsOne(op);
    values_.written[i] = made_.MustBeWritten(op) || (is_long && Decides(Rule::kLongIsWritten, *op)) ||
                         (is_taken_out && Decides(Rule::kTakenOutOfWords, *op)) ||
                         (IsSineForSeveral(op) && Decides(Rule::kSinesAreWritten, *op)) ||
                         (cost[i] > most_at_once && Decides(Rule::kVeryLongIsWritten, *op)) ||
                         IsWorthWriting(op);
    if (values_.written[i]) cost[i] = 0;
  }
}

void MaterializationPlanner::FindPlacesApart() {
  apart_.assign(n_, -1);
  int reached = 0;  // By a group with something at or before the instruction.
  for (int i = 0; i < n_; ++i) {
    if (i > 0) apart_[i] = reached < i ? i - 1 : apart_[i - 1];
    reached = std::max(reached, values_.owner[i] == nullptr ? i : std::max(i, values_.owner[i]->index()));
  }
}

std::vector<int> MaterializationPlanner::Levels() const {
  std::vector<int> level(n_, 0);
  for (int i = 0; i < n_; ++i) {
    const Instruction* op = At(i);
    for (const Instruction* operand : op->operands()) level[i] = std::max(level[i], level[operand->index()]);
    for (const Instruction* before : op->control_predecessors())
      level[i] = std::max(level[i], level[before->index()]);
    if (values_.written[i]) ++level[i];
  }
  return level;
}

bool MaterializationPlanner::DependsOnAny(const Instruction* later,
                                          absl::Span<const Instruction* const> values, int apart) const {
  std::vector<bool> seen(n_, false);
  std::vector<const Instruction*> todo = {later};
  const auto visit = [&](const Instruction* op) {
    if (op->index() <= apart || seen[op->index()]) return;
    seen[op->index()] = true;
    todo.push_back(op);
  };
  for (int steps = 0; !todo.empty(); ++steps) {
    if (steps > kMostSteps) return true;
    const Instruction* op = todo.back();
    todo.pop_back();
    if (op != later && absl::c_linear_search(values, op)) return true;
    for (const Instruction* operand : op->operands()) visit(operand);
    for (const Instruction* before : op->control_predecessors()) visit(before);
    // A group is made as one.
    const Instruction* owner = values_.owner[op->index()];
    if (owner != nullptr && owner != op) visit(owner);
    for (const Instruction* reduction : joined_[op->index()]) visit(reduction);
  }
  return false;
}

// In other dimensions than it was: reductions for which that did not matter are over the dimensions before (reshape_cancellation.h).
bool IsReshaped(const Instruction& op) {
  return op.opcode() == Opcode::kReshape && !SameButUnitDims(op.operand(0)->shape(), op.shape());
}

int MaterializationPlanner::WaitsFor(int level) const {
  int waits_for = level;
  for (const LateGroup& late : late_groups_) {
    if (late.level <= level) waits_for = std::max(waits_for, late.waits_for);
  }
  return waits_for;
}

void MaterializationPlanner::Join(const Instruction* op, const Instruction* value,
                                  const std::vector<int>& level) {
  joined_[value->index()].push_back(op);
  const int own = level[value->index()];
  int waits_for = 0;
  inside_.ForLeaves(
      op, [&](const Instruction* leaf) { waits_for = std::max(waits_for, WaitsFor(level[leaf->index()])); });
  if (waits_for > WaitsFor(own)) late_groups_.push_back({own, waits_for});
}

std::vector<const Instruction*> MaterializationPlanner::ReductionsOf(const Instruction* value,
                                                                     const std::vector<int>& level) {
  std::vector<const Instruction*> found;
  constexpr WalkLimit kReadersToReductions = {"readers on the way to reductions", 16};
  for (Walk walk(value, kReadersToReductions); const Instruction* at = walk.Next();) {
    for (const Instruction* user : users_.users(*at)) {
      const int u = user->index();
      if (user->opcode() == Opcode::kReduce) {
        // From constants; of one array, or of it and numbers of its elements. Rounded as it is written, or not.
        const Instruction* result =
            values_.owner[u] != nullptr && values_.owner[u]->operand(0) == user ? values_.owner[u] : user;
        const int arrays = user->num_operands() / 2;
        const bool from_constants =
            absl::c_all_of(user->operands().subspan(arrays),
                           [](const Instruction* init) { return init->opcode() == Opcode::kConstant; });
        const bool is_taken = values_.owner[u] != nullptr && (values_.owner[u] != result || result == user ||
                                                              values_.owner[result->index()] != result);
        if (arrays > 2 || !from_constants || is_taken || absl::c_linear_search(found, user)) continue;
        bool waits = false;
        inside_.ForLeaves(user, [&](const Instruction* leaf) {
          const Instruction* source = values_.SourceOf(leaf);
          if (source == value || WaitsFor(level[leaf->index()]) < level[value->index()]) return;
          // The value can be made later, if this one is not made from it.
          waits |= DependsOn(source, value);
        });
        if (!waits) found.push_back(user);
      } else if (values_.recomputed[u] && !values_.written[u] && values_.owner[u] == nullptr &&
                 (IsElementwise(*user) || IsInPlace(*user) || user->opcode() == Opcode::kReshape) &&
                 !IsReshaped(*user) && user->shape().NumElements() == value->shape().NumElements()) {
        walk.AddAgain(user);
      }
    }
  }
  return found;
}

// By index: operands before what reads them, results of the program in their order.
std::vector<int> OrderOfResults(const Computation& computation) {
  std::vector<int> place(computation.size(), -1);
  std::vector<std::pair<const Instruction*, int>> path = {{computation.root(), 0}};
  std::vector<bool> seen(computation.size(), false);
  int next = 0;
  while (!path.empty()) {
    auto& [op, k] = path.back();
    if (k < op->num_operands()) {
      const Instruction* operand = op->operand(k++);
      if (!seen[operand->index()]) {
        seen[operand->index()] = true;
        path.emplace_back(operand, 0);
      }
      continue;
    }
    place[op->index()] = next++;
    path.pop_back();
  }
  return place;
}

bool MaterializationPlanner::IsTakenByLater(const Instruction* value,
                                            absl::Span<const Instruction* const> reductions,
                                            const std::vector<int>& level) const {
  int last = -1;
  for (const Instruction* reduction : reductions) last = std::max(last, place_[reduction->index()]);
  return absl::c_any_of(readers_[value->index()], [&](int reader) {
    const Instruction* op = At(reader);
    const bool can_join = op != value && values_.written[reader] && values_.recomputed[reader] &&
                          values_.owner[reader] == nullptr && IsElementwise(*op) &&
                          op->opcode() != Opcode::kCopy && op->shape().dims() == value->shape().dims();
    // What is but rounded is made with the reductions.
    const bool is_rounded = op->opcode() == Opcode::kConvert && op->operand(0) == value;
    return can_join && !is_rounded && level[reader] == level[value->index()] + 1 && place_[reader] > last;
  });
}

void MaterializationPlanner::TakeReductions() {
  const std::vector<int> level = Levels();
  place_ = OrderOfResults(computation_);
  for (int i = 0; i < n_; ++i) {
    const Instruction* op = At(i);
    if (!IsHeldBesideProducts(op->shape())) continue;
    const Instruction* product = ProductOfPacked(*op);
    if (product == nullptr || !Decides(Rule::kWordsJoinProducts, *op)) continue;
    const Instruction* value = values_.owner[product->index()];
    values_.owner[i] = value;
    Join(op, value, level);
  }
  for (int i = 0; i < n_; ++i) {
    const Instruction* value = At(i);
    if (!values_.written[i] || !value->shape().IsArray()) continue;
    const bool of_product =
        values_.owner[i] == value && !(value->opcode() == Opcode::kConvert && values_.recomputed[i] &&
                                       value->operand(0)->opcode() == Opcode::kReduce);
    if (!of_product && !(values_.recomputed[i] && made_.IsMade(*value) && value->shape().rank() > 0))
      continue;
    if (IsSine(*value) && Decides(Rule::kSinesRunAlone, *value)) continue;
    int direct = 0;
    const Instruction* first = nullptr;
    std::vector<const Instruction*> reductions = ReductionsOf(value, level);
    // A largest element with its place runs by itself, but for what a product makes.
    const auto has_place = [](const Instruction* reduction) { return reduction->num_operands() > 2; };
    if (!of_product && IsOn(Rule::kLargestWithPlace))
      reductions.erase(std::remove_if(reductions.begin(), reductions.end(), has_place), reductions.end());
    if (!of_product && !reductions.empty() && IsTakenByLater(value, reductions, level) &&
        Decides(Rule::kLaterReaderJoins, *value))
      continue;
    // One type; that of what is not reduced as it is, if there are several.
    const auto type_of = [](const Instruction* reduction) {
      return reduction->shape().IsArray() ? reduction->shape().element_type() : xla::TUPLE;
    };
    const auto made = absl::c_find_if(
        reductions, [&](const Instruction* reduction) { return reduction->operand(0) != value; });
    for (const Instruction* reduction : reductions) {
      if (!of_product && made != reductions.end() && type_of(reduction) != type_of(*made) &&
          Decides(Rule::kOneTypeReduces, *reduction))
        continue;
      if (of_product && !IsHeldBesideProducts(reduction->shape())) continue;
      if (!IsOn(of_product ? Rule::kReductionsJoinProducts : Rule::kReductionsJoin)) continue;
      const bool is_sibling = of_product && first != nullptr && reduction->num_operands() == 2 &&
                              first->num_operands() == 2 &&
                              reduction->shape().element_type() == first->shape().element_type();
      if (first != nullptr && !is_sibling &&
          (reduction->operand(0) != value || first->operand(0) != value ||
           (reduction->dimensions() == first->dimensions() &&
            reduction->num_operands() == first->num_operands()))) {
        continue;
      }
      Decides(of_product ? Rule::kReductionsJoinProducts : Rule::kReductionsJoin, *reduction);
      const Instruction* rounded = values_.owner[reduction->index()];
      values_.owner[reduction->index()] = value;
      if (rounded != nullptr) values_.owner[rounded->index()] = value;
      Join(rounded != nullptr ? rounded : reduction, value, level);
      direct += reduction->operand(0) == value;
      // With the first one others of what is written: along other dimensions, or the largest with its place; and all over the same
      // dimensions.
      if (of_product && first == nullptr) first = reduction;
    }
    if (direct > 0 && static_cast<int>(users_.users(*value).size()) == direct &&
        value != computation_.root()) {
      values_.only_joined[i] = true;
    }
  }
}

}  // namespace

bool MaterializedValues::IsInMemory(const Instruction& value) const {
  return written[value.index()] || renamed[value.index()] || HasNoTime(value);
}

int64_t InsideOfGroups::CountOps(const Instruction* op, int64_t limit) {
  ++visit_;
  std::vector<const Instruction*> found = {op};
  int64_t count = 0;
  for (size_t next = 0; next < found.size() && count < limit; ++next) {
    count += OpsOf(*found[next]);
    for (const Instruction* operand : found[next]->operands()) {
      if (IsFirst(*operand) && !values_.IsInMemory(*operand)) found.push_back(operand);
    }
  }
  return count;
}

MaterializedValues FindMaterializedValues(const Computation& computation, const UserMap& users,
                                          const Tiling& tiling) {
  return MaterializationPlanner(computation, users, tiling).Run();
}

}  // namespace toroid
