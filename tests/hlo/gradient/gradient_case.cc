#include "tests/hlo/gradient/gradient_case.h"

#include <algorithm>
#include <numeric>

#include "hlo/ir/native_types.h"

namespace toroid {

Dims GradientCase::RandomDims(int least, int most, int64_t largest) {
  Dims dims;
  const int64_t rank = Int(least, most);
  for (int64_t d = 0; d < rank; ++d) dims.push_back(Int(1, largest));
  return dims;
}

std::vector<int64_t> GradientCase::Permutation(int64_t n) {
  std::vector<int64_t> order(n);
  std::iota(order.begin(), order.end(), int64_t{0});
  std::shuffle(order.begin(), order.end(), random_);
  return order;
}

Literal GradientCase::RandomLiteral(absl::Span<const int64_t> dims, double low, double high,
                                    PrimitiveType type) {
  Literal literal(Shape(type, dims));
  if (type == xla::C128) {
    for (complex128& x : literal.mutable_data<complex128>()) x = {Real(low, high), Real(low, high)};
  } else {
    for (double& x : literal.mutable_data<double>()) x = Real(low, high);
  }
  return literal;
}

Value GradientCase::Variable(absl::Span<const int64_t> dims, double low, double high, PrimitiveType type) {
  arguments_.push_back(RandomLiteral(dims, low, high, type));
  return b.Parameter(Shape(type, dims), "x");
}

Value GradientCase::Constant(absl::Span<const int64_t> dims, double low, double high, PrimitiveType type) {
  return b.Constant(RandomLiteral(dims, low, high, type));
}

Value GradientCase::Indices(absl::Span<const int64_t> dims, int64_t low, int64_t high) {
  Literal literal(Shape(xla::S32, dims));
  for (int32_t& x : literal.mutable_data<int32_t>()) x = static_cast<int32_t>(Int(low, high));
  return b.Constant(literal);
}

Value GradientCase::Predicates(absl::Span<const int64_t> dims) {
  Literal literal(Shape(xla::PRED, dims));
  for (bool& x : literal.mutable_data<bool>()) x = Coin();
  return b.Constant(literal);
}

Value GradientCase::WeightedSum(Value x) {
  std::vector<int64_t> all(x->shape().rank());
  std::iota(all.begin(), all.end(), int64_t{0});
  const PrimitiveType type = x->shape().element_type();
  const Value sum = b.Sum(b.Multiply(x, Constant(x->shape().dims(), -1, 1, type)), all);
  return type == xla::C128 ? b.Op(Opcode::kReal, Shape(xla::F64, {}), {sum}) : sum;
}

absl::StatusOr<std::unique_ptr<Module>> GradientCase::Finish(Value result) {
  Value sum = b.Zero(xla::F64);
  for (const Value leaf : b.Flatten(result)) {
    const PrimitiveType type = leaf->shape().element_type();
    if (type == xla::F64 || type == xla::C128) sum = b.Add(sum, WeightedSum(leaf));
  }
  return b.Build(sum);
}

}  // namespace toroid
