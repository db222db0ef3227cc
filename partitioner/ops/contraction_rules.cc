// Rules of contractions.
#include "hlo/ir/attribute_views.h"
#include "partitioner/ops/finite.h"
#include "partitioner/ops/rules.h"

namespace toroid {
namespace {

// Either operand may be a sum, unless the other is seen to hold infinities.
void AddLinearInEither(const Instruction& instruction, ShardingRule* rule) {
  if (!IsVisiblyNonFinite(*instruction.operand(1))) rule->linear.push_back({0b01});
  if (!IsVisiblyNonFinite(*instruction.operand(0))) rule->linear.push_back({0b10});
}

}  // namespace

// (b m k), (b k n) -> (b m n), k reduced; several dimensions may play each role.
ShardingRule DotShardingRule(const Instruction& instruction) {
  const Shape& lhs_shape = instruction.operand(0)->shape();
  const Shape& rhs_shape = instruction.operand(1)->shape();
  const DotView dot(instruction);
  ShardingRule rule;
  TensorFactors lhs(lhs_shape.rank()), rhs(rhs_shape.rank()), result;
  std::vector<bool> lhs_taken(lhs_shape.rank(), false), rhs_taken(rhs_shape.rank(), false);
  for (size_t i = 0; i < dot.lhs_batch().size(); ++i) {
    const int64_t l = dot.lhs_batch()[i], r = dot.rhs_batch()[i];
    lhs[l] = rhs[r] = rule.AddFactor(lhs_shape.dim(l));
    lhs_taken[l] = rhs_taken[r] = true;
    result.push_back(lhs[l]);
  }
  for (size_t i = 0; i < dot.lhs_contracting().size(); ++i) {
    const int64_t l = dot.lhs_contracting()[i], r = dot.rhs_contracting()[i];
    lhs[l] = rhs[r] = rule.AddFactor(lhs_shape.dim(l), FactorKind::kReduction);
    lhs_taken[l] = rhs_taken[r] = true;
  }
  for (int l = 0; l < lhs_shape.rank(); ++l) {
    if (lhs_taken[l]) continue;
    lhs[l] = rule.AddFactor(lhs_shape.dim(l));
    result.push_back(lhs[l]);
  }
  for (int r = 0; r < rhs_shape.rank(); ++r) {
    if (rhs_taken[r]) continue;
    rhs[r] = rule.AddFactor(rhs_shape.dim(r));
    result.push_back(rhs[r]);
  }
  rule.operands = {lhs, rhs};
  rule.results.push_back(result);
  if (instruction.shape().element_type() == xla::PRED) {
    rule.reducer = Reducer::kOr;
  } else {
    AddLinearInEither(instruction, &rule);
  }
  return rule;
}

// Batch passes through, features contract as in a dot; group counts split a dimension into (group, rest). A
// spatial dimension is one factor of image and output; the window (kernel spatial) stays whole.
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
    const int64_t size = out_shape.dim(static_cast<int>(numbers.output_spatial()[i]));
    const int factor =
        rule.AddFactor(size, window[i].IsTrivial() ? FactorKind::kPassThrough : FactorKind::kPermuting);
    lhs[numbers.input_spatial()[i]] = factor;
    out[numbers.output_spatial()[i]] = factor;
  }
  rule.operands = {lhs, rhs};
  rule.results.push_back(out);
  AddLinearInEither(instruction, &rule);
  return rule;
}

}  // namespace toroid
