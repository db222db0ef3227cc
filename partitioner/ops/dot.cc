// `dot`: (b m k), (b k n) -> (b m n), k reduced; several dimensions may play each role.
//
// Example: f32[8,16] dot f32[16,4]: (m k), (k n) -> (m n), linear in either operand. The local program is the op
// itself, with the padding of a cut k replaced by zeros in both operands.
#include "hlo/ir/attribute_views.h"
#include "partitioner/ops/finite.h"
#include "partitioner/ops/op_family.h"

namespace toroid {
namespace {

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
  rule.flops_per_point = 2;
  if (instruction.shape().element_type() == xla::PRED) {
    rule.reducer = Reducer::kOr;
  } else {
    AddLinearityOfProduct(instruction, &rule);
  }
  return rule;
}

}  // namespace

const OpFamily families::kDot = {DotShardingRule};

}  // namespace toroid
