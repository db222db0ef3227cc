// BUILD: size = "medium"
// Matrix products: every row gives the same bits at any position.
#include "runtime/loops/gemm.h"

#include <cmath>
#include <complex>
#include <cstring>
#include <random>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "runtime/loops/thread_pool.h"

namespace toroid {
namespace {

template <typename T>
T RandomNumber(std::mt19937& random) {
  std::uniform_real_distribution<double> uniform(-1, 1);
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(uniform(random));
  } else {
    using R = typename T::value_type;
    const R real = static_cast<R>(uniform(random));
    return T(real, static_cast<R>(uniform(random)));
  }
}

template <typename T>
std::vector<T> RandomMatrix(int64_t size, std::mt19937& random) {
  std::vector<T> matrix(size);
  for (T& x : matrix) x = RandomNumber<T>(random);
  return matrix;
}

// Element i of row `row` of lhs.
int64_t LhsPlace(const GemmBatch& g, int64_t row, int64_t i) {
  return g.lhs_order == MatrixOrder::kRowMajor ? row * g.k + i : i * g.m + row;
}

template <typename T>
std::vector<T> Multiply(PrimitiveType type, const GemmBatch& g, const std::vector<T>& lhs,
                        const std::vector<T>& rhs) {
  std::vector<T> out(g.batch * g.m * g.n);
  Gemm(type, g, lhs.data(), rhs.data(), out.data());
  return out;
}

// The bits of one row alone, of the same row among others, and of that product on other numbers of threads
// and at other alignments.
template <typename T>
void CheckRows(PrimitiveType type, GemmBatch g, std::mt19937& random) {
  SCOPED_TRACE(absl::StrCat(TypeName(type), " m=", g.m, " n=", g.n, " k=", g.k,
                            g.lhs_order == MatrixOrder::kRowMajor ? " rows" : " columns",
                            g.rhs_order == MatrixOrder::kRowMajor ? " rows" : " columns"));
  const std::vector<T> line = RandomMatrix<T>(g.k, random), rhs = RandomMatrix<T>(g.k * g.n, random);
  std::vector<T> lhs = RandomMatrix<T>(g.m * g.k, random);
  GemmBatch single = g;
  single.m = 1;
  const std::vector<T> expected = Multiply(type, single, line, rhs);
  double scale = 1;
  for (int64_t j = 0; j < g.n; ++j) {
    std::complex<double> sum = 0;
    for (int64_t k = 0; k < g.k; ++k) {
      sum += std::complex<double>(line[k]) *
             std::complex<double>(rhs[g.rhs_order == MatrixOrder::kRowMajor ? k * g.n + j : j * g.k + k]);
      scale = std::max(scale, std::abs(sum));
    }
    ASSERT_NEAR(std::abs(std::complex<double>(expected[j]) - sum), 0,
                scale * g.k * (sizeof(T) == (std::is_floating_point_v<T> ? 4 : 8) ? 1e-6 : 1e-14));
  }
  for (int64_t row = 0; row < g.m; ++row) {
    // Some rows keep their own values.
    if (row % 7 == 3) continue;
    for (int64_t i = 0; i < g.k; ++i) lhs[LhsPlace(g, row, i)] = line[i];
  }
  ThreadPool four(4);
  const ScopedThreads threads(four);
  const std::vector<T> out = Multiply(type, g, lhs, rhs);
  for (int64_t row = 0; row < g.m; ++row) {
    if (row % 7 == 3) continue;
    ASSERT_EQ(std::memcmp(out.data() + row * g.n, expected.data(), g.n * sizeof(T)), 0) << "row " << row;
  }
  ThreadPool one(1);
  const ScopedThreads alone(one);
  std::vector<T> shifted(lhs.size() + 1), shifted_out(out.size() + 3);
  std::copy(lhs.begin(), lhs.end(), shifted.begin() + 1);
  Gemm(type, g, shifted.data() + 1, rhs.data(), shifted_out.data() + 3);
  ASSERT_EQ(std::memcmp(out.data(), shifted_out.data() + 3, out.size() * sizeof(T)), 0) << "other alignment";
}

void CheckAllTypes(const GemmBatch& g, std::mt19937& random) {
  CheckRows<float>(xla::F32, g, random);
  CheckRows<double>(xla::F64, g, random);
  CheckRows<std::complex<float>>(xla::C64, g, random);
  CheckRows<std::complex<double>>(xla::C128, g, random);
}

std::vector<GemmBatch> Orders(int64_t m, int64_t n, int64_t k) {
  std::vector<GemmBatch> orders;
  for (const MatrixOrder lhs : {MatrixOrder::kRowMajor, MatrixOrder::kColumnMajor}) {
    for (const MatrixOrder rhs : {MatrixOrder::kRowMajor, MatrixOrder::kColumnMajor}) {
      GemmBatch g;
      g.m = m;
      g.n = n;
      g.k = k;
      g.lhs_order = lhs;
      g.rhs_order = rhs;
      orders.push_back(g);
    }
  }
  return orders;
}

TEST(GemmTest, EqualRowsGiveEqualBitsInSmallProducts) {
  std::mt19937 random(1);
  for (const int64_t m : {1, 2, 3, 6, 11, 13, 25}) {
    for (const int64_t n : {1, 2, 5, 8, 11, 16, 17, 31, 33, 65}) {
      for (const int64_t k : {1, 2, 7, 24, 63}) {
        for (const GemmBatch& g : Orders(m, n, k)) CheckAllTypes(g, random);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(GemmTest, EqualRowsGiveEqualBitsInLargeProducts) {
  std::mt19937 random(2);
  for (int round = 0; round < 40; ++round) {
    const int64_t m = 1 + random() % 300, n = 1 + random() % (round % 4 == 0 ? 1400 : 150),
                  k = 1 + random() % 700;
    for (const GemmBatch& g : Orders(m, n, k)) {
      switch (round % 4) {
        case 0:
          CheckRows<float>(xla::F32, g, random);
          break;
        case 1:
          CheckRows<double>(xla::F64, g, random);
          break;
        case 2:
          CheckRows<std::complex<float>>(xla::C64, g, random);
          break;
        default:
          CheckRows<std::complex<double>>(xla::C128, g, random);
      }
      if (HasFatalFailure()) return;
    }
  }
}

// Their columns are cut among threads.
TEST(GemmTest, EqualRowsGiveEqualBitsInWideProductsOfFewRows) {
  std::mt19937 random(4);
  for (const int64_t m : {1, 2, 5, 12, 13, 64, 127, 200}) {
    const int64_t n = 500 + random() % 2000, k = 300 + random() % 500;
    for (const GemmBatch& g : Orders(m, n, k)) {
      CheckRows<float>(xla::F32, g, random);
      if (m < 10) CheckRows<std::complex<float>>(xla::C64, g, random);
      if (HasFatalFailure()) return;
    }
  }
}

// Whole numbers, whose sums no order rounds: columns cut among threads, and on one thread.
TEST(GemmTest, WideProductsOfIntegersDoNotDependOnThreads) {
  std::mt19937 random(5);
  for (const GemmBatch& g : Orders(3, 1501, 700)) {
    std::vector<uint32_t> lhs(g.m * g.k), rhs(g.k * g.n), expected(g.m * g.n);
    for (uint32_t& x : lhs) x = random();
    for (uint32_t& x : rhs) x = random();
    const bool rhs_rows = g.rhs_order == MatrixOrder::kRowMajor;
    for (int64_t i = 0; i < g.m * g.n; ++i) {
      for (int64_t k = 0; k < g.k; ++k) {
        expected[i] += lhs[LhsPlace(g, i / g.n, k)] * rhs[rhs_rows ? k * g.n + i % g.n : i % g.n * g.k + k];
      }
    }
    ThreadPool four(4);
    const ScopedThreads threads(four);
    EXPECT_EQ(Multiply(xla::U32, g, lhs, rhs), expected);
  }
}

// Each product of a batch has its own right side: its results equal those of the product alone.
TEST(GemmTest, AProductOfABatchHasTheBitsOfTheProductAlone) {
  std::mt19937 random(3);
  for (GemmBatch g : Orders(9, 37, 300)) {
    const std::vector<float> lhs = RandomMatrix<float>(5 * g.m * g.k, random),
                             rhs = RandomMatrix<float>(5 * g.k * g.n, random);
    GemmBatch batch = g;
    batch.batch = 5;
    batch.lhs_stride = g.m * g.k;
    batch.rhs_stride = g.k * g.n;
    const std::vector<float> all = Multiply(xla::F32, batch, lhs, rhs);
    for (int64_t b = 0; b < 5; ++b) {
      std::vector<float> alone(g.m * g.n);
      Gemm(xla::F32, g, lhs.data() + b * batch.lhs_stride, rhs.data() + b * batch.rhs_stride, alone.data());
      EXPECT_EQ(std::memcmp(alone.data(), all.data() + b * g.m * g.n, alone.size() * sizeof(float)), 0);
    }
  }
}

}  // namespace
}  // namespace toroid
