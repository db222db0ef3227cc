// Elementwise ops: (i j ...), (i j ...) -> (i j ...); scalar operands of select and clamp have no factors.
//
// The local program is the op itself. Linear ops: negate, real and imag; add, subtract and complex in both
// operands together; multiply in either operand; divide in the dividend; select in both values together;
// convert if it preserves sums.
#include "partitioner/ops/op_families.h"

namespace toroid {
namespace {

bool IsNumber(const Instruction& op) { return op.shape().element_type() != xla::PRED; }

// True if converting a sum equals adding converted terms: for integers that get no wider, as both wrap alike.
// Floats round.
bool ConversionKeepsSums(PrimitiveType from, PrimitiveType to) {
  if (IsInt(from) && IsInt(to)) return BitWidth(to) <= BitWidth(from);
  return from == to;
}

ShardingRule ElementwiseShardingRule(const Instruction& op) {
  ShardingRule rule = PointwiseRule(op.shape().dims(), op.num_operands());
  for (int i = 0; i < op.num_operands(); ++i) {
    if (op.operand(i)->shape().rank() != op.shape().rank()) rule.operands[i].clear();
  }
  return rule;
}

ShardingRule UnaryShardingRule(const Instruction& op) {
  ShardingRule rule = ElementwiseShardingRule(op);
  const Opcode opcode = op.opcode();
  if (opcode == Opcode::kNegate || opcode == Opcode::kReal || opcode == Opcode::kImag) {
    rule.linear.push_back({0b1});
  }
  return rule;
}

ShardingRule BinaryShardingRule(const Instruction& op) {
  ShardingRule rule = ElementwiseShardingRule(op);
  if (!IsNumber(op)) return rule;
  switch (op.opcode()) {
    case Opcode::kAdd:
    case Opcode::kSubtract:
    case Opcode::kComplex:
      rule.linear.push_back({0b11});
      break;
    case Opcode::kMultiply:
      AddLinearityOfProduct(op, &rule);
      break;
    case Opcode::kDivide:
      if (!IsInt(op.shape().element_type()) && !IsVisiblyZero(*op.operand(1))) {
        rule.linear.push_back({0b01});
      }
      break;
    default:
      break;
  }
  return rule;
}

ShardingRule SelectShardingRule(const Instruction& op) {
  if (!op.shape().IsArray()) return OpaqueRule(op);
  ShardingRule rule = ElementwiseShardingRule(op);
  rule.linear.push_back({0b110, /*any_reducer=*/true});
  return rule;
}

ShardingRule ConvertShardingRule(const Instruction& op) {
  ShardingRule rule = ElementwiseShardingRule(op);
  if (ConversionKeepsSums(op.operand(0)->shape().element_type(), op.shape().element_type())) {
    rule.linear.push_back({0b1});
  }
  return rule;
}

}  // namespace

const OpFamily families::kUnary = {UnaryShardingRule};
const OpFamily families::kBinary = {BinaryShardingRule};
const OpFamily families::kCompare = {ElementwiseShardingRule};
const OpFamily families::kSelect = {SelectShardingRule};
const OpFamily families::kClamp = {ElementwiseShardingRule};
const OpFamily families::kConvert = {ConvertShardingRule};
const OpFamily families::kMap = {ElementwiseShardingRule};

}  // namespace toroid
