#include "hlo/passes/loop_edit.h"

#include <algorithm>

#include "hlo/base/status.h"
#include "hlo/ir/edit.h"
#include "hlo/ir/replace_instructions.h"

namespace toroid {
namespace {

// True if the only parameter is a tuple that is read leaf by leaf.
bool TakesLeaves(const Computation& computation) {
  if (computation.num_parameters() != 1 || computation.root() == nullptr) return false;
  const Instruction* state = computation.parameter(0);
  if (!state->shape().IsTuple() || state == computation.root()) return false;
  for (const auto& op : computation.instructions()) {
    if (op->opcode() == Opcode::kGetTupleElement) continue;
    if (std::find(op->operands().begin(), op->operands().end(), state) != op->operands().end()) return false;
  }
  return true;
}

}  // namespace

bool LoopEdit::CanEdit(const Instruction& loop) {
  if (loop.opcode() != Opcode::kWhile || loop.num_operands() != 1 || loop.called().size() != 2 ||
      loop.sharding() != nullptr || !TakesLeaves(*loop.called(0)) || !TakesLeaves(*loop.called(1))) {
    return false;
  }
  const Instruction& root = *loop.called(0)->root();
  return root.opcode() == Opcode::kTuple &&
         root.num_operands() == static_cast<int>(loop.shape().tuple_shapes().size());
}

LoopEdit::LoopEdit(Instruction* loop)
    : loop_(loop),
      old_leaves_(static_cast<int>(loop->shape().tuple_shapes().size())),
      firsts_(old_leaves_, nullptr),
      results_(old_leaves_, nullptr),
      lasts_(old_leaves_, nullptr) {}

Instruction* LoopEdit::Element(Computation* computation, Instruction* tuple, const Shape& shape, int k) {
  xla::HloInstructionProto* attrs;
  Instruction* element = computation->Add(Opcode::kGetTupleElement, shape, {tuple}, &attrs);
  attrs->set_tuple_index(k);
  return element;
}

Instruction* LoopEdit::First(int k) {
  if (firsts_[k] != nullptr) return firsts_[k];
  Instruction* state = loop_->operand(0);
  if (state->opcode() == Opcode::kTuple) return firsts_[k] = state->operand(k);
  return firsts_[k] = Element(outside(), state, loop_->shape().tuple_shape(k), k);
}

Instruction* LoopEdit::Last(int k) {
  if (lasts_[k] == nullptr) lasts_[k] = Element(outside(), loop_, loop_->shape().tuple_shape(k), k);
  return lasts_[k];
}

Instruction* LoopEdit::AddInvariant(Instruction* first) {
  const int k = num_leaves();
  firsts_.push_back(first);
  handed_on_.push_back(Element(body(), body()->parameter(0), first->shape(), k));
  return handed_on_.back();
}

Shape LoopEdit::StateShape() const {
  std::vector<Shape> shapes(loop_->shape().tuple_shapes().begin(), loop_->shape().tuple_shapes().end());
  for (const Instruction* leaf : handed_on_) shapes.push_back(leaf->shape());
  return Shape::Tuple(std::move(shapes));
}

absl::Status LoopEdit::Apply() {
  const Shape shape = StateShape();
  for (Computation* inside : loop_->called()) inside->parameter(0)->mutable_shape() = shape;
  Instruction* root = body()->root();
  std::vector<Instruction*> next(root->operands().begin(), root->operands().end());
  next.insert(next.end(), handed_on_.begin(), handed_on_.end());
  root->set_operands(next);
  root->mutable_shape() = shape;
  RETURN_IF_ERROR(SortInstructions(body()));

  Computation* out = outside();
  for (int k = 0; k < num_leaves(); ++k) First(k);
  Instruction* state = out->Add(Opcode::kTuple, shape, firsts_);
  Instruction* loop = out->AddClone(*loop_, shape, {state});
  loop->set_name(loop_->name());
  loop->set_called(loop_->called());
  loop->set_cause(loop_->cause());
  for (Instruction* before : loop_->control_predecessors()) loop->AddControlPredecessor(before);

  std::vector<Instruction*> now(out->size(), nullptr);
  bool whole = out->root() == loop_;
  const int n = out->size();
  for (int i = 0; i < n; ++i) {
    Instruction* user = out->instruction(i);
    if (std::find(user->operands().begin(), user->operands().end(), loop_) == user->operands().end())
      continue;
    if (user->opcode() != Opcode::kGetTupleElement) {
      whole = true;
      continue;
    }
    const int k = static_cast<int>(user->tuple_index());
    user->set_operand(0, loop);
    if (results_[k] != nullptr && user != lasts_[k]) now[i] = results_[k];
  }
  if (whole) {
    std::vector<Instruction*> elements;
    for (int k = 0; k < old_leaves_; ++k) {
      elements.push_back(results_[k] != nullptr ? results_[k] : Element(out, loop, shape.tuple_shape(k), k));
    }
    now[loop_->index()] = out->Add(Opcode::kTuple, loop_->shape(), elements);
  }
  // The results set by SetResult read the loop's own leaves, so their operands are not replaced.
  ReplaceUses(out, now);
  for (const auto& op : out->instructions()) {
    const auto before = op->control_predecessors();
    if (std::find(before.begin(), before.end(), loop_) == before.end()) continue;
    std::vector<Instruction*> others(before.begin(), before.end());
    std::replace(others.begin(), others.end(), loop_, loop);
    op->clear_control_predecessors();
    for (Instruction* other : others) op->AddControlPredecessor(other);
  }
  // The old loop must go, since it shares its computations with the new one.
  RETURN_IF_ERROR(SortInstructions(out));
  std::vector<bool> keep(out->size(), true);
  keep[loop_->index()] = false;
  out->Keep(keep);
  loop_ = loop;
  return absl::OkStatus();
}

}  // namespace toroid
