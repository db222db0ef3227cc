#include "partitioner/plan/plan_memo.h"

#include <memory>
#include <string>
#include <type_traits>

#include "hlo/analysis/alike.h"
#include "partitioner/ops/op_families.h"

namespace toroid {
namespace {

// Appends facts to a key: two keys are equal if all facts are.
class Key {
 public:
  template <typename T>
  Key& Add(T value) {
    static_assert(std::is_arithmetic_v<T> || std::is_enum_v<T>);
    text_.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  Key& Add(const Shape& shape) {
    Add(shape.element_type()).Add(shape.IsArray());
    if (!shape.IsArray()) return *this;
    Add(static_cast<int64_t>(shape.dims().size()));
    for (const int64_t dim : shape.dims()) Add(dim);
    return *this;
  }
  Key& Add(const ShardingRule& rule) {
    Add(rule.factors.size());
    for (const Factor& factor : rule.factors) {
      Add(factor.size).Add(factor.kind).Add(factor.composite).Add(factor.by_halo).Add(factor.holds_back);
    }
    AddFactors(rule.operands);
    AddFactors(rule.results);
    Add(rule.linear.size());
    for (const Linearity& linear : rule.linear) Add(linear.together).Add(linear.any_reducer);
    Add(rule.reducer).Add(rule.leaves_partial).Add(rule.indexed_is_partial);
    return Add(rule.weighs_gathering).Add(rule.flops_per_point);
  }
  std::string Take() { return std::move(text_); }

 private:
  template <typename Tensors>
  void AddFactors(const Tensors& tensors) {
    Add(tensors.size());
    for (const TensorFactors& tensor : tensors) {
      Add(tensor.size());
      for (const DimFactors& dim : tensor) {
        Add(dim.size);
        text_.append(reinterpret_cast<const char*>(dim.factor), dim.size);
      }
    }
  }

  std::string text_;
};

// The operands whose attributes matter to users: constants, and slices that are read through.
bool IsLookedInto(const Instruction& op, int k) {
  return op.operand(k)->opcode() == Opcode::kConstant || &SourceOf(op, k) != op.operand(k);
}

std::string KeyOf(const PreparedProgram& program, const FlowOp& op) {
  Key key;
  key.Add(op.instruction != nullptr).Add(*op.rule);
  const auto add_tensor = [&](int t) { key.Add(program.graph->shape(t)).Add(program.annotations.manual[t]); };
  key.Add(op.operands.size());
  for (const int t : op.operands) add_tensor(t);
  for (const int t : op.results) add_tensor(t);
  if (op.instruction == nullptr) return key.Take();
  const Instruction& instruction = *op.instruction;
  key.Add(instruction.opcode()).Add(HashOfAttributes(instruction));
  for (int k = 0; k < instruction.num_operands(); ++k) {
    key.Add(IsLookedInto(instruction, k));
    if (!IsLookedInto(instruction, k)) continue;
    key.Add(HashOfAttributes(*instruction.operand(k))).Add(SourceOf(instruction, k).shape());
  }
  return key.Take();
}

// Whether the attributes that enter a key only as hashes are the same, too.
bool HaveSameAttributes(const FlowOp& first, const FlowOp& second) {
  if (first.instruction == nullptr) return true;
  const Instruction &a = *first.instruction, &b = *second.instruction;
  if (!HaveEqualAttributes(a, b)) return false;
  for (int k = 0; k < a.num_operands(); ++k) {
    if (IsLookedInto(a, k) && !HaveEqualAttributes(*a.operand(k), *b.operand(k))) return false;
  }
  return true;
}

// By op of the flow graph: its class.
std::vector<int> OpClasses(const PreparedProgram& program) {
  std::vector<int> classes;
  int count = 0;
  absl::flat_hash_map<std::string, std::vector<std::pair<const FlowOp*, int>>> known;
  for (const FlowOp& op : program.graph->ops()) {
    classes.push_back(-1);
    if (op.rule == nullptr) {
      classes.back() = count++;
      continue;
    }
    auto& alike = known[KeyOf(program, op)];
    for (const auto& [first, number] : alike) {
      if (!HaveSameAttributes(*first, op)) continue;
      classes.back() = number;
      break;
    }
    if (classes.back() >= 0) continue;
    classes.back() = count++;
    alike.emplace_back(&op, classes.back());
  }
  return classes;
}

}  // namespace

PlanMemo::PlanMemo(const PreparedProgram& program)
    : program_(program), versions_(program), classes_(OpClasses(program)) {}

const OpChoice& PlanMemo::Choice(const FlowOp& op, absl::Span<const AxisList> factor_axes) {
  const auto [it, is_new] =
      choices_.try_emplace({ClassOf(op), {factor_axes.begin(), factor_axes.end()}}, nullptr);
  if (!is_new) return *it->second;
  all_.push_back(ChoiceUnder(program_, op, factor_axes, &versions_));
  return *(it->second = &all_.back());
}

const std::vector<const OpChoice*>& PlanMemo::Choices(const FlowOp& op, const AxisUnits& units) {
  std::unique_ptr<std::vector<const OpChoice*>>& list = lists_[{ClassOf(op), units}];
  if (list == nullptr) {
    list = std::make_unique<std::vector<const OpChoice*>>();
    for (const auto& factor_axes : FactorAxesOf(program_, op, units))
      list->push_back(&Choice(op, factor_axes));
  }
  return *list;
}

const Assignment& PlanMemo::Decision(DecisionKey key, absl::FunctionRef<Assignment()> choose) {
  std::unique_ptr<Assignment>& known = decisions_[std::move(key)];
  if (known == nullptr) known = std::make_unique<Assignment>(choose());
  return *known;
}

}  // namespace toroid
