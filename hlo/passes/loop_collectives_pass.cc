#include "hlo/passes/loop_collectives_pass.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "hlo/analysis/side_effects.h"
#include "hlo/analysis/trip_count.h"
#include "hlo/analysis/work.h"
#include "hlo/base/math.h"
#include "hlo/base/status.h"
#include "hlo/builder/instruction_builder.h"
#include "hlo/ir/edit.h"
#include "hlo/ir/loop_over_parts.h"
#include "hlo/ops/constraint.h"
#include "hlo/passes/loop_edit.h"
#include "hlo/passes/windowed_einsum_pass.h"

namespace toroid {
namespace {

bool HoldsCollective(const Computation& computation) {
  return std::any_of(computation.instructions().begin(), computation.instructions().end(),
                     [](const auto& op) { return IsCollective(op->opcode()); });
}

// True if the op may run once instead of in every trip, given invariant operands.
bool MayBeMoved(const Instruction& op, const SideEffects& side_effects) {
  if (!op.control_predecessors().empty() || side_effects.Has(op) || op.shape().IsToken() ||
      op.shape().IsBuffer())
    return false;
  switch (op.opcode()) {
    case Opcode::kParameter:
    case Opcode::kOptimizationBarrier:
    case Opcode::kDomain:
    case Opcode::kAfterAll:
    case Opcode::kAddDependency:
    case Opcode::kCustomCall:
      return false;
    default:
      // Neither control flow nor ops that wait for asynchronous ones.
      return !HasTrait(op.opcode(), kRunsBody) &&
             (!HasTrait(op.opcode(), kNoStorage) || op.shape().IsArray());
  }
}

// By index: instructions of the body that have the same value in every trip.
std::vector<bool> Invariants(const Computation& body, const SideEffects& side_effects) {
  std::vector<bool> invariant(body.size(), false);
  const Instruction* state = body.parameter(0);
  for (const auto& op : body.instructions()) {
    if (op->opcode() == Opcode::kGetTupleElement && op->operand(0) == state) {
      const Instruction* next = body.root()->operand(op->tuple_index());
      invariant[op->index()] = next->opcode() == Opcode::kGetTupleElement && next->operand(0) == state &&
                               next->tuple_index() == op->tuple_index();
      continue;
    }
    invariant[op->index()] =
        MayBeMoved(*op, side_effects) &&
        std::all_of(op->operands().begin(), op->operands().end(),
                    [&](const Instruction* operand) { return invariant[operand->index()]; });
  }
  return invariant;
}

// Copies invariant instructions out of the loop.
class Mover {
 public:
  explicit Mover(LoopEdit* edit) : edit_(*edit), moved_(edit->body()->size(), nullptr) {}

  Instruction* Moved(const Instruction& op) {
    const int index = op.index();
    if (moved_[index] != nullptr) return moved_[index];
    if (op.opcode() == Opcode::kGetTupleElement && op.operand(0)->opcode() == Opcode::kParameter) {
      return moved_[index] = edit_.First(static_cast<int>(op.tuple_index()));
    }
    // Copies operands first; a stack instead of recursion allows deep chains.
    std::vector<const Instruction*> todo = {&op};
    while (!todo.empty()) {
      const Instruction* next = todo.back();
      bool ready = true;
      for (const Instruction* operand : next->operands()) {
        if (moved_[operand->index()] != nullptr) continue;
        if (operand->opcode() == Opcode::kGetTupleElement &&
            operand->operand(0)->opcode() == Opcode::kParameter) {
          moved_[operand->index()] = edit_.First(static_cast<int>(operand->tuple_index()));
          continue;
        }
        todo.push_back(operand);
        ready = false;
      }
      if (!ready) continue;
      todo.pop_back();
      if (moved_[next->index()] != nullptr) continue;
      std::vector<Instruction*> operands;
      for (const Instruction* operand : next->operands()) operands.push_back(moved_[operand->index()]);
      Instruction* copy = edit_.outside()->AddClone(*next, next->shape(), operands);
      copy->set_called(next->called());
      copy->set_cause(next->cause());
      moved_[next->index()] = copy;
    }
    return moved_[index];
  }

