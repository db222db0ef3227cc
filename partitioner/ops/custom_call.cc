#include "partitioner/ops/custom_call.h"

#include <optional>
#include <string>

#include "absl/strings/numbers.h"
#include "hlo/analysis/custom_call_targets.h"
#include "partitioner/ops/emit_custom_call.h"
#include "partitioner/ops/top_k.h"

namespace toroid {
namespace {

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

bool IsTopK(const Instruction& call) {
  const absl::string_view target = call.custom_call_target();
  return (target == "TopK" || target == "mhlo.topk") && call.num_operands() == 1 &&
         call.operand(0)->shape().IsArray() && call.operand(0)->shape().rank() > 0;
}

}  // namespace

ShardingRule CustomCallShardingRule(const Instruction& instruction) {
  if (IsElementwiseCall(instruction)) return PointwiseRule(instruction.shape().dims(), instruction.num_operands());
  const bool one_array = instruction.num_operands() == 1 && instruction.shape().IsArray();
  if (one_array && instruction.shape().SameDims(instruction.operand(0)->shape())) {
    if (IsIdentityTarget(instruction)) return MovedRule(instruction.shape().dims());
  }
  if (const std::optional<int> batch = BatchDims(instruction)) return BatchedCallRule(instruction, *batch);
  if (IsTopK(instruction)) return TopKShardingRule(instruction);
  return OpaqueRule(instruction);
}

absl::StatusOr<std::vector<Instruction*>> PartitionCustomCall(OpContext& context) {
  if (IsTopK(*context.op) && !BatchDims(*context.op).has_value()) return PartitionTopK(context);
  std::vector<Shape> shapes;
  for (size_t i = 0; i < context.results.size(); ++i) shapes.push_back(context.ResultShape(static_cast<int>(i)));
  const Shape local = context.op->shape().IsTuple() ? Shape::Tuple(shapes) : shapes[0];
  return EmitCustomCall(*context.b, *context.op, context.operands, local, context.copy_computation);
}

int64_t BytesSentByCustomCall(const Instruction& op, int factor, int64_t tiles, absl::Span<const double> operand_bytes,
                              int64_t halo) {
  return IsTopK(op) ? BytesSentByTopK(op, factor, tiles, operand_bytes, halo) : 0;
}

}  // namespace toroid
