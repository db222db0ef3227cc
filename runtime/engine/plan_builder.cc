#include "runtime/engine/plan_builder.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "hlo/analysis/liveness.h"
#include "hlo/base/status.h"
#include "runtime/dynamic/dynamic_shapes.h"
#include "runtime/engine/kernel_table.h"
#include "runtime/mesh/limit_error.h"
#include "runtime/plan/op_call.h"
#include "runtime/plan/progress.h"

namespace toroid {
namespace {

// Most levels of nested calls; a deeper module would exhaust the stack when run.
constexpr int kMaxPlanDepth = 512;

// Finds the last use of every value. A tuple that only get-tuple-element reads gives up each element at that
// element's last read.
void FindLastUses(Plan& plan, const std::vector<bool>& needed) {
  const int n = plan.computation->size();
  const std::vector<int> last_use = LastUses(*plan.computation, needed);
  std::vector<bool> only_elements(n, true);
  for (const Step& step : plan.steps) {
    if (step.instruction->opcode() == Opcode::kGetTupleElement) continue;
    for (const int slot : step.operands) only_elements[slot] = false;
  }
  std::vector<bool> keep(n, false);
  keep[plan.root] = true;
  for (const int slot : plan.constant_slots) keep[slot] = true;

  std::vector<std::vector<bool>> seen(n);  // Elements that a later step reads.
  for (int s = static_cast<int>(plan.steps.size()) - 1; s >= 0; --s) {
    Step& step = plan.steps[s];
    for (size_t i = 0; i < step.operands.size(); ++i) {
      const int slot = step.operands[i];
      if (keep[slot] || last_use[slot] != step.result) continue;
      int uses = 0;
      for (const int other : step.operands) uses += other == slot;
      if (uses == 1 && i < 64) step.last_uses |= uint64_t{1} << i;
      bool listed = false;
      for (const int other : step.frees) listed |= other == slot;
      if (!listed) step.frees.push_back(slot);
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
  for (size_t i = 0; i < plan.parameters.size(); ++i) {
    plan.parameter_used.push_back(last_use[plan.parameters[i]] >= 0 || plan.parameters[i] == plan.root);
  }
}

}  // namespace

absl::StatusOr<Plan*> PlanBuilder::Build(const Computation& computation) { return Build(computation, 0); }

absl::StatusOr<Plan*> PlanBuilder::Build(const Computation& computation, int depth) {
  if (plans_.size() < computation.module()->computations().size()) {
    plans_.resize(computation.module()->computations().size());
  }
  std::unique_ptr<Plan>& slot = plans_[computation.index()];
  if (slot != nullptr) return slot.get();
  if (depth > kMaxPlanDepth) {
    return absl::InvalidArgumentError(absl::StrCat(
        computation.name(), ": computations call each other more than ", kMaxPlanDepth, " levels deep"));
  }
  auto plan = std::make_unique<Plan>();
  plan->computation = &computation;
  RETURN_IF_ERROR(AddSteps(computation, depth, *plan));
  plans_[computation.index()] = std::move(plan);
  return plans_[computation.index()].get();
}

absl::Status PlanBuilder::AddSteps(const Computation& computation, int depth, Plan& plan) {
  if (computation.root() == nullptr) return absl::InvalidArgumentError(computation.name() + ": no root");
  std::vector<std::vector<Plan*>> called(computation.size());
  for (const auto& instruction : computation.instructions()) {
    for (const Computation* callee : instruction->called()) {
      ASSIGN_OR_RETURN(Plan * callee_plan, Build(*callee, depth + 1));
      called[instruction->index()].push_back(callee_plan);
    }
  }
  plan.root = computation.root()->index();
  plan.constants.resize(computation.size());
  for (const Instruction* parameter : computation.parameters()) plan.parameters.push_back(parameter->index());

  if (side_effects_ == nullptr) side_effects_ = std::make_unique<SideEffects>(*computation.module());
  const std::vector<bool> needed = NeededInstructions(computation, *side_effects_);
  RunState state;
  MeshContext single;
  single.run = &state;
  for (const auto& instruction : computation.instructions()) {
    const int i = instruction->index();
    if (!needed[i] || instruction->opcode() == Opcode::kParameter) continue;
    if (instruction->opcode() == Opcode::kUnknown) {
      return absl::InvalidArgumentError(
          absl::StrCat(instruction->Path(), ": unknown opcode ", instruction->opcode_name()));
    }
    Step step;
    step.static_kernel = KernelOf(instruction->opcode());
    step.kernel = ComputesOnValidParts(*instruction) ? ExecuteOnValidParts : step.static_kernel;
    step.instruction = instruction.get();
    step.result = i;
    step.elements = instruction->shape().NumElements();
    step.bytes = instruction->shape().ByteSize();
    for (const Instruction* operand : instruction->operands()) step.operands.push_back(operand->index());
    step.called = called[i];
    if (instruction->opcode() == Opcode::kConstant) {
      OpCall call(step, plan.constants.data(), single);
      RETURN_IF_ERROR(AnnotateMarked(step.kernel(call), instruction->Path()));
      plan.constant_slots.push_back(i);
      plan.root_is_constant |= i == plan.root;
      continue;
    }
    step.work = EstimatedWork(*instruction);
    const double trips = instruction->opcode() == Opcode::kWhile ? EstimatedTrips(*instruction) : 1;
    for (const Plan* callee : called[i]) step.work += trips * callee->work;
    plan.work += step.work;
    plan.steps.push_back(std::move(step));
  }
  FindLastUses(plan, needed);
  return absl::OkStatus();
}

}  // namespace toroid
