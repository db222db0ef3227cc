#include "runtime/plan/rowless.h"

#include "hlo/base/status.h"

namespace toroid {
namespace {

// Ops that hand on values, call computations, communicate or count: their kernels work without rows.
bool TakesPart(const OpCall& call) {
  const Opcode opcode = call.opcode();
  if (HasTrait(opcode, kTakesAnyBuffer) || IsCollective(opcode) || opcode == Opcode::kScan) return true;
  if (opcode == Opcode::kSelect && call.operand_shape(0).rank() == 0 && call.uniform(0)) {
    return true;  // May hand on one of its operands.
  }
  for (int i = 0; i < call.num_operands(); ++i) {
    if (call.operand(i).is_tuple()) return true;
  }
  return false;
}

bool DependsOnRows(const OpCall& call) {
  for (int i = 0; i < call.num_operands(); ++i) {
    const MeshBuffer& operand = call.operand(i);
    if (!operand.uniform() || (operand.sizes() != nullptr && !operand.sizes()->uniform())) return true;
  }
  return false;
}

// A value of this shape with zero rows.
MeshBuffer NoRows(const Shape& shape) {
  if (!shape.IsTuple()) {
    MeshBuffer array = MeshBuffer::Array(0, /*uniform=*/!shape.IsArray());
    if (shape.IsArray() && shape.IsDynamic()) array.set_sizes(MeshBuffer::Array(0, /*uniform=*/false));
    return array;
  }
  std::vector<MeshBuffer> elements;
  for (const Shape& element : shape.tuple_shapes()) elements.push_back(NoRows(element));
  return MeshBuffer::Tuple(std::move(elements));
}

}  // namespace

absl::Status ExecuteWithoutRows(Kernel kernel, OpCall& call) {
  if (TakesPart(call) || !DependsOnRows(call)) return kernel(call);
  call.result() = NoRows(call.shape());
  return absl::OkStatus();
}

}  // namespace toroid
