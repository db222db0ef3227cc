#include "partitioner/ops/convolution.h"

#include "hlo/ir/attribute_views.h"
#include "partitioner/ops/finite.h"
#include "partitioner/ops/window_base.h"

namespace toroid {

ShardingRule ConvolutionShardingRule(const Instruction& instruction) {
  const ConvolutionView numbers(instruction);
  const Shape& lhs_shape = instruction.operand(0)->shape();
  const Shape& rhs_shape = instruction.operand(1)->shape();
  const Shape& out_shape = instruction.shape();
  const int64_t feature_groups = numbers.feature_groups();
  const int64_t batch_groups = numbers.batch_groups();
  ShardingRule rule;
  TensorFactors lhs(lhs_shape.rank()), rhs(rhs_shape.rank()), out(out_shape.rank());
  const int64_t out_features = out_shape.dim(numbers.output_feature());

  DimFactors& lhs_batch = lhs[numbers.input_batch()];
  DimFactors& lhs_feature = lhs[numbers.input_feature()];
  DimFactors& rhs_in = rhs[numbers.kernel_input_feature()];
  DimFactors& rhs_out = rhs[numbers.kernel_output_feature()];
  DimFactors& out_batch = out[numbers.output_batch()];
  DimFactors& out_feature = out[numbers.output_feature()];
  if (batch_groups > 1) {
    const int group = rule.AddFactor(batch_groups, FactorKind::kBlocked);
    lhs_batch.push_back(group);
    rhs_out.push_back(group);
    out_feature.push_back(group);
  }
  if (feature_groups > 1) {
    const int group = rule.AddFactor(feature_groups, FactorKind::kBlocked);
    lhs_feature.push_back(group);
    rhs_out.push_back(group);
    out_feature.push_back(group);
  }
  const int batch = rule.AddFactor(out_shape.dim(numbers.output_batch()));
  lhs_batch.push_back(batch);
  out_batch.push_back(batch);
  const int in =
      rule.AddFactor(rhs_shape.dim(numbers.kernel_input_feature()), FactorKind::kReduction);
  lhs_feature.push_back(in);
  rhs_in.push_back(in);
  const int features = rule.AddFactor(out_features / (batch_groups * feature_groups));
  rhs_out.push_back(features);
  out_feature.push_back(features);

  const WindowView window(instruction);
  for (int i = 0; i < window.rank(); ++i) {
    const int64_t size = out_shape.dim(numbers.output_spatial()[i]);
    const int factor =
        rule.AddFactor(size, window[i].IsTrivial() ? FactorKind::kPassThrough : FactorKind::kPermuting);
    lhs[numbers.input_spatial()[i]] = factor;
    out[numbers.output_spatial()[i]] = factor;
  }
  rule.operands = {lhs, rhs};
  rule.results.push_back(out);
  rule.flops_per_point = 2;
  AddLinearityOfProduct(instruction, &rule);
  return rule;
}

std::vector<OperandWindows> ReadsOfConvolution(const Instruction& op, int dim, int64_t tiles) {
  const int64_t t = TileRows(op, dim, tiles);
  const ConvolutionView numbers(op);
  std::vector<OperandWindows> reads;
  for (int i = 0; i < static_cast<int>(numbers.output_spatial().size()); ++i) {
    if (numbers.output_spatial()[i] != dim) continue;
    const int in = static_cast<int>(numbers.input_spatial()[i]);
    reads.push_back({0, in, WindowsOf(WindowView(op)[i], t), op.operand(0)->shape().dim(in)});
  }
  return reads;
}

absl::StatusOr<std::vector<Instruction*>> PartitionConvolution(OpContext& context) {
  SpmdBuilder& b = *context.b;
  const ConvolutionView numbers(*context.op);
  xla::HloInstructionProto* attrs = nullptr;
  // A cut feature contraction: padding is zeroed on both sides.
  const int64_t in_dims[2] = {numbers.input_feature(), numbers.kernel_input_feature()};
  for (int side = 0; side < 2; ++side) {
    Instruction*& operand = context.operands[side];
    const int d = in_dims[side];
    operand = b.MaskPadding(operand, d, context.GlobalDim(side, d), context.AxesOf(side, d),
                            b.Zero(operand->shape().element_type()));
  }
  const Shape local = context.ResultShape();
  for (int i = 0; i < static_cast<int>(numbers.input_spatial().size()); ++i) {
    const int64_t out = numbers.output_spatial()[i];
    const AxisList& axes = context.results[0].dims[out];
    if (axes.empty()) continue;
    if (attrs == nullptr) attrs = b.module()->New(context.op->attrs());
    const OperandWindows read = ReadsOfConvolution(*context.op, out, b.mesh().Product(axes))[0];
    const WindowDim window = WindowView(*context.op)[i];
    Instruction*& x = context.operands[0];
    x = FetchBase(b, x, axes, local.dim(out), read, window, b.Zero(x->shape().element_type()));
    WindowView::Set(attrs, i, OnFetchedBase(window));
  }
  return context.CloneLocal(attrs);
}

}  // namespace toroid
