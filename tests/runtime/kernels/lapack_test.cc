// BUILD: size = "small"
// LAPACK calls of JAX on CPU, in all four types: the product of the factors gives the matrix.
#include "runtime/kernels/linear_algebra/lapack.h"

#include <algorithm>
#include <complex>
#include <random>
#include <string>
#include <vector>

#include "Eigen/Core"
#include "Eigen/LU"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hlo/ir/native_types.h"
#include "runtime/engine/executor.h"
#include "runtime/loops/convert_loops.h"
#include "tests/runtime/evaluate.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using Complex = std::complex<double>;
using Matrix = Eigen::Matrix<Complex, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using ::testing::HasSubstr;

struct Type {
  char letter;
  const char *name, *real;
  PrimitiveType type;
  double error;
  bool complex;
};
constexpr Type kTypes[] = {{'s', "f32", "f32", xla::F32, 3e-5, false},
                           {'d', "f64", "f64", xla::F64, 1e-11, false},
                           {'c', "c64", "f32", xla::C64, 3e-5, true},
                           {'z', "c128", "f64", xla::C128, 1e-11, true}};

constexpr int64_t kBatch = 3;

Literal RandomArray(const Type& type, std::vector<int64_t> dims, std::mt19937& random) {
  Literal wide(Shape(xla::C128, dims));
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (Complex& x : wide.mutable_data<Complex>())
    x = Complex(uniform(random), type.complex ? uniform(random) : 0);
  Literal literal(Shape(type.type, dims));
  FindConvertLoop(xla::C128, type.type)(wide.bytes(), literal.mutable_bytes(), literal.shape().NumElements());
  return literal;
}

// Matrix (or row) number `index` of an array.
Matrix At(const Literal& literal, int64_t index, int rank = 2) {
  const Shape& shape = literal.shape();
  const int64_t m = rank == 2 ? shape.dim(shape.rank() - 2) : 1, n = shape.dim(shape.rank() - 1);
  Matrix matrix(m, n);
  FindConvertLoop(shape.element_type(), xla::C128)(
      literal.bytes() + index * m * n * ByteWidth(shape.element_type()),
      reinterpret_cast<char*>(matrix.data()), m * n);
  return matrix;
}

Literal MakeHermitian(const Type& type, int64_t n, double diagonal, std::mt19937& random) {
  const Literal any = RandomArray(type, {kBatch, n, n}, random);
  Literal wide(Shape(xla::C128, {kBatch, n, n}));
  for (int64_t i = 0; i < kBatch; ++i) {
    Matrix a = At(any, i);
    a = ((a + a.adjoint()) / 2.0 + diagonal * Matrix::Identity(n, n)).eval();
    std::copy_n(a.data(), n * n, wide.mutable_data<Complex>().data() + i * n * n);
  }
  Literal literal(any.shape());
  FindConvertLoop(xla::C128, type.type)(wide.bytes(), literal.mutable_bytes(), literal.shape().NumElements());
  return literal;
}

// The results of the call, one literal each.
absl::StatusOr<std::vector<Literal>> Call(const std::string& target, const std::vector<Literal>& operands,
                                          const std::string& result, const std::string& config) {
  std::string body;
  std::vector<std::string> names;
  for (size_t i = 0; i < operands.size(); ++i) {
    absl::StrAppend(&body, "p", i, " = ", operands[i].shape().ToString(), " parameter(", i, ") ");
    names.push_back(absl::StrCat("p", i));
  }
  absl::StrAppend(&body, "ROOT r = ", result, " custom-call(", absl::StrJoin(names, ", "),
                  "), custom_call_target=\"", target,
                  "\", api_version=API_VERSION_TYPED_FFI, backend_config={", config, "}");
  absl::StatusOr<Literal> literal = RunSingle(*MakeModule(body), operands);
  if (!literal.ok()) return literal.status();
  if (!literal->shape().IsTuple()) return std::vector<Literal>{*literal};
  return std::vector<Literal>(literal->elements().begin(), literal->elements().end());
}