 private:
  LoopEdit& edit_;
  std::vector<Instruction*> moved_;  // By index in the body.
};

bool IsAddition(const Instruction& all_reduce) {
  return all_reduce.called().size() == 1 && IsSimpleReducer(*all_reduce.called(0)) &&
         all_reduce.called(0)->root()->opcode() == Opcode::kAdd;
}

// True if the op moves or negates elements, so that f(a + b) = f(a) + f(b).
bool IsLinearMovement(Opcode opcode) {
  return opcode == Opcode::kReshape || opcode == Opcode::kTranspose || opcode == Opcode::kSlice ||
         opcode == Opcode::kNegate || opcode == Opcode::kCopy || opcode == Opcode::kReverse;
}

bool IsZero(const Instruction& value) {
  const Instruction* x = &value;
  while (x->opcode() == Opcode::kBroadcast || x->opcode() == Opcode::kReshape) x = x->operand(0);
  if (x->opcode() != Opcode::kConstant || !x->shape().IsArray()) return false;
  const xla::LiteralProto& literal = x->attrs().literal();
  if (x->shape().NumElements() != 1 || !literal.has_shape()) return false;
  const absl::StatusOr<Literal> read = Literal::FromProto(literal);
  if (!read.ok()) return false;
  return std::all_of(read->bytes(), read->bytes() + read->shape().ByteSize(),
                     [](char byte) { return byte == 0; });
}

class LoopMover {
 public:
  LoopMover(const SideEffects& side_effects, int64_t most_bytes, Instruction* loop)
      : side_effects_(side_effects), most_bytes_(most_bytes), loop_(*loop), edit_(loop) {}

  absl::StatusOr<bool> Run() {
    const bool sums = MoveSums();
    const bool invariants = MoveInvariants();
    if (!sums && !invariants) return false;
    RETURN_IF_ERROR(edit_.Apply());
    return true;
  }

 private:
  bool MoveInvariants() {
    Computation* body = edit_.body();
    const std::vector<bool> invariant = Invariants(*body, side_effects_);
    const UserMap users(*body);
    Mover mover(&edit_);
    std::vector<Instruction*> now(body->size(), nullptr);
    int64_t held = 0;
    bool changed = false;
    for (size_t i = 0; i < invariant.size(); ++i) {
      const Instruction& op = *body->instruction(static_cast<int64_t>(i));
      if (!invariant[i] || !IsCollective(op.opcode()) || !op.shape().IsArray()) continue;
      const bool only_moves =
          std::all_of(users.users(op).begin(), users.users(op).end(), [&](const Instruction* user) {
            return invariant[user->index()] && IsCollective(user->opcode()) && user->shape().IsArray();
          });
      int64_t growth = ArrayBytes(op.shape());
      for (const Instruction* operand : op.operands()) growth -= ArrayBytes(operand->shape());
      if (only_moves && &op != body->root()) continue;  // Only other moved collectives use it.
      if (SaturatingAdd(held, growth) > most_bytes_) continue;
      held = SaturatingAdd(held, growth);
      now[i] = edit_.AddInvariant(mover.Moved(op));
      changed = true;
    }
    if (changed) ReplaceUses(body, now);
    return changed;
  }

  // The all-reduce whose results are only added to leaf k; null if there is none.
  Instruction* SummedInto(int k, const UserMap& users) const {
    const Computation& body = *loop_.called(0);
    Instruction* sum = body.root()->operand(k);
    if (sum->opcode() != Opcode::kAdd || users.users(*sum).size() != 1 ||
        !sum->control_predecessors().empty())
      return nullptr;
    for (const int side : {0, 1}) {
      const Instruction* before = sum->operand(side);
      if (before->opcode() != Opcode::kGetTupleElement || before->operand(0) != body.parameter(0) ||
          before->tuple_index() != k || users.users(*before).size() != 1) {
        continue;
      }
      Instruction* x = sum->operand(1 - side);
      while (IsLinearMovement(x->opcode()) && users.users(*x).size() == 1) x = x->operand(0);
      if (x->opcode() != Opcode::kAllReduce || x->num_operands() != 1 || !x->shape().IsArray() ||
          users.users(*x).size() != 1 || !IsAddition(*x) || !x->control_predecessors().empty()) {
        return nullptr;
      }
      return x;
    }
    return nullptr;
  }

