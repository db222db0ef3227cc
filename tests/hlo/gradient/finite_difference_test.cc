// BUILD: size = "medium"
// Compares every op's gradient with finite differences: along a random direction d the derivative is (f(x + h
// d) - f(x - h d)) / 2h; by the gradient it is Re(sum of gradient * d).
#include <cmath>
#include <utility>

#include "gtest/gtest.h"
#include "hlo/gradient/gradient.h"
#include "hlo/io/hlo_text.h"
#include "hlo/ir/native_types.h"
#include "hlo/ops/verify_module.h"
#include "runtime/engine/executor.h"
#include "tests/hlo/gradient/gradient_case.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

constexpr int kCasesOfAKind = 150;

Literal Moved(const Literal& x, const Literal& direction, double by) {
  Literal moved = x;
  if (x.shape().element_type() == xla::C128) {
    for (int64_t i = 0; i < x.shape().NumElements(); ++i) {
      moved.mutable_data<complex128>()[i] += by * direction.data<complex128>()[i];
    }
  } else {
    for (int64_t i = 0; i < x.shape().NumElements(); ++i)
      moved.mutable_data<double>()[i] += by * direction.data<double>()[i];
  }
  return moved;
}

Literal RandomDirection(const Shape& shape, GradientCase* c) {
  Literal direction(shape);
  if (shape.element_type() == xla::C128) {
    for (complex128& x : direction.mutable_data<complex128>()) x = {c->Real(-1, 1), c->Real(-1, 1)};
  } else {
    for (double& x : direction.mutable_data<double>()) x = c->Real(-1, 1);
  }
  return direction;
}

double Along(const Literal& gradient, const Literal& direction) {
  double sum = 0;
  for (int64_t i = 0; i < direction.shape().NumElements(); ++i) {
    if (direction.shape().element_type() == xla::C128) {
      sum += (gradient.data<complex128>()[i] * direction.data<complex128>()[i]).real();
    } else {
      sum += gradient.data<double>()[i] * direction.data<double>()[i];
    }
  }
  return sum;
}

double ValueOf(const Module& module, const std::vector<Literal>& arguments) {
  const auto result = RunSingle(module, arguments);
  EXPECT_OK(result);
  if (!result.ok()) return NAN;
  return result->shape().IsTuple() ? result->element(0).data<double>()[0] : result->data<double>()[0];
}

void Check(const GradientKind& kind, uint64_t seed) {
  GradientCase c(seed);
  const auto module = c.Finish(kind.make(c));
  ASSERT_OK(module);
  SCOPED_TRACE(PrintModule(**module));
  ASSERT_OK(VerifyModule(**module));
  std::vector<int64_t> parameters;
  for (size_t i = 0; i < c.arguments().size(); ++i) parameters.push_back(static_cast<int64_t>(i));
  const auto gradient = GradientModule(**module, parameters, GradientOptions());
  ASSERT_OK(gradient);
  ASSERT_OK(VerifyModule(**gradient)) << PrintModule(**gradient);
  const auto result = RunSingle(**gradient, c.arguments());
  ASSERT_OK(result) << PrintModule(**gradient);

  std::vector<Literal> ahead, behind;
  double expected_from_gradient = 0, scale = 1;
  for (size_t i = 0; i < c.arguments().size(); ++i) {
    const Literal direction = RandomDirection(c.arguments()[i].shape(), &c);
    ahead.push_back(Moved(c.arguments()[i], direction, kind.step));
    behind.push_back(Moved(c.arguments()[i], direction, -kind.step));
    expected_from_gradient += Along(result->element(static_cast<int64_t>(i) + 1), direction);
  }
  const double difference = (ValueOf(**module, ahead) - ValueOf(**module, behind)) / (2 * kind.step);
  scale = std::max(1.0, std::abs(difference));
  EXPECT_NEAR(expected_from_gradient, difference, kind.tolerance * scale) << PrintModule(**gradient);
}

void CheckAll(const std::vector<GradientKind>& kinds) {
  int before = 0;
  for (const GradientKind& kind : kinds) {
    for (int i = 0; i < kCasesOfAKind; ++i) {
      SCOPED_TRACE(absl::StrCat(kind.name, ", case ", i));
      Check(kind, static_cast<uint64_t>(i) + 1);
      const int failures =
          ::testing::UnitTest::GetInstance()->current_test_info()->result()->total_part_count();
      if (std::exchange(before, failures) != failures) break;  // Go on to the next kind.
    }
  }
}

TEST(FiniteDifferenceTest, ElementwiseOps) { CheckAll(ElementwiseKinds()); }
TEST(FiniteDifferenceTest, OpsThatMoveElements) { CheckAll(MovementKinds()); }
TEST(FiniteDifferenceTest, ContractionsAndReductions) { CheckAll(ContractionKinds()); }
TEST(FiniteDifferenceTest, OpsWrittenOutInOthers) { CheckAll(CompositeKinds()); }
TEST(FiniteDifferenceTest, CallsLoopsAndLayers) { CheckAll(StructureKinds()); }

}  // namespace
}  // namespace toroid