std::string Named(const char* element, std::vector<int64_t> last) {
  last.insert(last.begin(), kBatch);
  return absl::StrCat(element, "[", absl::StrJoin(last, ","), "]");
}

void ExpectNear(const Matrix& a, const Matrix& b, double error, const char* what) {
  EXPECT_LE((a - b).cwiseAbs().maxCoeff(), error * std::max(1.0, b.cwiseAbs().maxCoeff())) << what;
}

void ExpectUnitary(const Matrix& q, double error) {
  ExpectNear(q.adjoint() * q, Matrix::Identity(q.cols(), q.cols()), error,
             "columns of length 1, at right angles");
}

class LapackTest : public testing::TestWithParam<Type> {
 protected:
  const Type& type() const { return GetParam(); }
  std::string Target(const char* routine) const {
    return absl::StrCat("lapack_", std::string(1, type().letter), routine, "_ffi");
  }
  std::mt19937 random_{7};
};

TEST_P(LapackTest, Cholesky) {
  const int64_t n = 5;
  const Literal a = MakeHermitian(type(), n, 3, random_);
  for (const bool lower : {true, false}) {
    ASSERT_OK_AND_ASSIGN(
        const auto out,
        Call(Target("potrf"), {a}, absl::StrCat("(", Named(type().name, {n, n}), ", ", Named("s32", {}), ")"),
             absl::StrCat("uplo = ", lower ? 76 : 85, " : ui8")));
    for (int64_t i = 0; i < kBatch; ++i) {
      Matrix l = At(out[0], i);
      l = lower ? Matrix(l.triangularView<Eigen::Lower>()) : Matrix(l.triangularView<Eigen::Upper>());
      ExpectNear(lower ? Matrix(l * l.adjoint()) : Matrix(l.adjoint() * l), At(a, i), type().error, "factor");
      EXPECT_EQ(out[1].data<int32_t>()[i], 0);
    }
  }
  ASSERT_OK_AND_ASSIGN(
      const auto bad,
      Call(Target("potrf"), {MakeHermitian(type(), n, -3, random_)},
           absl::StrCat("(", Named(type().name, {n, n}), ", ", Named("s32", {}), ")"), "uplo = 76 : ui8"));
  EXPECT_EQ(bad[1].data<int32_t>()[0], 1);  // The first minor is not positive.
}

TEST_P(LapackTest, TriangularSolve) {
  for (const char side : {'L', 'R'}) {
    for (const char uplo : {'L', 'U'}) {
      for (const char trans : {'N', 'T', 'C'}) {
        for (const char diag : {'N', 'U'}) {
          SCOPED_TRACE((std::string{side, uplo, trans, diag}));
          const int64_t m = 4, n = 3, order = side == 'L' ? m : n;
          const Literal a = MakeHermitian(type(), order, 4, random_),
                        b = RandomArray(type(), {kBatch, m, n}, random_);
          ASSERT_OK_AND_ASSIGN(
              const auto out,
              Call(Target("trsm"), {a, b}, Named(type().name, {m, n}),
                   absl::StrCat("diag = ", int{diag}, " : ui8, side = ", int{side},
                                " : ui8, trans_x = ", int{trans}, " : ui8, uplo = ", int{uplo}, " : ui8")));
          for (int64_t i = 0; i < kBatch; ++i) {
            Matrix t = At(a, i);
            t = uplo == 'L' ? Matrix(t.triangularView<Eigen::Lower>())
                            : Matrix(t.triangularView<Eigen::Upper>());
            if (diag == 'U') t.diagonal().setOnes();
            if (trans == 'T') t = t.transpose().eval();
            if (trans == 'C') t = t.adjoint().eval();
            const Matrix x = At(out[0], i);
            ExpectNear(side == 'L' ? Matrix(t * x) : Matrix(x * t), At(b, i), type().error, "right side");
          }
        }
      }
    }
  }
}

