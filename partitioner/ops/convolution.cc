// `convolution`: the batch passes through, input features are contracted as in a dot. A group count splits a
// dimension into (group, rest); if groups are cut, each device computes some of the groups. In each spatial
// dimension the image shares its factor with either the output or the window: the one with the larger product
// of rows and reach along the image. The other one is never cut.
//
// - Output cut: a tile fetches the image rows that its windows read (tile_windows.h), and the op runs without
//   padding.
// - Window cut (in the gradient by the kernel, whose window is as large as an image): the op contracts over
//   the window as over features. A tile has t of the window's rows, fetches the image rows that they meet in
//   all outputs, and computes a partial sum.
//
// Example: image f32[32], window f32[32] padded by 1, output f32[3], over 4. The window is cut: tile i meets
//          image rows [8 i - 1, 8 i + 9), one from either neighbour, and the output is partial.
// Example: image f32[224], window f32[16], strides of 16, output f32[14], over 2. Outputs reach over 13 * 16
//          rows, the window over 15. The output is cut, and a tile of 7 outputs reads its own 112 image rows.
//
// A short last tile of the window is filled up with zeros, which are multiplied with image rows. 0 x infinity
// is NaN, so if the image is visibly non-finite (finite.cc), the window is cut evenly or not at all.
#include <algorithm>

#include "hlo/base/math.h"
#include "hlo/ir/attribute_views.h"
#include "partitioner/ops/op_families.h"

namespace toroid {
namespace {

// The factor of spatial dimension 0; factors of the other spatial dimensions follow in order.
int SpatialFactor(const ConvolutionView& numbers) {
  return 3 + (numbers.batch_groups() > 1 ? 1 : 0) + (numbers.feature_groups() > 1 ? 1 : 0);
}

// Adds `factor` to `dim`, minor to a group factor if there is one. If each group has one element, the group
// stays the only factor, so that the dimension can also be cut unevenly.
void AddMinorFactor(int64_t size, int factor, DimFactors* dim) {
  if (size != 1 || dim->size == 0) dim->push_back(factor);
}

// The sizes of image, window and output in one spatial dimension, in rows.
struct SpatialSizes {
  SpatialSizes(const Instruction& op, const ConvolutionView& numbers, int i)
      : image(op.operand(0)->shape().dim(numbers.input_spatial()[i])),
        window(op.operand(1)->shape().dim(numbers.kernel_spatial()[i])),
        output(op.shape().dim(numbers.output_spatial()[i])),
        window_step(WindowView(op)[i].window_dilation),
        output_step(WindowView(op)[i].stride) {}
  // True if the window is the one to cut, false if the output is. If one of the two is cut, a tile reads
  // beyond its border as many image rows as the other one reaches over; and the one with more rows divides
  // more evenly.
  bool CutsWindow() const {
    return SaturatingMultiply(window, Reach(window, window_step)) >
           SaturatingMultiply(output, Reach(output, output_step));
  }
  int64_t image, window, output;

 private:
  static int64_t Reach(int64_t rows, int64_t step) {
    return SaturatingMultiply(std::max<int64_t>(rows, 1) - 1, step);
  }
  int64_t window_step, output_step;  // Image rows from one window row, or one output, to the next.
};

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
  const auto add_groups = [&](int64_t count, DimFactors* of_lhs) {
    if (count == 1) return;
    const int group = rule.AddFactor(count);
    for (DimFactors* dim : {of_lhs, &rhs_out, &out_feature}) dim->push_back(group);
  };
  add_groups(batch_groups, &lhs_batch);
  add_groups(feature_groups, &lhs_feature);
  const int batch = rule.AddFactor(out_shape.dim(numbers.output_batch()));
  AddMinorFactor(out_shape.dim(numbers.output_batch()), batch, &lhs_batch);
  out_batch.push_back(batch);
  const int in = rule.AddFactor(rhs_shape.dim(numbers.kernel_input_feature()), FactorKind::kReduction);
  AddMinorFactor(rhs_shape.dim(numbers.kernel_input_feature()), in, &lhs_feature);
  rhs_in.push_back(in);
  const int64_t out_of_group = out_features / (batch_groups * feature_groups);
  const int features = rule.AddFactor(out_of_group);
  AddMinorFactor(out_of_group, features, &rhs_out);
  AddMinorFactor(out_of_group, features, &out_feature);

