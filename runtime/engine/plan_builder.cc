#include "runtime/engine/plan_builder.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "hlo/analysis/liveness.h"
#include "hlo/base/status.h"
#include "runtime/dynamic/dynamic_shapes.h"
#include "runtime/engine/kernel_table.h"
#include "runtime/groups/form_groups.h"
#include "runtime/groups/run_group.h"
#include "runtime/mesh/limit_error.h"
#include "runtime/moves/form_moves.h"
#include "runtime/plan/op_call.h"
#include "runtime/plan/progress.h"

namespace toroid {
namespace {

// Most levels of nested calls; a deeper module would exhaust the stack when run.
constexpr int kMaxPlanDepth = 512;
// A call whose computation would make the plan longer than this stays a call: calls that nest two by two state
// any number of instructions.
constexpr int kMostSteps = 50'000;

// Drops steps that nothing reads any more: tuples whose elements are read from where they were made, and what only those
// needed.
void DropUnread(const SideEffects& side_effects, Plan& plan) {
  std::vector<bool> read(plan.values.size(), false);
  read[plan.root] = true;
  std::vector<bool> drop(plan.steps.size(), false);
  for (int s = static_cast<int>(plan.steps.size()) - 1; s >= 0; --s) {
    const Step& step = plan.steps[s];
    bool is_read = read[step.result];
    for (const int slot : step.more_results) is_read |= read[slot];
    drop[s] = !is_read && !side_effects.Has(*step.instruction) && !IsCollective(step.instruction->opcode());
    if (drop[s]) continue;
    for (const int slot : step.operands) read[slot] = true;
  }
  size_t s = 0;
  plan.steps.erase(
      std::remove_if(plan.steps.begin(), plan.steps.end(), [&](const Step&) { return drop[s++]; }),
      plan.steps.end());
}

// Finds the last use of every value. A tuple that only get-tuple-element reads gives up each element at that
// element's last read.
void FindLastUses(Plan& plan) {
  const size_t n = plan.values.size();
  std::vector<int> last_use(n, -1);
  std::vector<bool> only_elements(n, true), keep(n, false);
  for (size_t s = 0; s < plan.steps.size(); ++s) {
    for (const int slot : plan.steps[s].operands) {
      last_use[slot] = static_cast<int>(s);
      if (plan.steps[s].instruction->opcode() != Opcode::kGetTupleElement) only_elements[slot] = false;
    }
  }
  keep[plan.root] = true;
  for (const int slot : plan.constant_slots) keep[slot] = true;

  std::vector<std::vector<bool>> seen(n);  // Elements that a later step reads.
  for (int s = static_cast<int>(plan.steps.size()) - 1; s >= 0; --s) {
    Step& step = plan.steps[s];
    for (size_t i = 0; i < step.operands.size(); ++i) {
      const int slot = step.operands[i];
      if (keep[slot] || last_use[slot] != s) continue;
      if (std::count(step.operands.begin(), step.operands.end(), slot) == 1 && i < 64) {
        step.last_uses |= uint64_t{1} << i;
      }
      if (std::find(step.frees.begin(), step.frees.end(), slot) == step.frees.end())
        step.frees.push_back(slot);
    }
    if (last_use[step.result] < 0 && !keep[step.result]) step.frees.push_back(step.result);
    if (step.instruction->opcode() != Opcode::kGetTupleElement) continue;
    const int tuple = step.operands[0];
    const size_t element = step.instruction->tuple_index();
    if (keep[tuple] || !only_elements[tuple]) continue;
    if (seen[tuple].size() <= element) seen[tuple].resize(element + 1, false);
    step.takes_element = !seen[tuple][element];
    seen[tuple][element] = true;
  }
  for (const int slot : plan.parameters)
    plan.parameter_used.push_back(last_use[slot] >= 0 || slot == plan.root);
}

}  // namespace

absl::StatusOr<Plan*> PlanBuilder::Build(const Computation& computation) { return Build(computation, 0); }

absl::StatusOr<Plan*> PlanBuilder::Build(const Computation& computation, int depth) {
  const size_t computations = computation.module()->computations().size();
  if (plans_.size() < computations) plans_.resize(computations);
  std::unique_ptr<Plan>& known = plans_[computation.index()];
  if (known != nullptr) return known.get();
  if (depth > kMaxPlanDepth) {
    return absl::InvalidArgumentError(absl::StrCat(
        computation.name(), ": computations call each other more than ", kMaxPlanDepth, " levels deep"));
  }
  if (side_effects_ == nullptr) side_effects_ = std::make_unique<SideEffects>(*computation.module());
  auto plan = std::make_unique<Plan>();
  plan->computation = &computation;
  plan->steps.reserve(computation.size());
  plan->values.reserve(computation.size());
  for (const Instruction* parameter : computation.parameters()) {
    plan->parameters.push_back(static_cast<int>(plan->values.size()));
    plan->values.push_back(parameter);
  }
  ASSIGN_OR_RETURN(plan->root, AddSteps(computation, plan->parameters, depth, *plan));
  plan->constants.resize(plan->values.size());
  plan->root_is_constant = std::find(plan->constant_slots.begin(), plan->constant_slots.end(), plan->root) !=
                           plan->constant_slots.end();
  tuple_step_.clear();
  DropUnread(*side_effects_, *plan);
  if (options_.groups) {
    FormGroups(*side_effects_, *plan);
    FormMoves(*plan);
    DropUnread(*side_effects_, *plan);  // A slice of a pad may need no padding.
  }
  FindLastUses(*plan);
  plans_[computation.index()] = std::move(plan);
  return plans_[computation.index()].get();
}

void EstimateWork(Plan& plan) {
  if (plan.work > 0) return;
  for (Step& step : plan.steps) {
    if (const Group* group = GroupOf(step)) {
      for (const GroupNode& node : group->nodes) {
        if (node.instruction != nullptr) step.work += EstimatedWork(*node.instruction);
      }
    } else {
      step.work = EstimatedWork(*step.instruction);
    }
    const double trips = step.instruction->opcode() == Opcode::kWhile ? EstimatedTrips(*step.instruction) : 1;
    for (Plan* callee : step.called) {
      EstimateWork(*callee);
      step.work += trips * callee->work;
    }
    plan.work += step.work;
  }
}

const std::vector<bool>& PlanBuilder::Needed(const Computation& computation) {
  needed_.resize(std::max<size_t>(needed_.size(), computation.module()->computations().size()));
  std::vector<bool>& needed = needed_[computation.index()];
  if (needed.empty()) needed = NeededInstructions(computation, *side_effects_);
  return needed;
}

absl::StatusOr<int> PlanBuilder::AddSteps(const Computation& computation, const std::vector<int>& arguments,
                                          int depth, Plan& plan) {
  if (computation.root() == nullptr) return absl::InvalidArgumentError(computation.name() + ": no root");
  if (depth > kMaxPlanDepth) {
    return absl::InvalidArgumentError(absl::StrCat(
        computation.name(), ": computations call each other more than ", kMaxPlanDepth, " levels deep"));
  }
  std::vector<int> slots(computation.size(), -1);  // By instruction.
  for (int i = 0; i < computation.num_parameters(); ++i)
    slots[computation.parameter(i)->index()] = arguments[i];
  for (const auto& instruction : computation.instructions()) {
    const int i = instruction->index();
    if (instruction->opcode() == Opcode::kParameter || !Needed(computation)[i]) continue;
    ASSIGN_OR_RETURN(slots[i], AddStep(*instruction, slots, depth, plan));
  }
  return slots[computation.root()->index()];
}

absl::StatusOr<int> PlanBuilder::AddStep(const Instruction& instruction, const std::vector<int>& slots,
                                         int depth, Plan& plan) {
  if (instruction.opcode() == Opcode::kUnknown) {
    return absl::InvalidArgumentError(
        absl::StrCat(instruction.Path(), ": unknown opcode ", instruction.opcode_name()));
  }
  Step step;
  for (const Instruction* operand : instruction.operands()) step.operands.push_back(slots[operand->index()]);
  const bool calls = instruction.opcode() == Opcode::kCall || instruction.opcode() == Opcode::kFusion;
  if (calls && instruction.called(0)->num_parameters() == instruction.num_operands() &&
      static_cast<int>(plan.values.size()) + instruction.called(0)->size() <= kMostSteps) {
    return AddSteps(*instruction.called(0), {step.operands.begin(), step.operands.end()}, depth + 1, plan);
  }
  if (instruction.opcode() == Opcode::kGetTupleElement) {
    const auto tuple = tuple_step_.find({&plan, step.operands[0]});
    if (tuple != tuple_step_.end()) return plan.steps[tuple->second].operands[instruction.tuple_index()];
  }
  for (const Computation* callee : instruction.called()) {
    ASSIGN_OR_RETURN(Plan * callee_plan, Build(*callee, depth + 1));
    step.called.push_back(callee_plan);
  }
  step.static_kernel = KernelOf(instruction.opcode());
  step.kernel = ComputesOnValidParts(instruction) ? ExecuteOnValidParts : step.static_kernel;
  step.instruction = &instruction;
  step.result = static_cast<int>(plan.values.size());
  plan.values.push_back(&instruction);
  step.elements = instruction.shape().NumElements();
  step.bytes = instruction.shape().ByteSize();
  if (instruction.opcode() == Opcode::kConstant) {
    RunState state;
    MeshContext single;
    single.run = &state;
    plan.constants.resize(plan.values.size());
    OpCall call(step, plan.constants.data(), single);
    RETURN_IF_ERROR(AnnotateMarked(step.kernel(call), instruction.Path()));
    plan.constant_slots.push_back(step.result);
    return step.result;
  }
  const int result = step.result;
  if (instruction.opcode() == Opcode::kTuple)
    tuple_step_[{&plan, result}] = static_cast<int>(plan.steps.size());
  plan.steps.push_back(std::move(step));
  return result;
}

}  // namespace toroid
