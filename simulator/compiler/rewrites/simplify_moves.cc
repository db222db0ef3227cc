#include "simulator/compiler/rewrites/simplifier.h"

namespace toroid {
namespace {

bool IsIdentityList(absl::Span<const int64_t> dims) {
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] != static_cast<int64_t>(i)) return false;
  }
  return true;
}

}  // namespace

Instruction* Simplifier::SimplifiedReshape(Instruction* reshape) {
  Instruction* x = reshape->operand(0);
  if (x->shape().Compatible(reshape->shape())) return x;
  if (x->opcode() == Opcode::kReshape && Uses(Rule::kMovesJoin)) return Reshape(*reshape, x->operand(0));
  const auto is_read_once = [&](const Instruction& value) {
    return value.index() < static_cast<int>(readers_.size()) && readers_[value.index()] == 1;
  };
  if (Uses(Rule::kReshapesCancel)) {
    if (Instruction* made = MadeBeforeReshape(*reshape, is_read_once, computation_)) return made;
  }
  if (x->opcode() != Opcode::kBroadcast || !SameButUnitDims(x->shape(), reshape->shape()) ||
      !Uses(Rule::kReshapedSpread))
    return nullptr;
  // Dimensions of the broadcast's operand keep their places among the sized ones.
  const Dims before = SizedDims(x->shape()), after = SizedDims(reshape->shape());
  Dims place(x->shape().rank(), -1);
  for (size_t i = 0; i < before.size(); ++i) place[before[i]] = after[i];
  xla::HloInstructionProto* attrs;
  for (const int64_t d : x->dimensions()) {
    if (place[d] < 0) return nullptr;
  }
  Instruction* broadcast = computation_->Add(Opcode::kBroadcast, reshape->shape(), {x->operand(0)}, &attrs);
  for (const int64_t d : x->dimensions()) attrs->add_dimensions(place[d]);
  broadcast->set_metadata(x->metadata());
  return broadcast;
}

Instruction* Simplifier::SimplifiedTranspose(Instruction* transpose) {
  Instruction* x = transpose->operand(0);
  const auto permutation = transpose->dimensions();
  if (IsIdentityList(permutation)) return x;
  if (x->opcode() == Opcode::kTranspose && Uses(Rule::kMovesJoin)) {
    xla::HloInstructionProto* attrs;
    Instruction* both = computation_->Add(Opcode::kTranspose, transpose->shape(), {x->operand(0)}, &attrs);
    for (const int64_t d : permutation) attrs->add_dimensions(x->dimensions()[d]);
    both->set_metadata(transpose->metadata());
    if (Instruction* simple = SimplifiedTranspose(both)) return simple;
    return both;
  }
  return nullptr;
}

Instruction* Simplifier::SimplifiedBroadcast(Instruction* broadcast) {
  Instruction* x = broadcast->operand(0);
  if (x->shape().Compatible(broadcast->shape()) && IsIdentityList(broadcast->dimensions())) return x;
  if (x->opcode() == Opcode::kBroadcast && Uses(Rule::kMovesJoin)) {
    xla::HloInstructionProto* attrs;
    Instruction* both = computation_->Add(Opcode::kBroadcast, broadcast->shape(), {x->operand(0)}, &attrs);
    for (const int64_t d : x->dimensions()) attrs->add_dimensions(broadcast->dimensions()[d]);
    both->set_metadata(broadcast->metadata());
    return both;
  }
  if (x->opcode() == Opcode::kReshape && SameButUnitDims(x->operand(0)->shape(), x->shape()) &&
      Uses(Rule::kSpreadReshapes)) {
    // Without the reshape, if all dimensions of what it reshapes have more than one element.
    Instruction* y = x->operand(0);
    const Dims before = SizedDims(y->shape()), after = SizedDims(x->shape());
    if (static_cast<int>(before.size()) != y->shape().rank()) return nullptr;
    xla::HloInstructionProto* attrs;
    Instruction* direct = computation_->Add(Opcode::kBroadcast, broadcast->shape(), {y}, &attrs);
    for (const int64_t d : after) attrs->add_dimensions(broadcast->dimensions()[d]);
    direct->set_metadata(broadcast->metadata());
    return direct;
  }
  return nullptr;
}

}  // namespace toroid
