#include "simulator/compiler/rewrites/moved_results_pass.h"

#include <memory>
#include <vector>

#include "hlo/base/status.h"
#include "hlo/ir/module.h"
#include "hlo/ir/replace_instructions.h"
#include "hlo/passes/dce_pass.h"
#include "simulator/program/elementwise.h"
#include "simulator/rules/compiler_scope.h"

namespace toroid {
namespace {

// Each pass over a module brings work before one move.
constexpr int kMostRounds = 24;
constexpr int kMostSteps = 16;

bool IsMove(const Instruction& op) {
  return op.opcode() == Opcode::kReshape || op.opcode() == Opcode::kTranspose;
}

// It is the results of a convolution, moved and worked on; each step is read by the next one alone.
bool IsOfConvolution(const Instruction& value, const UserMap& users) {
  const Instruction* from = &value;
  for (int step = 0; step < kMostSteps && users.users(*from).size() == 1; ++step) {
    if (from->opcode() == Opcode::kConvolution) return true;
    if (from->num_operands() == 0 || (!IsElementwise(*from) && !IsMove(*from))) return false;
    const Instruction* first = from->operand(0);
    from = IsEverywhereTheSame(*first) && from->num_operands() > 1 ? from->operand(1) : first;
  }
  return false;
}

// `op` done to what its only operand but splats was before a move, and then moved; null if that is none.
Instruction* BeforeMove(Instruction* op, const UserMap& users) {
  if (!IsElementwise(*op) || op->shape().rank() == 0 || !op->control_predecessors().empty()) return nullptr;
  Instruction* move = nullptr;
  for (Instruction* operand : op->operands()) {
    if (IsEverywhereTheSame(*operand)) continue;
    if (!IsMove(*operand) || move != nullptr) return nullptr;
    move = operand;
  }
  if (move == nullptr || !IsOfConvolution(*move, users)) return nullptr;
  Computation* computation = op->computation();
  Instruction* base = move->operand(0);
  std::vector<Instruction*> operands;
  for (Instruction* operand : op->operands()) {
    if (operand == move || operand->shape().rank() == 0) {
      operands.push_back(operand == move ? base : operand);
      continue;
    }
    Shape shape = base->shape();
    shape.set_element_type(operand->shape().element_type());
    operands.push_back(computation->AddClone(*operand, shape, {operand->operand(0)}));
  }
  Shape shape = base->shape();
  shape.set_element_type(op->shape().element_type());
  Instruction* made = computation->AddClone(*op, shape, operands);
  return computation->AddClone(*move, op->shape(), {made});
}

}  // namespace

absl::StatusOr<bool> MovedResultsPass::Run(std::unique_ptr<Module>* module) {
  bool changed = false;
  if (!IsOn(Rule::kWorkBeforeMoves)) return false;
  for (int round = 0; round < kMostRounds; ++round) {
    const Computation* of = nullptr;
    std::unique_ptr<UserMap> users;
    ASSIGN_OR_RETURN(const bool moved,
                     ReplaceEach(module->get(), [&](Instruction* op) -> absl::StatusOr<Instruction*> {
                       if (!IsElementwise(*op)) return nullptr;
                       if (op->computation() != of) {
                         of = op->computation();
                         users = std::make_unique<UserMap>(*of);
                       }
                       return Marked(Rule::kWorkBeforeMoves, BeforeMove(op, *users));
                     }));
    if (!moved) break;
    // The move is read no more.
    EliminateDeadCode(module->get());
    changed = true;
  }
  return changed;
}

}  // namespace toroid
