#include "simulator/compiler/fusion/materialization_planner.h"

namespace toroid {
namespace {

// The op has other dimensions than its operand. Where that made no difference, the reshape is gone by now
// (reshape_cancellation.h).
bool IsReshaped(const Instruction& op) {
  return op.opcode() == Opcode::kReshape && !SameButUnitDims(op.operand(0)->shape(), op.shape());
}

}  // namespace

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
        // A reduction from constant initial values, of one array or of an array and its indices, followed by a convert or not.
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
          // If the leaf does not need the value, the value can be made after it.
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

void MaterializationPlanner::TakeReductions() {
  const std::vector<int> level = Levels();
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
    // A maximum with its index runs by itself, unless it is one of a product's result.
    const auto has_place = [](const Instruction* reduction) { return reduction->num_operands() > 2; };
    if (!of_product && IsOn(Rule::kLargestWithPlace))
      reductions.erase(std::remove_if(reductions.begin(), reductions.end(), has_place), reductions.end());
    // If reductions have several types, only those join that have the type of the first one that does not read the value
    // itself.
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
      // After the first reduction of a product's result others join under conditions (is_sibling).
      if (of_product && first == nullptr) first = reduction;
    }
    if (direct > 0 && static_cast<int>(users_.users(*value).size()) == direct &&
        value != computation_.root()) {
      values_.only_joined[i] = true;
    }
  }
}

}  // namespace toroid
