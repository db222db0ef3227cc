#include "examples/moe/model_builder.h"

#include <cmath>

#include "examples/moe/random_bits.h"
#include "hlo/gradient/sweep/pullback.h"

namespace toroid {

Value ModelBuilder::AddWeight(const Sizes& dims, const std::string& name, double mean, double stddev) {
  Value weight = b_.Parameter(Shape(xla::F32, dims), name);
  weights_.push_back({name, weight, mean, stddev});
  return weight;
}

Value ModelBuilder::Weight(const Sizes& dims, const std::string& name, int64_t fan_in) {
  return b_.Replicate(AddWeight(dims, name, 0, 1 / std::sqrt(static_cast<double>(fan_in))));
}

Value ModelBuilder::ExpertWeight(const Sizes& dims, const std::string& name, int64_t fan_in) {
  return b_.Split(AddWeight(dims, name, 0, 1 / std::sqrt(static_cast<double>(fan_in))), 0,
                  config_.Parts(dims[0]));
}

Value ModelBuilder::StageWeight(const Sizes& dims, const std::string& name, int64_t fan_in) {
  Value weight = fan_in == 0 ? AddWeight(dims, name, 1, 0)
                             : AddWeight(dims, name, 0, 1 / std::sqrt(static_cast<double>(fan_in)));
  std::vector<AxisNames> axes(dims.size());
  axes[0] = "stage";
  return b_.Shard(weight, axes);
}

Value ModelBuilder::Scale(int64_t size, const std::string& name) {
  return b_.Replicate(AddWeight({size}, name, 1, 0));
}

Value ModelBuilder::MeanOf(Value x, const Sizes& dimensions, int64_t count) {
  return b_.MultiplyNumber(b_.Sum(x, dimensions), 1.0 / static_cast<double>(count));
}

Value ModelBuilder::Shift(Value x, InstructionBuilder* b) {
  Value largest = b->Max(x, {x->shape().rank() - 1});
  gradient_options_.stopped.insert(largest);
  return largest;
}

Value ModelBuilder::HiddenRelu(Value x, InstructionBuilder* b) {
  Value result = b->Maximum(x, b->FullLike(x, 0));
  Value kept = config_.bf16_hidden ? b->Convert(result, xla::BF16) : result;
  const auto where_above_zero = [](Pullback& p) {
    Value y = p.read(0), cotangent = p.cotangent();
    p.Add(0, p.b.Select(p.b.Compare(y, p.b.FullLike(y, 0), "GT"), cotangent, p.b.FullLike(cotangent, 0)));
    return absl::OkStatus();
  };
  gradient_options_.custom[result] = CustomRule(where_above_zero, {kept});
  return b->Convert(kept, x->shape().element_type());
}

Value ModelBuilder::Dropout(Value x) {
  Builder::Scope scope(&b_, "dropout");
  return Dropout(x, seed_, &b_);
}

Value ModelBuilder::Dropout(Value x, Value seed, InstructionBuilder* b) {
  if (seed == nullptr || config_.dropout == 0) return x;
  const Value bits = RandomBits(seed, next_site_++, SizesOf(x), b);
  const Value is_kept = b->Compare(bits, b->FullLike(bits, std::floor(config_.dropout * 0x1p32)), "GE");
  return b->Select(is_kept, b->MultiplyNumber(x, 1 / (1 - config_.dropout)), b->FullLike(x, 0));
}

Value ModelBuilder::Uniform(const Sizes& dims) {
  return seed_ == nullptr ? b_.Zeros(xla::F32, dims) : RandomUniform(seed_, next_site_++, dims, &b_);
}

}  // namespace toroid
