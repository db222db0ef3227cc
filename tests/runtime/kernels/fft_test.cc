// BUILD: size = "small"
// Transforms of two and three dimensions, some of odd length, in both precisions and over a batch, against
// the sum over all elements.
#include <cmath>
#include <complex>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "runtime/engine/executor.h"
#include "tests/runtime/evaluate.h"
#include "tests/runtime/kernels/number_format.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using C = std::complex<double>;

// Element k of the transform of x over its last dimensions `n`, in batch `batch`.
C SumAt(const std::vector<C>& x, const std::vector<int64_t>& n, int64_t batch, int64_t k, bool inverse) {
  int64_t count = 1;
  for (const int64_t size : n) count *= size;
  C sum = 0;
  for (int64_t j = 0; j < count; ++j) {
    double turns = 0;
    int64_t of_j = j, of_k = k;
    for (int d = static_cast<int>(n.size()) - 1; d >= 0; --d) {
      turns += static_cast<double>((of_j % n[d]) * (of_k % n[d])) / static_cast<double>(n[d]);
      of_j /= n[d];
      of_k /= n[d];
    }
    sum += x[batch * count + j] * std::polar(1.0, (inverse ? 2 : -2) * M_PI * turns);
  }
  return inverse ? sum / static_cast<double>(count) : sum;
}

std::vector<int64_t> WithBatch(std::vector<int64_t> n) {
  n.insert(n.begin(), 2);
  return n;
}

class FftShapesTest : public testing::TestWithParam<std::vector<int64_t>> {};

TEST_P(FftShapesTest, AgreesWithTheSum) {
  const std::vector<int64_t>& n = GetParam();
  std::vector<int64_t> halved = n;
  halved.back() = n.back() / 2 + 1;
  const std::string lengths = absl::StrCat(", fft_length={", absl::StrJoin(n, ","), "}");
  std::mt19937_64 random(71);
  for (const auto& [complex, real, tolerance] :
       {std::tuple(xla::C64, xla::F32, 1e-4), std::tuple(xla::C128, xla::F64, 1e-11)}) {
    const std::string full = TypedShape(complex, WithBatch(n)), half = TypedShape(complex, WithBatch(halved));
    const std::string reals = TypedShape(real, WithBatch(n));
    const Literal x = RandomArray(complex, WithBatch(n), random, false),
                  y = RandomArray(real, WithBatch(n), random, false);
    std::vector<C> of_x, of_y;
    for (int64_t i = 0; i < y.shape().NumElements(); ++i) {
      of_x.push_back(ComplexAt(x, i));
      of_y.push_back(FloatAt(y, i));
    }
    const int64_t count = y.shape().NumElements() / 2;
    for (const bool inverse : {false, true}) {
      const std::string text = absl::StrCat("x = ", full, " parameter(0) ROOT r = ", full,
                                            " fft(x), fft_type=", inverse ? "IFFT" : "FFT", lengths);
      ASSERT_OK_AND_ASSIGN(const Literal r, RunSingle(*MakeModule(text), {x}));
      for (int64_t i = 0; i < 2 * count; ++i) {
        ASSERT_LT(std::abs(ComplexAt(r, i) - SumAt(of_x, n, i / count, i % count, inverse)),
                  tolerance * std::sqrt(count))
            << text;
      }
    }
    // RFFT keeps the first half of the last dimension; IRFFT of its result is the operand again.
    const std::string forward =
        absl::StrCat("y = ", reals, " parameter(0) ROOT r = ", half, " fft(y), fft_type=RFFT", lengths);
    ASSERT_OK_AND_ASSIGN(const Literal spectrum, RunSingle(*MakeModule(forward), {y}));
    for (int64_t i = 0; i < spectrum.shape().NumElements(); ++i) {
      const int64_t line = i / halved.back(), k = line * n.back() + i % halved.back();
      ASSERT_LT(std::abs(ComplexAt(spectrum, i) - SumAt(of_y, n, k / count, k % count, false)),
                tolerance * std::sqrt(count))
          << forward;
    }
    const std::string back =
        absl::StrCat("s = ", half, " parameter(0) ROOT r = ", reals, " fft(s), fft_type=IRFFT", lengths);
    ASSERT_OK_AND_ASSIGN(const Literal again, RunSingle(*MakeModule(back), {spectrum}));
    for (int64_t i = 0; i < 2 * count; ++i) ASSERT_NEAR(FloatAt(again, i), FloatAt(y, i), tolerance) << back;
  }
}

INSTANTIATE_TEST_SUITE_P(Lengths, FftShapesTest,
                         testing::Values(std::vector<int64_t>{7}, std::vector<int64_t>{9},
                                         std::vector<int64_t>{2, 3}, std::vector<int64_t>{3, 5},
                                         std::vector<int64_t>{4, 1}, std::vector<int64_t>{2, 3, 5},
                                         std::vector<int64_t>{3, 1, 4}, std::vector<int64_t>{211},
                                         std::vector<int64_t>{2, 202}),
                         [](const testing::TestParamInfo<std::vector<int64_t>>& info) {
                           return "n" + absl::StrJoin(info.param, "x");
                         });

