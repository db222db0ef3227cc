// Rules of custom calls with a known meaning and of hand-written collectives.
#include "partitioner/ops/rules.h"

namespace toroid {
namespace {

// Custom calls whose one result equals their one operand.
bool IsIdentityTarget(absl::string_view target) {
  static constexpr absl::string_view kTargets[] = {"Sharding",
                                                   "xla.sdy.FuncResultSharding",
                                                   "xla.sdy.PropagationBarrier",
                                                   "annotate_device_placement",
                                                   "LayoutConstraint",
                                                   "MoveToHost",
                                                   "MoveToDevice",
                                                   "PinToDevice",
                                                   "PinToDeviceSram",
                                                   "InspectSharding",
                                                   "ShardBarrierFrom",
                                                   "ShardBarrierTo",
                                                   "AssumeGatherIndicesInBound"};
  for (const absl::string_view known : kTargets) {
    if (target == known) return true;
  }
  return false;
}

// Pointwise per operand, except that the listed dimensions are private to each side.
ShardingRule PointwiseBut(const Instruction& instruction, absl::Span<const int64_t> whole) {
  ShardingRule rule;
  const bool tuple = instruction.shape().IsTuple();
  for (int i = 0; i < instruction.num_operands(); ++i) {
    TensorFactors factors;
    const Shape& shape = instruction.operand(i)->shape();
    for (int d = 0; d < shape.rank(); ++d) {
      bool is_whole = false;
      for (const int64_t w : whole) is_whole |= w == d;
      factors.push_back(is_whole ? DimFactors() : DimFactors(rule.AddFactor(shape.dim(d))));
    }
    rule.operands.push_back(factors);
    if (tuple || i == 0) rule.results.push_back(factors);
  }
  return rule;
}

}  // namespace

ShardingRule CustomCallShardingRule(const Instruction& instruction) {
  const absl::string_view target = instruction.custom_call_target();
  const bool one_array = instruction.num_operands() == 1 && instruction.shape().IsArray();
  if (one_array && instruction.shape().SameDims(instruction.operand(0)->shape())) {
    ShardingRule rule = PointwiseRule(instruction.shape().dims(), 1);
    if (target == "mhlo.erf") return rule;
    if (IsIdentityTarget(target)) {
      rule.linear.push_back({0b1, /*any_reducer=*/true});
      return rule;
    }
  }
  if ((target == "TopK" || target == "mhlo.topk") && instruction.num_operands() == 1 &&
      instruction.operand(0)->shape().rank() > 0) {
    return TopKShardingRule(instruction);
  }
  return OpaqueRule(instruction);
}

ShardingRule AllReduceShardingRule(const Instruction& instruction) { return PointwiseBut(instruction, {}); }

ShardingRule CollectivePermuteShardingRule(const Instruction& instruction) {
  return instruction.num_operands() == 1 ? PointwiseBut(instruction, {}) : OpaqueRule(instruction);
}

ShardingRule AllGatherShardingRule(const Instruction& instruction) {
  return PointwiseBut(instruction, instruction.dimensions());
}

ShardingRule ReduceScatterShardingRule(const Instruction& instruction) {
  return PointwiseBut(instruction, instruction.dimensions());
}

ShardingRule AllToAllShardingRule(const Instruction& instruction) {
  if (instruction.dimensions().empty()) return OpaqueRule(instruction);
  return PointwiseBut(instruction, instruction.dimensions());
}

}  // namespace toroid
