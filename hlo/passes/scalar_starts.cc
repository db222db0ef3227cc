#include "hlo/passes/scalar_starts.h"

namespace toroid {
namespace {

// Where the starts begin among the operands; -1 for other opcodes.
int FirstStart(const Instruction& instruction) {
  if (instruction.opcode() == Opcode::kDynamicSlice) return 1;
  return instruction.opcode() == Opcode::kDynamicUpdateSlice ? 2 : -1;
}

}  // namespace

bool HasVectorOfStarts(const Instruction& instruction) {
  const int first = FirstStart(instruction);
  return first > 0 && instruction.num_operands() == first + 1 && instruction.operand(first)->shape().rank() == 1;
}

void AppendScalarStarts(const Instruction& instruction, Computation* to, std::vector<Instruction*>* operands) {
  Instruction* vector = operands->back();
  operands->pop_back();
  const PrimitiveType type = vector->shape().element_type();
  for (int64_t d = 0; d < vector->shape().dim(0); ++d) {
    xla::HloInstructionProto* attrs;
    Instruction* element = to->Add(Opcode::kSlice, Shape(type, {1}), {vector}, &attrs);
    auto* slice = attrs->add_slice_dimensions();
    slice->set_start(d);
    slice->set_limit(d + 1);
    slice->set_stride(1);
    element->set_metadata(instruction.metadata());
    Instruction* start = to->Add(Opcode::kReshape, Shape(type, {}), {element});
    start->set_metadata(instruction.metadata());
    operands->push_back(start);
  }
}

}  // namespace toroid
