// Elementwise ops: (i j ...), (i j ...) -> (i j ...); scalar operands of select and clamp have no factors.
//
// The local program is the op itself. Linear ops: negate, real and imag; add, subtract and complex in both
// operands together; multiply in either operand; divide in the dividend; select in both values together;
// convert if it preserves sums.
#include "partitioner/ops/finite.h"
#include "partitioner/ops/op_family.h"

namespace toroid {
namespace {
ShardingRule Elementwise(const Instruction& instruction) {
  ShardingRule rule = PointwiseRule(instruction.shape().dims(), instruction.num_operands());
  for (int i = 0; i < instruction.num_operands(); ++i) {
    if (instruction.operand(i)->shape().rank() != instruction.shape().rank()) rule.operands[i].clear();
  }
  return rule;
}

bool IsNumber(const Instruction& instruction) { return instruction.shape().element_type() != xla::PRED; }

// True if converting a sum equals adding converted terms: for integers that get no wider, as both wrap alike.
// Floats round.
bool ConversionKeepsSums(PrimitiveType from, PrimitiveType to) {
  if (IsInt(from) && IsInt(to)) return BitWidth(to) <= BitWidth(from);
  return from == to;
}

ShardingRule UnaryShardingRule(const Instruction& instruction) {
  ShardingRule rule = Elementwise(instruction);
  switch (instruction.opcode()) {
    case Opcode::kNegate:
    case Opcode::kReal:
    case Opcode::kImag:
      rule.linear.push_back({0b1});
      break;
    default:
      break;
  }
  return rule;
}

ShardingRule BinaryShardingRule(const Instruction& instruction) {
  ShardingRule rule = Elementwise(instruction);
  if (!IsNumber(instruction)) return rule;
  switch (instruction.opcode()) {
    case Opcode::kAdd:
    case Opcode::kSubtract:
    case Opcode::kComplex:
      rule.linear.push_back({0b11});
      break;
    case Opcode::kMultiply:
      AddLinearityOfProduct(instruction, &rule);
      break;
    case Opcode::kDivide:
      if (!IsInt(instruction.shape().element_type()) && !IsVisiblyZero(*instruction.operand(1))) {
        rule.linear.push_back({0b01});
      }
      break;
    default:
      break;
  }
  return rule;
}

ShardingRule CompareShardingRule(const Instruction& instruction) { return Elementwise(instruction); }

ShardingRule SelectShardingRule(const Instruction& instruction) {
  if (!instruction.shape().IsArray()) return OpaqueRule(instruction);
  ShardingRule rule = Elementwise(instruction);
  rule.linear.push_back({0b110, /*any_reducer=*/true});
  return rule;
}

ShardingRule ClampShardingRule(const Instruction& instruction) { return Elementwise(instruction); }

ShardingRule ConvertShardingRule(const Instruction& instruction) {
  ShardingRule rule = Elementwise(instruction);
  if (ConversionKeepsSums(instruction.operand(0)->shape().element_type(),
                          instruction.shape().element_type())) {
    rule.linear.push_back({0b1});
  }
  return rule;
}

ShardingRule MapShardingRule(const Instruction& instruction) { return Elementwise(instruction); }

}  // namespace

const OpFamily families::kUnary = {UnaryShardingRule};
const OpFamily families::kBinary = {BinaryShardingRule};
const OpFamily families::kCompare = {CompareShardingRule};
const OpFamily families::kSelect = {SelectShardingRule};
const OpFamily families::kClamp = {ClampShardingRule};
const OpFamily families::kConvert = {ConvertShardingRule};
const OpFamily families::kMap = {MapShardingRule};

}  // namespace toroid
