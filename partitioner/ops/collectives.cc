// Collectives that the program's author wrote: pointwise, except that the dimensions that they gather,
// scatter or exchange are never cut. The local program is the op itself.
#include "absl/algorithm/container.h"
#include "partitioner/ops/op_families.h"

namespace toroid {
namespace {

// True if the result is a tuple of one array per operand, of the operand's dimensions.
bool ResultPerOperand(const Instruction& op) {
  const auto results = op.shape().tuple_shapes();
  if (static_cast<int>(results.size()) != op.num_operands()) return false;
  for (int i = 0; i < op.num_operands(); ++i) {
    if (!results[i].IsArray() || !results[i].SameDims(op.operand(i)->shape())) return false;
  }
  return true;
}

// The dimensions of each operand share factors with those of its result; those that the op gathers, scatters
// or exchanges have none.
ShardingRule CollectiveShardingRule(const Instruction& op) {
  ShardingRule rule;
  const bool tuple = op.shape().IsTuple();
  for (int i = 0; i < op.num_operands(); ++i) {
    TensorFactors factors;
    const Shape& shape = op.operand(i)->shape();
    for (int d = 0; d < shape.rank(); ++d) {
      const bool is_private = absl::c_linear_search(op.dimensions(), d);
      factors.push_back(is_private ? DimFactors() : DimFactors(rule.AddFactor(shape.dim(d))));
    }
    rule.operands.push_back(factors);
    if (tuple || i == 0) rule.results.push_back(factors);
  }
  return rule;
}

ShardingRule AllToAllShardingRule(const Instruction& op) {
  if (op.dimensions().empty()) {
    // Each of n operands goes to another device. A device receives parts of different operands in one result,
    // so all operands and results are cut alike.
    if (!ResultPerOperand(op)) return OpaqueRule(op);
    ShardingRule rule = PointwiseRule(op.operand(0)->shape().dims(), op.num_operands());
    rule.results.assign(rule.operands.begin(), rule.operands.end());
    return rule;
  }
  return CollectiveShardingRule(op);
}

// Collective-permute, collective-broadcast.
ShardingRule CollectivePermuteShardingRule(const Instruction& op) {
  // A permute that writes into its second operand has operands that address places within the arrays.
  const bool in_place = op.num_operands() > 1 && !ResultPerOperand(op);
  return in_place ? OpaqueRule(op) : CollectiveShardingRule(op);
}

}  // namespace

const OpFamily families::kAllReduce = {CollectiveShardingRule};
const OpFamily families::kAllGather = {CollectiveShardingRule};
const OpFamily families::kReduceScatter = {CollectiveShardingRule};
const OpFamily families::kAllToAll = {AllToAllShardingRule};
const OpFamily families::kCollectivePermute = {CollectivePermuteShardingRule};
const OpFamily families::kCollectiveBroadcast = {CollectivePermuteShardingRule};

}  // namespace toroid