  // How often a computation reads leaf k of the state.
  static int Reads(const Computation& computation, int k) {
    int reads = 0;
    for (const auto& op : computation.instructions()) {
      reads += op->opcode() == Opcode::kGetTupleElement && op->operand(0) == computation.parameter(0) &&
               op->tuple_index() == k;
    }
    return reads;
  }

  bool MoveSums() {
    Computation* body = edit_.body();
    const std::optional<int64_t> trips = TripCount(loop_);
    if (trips && *trips < 2) return false;
    const UserMap users(*body);
    std::vector<Instruction*> now(body->size(), nullptr);
    bool changed = false;
    for (int k = 0; k < edit_.num_leaves(); ++k) {
      Instruction* reduced = SummedInto(k, users);
      if (reduced == nullptr || now[reduced->index()] != nullptr) continue;
      if (Reads(*body, k) != 1 || Reads(*loop_.called(1), k) != 0) continue;
      const Shape& shape = loop_.shape().tuple_shape(k);
      if (shape.IsDynamic() || shape.element_type() != reduced->shape().element_type() ||
          ArrayBytes(shape) > SaturatingMultiply(ArrayBytes(reduced->shape()), trips.value_or(1))) {
        continue;
      }
      now[reduced->index()] = reduced->operand(0);
      Computation* outside = edit_.outside();
      Instruction* result = outside->AddClone(*reduced, shape, {edit_.Last(k)});
      result->set_called(reduced->called());
      result->set_cause(reduced->cause());
      Instruction* first = edit_.First(k);
      if (!IsZero(*first)) {
        InstructionBuilder b(outside);
        edit_.SetFirst(k, b.Zeros(shape.element_type(), shape.dims()));
        result = outside->Add(Opcode::kAdd, shape, {first, result});
      }
      edit_.SetResult(k, result);
      changed = true;
    }
    if (changed) Bypass(now, body);
    return changed;
  }

  // Like ReplaceUses, but the replacements are old instructions, which may themselves use replaced ones.
  static void Bypass(const std::vector<Instruction*>& now, Computation* computation) {
    for (const auto& user : computation->instructions()) {
      for (int i = 0; i < user->num_operands(); ++i) {
        Instruction* other = now[user->operand(i)->index()];
        if (other != nullptr) user->set_operand(i, other);
      }
    }
  }

  const SideEffects& side_effects_;
  const int64_t most_bytes_;
  const Instruction& loop_;
  LoopEdit edit_;
};

}  // namespace

absl::StatusOr<bool> LoopCollectivesPass::Run(std::unique_ptr<Module>* module) {
  std::vector<int> callers((*module)->num_computations(), 0);
  for (const auto& computation : (*module)->computations()) {
    for (const auto& op : computation->instructions()) {
      for (const Computation* callee : op->called()) ++callers[callee->index()];
    }
  }
  const SideEffects side_effects(**module);
  bool changed = false;
  // Callees are before their callers, so that a collective moved out of an inner loop may leave the outer one
  // too.
  for (const auto& computation : (*module)->computations()) {
    std::vector<Instruction*> loops;
    for (const auto& op : computation->instructions()) {
      if (op->opcode() == Opcode::kWhile) loops.push_back(op.get());
    }
    for (Instruction* loop : loops) {
      const auto is_own = [&](const Computation* callee) { return callers[callee->index()] == 1; };
      if (!LoopEdit::CanEdit(*loop) || !std::all_of(loop->called().begin(), loop->called().end(), is_own) ||
          !HoldsCollective(*loop->called(0)) || loop->FrontendAttribute(kLoopOverParts) != nullptr) {
        continue;
      }
      ASSIGN_OR_RETURN(const bool here, LoopMover(side_effects, most_bytes_, loop).Run());
      changed |= here;
    }
  }
  return changed;
}

}  // namespace toroid
