// BUILD: size = "small"
// FFT, linear algebra, batch normalization, random numbers.
#include <complex>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hlo/ir/native_types.h"
#include "runtime/engine/executor.h"
#include "runtime/loops/counter_random.h"
#include "tests/runtime/evaluate.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Literal RandomLiteral(const Shape& shape, std::mt19937& random) {
  Literal literal(shape);
  std::uniform_real_distribution<double> uniform(-1, 1);
  if (shape.element_type() == xla::F64) {
    for (double& x : literal.mutable_data<double>()) x = uniform(random);
  } else {
    for (complex128& x : literal.mutable_data<complex128>()) x = {uniform(random), uniform(random)};
  }
  return literal;
}

TEST(FftTest, AgreesWithTheSumOverAllPairs) {
  std::mt19937 random(1);
  for (const int n : {1, 2, 3, 8, 12, 17}) {
    const Literal x = RandomLiteral(Shape(xla::C128, {2, n}), random);
    const std::string shape = absl::StrCat("c128[2,", n, "]");
    for (const bool inverse : {false, true}) {
      const auto module =
          MakeModule(absl::StrCat("x = ", shape, " parameter(0) ROOT y = ", shape,
                                  " fft(x), fft_type=", inverse ? "IFFT" : "FFT", ", fft_length={", n, "}"));
      ASSERT_OK_AND_ASSIGN(const Literal y, RunSingle(*module, {x}));
      for (int line = 0; line < 2; ++line) {
        for (int k = 0; k < n; ++k) {
          complex128 sum = 0;
          for (int i = 0; i < n; ++i) {
            sum += x.data<complex128>()[line * n + i] *
                   std::polar(1.0, (inverse ? 2 : -2) * M_PI * static_cast<double>(i * k % n) / n);
          }
          if (inverse) sum /= n;
          ASSERT_LT(std::abs(y.data<complex128>()[line * n + k] - sum), 1e-12) << n << " at " << k;
        }
      }
    }
  }
}

TEST(FftTest, RealTransformsInTwoDimensionsInvert) {
  std::mt19937 random(2);
  for (const int n : {4, 5}) {
    const Literal x = RandomLiteral(Shape(xla::F64, {3, n}), random);
    const int half = n / 2 + 1;
    const auto module = MakeModule(absl::StrCat(
        "x = f64[3,", n, "] parameter(0) f = c128[3,", half, "] fft(x), fft_type=RFFT, fft_length={3,", n,
        "} ROOT y = f64[3,", n, "] fft(f), fft_type=IRFFT, fft_length={3,", n, "}"));
    ASSERT_OK_AND_ASSIGN(const Literal y, RunSingle(*module, {x}));
    for (int i = 0; i < 3 * n; ++i) ASSERT_NEAR(y.data<double>()[i], x.data<double>()[i], 1e-13);
  }
}

TEST(CholeskyTest, EitherTriangleAndNanIfNotPositiveDefinite) {
  EXPECT_EQ(Evaluate("a = f32[2,2] constant({{4, nan}, {2, 10}}) ROOT l = f32[2,2] cholesky(a), lower=true"),
            "{ { 2, 0 }, { 1, 3 } }");
  EXPECT_EQ(Evaluate("a = f32[2,2] constant({{4, 2}, {nan, 10}}) ROOT l = f32[2,2] cholesky(a), lower=false"),
            "{ { 2, 1 }, { 0, 3 } }");
  EXPECT_THAT(Evaluate("a = f32[1,1] constant({{-1}}) ROOT l = f32[1,1] cholesky(a), lower=true"),
              HasSubstr("nan"));
}

// op(a) x = b and x op(a) = b for every option, multiplied back.
TEST(TriangularSolveTest, AllOptions) {
  std::mt19937 random(3);
  const int n = 4;
  Literal a = RandomLiteral(Shape(xla::C128, {n, n}), random);
  for (int i = 0; i < n; ++i) a.mutable_data<complex128>()[i * n + i] += 3.0;
  for (const bool left : {true, false}) {
    const int rows = left ? n : 3, columns = left ? 3 : n;
    const Literal b = RandomLiteral(Shape(xla::C128, {rows, columns}), random);
    for (const bool lower : {true, false}) {
      for (const bool unit : {true, false}) {
        for (const std::string op : {"NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"}) {
          const std::string shape = absl::StrCat("c128[", rows, ",", columns, "]");
          const auto module = MakeModule(absl::StrCat(
              "a = c128[4,4] parameter(0) b = ", shape, " parameter(1) ROOT x = ", shape,
              " triangular-solve(a, b), left_side=", left ? "true" : "false", ", lower=",
              lower ? "true" : "false", ", unit_diagonal=", unit ? "true" : "false", ", transpose_a=", op));
          ASSERT_OK_AND_ASSIGN(const Literal x, RunSingle(*module, {a, b}));
          const auto at = [&](int i, int j) -> complex128 {
            const int row = op == "NO_TRANSPOSE" ? i : j, column = op == "NO_TRANSPOSE" ? j : i;
            if (row == column && unit) return 1;
            if (lower ? column > row : column < row) return 0;
            const complex128 value = a.data<complex128>()[row * n + column];
            return op == "ADJOINT" ? std::conj(value) : value;
          };
          for (int i = 0; i < rows; ++i) {
            for (int j = 0; j < columns; ++j) {
              complex128 sum = 0;
              for (int k = 0; k < n; ++k) {
                sum += left ? at(i, k) * x.data<complex128>()[k * columns + j]
                            : x.data<complex128>()[i * columns + k] * at(k, j);
              }
              ASSERT_LT(std::abs(sum - b.data<complex128>()[i * columns + j]), 1e-10)
                  << op << (left ? " left" : " right") << (lower ? " lower" : " upper")
                  << (unit ? " unit" : "");
            }
          }
        }
      }
    }
  }
}