TEST_P(LapackTest, Lu) {
  for (const auto& [m, n] : {std::pair<int64_t, int64_t>{4, 4}, {5, 3}, {3, 5}}) {
    const int64_t k = std::min(m, n);
    const Literal a = RandomArray(type(), {kBatch, m, n}, random_);
    ASSERT_OK_AND_ASSIGN(const auto out, Call(Target("getrf"), {a},
                                              absl::StrCat("(", Named(type().name, {m, n}), ", ",
                                                           Named("s32", {k}), ", ", Named("s32", {}), ")"),
                                              ""));
    for (int64_t i = 0; i < kBatch; ++i) {
      const Matrix packed = At(out[0], i);
      Matrix l = Matrix(packed.leftCols(k).triangularView<Eigen::UnitLower>()),
             u = Matrix(packed.topRows(k).triangularView<Eigen::Upper>()), rows = At(a, i);
      for (int64_t j = 0; j < k; ++j) {
        const int32_t pivot = out[1].data<int32_t>()[i * k + j];
        ASSERT_GE(pivot, j + 1);
        if (pivot != j + 1) rows.row(j).swap(rows.row(pivot - 1));
      }
      ExpectNear(l * u, rows, type().error, "rows in the order of the pivots");
    }
  }
}

TEST_P(LapackTest, QrWithAndWithoutPivots) {
  for (const auto& [m, n] : {std::pair<int64_t, int64_t>{5, 3}, {4, 4}, {3, 5}}) {
    const int64_t k = std::min(m, n);
    const Literal a = RandomArray(type(), {kBatch, m, n}, random_);
    for (const bool pivots : {false, true}) {
      std::vector<Literal> operands = {a};
      if (pivots) operands.push_back(Literal(Shape(xla::S32, {kBatch, n})));
      ASSERT_OK_AND_ASSIGN(const auto out,
                           Call(Target(pivots ? "geqp3" : "geqrf"), operands,
                                absl::StrCat("(", Named(type().name, {m, n}),
                                             pivots ? absl::StrCat(", ", Named("s32", {n})) : "", ", ",
                                             Named(type().name, {k}), ")"),
                                ""));
      const Literal& taus = out.back();
      // Q whole, and Q times its own adjoint by the reflectors.
      Literal padded(Shape(type().type, {kBatch, m, m}));
      for (int64_t row = 0; row < kBatch * m; ++row) {
        const int64_t width = ByteWidth(type().type);
        std::copy_n(out[0].bytes() + row * n * width, k * width, padded.mutable_bytes() + row * m * width);
      }
      ASSERT_OK_AND_ASSIGN(const auto q, Call(Target(type().complex ? "ungqr" : "orgqr"), {padded, taus},
                                              Named(type().name, {m, m}), ""));
      ASSERT_OK_AND_ASSIGN(const auto eye,
                           Call(Target(type().complex ? "unmqr" : "ormqr"), {padded, taus, q[0]},
                                Named(type().name, {m, m}), "left = true, transpose = true"));
      ASSERT_OK_AND_ASSIGN(const auto square,
                           Call(Target(type().complex ? "unmqr" : "ormqr"), {padded, taus, q[0]},
                                Named(type().name, {m, m}), "left = false, transpose = false"));
      for (int64_t i = 0; i < kBatch; ++i) {
        const Matrix whole = At(q[0], i);
        ExpectUnitary(whole, type().error);
        ExpectNear(At(eye[0], i), Matrix::Identity(m, m), type().error, "adjoint from the left");
        ExpectNear(At(square[0], i), whole * whole, type().error, "from the right");
        Matrix r = Matrix::Zero(m, n), columns = At(a, i);
        r.topRows(k) = At(out[0], i).topRows(k).triangularView<Eigen::Upper>();
        if (pivots) {
          const Matrix source = columns;
          for (int64_t j = 0; j < n; ++j) columns.col(j) = source.col(out[1].data<int32_t>()[i * n + j] - 1);
          for (int64_t j = 0; j + 1 < k; ++j) {
            EXPECT_GE(std::abs(r(j, j)), std::abs(r(j + 1, j + 1)) * (1 - type().error));
          }
        }
        ExpectNear(whole * r, columns, type().error, "Q R");
      }
    }
  }
}

