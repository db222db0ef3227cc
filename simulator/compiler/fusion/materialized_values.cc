#include "simulator/compiler/fusion/materialized_values.h"

#include "simulator/compiler/fusion/materialization_planner.h"

namespace toroid {
namespace {

// Ops that one instruction counts as: the compiler expands functions such as logistic before it groups.
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

}  // namespace

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
  if (readers > Thresholds().most_whole_readers() && Decides(Rule::kPiecesOfSteps, *op)) {
    inside_.ForPieces(op, Thresholds().piece_of_step(), count);
  } else {
    inside_.ForLeaves(op, count);
  }
  if (IsOfTwoArrays(*op) && IsReducedAndReadAgain(*op) && Decides(Rule::kTwoArraysReduced, *op)) return true;
  if (arrays * readers <= arrays + 1 + readers || !Decides(Rule::kWorthWriting, *op)) return false;
  // Readers that are all results of the program can become one group, and so can few readers: then nothing need be written.
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
      if (!values_.written[operand->index()]) cost[i] += cost[operand->index()];
    }
    // So far an op counts once for each path to it; if that is too many, each is counted once.
    const int64_t most_anew = Thresholds().most_recomputed_ops();
    if (cost[i] > most_anew) cost[i] = inside_.CountOps(op, most_anew + 1);
    // Scalars, and what is made from constants alone, are never written for their length.
    // One group makes a value once, however long that takes; but a product makes its operands again and again.
    const auto is_of_product = [&](int group) {
      return IsMatrixOp(At(group)->opcode()) || ends_product_[group];
    };
    const bool is_anew = users_.users(*op).size() > 1 &&
                         (readers_[i].size() > 1 || absl::c_any_of(readers_[i], is_of_product));
    // A packed predicate of an f32 product is unpacked by a group of its own, if only one group, that of a product, needs it.
    const Instruction* words = WordsOf(*op);
    const Instruction* packed = words == nullptr ? nullptr : ProductOfPacked(*words);
    const bool is_taken_out = packed != nullptr && packed->shape().element_type() == xla::F32 &&
                              users_.users(*op).size() == 1 && readers_[i].size() == 1 &&
                              is_of_product(readers_[i][0]);
    const bool is_long =
        cost[i] > most_anew && made_.IsMade(*op) && op->shape().rank() > 0 && is_anew && !CanRunAsOne(op);
    values_.written[i] = made_.MustBeWritten(op) || (is_long && Decides(Rule::kLongIsWritten, *op)) ||
                         (is_taken_out && Decides(Rule::kTakenOutOfWords, *op)) ||
                         (IsSineForSeveral(op) && Decides(Rule::kSinesAreWritten, *op)) || IsWorthWriting(op);
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
    // What one value of a group needs, the whole group needs.
    const Instruction* owner = values_.owner[op->index()];
    if (owner != nullptr && owner != op) visit(owner);
    for (const Instruction* reduction : joined_[op->index()]) visit(reduction);
  }
  return false;
}

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
