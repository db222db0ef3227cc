#include "hlo/passes/scalar_starts.h"

#include "hlo/base/status.h"
#include "hlo/builder/instruction_builder.h"

namespace toroid {
namespace {

// Number of the operand that is the first start; -1 for other opcodes.
int FirstStart(const Instruction& instruction) {
  if (instruction.opcode() == Opcode::kDynamicSlice) return 1;
  return instruction.opcode() == Opcode::kDynamicUpdateSlice ? 2 : -1;
}

}  // namespace

bool HasVectorOfStarts(const Instruction& instruction) {
  const int first = FirstStart(instruction);
  return first > 0 && instruction.num_operands() == first + 1 &&
         instruction.operand(first)->shape().rank() == 1;
}

absl::Status AppendScalarStarts(const Instruction& instruction, Computation* to,
                                std::vector<Instruction*>* operands) {
  Instruction* vector = operands->back();
  operands->pop_back();
  InstructionBuilder b(to);
  b.set_metadata(instruction.metadata());
  const Shape& shape = vector->shape();
  for (int64_t d = 0; d < shape.dim(0); ++d) {
    operands->push_back(b.Reshape(b.SliceAlong(vector, 0, d, d + 1), {}));
  }
  return Annotate(b.status(), instruction.Path());
}

}  // namespace toroid
