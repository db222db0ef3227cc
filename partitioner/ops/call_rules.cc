// Rules of custom calls with a known meaning and of hand-written collectives.
#include <optional>
#include <string>

#include "absl/strings/numbers.h"
#include "hlo/analysis/custom_call_targets.h"
#include "partitioner/ops/rules.h"

namespace toroid {
namespace {

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

// A tuple of as many arrays as there are operands, each with its operand's sizes.
bool ResultPerOperand(const Instruction& instruction) {
  const auto results = instruction.shape().tuple_shapes();
  if (static_cast<int>(results.size()) != instruction.num_operands()) return false;
  for (int i = 0; i < instruction.num_operands(); ++i) {
    if (!results[i].IsArray() || !results[i].SameDims(instruction.operand(i)->shape())) return false;
  }
  return true;
}

// The number of leading dimensions over which a call is a batch of calls, if it says so and all its arrays have
// them.
std::optional<int> BatchDims(const Instruction& instruction) {
  const std::string* text = instruction.FrontendAttribute("num_batch_dims");
  int batch = 0;
  if (text == nullptr || !absl::SimpleAtoi(*text, &batch) || batch <= 0 || instruction.num_operands() == 0) {
    return std::nullopt;
  }
  const Shape& model = instruction.operand(0)->shape();
  if (!model.IsArray() || model.rank() < batch) return std::nullopt;
  const auto has_batch = [&](const Shape& shape) {
    return shape.IsArray() && shape.rank() >= batch &&
           shape.dims().first(batch) == model.dims().first(batch);
  };
  for (const Instruction* operand : instruction.operands()) {
    if (!has_batch(operand->shape())) return std::nullopt;
  }
  if (!instruction.shape().IsTuple()) return has_batch(instruction.shape()) ? std::optional<int>(batch) : std::nullopt;
  for (const Shape& result : instruction.shape().tuple_shapes()) {
    if (!has_batch(result)) return std::nullopt;
  }
  return batch;
}

// (b i j), (b k) -> (b l): b passes through, all others are the call's own.
ShardingRule BatchedCallRule(const Instruction& instruction, int batch) {
  ShardingRule rule;
  for (int d = 0; d < batch; ++d) rule.AddFactor(instruction.operand(0)->shape().dim(d));
  const auto factors = [batch](const Shape& shape) {
    TensorFactors tensor(shape.rank());
    for (int d = 0; d < batch; ++d) tensor[d] = DimFactors(d);
    return tensor;
  };
  for (const Instruction* operand : instruction.operands()) rule.operands.push_back(factors(operand->shape()));
  if (!instruction.shape().IsTuple()) rule.results.push_back(factors(instruction.shape()));
  for (const Shape& result : instruction.shape().tuple_shapes()) rule.results.push_back(factors(result));
  return rule;
}

}  // namespace

ShardingRule CustomCallShardingRule(const Instruction& instruction) {
  const absl::string_view target = instruction.custom_call_target();
  if (IsElementwiseCall(instruction)) return PointwiseRule(instruction.shape().dims(), instruction.num_operands());
  const bool one_array = instruction.num_operands() == 1 && instruction.shape().IsArray();
  if (one_array && instruction.shape().SameDims(instruction.operand(0)->shape())) {
    if (IsIdentityTarget(instruction)) return MovedRule(instruction.shape().dims());
  }
  if (const std::optional<int> batch = BatchDims(instruction)) return BatchedCallRule(instruction, *batch);
  if ((target == "TopK" || target == "mhlo.topk") && instruction.num_operands() == 1 &&
      instruction.operand(0)->shape().rank() > 0) {
    return TopKShardingRule(instruction);
  }
  return OpaqueRule(instruction);
}

ShardingRule AllReduceShardingRule(const Instruction& instruction) { return PointwiseBut(instruction, {}); }

ShardingRule CollectivePermuteShardingRule(const Instruction& instruction) {
  // One that writes into its second operand names places within them.
  const bool in_place = instruction.num_operands() > 1 && !ResultPerOperand(instruction);
  return in_place ? OpaqueRule(instruction) : PointwiseBut(instruction, {});
}

ShardingRule CollectiveBroadcastShardingRule(const Instruction& instruction) {
  const bool plain = instruction.num_operands() == 1 || ResultPerOperand(instruction);
  return plain ? PointwiseBut(instruction, {}) : OpaqueRule(instruction);
}

// The value that comes with a token is handed on.
ShardingRule AddDependencyShardingRule(const Instruction& instruction) {
  if (!instruction.shape().IsArray()) return OpaqueRule(instruction);
  ShardingRule rule = MovedRule(instruction.shape().dims());
  rule.operands.emplace_back(TensorFactors(instruction.operand(1)->shape().rank()));
  return rule;
}

ShardingRule AllGatherShardingRule(const Instruction& instruction) {
  return PointwiseBut(instruction, instruction.dimensions());
}

ShardingRule ReduceScatterShardingRule(const Instruction& instruction) {
  return PointwiseBut(instruction, instruction.dimensions());
}

ShardingRule AllToAllShardingRule(const Instruction& instruction) {
  if (instruction.dimensions().empty()) {
    // Of n operands, each goes to another device: what arrives together was cut alike.
    if (!ResultPerOperand(instruction)) return OpaqueRule(instruction);
    ShardingRule rule = PointwiseRule(instruction.operand(0)->shape().dims(), instruction.num_operands());
    rule.results.assign(rule.operands.begin(), rule.operands.end());
    return rule;
  }
  return PointwiseBut(instruction, instruction.dimensions());
}

}  // namespace toroid