TEST_P(LapackTest, TridiagonalSystems) {
  for (const int64_t n : {1, 2, 6}) {
    const Literal dl = RandomArray(type(), {kBatch, n}, random_),
                  d = RandomArray(type(), {kBatch, n}, random_),
                  du = RandomArray(type(), {kBatch, n}, random_),
                  b = RandomArray(type(), {kBatch, n, 2}, random_);
    const std::string line = Named(type().name, {n});
    ASSERT_OK_AND_ASSIGN(
        const auto out, Call(Target("gtsv"), {dl, d, du, b},
                             absl::StrCat("(", line, ", ", line, ", ", line, ", ", Named(type().name, {n, 2}),
                                          ", ", Named("s32", {}), ")"),
                             ""));
    for (int64_t i = 0; i < kBatch; ++i) {
      Matrix t = Matrix::Zero(n, n);
      for (int64_t j = 0; j < n; ++j) {
        t(j, j) = At(d, i, 1)(0, j);
        if (j > 0) t(j, j - 1) = At(dl, i, 1)(0, j);
        if (j + 1 < n) t(j, j + 1) = At(du, i, 1)(0, j);
      }
      const Matrix x = At(out[3], i);
      ExpectNear(t * x / std::max(1.0, x.cwiseAbs().maxCoeff()),
                 At(b, i) / std::max(1.0, x.cwiseAbs().maxCoeff()), type().error, "right side");
    }
  }
}

TEST_P(LapackTest, EigenvaluesOfHermitianMatrices) {
  const int64_t n = 5;
  const Literal a = MakeHermitian(type(), n, 0, random_);
  for (const int uplo : {76, 85}) {
    ASSERT_OK_AND_ASSIGN(const auto out,
                         Call(Target(type().complex ? "heevd" : "syevd"), {a},
                              absl::StrCat("(", Named(type().name, {n, n}), ", ", Named(type().real, {n}),
                                           ", ", Named("s32", {}), ")"),
                              absl::StrCat("mode = 86 : ui8, uplo = ", uplo, " : ui8")));
    for (int64_t i = 0; i < kBatch; ++i) {
      const Matrix v = At(out[0], i), w = At(out[1], i, 1);
      ExpectUnitary(v, type().error);
      ExpectNear(v * w.row(0).asDiagonal() * v.adjoint(), At(a, i), type().error, "v w v^H");
      for (int64_t j = 0; j + 1 < n; ++j) EXPECT_LE(w(0, j).real(), w(0, j + 1).real());
    }
  }
}

TEST_P(LapackTest, SingularValues) {
  for (const auto& [m, n] : {std::pair<int64_t, int64_t>{5, 3}, {4, 4}, {3, 5}}) {
    const int64_t k = std::min(m, n);
    const Literal a = RandomArray(type(), {kBatch, m, n}, random_);
    for (const char mode : {'A', 'S', 'N'}) {
      for (const char* routine : {"gesdd", "gesvd"}) {
        const int64_t columns = mode == 'S' ? k : m, rows = mode == 'S' ? k : n;
        ASSERT_OK_AND_ASSIGN(const auto out,
                             Call(Target(routine), {a},
                                  absl::StrCat("(", Named(type().name, {m, n}), ", ", Named(type().real, {k}),
                                               ", ", Named(type().name, {m, columns}), ", ",
                                               Named(type().name, {rows, n}), ", ", Named("s32", {}), ")"),
                                  absl::StrCat("mode = ", int{mode}, " : ui8")));
        for (int64_t i = 0; i < kBatch; ++i) {
          const Matrix s = At(out[1], i, 1), u = At(out[2], i), vt = At(out[3], i);
          EXPECT_NEAR(s.norm(), At(a, i).norm(), type().error * 10);
          if (mode == 'N') continue;
          ExpectUnitary(u, type().error);
          ExpectUnitary(vt.adjoint(), type().error);
          ExpectNear(u.leftCols(k) * s.row(0).asDiagonal() * vt.topRows(k), At(a, i), type().error,
                     "u s v^H");
        }
      }
    }
  }
}

