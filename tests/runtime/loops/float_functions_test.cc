// BUILD: size = "small"
// The error of vectorized functions of f32, in units of the last place, against long double, over numbers of all sizes.
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/loops/unary_loops.h"

namespace toroid {
namespace {

double UnitsApart(float found, long double expected) {
  if (std::isnan(expected) || std::isnan(found)) return std::isnan(expected) && std::isnan(found) ? 0 : 1e9;
  const float rounded = static_cast<float>(expected);
  if (std::isinf(rounded) || std::isinf(found)) return found == rounded ? 0 : 1e9;
  int exponent;
  std::frexp(static_cast<double>(expected), &exponent);
  const long double unit = std::ldexp(1.0L, std::max(exponent - 24, -149));
  return static_cast<double>(std::fabs((static_cast<long double>(found) - expected) / unit));
}

// The largest error over every 997th float.
double WorstError(Opcode opcode, long double (*exact)(long double)) {
  constexpr uint64_t kStep = 997, kBlock = 4096;
  const UnaryLoop loop = FindUnaryLoop(opcode, xla::F32);
  std::vector<float> x(kBlock), y(kBlock);
  double worst = 0;
  for (uint64_t first = 0; first < (uint64_t{1} << 32); first += kBlock * kStep) {
    for (uint64_t i = 0; i < kBlock; ++i) {
      const uint32_t bits = static_cast<uint32_t>(first + i * kStep);
      std::memcpy(&x[i], &bits, sizeof(bits));
    }
    loop(x.data(), y.data(), kBlock);
    for (uint64_t i = 0; i < kBlock; ++i) worst = std::max(worst, UnitsApart(y[i], exact(x[i])));
  }
  return worst;
}

TEST(FloatFunctionsTest, ErrorsAreAsStated) {
  EXPECT_LT(WorstError(Opcode::kExp, [](long double x) { return std::exp(x); }), 1);
  EXPECT_LT(WorstError(Opcode::kTanh, [](long double x) { return std::tanh(x); }), 2);
  EXPECT_LT(WorstError(Opcode::kLog, [](long double x) { return std::log(x); }), 1);
  EXPECT_LT(WorstError(Opcode::kLog1p, [](long double x) { return std::log1p(x); }), 2);
  EXPECT_LT(WorstError(Opcode::kSin, [](long double x) { return std::sin(x); }), 1);
  EXPECT_LT(WorstError(Opcode::kCos, [](long double x) { return std::cos(x); }), 1);
}

}  // namespace
}  // namespace toroid
