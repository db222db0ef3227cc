#include "hlo/gradient/rules/normalization.h"

#include <vector>

#include "hlo/gradient/rules/expansion.h"
#include "hlo/passes/expand_op.h"

namespace toroid {
namespace {

class BatchNorm {
 public:
  explicit BatchNorm(Pullback& p) : b_(p.b), x_(p.operand(0)), feature_(p.op().attrs().feature_index()) {
    for (int64_t d = 0; d < x_->shape().rank(); ++d) {
      if (d == feature_) continue;
      others_.push_back(d);
      count_ *= static_cast<double>(x_->shape().dim(d));
    }
  }

  // A value per feature, broadcast to all places of the feature.
  Value Spread(Value of_feature) { return b_.Broadcast(of_feature, x_->shape().dims(), {feature_}); }
  Value Sum(Value x) { return b_.Sum(x, others_); }
  double count() const { return count_; }

 private:
  InstructionBuilder& b_;
  const Value x_;
  const int64_t feature_;
  std::vector<int64_t> others_;
  double count_ = 1;
};

}  // namespace

absl::Status BatchNormTrainingGradient(Pullback& p) {
  InstructionBuilder& b = p.b;
  BatchNorm norm(p);
  const Value x = p.operand(0), mean = b.GetTupleElement(p.result(), 1),
              variance = b.GetTupleElement(p.result(), 2);
  Value to_x = nullptr;
  if (p.cotangent_or_null(0) != nullptr) {
    xla::HloInstructionProto* attrs = b.NewAttrs();
    attrs->set_epsilon(p.op().attrs().epsilon());
    attrs->set_feature_index(p.op().attrs().feature_index());
    const Shape& of_feature = p.operand_shape(1);
    const Value all = b.Op(Opcode::kBatchNormGrad, Shape::Tuple({x->shape(), of_feature, of_feature}),
                           {x, p.operand(1), mean, variance, p.cotangent(0)}, attrs);
    to_x = b.GetTupleElement(all, 0);
    if (p.Wants(1)) p.Add(1, b.GetTupleElement(all, 1));
    if (p.Wants(2)) p.Add(2, b.GetTupleElement(all, 2));
  }
  if (!p.Wants(0)) return absl::OkStatus();
  if (to_x != nullptr) p.Add(0, to_x);
  if (p.cotangent_or_null(1) != nullptr)
    p.Add(0, norm.Spread(b.MultiplyNumber(p.cotangent(1), 1 / norm.count())));
  if (p.cotangent_or_null(2) != nullptr) {
    const Value scaled = norm.Spread(b.MultiplyNumber(p.cotangent(2), 2 / norm.count()));
    p.Add(0, b.Multiply(scaled, b.Subtract(x, norm.Spread(mean))));
  }
  return absl::OkStatus();
}

absl::Status BatchNormInferenceGradient(Pullback& p) {
  InstructionBuilder& b = p.b;
  BatchNorm norm(p);
  const Value t = p.cotangent(), scale = p.operand(1);
  const Value inverse = b.Rsqrt(b.AddNumber(p.operand(4), p.op().attrs().epsilon()));
  const Value centered = b.Subtract(p.operand(0), norm.Spread(p.operand(3)));
  const Value slope = b.Multiply(scale, inverse);
  if (p.Wants(0)) p.Add(0, b.Multiply(t, norm.Spread(slope)));
  if (p.Wants(1)) p.Add(1, b.Multiply(norm.Sum(b.Multiply(t, centered)), inverse));
  if (p.Wants(2)) p.Add(2, norm.Sum(t));
  if (p.Wants(3)) p.Add(3, b.Negate(b.Multiply(norm.Sum(t), slope)));
  if (p.Wants(4)) {
    const Value cube = b.Multiply(inverse, b.Multiply(inverse, inverse));
    p.Add(4, b.MultiplyNumber(b.Multiply(norm.Sum(b.Multiply(t, centered)), b.Multiply(scale, cube)), -0.5));
  }
  return absl::OkStatus();
}

absl::Status BatchNormGradGradient(Pullback& p) {
  return GradientByExpansion(p, [&](InstructionBuilder& b, absl::Span<const Value> operands) {
    return ExpandOp(p.op(), operands, /*step=*/nullptr, b);
  });
}

}  // namespace toroid
