#include "hlo/passes/synchronous_op.h"

namespace toroid {
namespace {

bool IsStart(const Instruction& instruction) {
  const Shape& shape = instruction.shape();
  switch (instruction.opcode()) {
    case Opcode::kCopyStart:
    case Opcode::kAllGatherStart:
    case Opcode::kCollectivePermuteStart:
      return shape.tuple_shapes().size() >= 2;
    case Opcode::kAllReduceStart:
      return true;
    case Opcode::kAsyncStart:
      return instruction.called().size() == 1;
    default:
      return false;
  }
}

}  // namespace

bool IsUpdateOrDone(const Instruction& instruction) {
  switch (instruction.opcode()) {
    case Opcode::kCopyDone:
    case Opcode::kAllReduceDone:
    case Opcode::kAllGatherDone:
    case Opcode::kCollectivePermuteDone:
    case Opcode::kAsyncUpdate:
    case Opcode::kAsyncDone:
      return instruction.num_operands() == 1;
    default:
      return false;
  }
}

std::vector<bool> PairedStarts(const Computation& computation) {
  std::vector<bool> paired(computation.size(), false);
  for (const auto& instruction : computation.instructions()) {
    // An update counts like its start: a user of it depends on the pair.
    paired[instruction->index()] = IsStart(*instruction) || (instruction->opcode() == Opcode::kAsyncUpdate &&
                                                             IsUpdateOrDone(*instruction));
  }
  if (computation.root() != nullptr) paired[computation.root()->index()] = false;
  // From the end, so that users are visited before their operands.
  for (int i = computation.size() - 1; i >= 0; --i) {
    const Instruction& user = *computation.instruction(i);
    const bool hands_on = IsUpdateOrDone(user) && (user.opcode() != Opcode::kAsyncUpdate || paired[i]);
    for (const Instruction* operand : user.operands()) {
      if (!hands_on) paired[operand->index()] = false;
    }
  }
  for (const auto& instruction : computation.instructions()) {
    if (instruction->opcode() == Opcode::kAsyncUpdate && IsUpdateOrDone(*instruction)) {
      const int i = instruction->index();
      paired[i] = paired[i] && paired[instruction->operand(0)->index()];
    }
  }
  return paired;
}

Instruction* AppendSynchronousOp(const Instruction& start, absl::Span<Instruction* const> operands,
                                 Computation* to) {
  Opcode opcode = Opcode::kCopy;
  const Shape* shape = &start.shape();
  switch (start.opcode()) {
    case Opcode::kAllReduceStart:
      opcode = Opcode::kAllReduce;
      break;
    case Opcode::kAllGatherStart:
      opcode = Opcode::kAllGather;
      shape = &start.shape().tuple_shape(1);
      break;
    case Opcode::kCollectivePermuteStart:
      opcode = Opcode::kCollectivePermute;
      shape = &start.shape().tuple_shape(1);
      break;
    default:
      shape = &start.shape().tuple_shape(0);
      break;
  }
  Instruction* op = to->Add(opcode, *shape, operands);
  op->set_attrs(&start.attrs());
  op->set_metadata(start.metadata());
  op->set_frontend_attributes(start.frontend_attributes());
  return op;
}

}  // namespace toroid
