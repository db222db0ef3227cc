// BUILD: srcs += "elementwise_kinds.cc", "movement_kinds.cc", "contraction_kinds.cc", "composite_kinds.cc", "structure_kinds.cc"
// Programs of a few ops in f64 with random sizes, attributes and values, whose gradients are compared with
// finite differences.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "hlo/builder/builder.h"
#include "hlo/ir/literal.h"

namespace toroid {

class GradientCase {
 public:
  explicit GradientCase(uint64_t seed) : random_(seed), b("gradient_case") {}

  // In [low, high].
  int64_t Int(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random_);
  }
  double Real(double low, double high) { return std::uniform_real_distribution<double>(low, high)(random_); }
  bool Coin() { return Int(0, 1) == 1; }
  // Between `least` and `most` sizes of 1 to `largest`.
  Dims RandomDims(int least, int most, int64_t largest = 4);
  std::vector<int64_t> Permutation(int64_t n);

  // A parameter to differentiate by, with elements between `low` and `high`.
  Value Variable(absl::Span<const int64_t> dims, double low = -2, double high = 2,
                 PrimitiveType type = xla::F64);
  // The same, constant.
  Value Constant(absl::Span<const int64_t> dims, double low = -2, double high = 2,
                 PrimitiveType type = xla::F64);
  // s32 indices, some out of bounds.
  Value Indices(absl::Span<const int64_t> dims, int64_t low, int64_t high);
  Value Predicates(absl::Span<const int64_t> dims);

  // The module whose first result is the sum over the leaves of `result` with random weights.
  absl::StatusOr<std::unique_ptr<Module>> Finish(Value result);
  const std::vector<Literal>& arguments() const { return arguments_; }

 private:
  Literal RandomLiteral(absl::Span<const int64_t> dims, double low, double high, PrimitiveType type);
  Value WeightedSum(Value x);

  std::mt19937_64 random_;
  std::vector<Literal> arguments_;

 public:
  Builder b;
};

struct GradientKind {
  std::string name;
  std::function<Value(GradientCase&)> make;
  double step = 1e-5;       // Step h of the finite difference.
  double tolerance = 1e-6;  // Absolute below 1, relative above.
};

// The cases: at least one for each op that has a gradient.
std::vector<GradientKind> ElementwiseKinds();
std::vector<GradientKind> MovementKinds();
std::vector<GradientKind> ContractionKinds();
std::vector<GradientKind> CompositeKinds();
std::vector<GradientKind> StructureKinds();

}  // namespace toroid