TEST_P(LapackTest, GeneralEigenvalues) {
  const int64_t n = 5;
  const Literal a = RandomArray(type(), {kBatch, n, n}, random_);
  const char* complex = type().type == xla::F64 || type().type == xla::C128 ? "c128" : "c64";
  const std::string line = Named(type().name, {n}), square = Named(complex, {n, n});
  ASSERT_OK_AND_ASSIGN(const auto out,
                       Call(Target("geev"), {a},
                            absl::StrCat("(", line, ", ", type().complex ? "" : absl::StrCat(line, ", "),
                                         square, ", ", square, ", ", Named("s32", {}), ")"),
                            "compute_left = 86 : ui8, compute_right = 86 : ui8"));
  const size_t first = type().complex ? 1 : 2;
  for (int64_t i = 0; i < kBatch; ++i) {
    Matrix w = At(out[0], i, 1);
    if (!type().complex) w += Complex(0, 1) * At(out[1], i, 1);
    const Matrix left = At(out[first], i), right = At(out[first + 1], i);
    ExpectNear(At(a, i) * right, right * w.row(0).asDiagonal(), 20 * type().error, "right vectors");
    ExpectNear(left.adjoint() * At(a, i), w.row(0).asDiagonal() * left.adjoint(), 20 * type().error,
               "left vectors");
    for (int64_t j = 0; j < n; ++j) {
      EXPECT_NEAR(left.col(j).norm(), 1, type().error);
      EXPECT_NEAR(right.col(j).norm(), 1, type().error);
    }
  }
}

TEST_P(LapackTest, SchurForms) {
  const int64_t n = 6;
  const Literal a = RandomArray(type(), {kBatch, n, n}, random_);
  const std::string line = Named(type().name, {n}), square = Named(type().name, {n, n}),
                    info = Named("s32", {});
  ASSERT_OK_AND_ASSIGN(const auto out, Call(Target("gees"), {a},
                                            absl::StrCat("(", square, ", ", square, ", ", line, ", ",
                                                         type().complex ? "" : absl::StrCat(line, ", "), info,
                                                         ", ", info, ")"),
                                            "mode = 86 : ui8, sort = 78 : ui8"));
  for (int64_t i = 0; i < kBatch; ++i) {
    const Matrix t = At(out[0], i), z = At(out[1], i);
    ExpectUnitary(z, type().error);
    ExpectNear(z * t * z.adjoint(), At(a, i), type().error, "z t z^H");
    for (int64_t r = 0; r < n; ++r) {
      for (int64_t c = 0; c < r; ++c) {
        if (c + 1 < r || type().complex) {
          EXPECT_EQ(t(r, c), Complex(0));
        } else if (t(r, c) != Complex(0)) {
          // A conjugate pair: equal on the diagonal, of opposite signs beside it.
          EXPECT_EQ(t(r, r), t(c, c));
          EXPECT_LT(t(r, c).real() * t(c, r).real(), 0);
        }
      }
    }
    Complex trace = At(out[2], i, 1).sum();
    EXPECT_NEAR(std::abs(trace - At(a, i).trace()), 0, 20 * type().error);
  }
}

TEST_P(LapackTest, HessenbergForm) {
  const int64_t n = 6;
  const Literal a = RandomArray(type(), {kBatch, n, n}, random_);
  ASSERT_OK_AND_ASSIGN(const auto out,
                       Call(Target("gehrd"), {a},
                            absl::StrCat("(", Named(type().name, {n, n}), ", ", Named(type().name, {n - 1}),
                                         ", ", Named("s32", {}), ")"),
                            "high = 6 : i32, low = 1 : i32"));
  for (int64_t i = 0; i < kBatch; ++i) {
    const Matrix packed = At(out[0], i), taus = At(out[1], i, 1);
    Matrix h = packed, q = Matrix::Identity(n, n);
    for (int64_t c = 0; c < n; ++c) {
      for (int64_t r = c + 2; r < n; ++r) h(r, c) = 0;
    }
    for (int64_t j = 0; j + 1 < n; ++j) {
      Eigen::VectorXcd v = Eigen::VectorXcd::Zero(n);
      v(j + 1) = 1;
      for (int64_t r = j + 2; r < n; ++r) v(r) = packed(r, j);
      q = (q * (Matrix::Identity(n, n) - taus(0, j) * v * v.adjoint())).eval();
    }
    ExpectUnitary(q, type().error);
    ExpectNear(q * h * q.adjoint(), At(a, i), type().error, "Q H Q^H");
  }
}

