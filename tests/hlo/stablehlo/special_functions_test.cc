#include "hlo/stablehlo/special_functions.h"

#include <cmath>
#include <vector>

#include "runtime/engine/executor.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

// Compares with the C library's function, relative to the value or to 1.
void ExpectLike(Value (*function)(InstructionBuilder&, Value), double (*expected)(double),
                const std::vector<float>& points, double tolerance) {
  Module module("m");
  Computation* entry = module.AddComputation("main");
  module.set_entry(entry);
  InstructionBuilder b(entry);
  const Shape shape(xla::F32, {static_cast<int64_t>(points.size())});
  b.Finish(function(b, b.Parameter(shape, "x")));
  ASSERT_OK(b.status());
  const auto result = RunSingle(module, {Literal::Array<float>(shape.dims(), points)});
  ASSERT_OK(result.status());
  for (size_t i = 0; i < points.size(); ++i) {
    const double want = expected(points[i]);
    EXPECT_NEAR(result->data<float>()[i], want, tolerance * std::abs(want) + 1e-38) << points[i];
  }
}

TEST(SpecialFunctionsTest, ErfcIsAccurateRelativeToItself) {
  ExpectLike(Erfc, std::erfc, {-5, -1.5, -0.3, 0, 0.2, 0.9, 1.1, 1.9, 2.5, 5, 9}, 1e-5);
}

TEST(SpecialFunctionsTest, ErfInvInvertsErf) {
  const auto inverse = [](double x) {
    double low = -6, high = 6;
    for (int i = 0; i < 200; ++i) (std::erf((low + high) / 2) < x ? low : high) = (low + high) / 2;
    return low;
  };
  ExpectLike(ErfInv, inverse, {-0.99, -0.5, 0.125, 0.7, 0.995}, 1e-5);
}

TEST(SpecialFunctionsTest, GammaFunctions) {
  ExpectLike(LogGamma, std::lgamma, {-2.5, -0.25, 0.25, 0.75, 1.5, 3.25, 20, 1000}, 1e-4);
  const auto digamma = [](double x) { return (std::lgamma(x + 1e-5) - std::lgamma(x - 1e-5)) / 2e-5; };
  ExpectLike(Digamma, digamma, {-2.5, -0.25, 0.25, 0.75, 2.5, 20}, 1e-4);
}

}  // namespace
}  // namespace toroid
