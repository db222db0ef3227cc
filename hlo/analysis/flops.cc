#include "hlo/analysis/flops.h"

#include <limits>

#include "hlo/base/math.h"

namespace toroid {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

int64_t DotFlops(const Instruction& dot) {
  if (dot.num_operands() < 1) return 0;
  const Shape& lhs = dot.operand(0)->shape();
  int64_t flops = SaturatingMultiply(2, dot.shape().NumElements());
  for (const int64_t d : dot.attrs().dot_dimension_numbers().lhs_contracting_dimensions()) {
    if (d < 0 || d >= lhs.rank()) return 0;
    flops = SaturatingMultiply(flops, lhs.dim(static_cast<int>(d)));
  }
  return flops;
}

int64_t ConvolutionFlops(const Instruction& convolution) {
  if (convolution.num_operands() < 2) return 0;
  const Shape& kernel = convolution.operand(1)->shape();
  const int64_t d = convolution.attrs().convolution_dimension_numbers().kernel_output_feature_dimension();
  if (d < 0 || d >= kernel.rank() || kernel.dim(static_cast<int>(d)) <= 0) return 0;
  const int64_t per_feature = kernel.NumElements() / kernel.dim(static_cast<int>(d));
  return SaturatingMultiply(SaturatingMultiply(2, convolution.shape().NumElements()), per_feature);
}

}  // namespace

int64_t SaturatingAdd(int64_t a, int64_t b) { return CheckedAdd(a, b).value_or(kMost); }

int64_t SaturatingMultiply(int64_t a, int64_t b) { return CheckedMultiply(a, b).value_or(kMost); }

int64_t Flops(const Instruction& instruction) {
  switch (instruction.opcode()) {
    case Opcode::kDot:
      return DotFlops(instruction);
    case Opcode::kConvolution:
      return ConvolutionFlops(instruction);
    default:
      return 0;
  }
}

bool IsView(Opcode opcode) {
  switch (opcode) {
    case Opcode::kParameter:
    case Opcode::kTuple:
    case Opcode::kGetTupleElement:
    case Opcode::kBitcast:
    case Opcode::kOptimizationBarrier:
    case Opcode::kAddDependency:
    case Opcode::kAfterAll:
    case Opcode::kDomain:
      return true;
    default:
      return false;
  }
}

int64_t ArrayBytes(const Shape& shape) {
  if (!shape.IsTuple()) return shape.ByteSize();
  int64_t bytes = 0;
  for (const Shape& element : shape.tuple_shapes()) bytes = SaturatingAdd(bytes, ArrayBytes(element));
  return bytes;
}

BytesMoved MovedBytes(const Instruction& instruction) {
  switch (instruction.opcode()) {
    case Opcode::kConstant:
    case Opcode::kCall:
    case Opcode::kWhile:
    case Opcode::kConditional:
      return {};
    default:
      break;
  }
  if (IsView(instruction.opcode())) return {};
  BytesMoved moved;
  for (const Instruction* operand : instruction.operands()) {
    moved.read = SaturatingAdd(moved.read, ArrayBytes(operand->shape()));
  }
  moved.written = ArrayBytes(instruction.shape());
  return moved;
}

}  // namespace toroid