  const WindowView window(instruction);
  rule.flops_per_point = 2;
  for (int i = 0; i < window.rank(); ++i) {
    const SpatialSizes sizes(instruction, numbers, i);
    if (sizes.CutsWindow()) {
      const int factor = rule.AddFactor(sizes.window, FactorKind::kReduction);
      rule.factors[factor].composite = IsVisiblyNonFinite(*instruction.operand(0));
      lhs[numbers.input_spatial()[i]] = factor;
      rhs[numbers.kernel_spatial()[i]] = factor;
      rule.flops_per_point *= static_cast<double>(sizes.output);
      continue;
    }
    const int factor = rule.AddFactor(
        sizes.output, window[i].IsTrivial() ? FactorKind::kPassThrough : FactorKind::kPermuting);
    lhs[numbers.input_spatial()[i]] = factor;
    out[numbers.output_spatial()[i]] = factor;
    rule.flops_per_point *= static_cast<double>(sizes.window);
  }
  rule.operands = {lhs, rhs};
  rule.results.push_back(out);
  AddLinearityOfProduct(instruction, &rule);
  return rule;
}

std::vector<OperandWindows> ReadsOfConvolution(const Instruction& op, int factor, int64_t tiles) {
  const ConvolutionView numbers(op);
  const int i = factor - SpatialFactor(numbers);
  if (i < 0) return {};
  const SpatialSizes sizes(op, numbers, i);
  const WindowDim window = WindowView(op)[i];
  const TileWindows windows = sizes.CutsWindow()
                                  ? WindowsOfPart(window, CeilOfRatio(sizes.window, tiles), sizes.output)
                                  : WindowsOf(window, CeilOfRatio(sizes.output, tiles));
  return {{0, static_cast<int>(numbers.input_spatial()[i]), windows,
           RowsRead(window, sizes.output, sizes.image), sizes.image}};
}

// The op's attributes with the number of groups on each device; null if groups are not cut.
xla::HloInstructionProto* LocalGroups(const OpContext& context, const ConvolutionView& numbers) {
  const bool of_batch = numbers.batch_groups() > 1;
  const int64_t groups = of_batch ? numbers.batch_groups() : numbers.feature_groups();
  if (groups == 1 || context.factor_axes[0].empty()) return nullptr;  // Groups are factor 0.
  xla::HloInstructionProto* attrs = context.b->module()->New(context.op->attrs());
  const int64_t local = CeilOfRatio(groups, context.b->mesh().Product(context.factor_axes[0]));
  of_batch ? attrs->set_batch_group_count(local) : attrs->set_feature_group_count(local);
  return attrs;
}

std::vector<Instruction*> PartitionConvolution(OpContext& context) {
  SpmdBuilder& b = *context.b;
  const ConvolutionView numbers(*context.op);
  xla::HloInstructionProto* attrs = LocalGroups(context, numbers);
  // If the contracted features are cut, their padding is zeroed in both operands.
  const int64_t in_dims[2] = {numbers.input_feature(), numbers.kernel_input_feature()};
  for (int side = 0; side < 2; ++side) {
    Instruction*& operand = context.operands[side];
    const int d = in_dims[side];
    operand = b.MaskPadding(operand, d, context.GlobalDim(side, d), context.AxesOf(side, d),
                            b.Zero(operand->shape().element_type()));
  }
  const Shape local = context.ResultShape();
  for (int i = 0; i < static_cast<int>(numbers.input_spatial().size()); ++i) {
    const int factor = SpatialFactor(numbers) + i;
    const AxisList& axes = context.factor_axes[factor];
    if (axes.empty()) continue;
    if (attrs == nullptr) attrs = b.module()->New(context.op->attrs());
    const SpatialSizes sizes(*context.op, numbers, i);
    WindowDim window = WindowView(*context.op)[i];
    Instruction*& x = context.operands[0];
    if (sizes.CutsWindow()) {
      const int d = static_cast<int>(numbers.kernel_spatial()[i]);
      Instruction*& part = context.operands[1];
      if (window.reversed) part = ReverseCut(b, part, d, sizes.window, axes);
      part = b.MaskPadding(part, d, sizes.window, axes, b.Zero(part->shape().element_type()));
      window.size = part->shape().dim(d);
      window.reversed = false;
    }
    const OperandWindows read = ReadsOfConvolution(*context.op, factor, b.mesh().Product(axes))[0];
    x = FetchBase(b, x, axes, local.dim(numbers.output_spatial()[i]), read, window,
                  b.Zero(x->shape().element_type()));
    WindowView::Set(attrs, i, OnFetchedBase(window));
  }
  return context.CloneLocal(attrs);
}

}  // namespace

const OpFamily families::kConvolution = {ConvolutionShardingRule, PartitionConvolution, ReadsOfConvolution};

}  // namespace toroid
