#include "runtime/kernels/one_op.h"

#include <utility>

#include "hlo/base/status.h"

namespace toroid {

OneOp::OneOp() : module_("op") { module_.AddComputation("main"); }

void OneOp::Set(Kernel kernel, const Instruction& instruction, std::vector<Plan*> called) {
  step_.kernel = kernel;
  step_.instruction = &instruction;
  step_.result = instruction.num_operands();
  step_.elements = instruction.shape().NumElements();
  step_.bytes = instruction.shape().ByteSize();
  for (int i = 0; i < instruction.num_operands(); ++i) {
    step_.operands.push_back(i);
    if (i < 64) step_.last_uses |= uint64_t{1} << i;
  }
  step_.called = std::move(called);
}

absl::Status OneOp::Run(const MeshContext& mesh, std::vector<MeshBuffer> operands, MeshBuffer* result) {
  operands.emplace_back();
  OpCall call(step_, operands.data(), mesh);
  RETURN_IF_ERROR(step_.kernel(call));
  *result = std::move(operands.back());
  return absl::OkStatus();
}

}  // namespace toroid
