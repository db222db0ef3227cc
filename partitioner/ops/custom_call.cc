#include "partitioner/ops/custom_call.h"

#include <optional>
#include <string>

#include "absl/strings/numbers.h"
#include "hlo/analysis/custom_call_targets.h"
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

std::vector<Instruction*> EmitCustomCall(
    SpmdBuilder& b, const Instruction& call, absl::Span<Instruction* const> operands, const Shape& local_result,
    const std::function<Computation*(const Computation*)>& copy_computation) {
  const bool constrained = call.attrs().constrain_layout();
  const auto& constraints = call.attrs().operand_shapes_with_layout();
  std::vector<Instruction*> inside(operands.begin(), operands.end());
  for (size_t i = 0; constrained && i < inside.size() && i < static_cast<size_t>(constraints.size()); ++i) {
    const absl::StatusOr<Shape> wanted = Shape::FromProto(constraints.Get(static_cast<int>(i)));
    if (!wanted.ok()) continue;  // Of an element type that is not known here.
    inside[i] = b.ToLayout(inside[i], *wanted);
  }
  Instruction* clone = b.Clone(call, WithLayoutOf(local_result, call.shape()), inside);
  if (constrained) {
    xla::HloInstructionProto* attrs = clone->MutableAttrs();
    for (int i = 0; i < attrs->operand_shapes_with_layout_size() && i < clone->num_operands(); ++i) {
      *attrs->mutable_operand_shapes_with_layout(i) = clone->operand(i)->shape().ToProto();
    }
  }
  if (!call.called().empty()) {
    std::vector<Computation*> called;
    for (const Computation* computation : call.called()) called.push_back(copy_computation(computation));
    clone->set_called(called);
  }
  std::vector<Instruction*> leaves = b.Flatten(clone);
  for (Instruction*& leaf : leaves) leaf = b.ToRowMajor(leaf);
  return leaves;
}

absl::StatusOr<std::vector<Instruction*>> PartitionCustomCall(OpContext& context) {
  std::vector<Shape> shapes;
  for (size_t i = 0; i < context.results.size(); ++i) shapes.push_back(context.ResultShape(static_cast<int>(i)));
  const Shape local = context.op->shape().IsTuple() ? Shape::Tuple(shapes) : shapes[0];
  return EmitCustomCall(*context.b, *context.op, context.operands, local, context.copy_computation);
}

}  // namespace toroid
