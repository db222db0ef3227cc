// Collectives that the program's author wrote: pointwise, except that the dimensions that they gather,
// scatter or exchange are never cut. The local program is the op itself.
#include "partitioner/ops/op_family.h"

namespace toroid {
namespace {
// The dimensions of each operand share factors with those of its result; dimensions in `private_dims` have
// none.
ShardingRule PointwiseBut(const Instruction& instruction, absl::Span<const int64_t> private_dims) {
  ShardingRule rule;
  const bool tuple = instruction.shape().IsTuple();
  for (int i = 0; i < instruction.num_operands(); ++i) {
    TensorFactors factors;
    const Shape& shape = instruction.operand(i)->shape();
    for (int d = 0; d < shape.rank(); ++d) {
      bool is_private = false;
      for (const int64_t p : private_dims) is_private |= p == d;
      factors.push_back(is_private ? DimFactors() : DimFactors(rule.AddFactor(shape.dim(d))));
    }
    rule.operands.push_back(factors);
    if (tuple || i == 0) rule.results.push_back(factors);
  }
  return rule;
}

// True if the result is a tuple of one array per operand, of the operand's dimensions.
bool ResultPerOperand(const Instruction& instruction) {
  const auto results = instruction.shape().tuple_shapes();
  if (static_cast<int>(results.size()) != instruction.num_operands()) return false;
  for (int i = 0; i < instruction.num_operands(); ++i) {
    if (!results[i].IsArray() || !results[i].SameDims(instruction.operand(i)->shape())) return false;
  }
  return true;
}

ShardingRule AllReduceShardingRule(const Instruction& instruction) { return PointwiseBut(instruction, {}); }

ShardingRule AllGatherShardingRule(const Instruction& instruction) {
  return PointwiseBut(instruction, instruction.dimensions());
}

ShardingRule ReduceScatterShardingRule(const Instruction& instruction) {
  return PointwiseBut(instruction, instruction.dimensions());
}

ShardingRule AllToAllShardingRule(const Instruction& instruction) {
  if (instruction.dimensions().empty()) {
    // Each of n operands goes to another device. A device receives parts of different operands in one result,
    // so all operands and results are cut alike.
    if (!ResultPerOperand(instruction)) return OpaqueRule(instruction);
    ShardingRule rule = PointwiseRule(instruction.operand(0)->shape().dims(), instruction.num_operands());
    rule.results.assign(rule.operands.begin(), rule.operands.end());
    return rule;
  }
  return PointwiseBut(instruction, instruction.dimensions());
}

ShardingRule CollectivePermuteShardingRule(const Instruction& instruction) {
  // A permute that writes into its second operand has operands that address places within the arrays.
  const bool in_place = instruction.num_operands() > 1 && !ResultPerOperand(instruction);
  return in_place ? OpaqueRule(instruction) : PointwiseBut(instruction, {});
}

ShardingRule CollectiveBroadcastShardingRule(const Instruction& instruction) {
  const bool plain = instruction.num_operands() == 1 || ResultPerOperand(instruction);
  return plain ? PointwiseBut(instruction, {}) : OpaqueRule(instruction);
}

}  // namespace

const OpFamily families::kAllReduce = {AllReduceShardingRule};
const OpFamily families::kAllGather = {AllGatherShardingRule};
const OpFamily families::kReduceScatter = {ReduceScatterShardingRule};
const OpFamily families::kAllToAll = {AllToAllShardingRule};
const OpFamily families::kCollectivePermute = {CollectivePermuteShardingRule};
const OpFamily families::kCollectiveBroadcast = {CollectiveBroadcastShardingRule};

}  // namespace toroid