// Lengths that are split in two, primes, and numbers of lines that fill no vector; some elements of each line.
struct LongLines {
  int64_t lines, n, inner;
};

class FftLongLinesTest : public testing::TestWithParam<LongLines> {};

TEST_P(FftLongLinesTest, AgreesWithTheSum) {
  const auto [lines, n, inner] = GetParam();
  std::mt19937_64 random(72);
  const int64_t half = n / 2 + 1;
  const std::string lengths = absl::StrCat(", fft_length={", n, "}");
  for (const auto& [complex, real, tolerance] :
       {std::tuple(xla::C64, xla::F32, 3e-7), std::tuple(xla::C128, xla::F64, 1e-14)}) {
    const Literal x = RandomArray(complex, {lines, n}, random, false),
                  y = RandomArray(real, {lines, n}, random, false);
    const std::string full = TypedShape(complex, {lines, n}), reals = TypedShape(real, {lines, n}),
                      halves = TypedShape(complex, {lines, half});
    const auto run = [&](const Literal& operand, const std::string& to, const std::string& type) {
      const std::string text = absl::StrCat("x = ", operand.shape().ToString(), " parameter(0) ROOT r = ", to,
                                            " fft(x), fft_type=", type, lengths);
      absl::StatusOr<Literal> result = RunOnThreads(*MakeModule(text), {operand});
      EXPECT_OK(result.status()) << text;
      return result.ok() ? *std::move(result) : Literal();
    };
    const Literal forward = run(x, full, "FFT"), spectrum = run(y, halves, "RFFT");
    ASSERT_FALSE(testing::Test::HasFailure());
    const Literal back = run(forward, full, "IFFT"), again = run(spectrum, reals, "IRFFT");
    ASSERT_FALSE(testing::Test::HasFailure());
    double sum_of_x = 0;
    for (int64_t i = 0; i < lines * n; ++i) {
      sum_of_x += std::norm(ComplexAt(x, i)) / static_cast<double>(lines);
      ASSERT_LT(std::abs(ComplexAt(back, i) - ComplexAt(x, i)), 40 * tolerance) << i;
      ASSERT_LT(std::abs(FloatAt(again, i) - FloatAt(y, i)), 40 * tolerance) << i;
    }
    const double allowed =
        tolerance * std::sqrt(sum_of_x);  // Of the 2-norm of a line of the result over sqrt(n).
    for (int64_t line = 0; line < lines; ++line) {
      std::vector<int64_t> places = {0, 1, n / 2, half - 1, n - 1};
      for (int i = 0; i < 4; ++i) places.push_back(static_cast<int64_t>(random() % n));
      for (const int64_t k : places) {
        C of_x = 0, of_y = 0;
        for (int64_t j = 0; j < n; ++j) {
          const C turn = std::polar(1.0, -2 * M_PI * static_cast<double>(j * k % n) / static_cast<double>(n));
          of_x += turn * ComplexAt(x, line * n + j);
          of_y += turn * FloatAt(y, line * n + j);
        }
        ASSERT_LT(std::abs(ComplexAt(forward, line * n + k) - of_x), 4 * allowed) << line << " " << k;
        if (k < half) {
          ASSERT_LT(std::abs(ComplexAt(spectrum, line * half + k) - of_y), 4 * allowed) << line << " " << k;
        }
      }
    }
    // The same lines across an array, as the first of two dimensions, the other of length 1.
    if (inner == 1) continue;
    Literal across(Shape(complex, {n, lines}));
    for (int64_t i = 0; i < lines * n; ++i) {
      for (const int part : {0, 1})
        SetBits(&across, 2 * (i % n * lines + i / n) + part, BitsAt(x, 2 * i + part));
    }
    const std::string text = absl::StrCat("x = ", TypedShape(complex, {n, lines}),
                                          " parameter(0) t = ", TypedShape(complex, {n, lines, 1}),
                                          " reshape(x) ROOT r = ", TypedShape(complex, {n, lines, 1}),
                                          " fft(t), fft_type=FFT, fft_length={", n, ",", lines, ",1}");
    ASSERT_OK_AND_ASSIGN(const Literal two, RunOnThreads(*MakeModule(text), {across}));
    for (int64_t k = 0; k < n; ++k) {  // Over the lines first: element 0 of each is their sum.
      C sum = 0;
      for (int64_t line = 0; line < lines; ++line) sum += ComplexAt(forward, line * n + k);
      ASSERT_LT(std::abs(ComplexAt(two, k * lines) - sum), 8 * static_cast<double>(lines) * allowed) << k;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, FftLongLinesTest,
                         testing::Values(LongLines{1, 1 << 14, 1}, LongLines{3, 1 << 15, 3},
                                         LongLines{2, 129 * 130, 2}, LongLines{1, 127 * 131, 1},
                                         LongLines{9, 1009, 9}, LongLines{1, 65537, 1}, LongLines{5, 1000, 5},
                                         LongLines{17, 243, 17}, LongLines{2, 2 * 8209, 1}),
                         [](const testing::TestParamInfo<LongLines>& info) {
                           return absl::StrCat("n", info.param.n, "lines", info.param.lines);
                         });

}  // namespace
}  // namespace toroid
