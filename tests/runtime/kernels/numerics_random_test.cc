// BUILD: size = "small"
// Normalization, transforms and matrix ops on random values of every type they allow, against sums in double.
#include <cmath>
#include <complex>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "hlo/base/status.h"
#include "runtime/engine/executor.h"
#include "tests/runtime/evaluate.h"
#include "tests/runtime/kernels/number_format.h"

namespace toroid {
namespace {

using C = std::complex<double>;

std::vector<PrimitiveType> Types(bool complex) {
  std::vector<PrimitiveType> types = {xla::BF16, xla::F16, xla::F32, xla::F64, xla::F8E5M2};
  if (complex) types.insert(types.end(), {xla::C64, xla::C128});
  return types;
}

double ToleranceOf(PrimitiveType type) {
  switch (type) {
    case xla::F64:
    case xla::C128:
      return 1e-11;
    case xla::F32:
    case xla::C64:
      return 2e-4;
    case xla::F16:
      return 0.02;
    case xla::BF16:
      return 0.1;
    default:
      return 0.6;
  }
}

C At(const Literal& x, int64_t i) {
  return IsComplex(x.shape().element_type()) ? ComplexAt(x, i) : C(FloatAt(x, i));
}

Literal Apply(const std::string& text, PrimitiveType type, const std::vector<Literal>& operands) {
  std::string body;
  for (size_t i = 0; i < operands.size(); ++i)
    absl::StrAppend(&body, "p", i, " = ", operands[i].shape().ToString(), " parameter(", i, ") ");
  std::string filled = text;
  for (size_t at; (at = filled.find("%T")) != std::string::npos;)
    filled.replace(at, 2, std::string(TypeName(type)));
  absl::StatusOr<Literal> result = RunSingle(*MakeModule(body + filled), operands);
  TOROID_CHECK(result.ok(), filled, ": ", result.status().ToString());
  return *std::move(result);
}

// The features are dimension 1 of [4, 3, 2].
double& Feature(std::vector<double>& values, int64_t i) { return values[i / 2 % 3]; }

TEST(BatchNormRandomTest, TrainingInferenceAndGradient) {
  std::mt19937_64 random(61);
  for (const PrimitiveType type : Types(/*complex=*/false)) {
    SCOPED_TRACE(std::string(TypeName(type)));
    const double tolerance = 4 * ToleranceOf(type);
    const Literal x = RandomArray(type, {4, 3, 2}, random, false), s = RandomSmall(type, {3}, random, 1, 2),
                  o = RandomSmall(type, {3}, random, -1, 1), dy = RandomSmall(type, {4, 3, 2}, random, -1, 1);
    std::vector<double> mean(3), variance(3);
    for (int64_t i = 0; i < 24; ++i) Feature(mean, i) += FloatAt(x, i) / 8;
    for (int64_t i = 0; i < 24; ++i)
      Feature(variance, i) += std::pow(FloatAt(x, i) - Feature(mean, i), 2) / 8;
    const Literal y = Apply(
        "ROOT y = (%T[4,3,2], %T[3], %T[3]) batch-norm-training(p0, p1, p2), epsilon=0.25, feature_index=1",
        type, {x, s, o});
    for (int64_t f = 0; f < 3; ++f) {
      EXPECT_NEAR(FloatAt(y.element(1), f), mean[f], tolerance);
      EXPECT_NEAR(FloatAt(y.element(2), f), variance[f], 4 * tolerance);
    }
    for (int64_t i = 0; i < 24; ++i) {
      const int64_t f = i / 2 % 3;
      const double expected =
          (FloatAt(x, i) - mean[f]) / std::sqrt(variance[f] + 0.25) * FloatAt(s, f) + FloatAt(o, f);
      EXPECT_NEAR(FloatAt(y.element(0), i), expected, tolerance);
    }
    // Statistics as operands of the other two ops: integers, which every type holds.
    const Literal m = RandomSmall(type, {3}, random, -1, 1), v = RandomSmall(type, {3}, random, 1, 3);
    const Literal z =
        Apply("ROOT y = %T[4,3,2] batch-norm-inference(p0, p1, p2, p3, p4), epsilon=1, feature_index=1", type,
              {x, s, o, m, v});
    const Literal g = Apply(
        "ROOT y = (%T[4,3,2], %T[3], %T[3]) batch-norm-grad(p0, p1, p2, p3, p4), epsilon=1, feature_index=1",
        type, {x, s, m, v, dy});
    std::vector<double> sum(3), weighted(3);
    for (int64_t i = 0; i < 24; ++i) {
      Feature(sum, i) += FloatAt(dy, i);
      Feature(weighted, i) += FloatAt(dy, i) * (FloatAt(x, i) - FloatAt(m, i / 2 % 3));
    }
    for (int64_t i = 0; i < 24; ++i) {
      const int64_t f = i / 2 % 3;
      const double r = 1 / std::sqrt(FloatAt(v, f) + 1), centered = FloatAt(x, i) - FloatAt(m, f);
      EXPECT_NEAR(FloatAt(z, i), centered * r * FloatAt(s, f) + FloatAt(o, f), tolerance);
      const double dx =
          FloatAt(s, f) * r / 8 * (8 * FloatAt(dy, i) - sum[f] - centered * r * r * weighted[f]);
      EXPECT_NEAR(FloatAt(g.element(0), i), dx, tolerance);
      EXPECT_NEAR(FloatAt(g.element(1), f), weighted[f] * r, 8 * tolerance);
      EXPECT_NEAR(FloatAt(g.element(2), f), sum[f], tolerance);
    }
  }
}

TEST(FftRandomTest, EveryKindAgainstTheSum) {
  std::mt19937_64 random(62);
  const auto root = [](double k, double n) {
    return C(std::cos(2 * M_PI * k / n), std::sin(2 * M_PI * k / n));
  };
  for (const auto& [complex, real] : {std::pair{xla::C64, xla::F32}, {xla::C128, xla::F64}}) {
    const std::string c(TypeName(complex)), r(TypeName(real));
    for (const int64_t n : {1, 5, 6, 8}) {
      const int64_t half = n / 2 + 1;
      const double tolerance = complex == xla::C64 ? 1e-4 : 1e-12;
      const Literal x = RandomArray(complex, {n}, random, false), y = RandomArray(real, {n}, random, false),
                    z = RandomArray(complex, {half}, random, false);
      const auto call = [&](const std::string& shape, const Literal& operand, const std::string& kind) {
        return Apply(absl::StrCat("ROOT y = ", shape, " fft(p0), fft_type=", kind, ", fft_length={", n, "}"),
                     complex, {operand});
      };
      const Literal forward = call(absl::StrCat(c, "[", n, "]"), x, "FFT"),
                    inverse = call(absl::StrCat(c, "[", n, "]"), x, "IFFT");
      const Literal rfft = call(absl::StrCat(c, "[", half, "]"), y, "RFFT"),
                    irfft = call(absl::StrCat(r, "[", n, "]"), z, "IRFFT");
      for (int64_t k = 0; k < n; ++k) {
        C f = 0, i = 0, rf = 0, ir = 0;
        for (int64_t j = 0; j < n; ++j) {
          f += ComplexAt(x, j) * root(-static_cast<double>(j * k), n);
          i += ComplexAt(x, j) * root(static_cast<double>(j * k), n) / static_cast<double>(n);
          rf += FloatAt(y, j) * root(-static_cast<double>(j * k), n);
          // The second half mirrors the first; only the real parts of elements 0 and n / 2 count.
          C value = j < half ? ComplexAt(z, j) : std::conj(ComplexAt(z, n - j));
          if (j == 0 || 2 * j == n) value = value.real();
          ir += value * root(static_cast<double>(j * k), n) / static_cast<double>(n);
        }
        ASSERT_LE(std::abs(ComplexAt(forward, k) - f), tolerance);
        ASSERT_LE(std::abs(ComplexAt(inverse, k) - i), tolerance);
        if (k < half) {
          ASSERT_LE(std::abs(ComplexAt(rfft, k) - rf), tolerance);
        }
        ASSERT_LE(std::abs(FloatAt(irfft, k) - ir.real()), tolerance);
      }
    }
  }
}

TEST(CholeskyRandomTest, FactorsMultiplyBack) {
  std::mt19937_64 random(63);
  const int64_t n = 4;
  for (const PrimitiveType type : Types(/*complex=*/true)) {
    Literal a = RandomArray(type, {2, n, n}, random, false);
    for (int64_t b = 0; b < 2; ++b) {
      for (int64_t i = 0; i < n; ++i) {
        const int64_t at = (b * n + i) * n + i;
        SetBits(&a, IsComplex(type) ? 2 * at : at, BitsOfFloat(type, 16));
        if (IsComplex(type)) SetBits(&a, 2 * at + 1, BitsOfFloat(type, 0));
      }
    }
    for (const bool lower : {true, false}) {
      const Literal l =
          Apply(absl::StrCat("ROOT l = %T[2,4,4] cholesky(p0), lower=", lower ? "true" : "false"), type, {a});
      for (int64_t b = 0; b < 2; ++b) {
        for (int64_t i = 0; i < n; ++i) {
          for (int64_t j = 0; j <= i; ++j) {
            C sum = 0;
            for (int64_t k = 0; k <= j; ++k) {
              const C p = lower ? At(l, (b * n + i) * n + k) : std::conj(At(l, (b * n + k) * n + i));
              const C q = lower ? At(l, (b * n + j) * n + k) : std::conj(At(l, (b * n + k) * n + j));
              sum += p * std::conj(q);
            }
            const C expected = lower ? At(a, (b * n + i) * n + j) : std::conj(At(a, (b * n + j) * n + i));
            ASSERT_LE(std::abs(sum - expected), 8 * ToleranceOf(type)) << TypeName(type) << i << j;
          }
        }
      }
    }
  }
}

TEST(TriangularSolveRandomTest, SolutionsMultiplyBack) {
  std::mt19937_64 random(64);
  const int64_t n = 3;
  for (const PrimitiveType type : Types(/*complex=*/true)) {
    Literal a = RandomSmall(type, {n, n}, random, -1, 1);
    const Literal b = RandomSmall(type, {n, 2}, random, -2, 2);
    for (int64_t i = 0; i < n; ++i)
      SetBits(&a, (IsComplex(type) ? 2 : 1) * (i * n + i), BitsOfFloat(type, 2));
    const Literal x = Apply(
        "ROOT x = %T[3,2] triangular-solve(p0, p1), left_side=true, lower=true, transpose_a=NO_TRANSPOSE",
        type, {a, b});
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < 2; ++j) {
        C sum = 0;
        for (int64_t k = 0; k <= i; ++k) sum += At(a, i * n + k) * At(x, k * 2 + j);
        ASSERT_LE(std::abs(sum - At(b, i * 2 + j)), 4 * ToleranceOf(type)) << TypeName(type);
      }
    }
  }
}

}  // namespace
}  // namespace toroid
