#include "partitioner/plan/plan_memo.h"

#include <memory>

#include "partitioner/plan/op_classes.h"

namespace toroid {

PlanMemo::PlanMemo(const PreparedProgram& program)
    : program_(program), versions_(program), classes_(OpClasses(program)) {}

const NumberedChoice& PlanMemo::Choice(const FlowOp& op, absl::Span<const AxisList> factor_axes) {
  const auto [it, is_new] =
      choices_.try_emplace({ClassOf(op), {factor_axes.begin(), factor_axes.end()}}, nullptr);
  if (!is_new) return *it->second;
  NumberedChoice numbered;
  numbered.choice = ChoiceUnder(program_, op, factor_axes);
  for (const Sharding& needed : numbered.choice.operands)
    numbered.operands.push_back(versions_.Number(needed));
  for (const Sharding& made : numbered.choice.results) numbered.results.push_back(versions_.Number(made));
  all_.push_back(std::move(numbered));
  return *(it->second = &all_.back());
}

const std::vector<const NumberedChoice*>& PlanMemo::Choices(const FlowOp& op, const AxisUnits& units) {
  std::unique_ptr<std::vector<const NumberedChoice*>>& list = lists_[{ClassOf(op), units}];
  if (list == nullptr) {
    auto made = std::make_unique<std::vector<const NumberedChoice*>>();
    for (const auto& factor_axes : FactorAxesOf(program_, op, units))
      made->push_back(&Choice(op, factor_axes));
    list = std::move(made);
  }
  return *list;
}

const Assignment& PlanMemo::Decision(DecisionKey key, absl::FunctionRef<Assignment()> choose) {
  std::unique_ptr<Assignment>& known = decisions_[std::move(key)];
  if (known == nullptr) known = std::make_unique<Assignment>(choose());
  return *known;
}

}  // namespace toroid
