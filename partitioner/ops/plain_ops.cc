// Ops that make or rearrange elements. Except for an iota, the local program is the op itself.
#include <algorithm>

#include "partitioner/ops/op_families.h"

namespace toroid {
namespace {

// The factors of `tensor` at `dimensions`.
TensorFactors FactorsAt(const TensorFactors& tensor, absl::Span<const int64_t> dimensions) {
  TensorFactors factors;
  for (const int64_t d : dimensions) factors.push_back(tensor[d]);
  return factors;
}

// May be cut in any dimension, each device holds its shard; a tuple of constants is never cut.
ShardingRule ConstantShardingRule(const Instruction& op) {
  return op.shape().IsArray() ? PointwiseRule(op.shape().dims(), 0) : OpaqueRule(op);
}

ShardingRule IotaShardingRule(const Instruction& op) { return PointwiseRule(op.shape().dims(), 0); }

// The local iota plus the offset of the shard along the iota's dimension.
// Example: iota s32[8] over 2: partition 1 computes [0, 1, 2, 3] + 4.
std::vector<Instruction*> PartitionIota(OpContext& context) {
  SpmdBuilder& b = *context.b;
  const int64_t d = context.op->dimension();
  const AxisList& axes = context.results[0].dims[d];
  if (axes.empty()) return context.CloneLocal();
  // Counts in integers and converts the sum. In the element type, offset and local index might each be
  // rounded.
  const Shape local = context.ResultShape();
  const PrimitiveType type = SpmdBuilder::IndexType(local.dim(d) * b.mesh().Product(axes));
  Instruction* iota = b.Iota(type, local.dims(), d);
  iota = b.Add(iota, b.Broadcast(b.Offset(axes, local.dim(d), type), local.dims()));
  return {b.Convert(iota, local.element_type())};
}

// (a b) -> (x a y b z).
ShardingRule BroadcastShardingRule(const Instruction& op) {
  ShardingRule rule = MovedRule(op.shape().dims());
  rule.operands[0] = FactorsAt(rule.results[0], op.dimensions());
  return rule;
}

// (a b c) -> (c a b).
ShardingRule TransposeShardingRule(const Instruction& op) {
  ShardingRule rule = MovedRule(op.operand(0)->shape().dims());
  rule.results[0] = FactorsAt(rule.operands[0], op.dimensions());
  return rule;
}

// Copy, opt-barrier, domain.
ShardingRule IdentityShardingRule(const Instruction& op) {
  return op.shape().IsArray() ? MovedRule(op.shape().dims()) : OpaqueRule(op);
}

// The second operand is a token.
ShardingRule AddDependencyShardingRule(const Instruction& op) {
  ShardingRule rule = IdentityShardingRule(op);
  rule.operands.resize(2);
  return rule;
}

// (i j) -> (i j), (i j) -> (i j w) or (i j w) -> (i j); the extra minor dimension w is never cut.
ShardingRule BitcastConvertShardingRule(const Instruction& op) {
  const auto from = op.operand(0)->shape().dims(), to = op.shape().dims();
  ShardingRule rule = PointwiseRule(to.first(std::min(from.size(), to.size())), 1);
  rule.operands[0].resize(from.size());
  rule.results[0].resize(to.size());
  return rule;
}

}  // namespace

const OpFamily families::kConstant = {ConstantShardingRule};
const OpFamily families::kIota = {IotaShardingRule, PartitionIota};
const OpFamily families::kBroadcast = {BroadcastShardingRule};
const OpFamily families::kTranspose = {TransposeShardingRule};
const OpFamily families::kIdentity = {IdentityShardingRule};
const OpFamily families::kAddDependency = {AddDependencyShardingRule};
const OpFamily families::kBitcastConvert = {BitcastConvertShardingRule};

}  // namespace toroid
