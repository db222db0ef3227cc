// Cholesky decompositions and triangular solves of matrices that are cut.
#include <complex>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "hlo/ir/native_types.h"
#include "tests/partitioner/equivalence.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr double kTolerance = 1e-4;
constexpr bool kLower = true, kUpper = false;

// A Hermitian matrix given by one triangle: a large diagonal and small integers. The other triangle holds
// values that no op may read.
template <typename T>
Literal Triangle(int64_t batch, int64_t n, bool lower) {
  std::vector<T> values;
  for (int64_t b = 0; b < batch; ++b) {
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        const float small = static_cast<float>((i * 7 + j * 5 + i * j + b) % 5 - 2);
        const bool is_read = lower ? j <= i : j >= i;
        const float value = !is_read ? std::numeric_limits<float>::quiet_NaN()
                            : i == j ? 3.f * static_cast<float>(n)
                                     : small;
        if constexpr (std::is_same_v<T, complex64>) {
          values.push_back(T(value, i == j ? 0 : static_cast<float>((i + j) % 3 - 1)));
        } else {
          values.push_back(static_cast<T>(value));
        }
      }
    }
  }
  return batch > 1 ? Literal::Array<T>({batch, n, n}, values) : Literal::Array<T>({n, n}, values);
}

std::string Sharding(int rank, int cut) {
  if (cut < 0) return "";
  std::string tiles;
  for (int d = 0; d < rank; ++d) absl::StrAppend(&tiles, d > 0 ? "," : "", d == cut ? "$n" : "1");
  return absl::StrCat(", sharding={devices=[", tiles, "]<=[$n]}");
}

std::string Cholesky(const std::string& shape, int rank, int cut, bool lower, bool result_is_cut = true) {
  return absl::StrCat("ENTRY main {\n  a = ", shape, " parameter(0)", Sharding(rank, cut),
                      "\n  ROOT l = ", shape, " cholesky(a), lower=", lower ? "true" : "false",
                      Sharding(rank, result_is_cut ? cut : -1), "\n}\n");
}

TEST(CholeskyTest, OfCutRowsAndColumns) {
  const std::vector<int64_t> devices = {2, 3, 4, 7, 16};
  for (const int64_t n : {2, 5, 12, 16, 23}) {
    for (const bool lower : {kLower, kUpper}) {
      for (const int cut : {0, 1}) {
        const std::string sizes = absl::StrCat("[", n, ",", n, "]");
        ExpectEquivalent(Cholesky("f32" + sizes, 2, cut, lower), {Triangle<float>(1, n, lower)}, devices,
                         kTolerance);
        ExpectEquivalent(Cholesky("c64" + sizes, 2, cut, lower), {Triangle<complex64>(1, n, lower)}, devices,
                         kTolerance);
        const std::string batched = absl::StrCat("[3,", n, ",", n, "]");
        ExpectEquivalent(Cholesky("f64" + batched, 3, 1 + cut, lower), {Triangle<double>(3, n, lower)},
                         devices, 1e-12);
      }
    }
  }
}

TEST(CholeskyTest, RowsAreSentOnceTheyAreDone) {
  EXPECT_THAT(
      Collectives(Cholesky("f32[64,64]", 2, 0, kLower), 4),
      ElementsAre("collective-broadcast 1024", "collective-broadcast 2048", "collective-broadcast 3072"));
  EXPECT_THAT(Collectives(Cholesky("f32[64,64]", 2, 1, kUpper), 2), ElementsAre("collective-broadcast 4096"));
  // If the result is wanted replicated, or there would be too many steps, the matrix is gathered.
  EXPECT_THAT(Collectives(Cholesky("f32[64,64]", 2, 0, kLower, false), 4), ElementsAre("all-gather 4096"));
  EXPECT_THAT(Collectives(Cholesky("f32[64,64]", 2, 0, kLower), 32), ElementsAre("all-gather 512"));
  EXPECT_THAT(Collectives(Cholesky("f32[8,64,64]", 3, 0, kLower), 4), IsEmpty());
}

// A triangular solve with `m` right-hand sides; the matrix is cut along dimension `cut`.
std::string Solve(const std::string& type, int64_t batch, int64_t n, int64_t m, int cut, bool left,
                  bool lower, const std::string& turn, bool unit = false) {
  const std::string front = batch > 1 ? absl::StrCat(batch, ",") : "";
  const std::string a = absl::StrCat(type, "[", front, n, ",", n, "]");
  const std::string b =
      left ? absl::StrCat(type, "[", front, n, ",", m, "]") : absl::StrCat(type, "[", front, m, ",", n, "]");
  const int rank = batch > 1 ? 3 : 2;
  return absl::StrCat("ENTRY main {\n  a = ", a, " parameter(0)", Sharding(rank, rank - 2 + cut),
                      "\n  b = ", b, " parameter(1)\n  ROOT x = ", b,
                      " triangular-solve(a, b), left_side=", left ? "true" : "false",
                      ", lower=", lower ? "true" : "false", ", unit_diagonal=", unit ? "true" : "false",
                      ", transpose_a=", turn, "\n}\n");
}

TEST(TriangularSolveTest, OfACutMatrix) {
  for (const int64_t n : {5, 12, 23}) {
    for (const bool left : {true, false}) {
      for (const bool lower : {kLower, kUpper}) {
        for (const char* turn : {"NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"}) {
          for (const int cut : {0, 1}) {
            const auto sides = [&](PrimitiveType type, int64_t batch) {
              Dims dims = left ? Dims{n, 2} : Dims{2, n};
              if (batch > 1) dims.insert(dims.begin(), batch);
              return Integers(Shape(type, dims));
            };
            ExpectEquivalent(Solve("f32", 1, n, 2, cut, left, lower, turn),
                             {Triangle<float>(1, n, lower), sides(xla::F32, 1)}, {2, 3, 7, 16}, kTolerance);
            ExpectEquivalent(Solve("c64", 2, n, 2, cut, left, lower, turn),
                             {Triangle<complex64>(2, n, lower), sides(xla::C64, 2)}, {3, 4}, kTolerance);
          }
        }
      }
    }
  }
}

TEST(TriangularSolveTest, WithAUnitDiagonal) {
  for (const int cut : {0, 1}) {
    ExpectEquivalent(Solve("f64", 1, 11, 3, cut, true, kLower, "NO_TRANSPOSE", /*unit=*/true),
                     {Triangle<double>(1, 11, kLower), Integers(Shape(xla::F64, {11, 3}))}, {2, 3, 7, 16},
                     1e-9);
  }
}

TEST(TriangularSolveTest, OfACutMatrixSendsUnknowns) {
  EXPECT_THAT(Collectives(Solve("f32", 1, 64, 2, 0, true, kLower, "NO_TRANSPOSE"), 4),
              ElementsAre("collective-broadcast 128", "collective-broadcast 128", "collective-broadcast 128",
                          "collective-broadcast 128"));
  EXPECT_THAT(Collectives(Solve("f32", 1, 64, 2, 1, true, kLower, "NO_TRANSPOSE"), 4),
              ElementsAre("all-reduce 128", "all-reduce 128", "all-reduce 128", "all-gather 128"));
  // There are as many right-hand sides as rows, so the matrix is gathered.
  EXPECT_THAT(Collectives(Solve("f32", 1, 64, 64, 0, true, kLower, "NO_TRANSPOSE"), 4),
              ElementsAre("all-gather 4096"));
}

}  // namespace
}  // namespace toroid
