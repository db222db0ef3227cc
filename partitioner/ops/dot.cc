// `dot`: (b m k), (b k n) -> (b m n), k reduced; several dimensions may play each role.
//
// Example: f32[8,16] dot f32[16,4]: (m k), (k n) -> (m n), linear in either operand. The local program is the op
// itself, with the padding of a cut k replaced by zeros in both operands.
//
// `scaled-dot`, products of scaled blocks: scaled-dot(lhs, rhs, lhs_scale, rhs_scale). A scale has one number per block of
// its operand.
//
// Factors are those of the dot, but a dimension in blocks has two factors, (blocks, elements of a block); the
// scale's dimension has the first of them only.
// Example: f8[64,128], f8[128,32], scales [64,4], [4,32]: (m (k i)), ((k i) n), (m k), (k n) -> (m n), k and i reductions.
#include <algorithm>

#include "hlo/ir/attribute_views.h"
#include "partitioner/ops/op_families.h"

namespace toroid {
namespace {

ShardingRule DotShardingRule(const Instruction& op) {
  const Shape& lhs_shape = op.operand(0)->shape();
  const Shape& rhs_shape = op.operand(1)->shape();
  const DotView dot(op);
  ShardingRule rule;
  TensorFactors lhs(lhs_shape.rank()), rhs(rhs_shape.rank()), result;
  for (size_t i = 0; i < dot.lhs_batch().size(); ++i) {
    const int64_t l = dot.lhs_batch()[i], r = dot.rhs_batch()[i];
    lhs[l] = rhs[r] = rule.AddFactor(lhs_shape.dim(l));
    result.push_back(lhs[l]);
  }
  for (size_t i = 0; i < dot.lhs_contracting().size(); ++i) {
    const int64_t l = dot.lhs_contracting()[i], r = dot.rhs_contracting()[i];
    lhs[l] = rhs[r] = rule.AddFactor(lhs_shape.dim(l), FactorKind::kReduction);
  }
  const auto add_free = [&](const Shape& shape, TensorFactors* factors) {
    for (int d = 0; d < shape.rank(); ++d) {
      if ((*factors)[d].size > 0) continue;
      (*factors)[d] = rule.AddFactor(shape.dim(d));
      result.push_back((*factors)[d]);
    }
  };
  add_free(lhs_shape, &lhs);
  add_free(rhs_shape, &rhs);
  rule.operands = {lhs, rhs};
  rule.results.push_back(result);
  rule.flops_per_point = 2;
  if (op.shape().element_type() == xla::PRED) {
    rule.reducer = Reducer::kOr;
  } else {
    AddLinearityOfProduct(op, &rule);
  }
  return rule;
}

// Splits a factor of `size` so that the leading parts multiply to the block count of each scale. blocks: the
// block counts of the scales that have the factor. Returns the sizes of the parts, major first; empty if the
// blocks of the two scales do not nest.
std::vector<int64_t> Parts(int64_t size, std::vector<int64_t> blocks) {
  std::sort(blocks.begin(), blocks.end());
  std::vector<int64_t> sizes;
  int64_t major = 1;
  for (const int64_t count : blocks) {
    if (count == major) continue;
    if (count % major != 0) return {};
    sizes.push_back(count / major);
    major = count;
  }
  if (size != major || sizes.empty()) sizes.push_back(size / major);
  return sizes;
}

ShardingRule ScaledDotShardingRule(const Instruction& op) {
  const ShardingRule dot = DotShardingRule(op);
  const auto scale_of = [&](int side) -> const Shape& { return op.operand(2 + side)->shape(); };
  // For each factor of the dot: into how many blocks each array of scales divides it.
  std::vector<std::vector<int64_t>> blocks(dot.factors.size());
  for (int side = 0; side < 2; ++side) {
    for (int d = 0; d < scale_of(side).rank(); ++d) {
      const int64_t count = scale_of(side).dim(d);
      if (count > 0) blocks[dot.operands[side][d].factor[0]].push_back(count);
    }
  }
  ShardingRule rule;
  rule.flops_per_point = dot.flops_per_point;
  std::vector<std::vector<int>> parts(dot.factors.size());
  for (size_t f = 0; f < dot.factors.size(); ++f) {
    const Factor& whole = dot.factors[f];
    const std::vector<int64_t> sizes =
        whole.size == 0 ? std::vector<int64_t>() : Parts(whole.size, blocks[f]);
    for (const int64_t size : sizes) parts[f].push_back(rule.AddFactor(size, whole.kind));
    if (sizes.empty()) parts[f].push_back(rule.AddFactor(whole.size, FactorKind::kBlocked));
  }
  const auto made_of = [&](const TensorFactors& tensor) {
    TensorFactors now;
    for (const DimFactors& dim : tensor) {
      now.emplace_back();
      for (const int f : parts[dim.factor[0]]) now.back().push_back(f);
    }
    return now;
  };
  for (const TensorFactors& tensor : dot.operands) rule.operands.push_back(made_of(tensor));
  rule.results.push_back(made_of(dot.results[0]));
  for (int side = 0; side < 2; ++side) {
    TensorFactors scale;
    for (int d = 0; d < scale_of(side).rank(); ++d) {
      scale.emplace_back();
      int64_t left = scale_of(side).dim(d);
      for (const int f : parts[dot.operands[side][d].factor[0]]) {
        if (left <= 1 || rule.factors[f].kind == FactorKind::kBlocked) break;
        scale.back().push_back(f);
        left /= rule.factors[f].size;
      }
    }
    rule.operands.push_back(scale);
  }
  return rule;
}

std::vector<Instruction*> PartitionScaledDot(OpContext& context) {
  SpmdBuilder& b = *context.b;
  // Padding becomes 0 in the operands and 1 in the scales, as some types of scales have no 0.
  for (int i = 0; i < 4; ++i) {
    context.MaskReductions(
        i, [&](PrimitiveType type) { return b.Convert(b.Scalar(i < 2 ? 0.0f : 1.0f), type); });
  }
  return context.CloneLocal();
}

}  // namespace

const OpFamily families::kDot = {DotShardingRule};
const OpFamily families::kScaledDot = {ScaledDotShardingRule, PartitionScaledDot};

}  // namespace toroid