TEST_P(LapackTest, TridiagonalForm) {
  const int64_t n = 5;
  const Literal a = MakeHermitian(type(), n, 0, random_);
  for (const bool lower : {true, false}) {
    ASSERT_OK_AND_ASSIGN(const auto out,
                         Call(Target(type().complex ? "hetrd" : "sytrd"), {a},
                              absl::StrCat("(", Named(type().name, {n, n}), ", ", Named(type().real, {n}),
                                           ", ", Named(type().real, {n - 1}), ", ",
                                           Named(type().name, {n - 1}), ", ", Named("s32", {}), ")"),
                              absl::StrCat("uplo = ", lower ? 76 : 85, " : ui8")));
    for (int64_t i = 0; i < kBatch; ++i) {
      const Matrix packed = At(out[0], i), d = At(out[1], i, 1), e = At(out[2], i, 1),
                   taus = At(out[3], i, 1);
      Matrix t = Matrix::Zero(n, n), q = Matrix::Identity(n, n);
      for (int64_t j = 0; j < n; ++j) {
        t(j, j) = d(0, j);
        if (j + 1 < n) t(j, j + 1) = t(j + 1, j) = e(0, j);
      }
      for (int64_t step = 0; step + 1 < n; ++step) {
        // Lower: Q = H(1) .. H(n-1), upper: Q = H(n-1) .. H(1).
        const int64_t j = lower ? step : n - 2 - step;
        Eigen::VectorXcd v = Eigen::VectorXcd::Zero(n);
        v(lower ? j + 1 : j) = 1;
        for (int64_t r = 0; r < n; ++r) {
          if (lower && r > j + 1) v(r) = packed(r, j);
          if (!lower && r < j) v(r) = packed(r, j + 1);
        }
        q = (q * (Matrix::Identity(n, n) - taus(0, j) * v * v.adjoint())).eval();
      }
      ExpectUnitary(q, type().error);
      ExpectNear(q * t * q.adjoint(), At(a, i), type().error, "Q T Q^H");
    }
  }
}

TEST_P(LapackTest, EmptyMatricesAndWrongShapes) {
  for (const char* routine : {"potrf", "getrf"}) {
    const bool lu = std::string(routine) == "getrf";
    EXPECT_OK(Call(Target(routine), {Literal(Shape(type().type, {kBatch, 0, 0}))},
                   absl::StrCat("(", Named(type().name, {0, 0}), ", ", lu ? "s32[3,0], " : "", "s32[3])"),
                   "uplo = 76 : ui8"));
  }
  EXPECT_THAT(
      Call(Target("potrf"), {Literal(Shape(type().type, {2, 3}))}, absl::StrCat(type().name, "[2,3]"), ""),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("matrices of 2 x 3; give square ones")));
  EXPECT_THAT(
      Call(Target("geqrf"), {Literal(Shape(type().type, {2, 3}))}, absl::StrCat(type().name, "[2,3]"), ""),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("result 1 is ")));
}

INSTANTIATE_TEST_SUITE_P(AllTypes, LapackTest, testing::ValuesIn(kTypes),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(LapackTargetTest, OthersHaveNoKernel) {
  EXPECT_EQ(FindLapackKernel("lapack_xgetrf_ffi"), nullptr);
  EXPECT_EQ(FindLapackKernel("lapack_sfoo_ffi"), nullptr);
  EXPECT_EQ(FindLapackKernel("lapack__ffi"), nullptr);
  EXPECT_THAT(Evaluate("p = f32[2] constant({1, 2}) ROOT r = f32[2] custom-call(p), "
                       "custom_call_target=\"xla_ffi_python_cpu_callback\""),
              HasSubstr("calls Python of the program that made the module, which cannot run here"));
}

}  // namespace
}  // namespace toroid