TEST(BatchNormTest, TrainingInferenceAndGradient) {
  EXPECT_EQ(
      Evaluate(
          "x = f32[2,2] constant({{1, 10}, {3, 30}}) s = f32[2] constant({1, 2}) o = f32[2] constant({5, 6}) "
          "ROOT y = (f32[2,2], f32[2], f32[2]) batch-norm-training(x, s, o), epsilon=0, feature_index=1"),
      "( { { 4, 4 }, { 6, 8 } }, {2, 20}, {1, 100} )");
  EXPECT_EQ(
      Evaluate("x = f32[1,2] constant({{3, 5}}) s = f32[2] constant({2, 1}) o = f32[2] constant({1, 0}) "
               "m = f32[2] constant({1, 1}) v = f32[2] constant({3, 0}) "
               "ROOT y = f32[1,2] batch-norm-inference(x, s, o, m, v), epsilon=1, feature_index=1"),
      "{ { 3, 4 } }");
  EXPECT_EQ(
      Evaluate(
          "x = f32[2,1] constant({{1}, {3}}) s = f32[1] constant({2}) m = f32[1] constant({2}) "
          "v = f32[1] constant({1}) g = f32[2,1] constant({{1}, {3}}) "
          "ROOT y = (f32[2,1], f32[1], f32[1]) batch-norm-grad(x, s, m, v, g), epsilon=0, feature_index=1"),
      "( { {0}, {0} }, {2}, {4} )");
}

// Known answers of the authors' implementation (Random123, kat_vectors).
TEST(RngTest, KnownAnswers) {
  EXPECT_THAT(Threefry2x32({0, 0}, {0, 0}), ElementsAre(0x6b200159, 0x99ba4efe));
  EXPECT_THAT(Threefry2x32({0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}),
              ElementsAre(0x1cb996fc, 0xbb002be7));
  EXPECT_THAT(Philox4x32({0, 0}, {0, 0, 0, 0}), ElementsAre(0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8));
  EXPECT_THAT(Philox4x32({0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}),
              ElementsAre(0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd));
}

TEST(RngTest, CountersAdvanceByBlocks) {
  EXPECT_THAT(Evaluate("s = u64[2] constant({7, 5}) ROOT y = (u64[2], u32[3,5]) rng-bit-generator(s), "
                       "algorithm=rng_three_fry"),
              HasSubstr("{7, 14}"));  // The half shape is [3,3].
  EXPECT_THAT(Evaluate("s = u64[2] constant({7, 5}) ROOT y = (u64[2], u64[3]) rng-bit-generator(s), "
                       "algorithm=rng_three_fry"),
              HasSubstr("{7, 8}"));
  EXPECT_THAT(Evaluate("s = u64[3] constant({7, 18446744073709551615, 1}) "
                       "ROOT y = (u64[3], u8[5]) rng-bit-generator(s), algorithm=rng_philox"),
              HasSubstr("{7, 1, 2}"));
}

TEST(RngTest, UniformStaysInRange) {
  const auto module = MakeModule(
      "a = f32[] constant(2) b = f32[] constant(3) ROOT y = f32[10000] rng(a, b), distribution=rng_uniform");
  ASSERT_OK_AND_ASSIGN(const Literal y, RunSingle(*module, {}));
  double sum = 0;
  for (const float x : y.data<float>()) {
    ASSERT_GE(x, 2);
    ASSERT_LT(x, 3);
    sum += x;
  }
  EXPECT_NEAR(sum / 10000, 2.5, 0.02);
}

TEST(RngTest, StateCountsUp) {
  EXPECT_EQ(Evaluate("a = u64[2] rng-get-and-update-state(), delta=5 "
                     "b = u64[2] rng-get-and-update-state(), delta=1, control-predecessors={a} "
                     "ROOT y = u64[2] subtract(b, a)"),
            "{5, 0}");
}

}  // namespace
}  // namespace toroid
