// BUILD: size = "small"
// custom-calls with a known meaning.
#include "runtime/kernels/custom_call.h"

#include <cmath>
#include <complex>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/engine/executor.h"
#include "runtime/kernels/custom_config.h"
#include "tests/runtime/evaluate.h"
#include "tests/runtime/kernels/number_format.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// target(x) of this shape, where x = {1, 5, 3, 2}.
std::string OnLine(const std::string& target, const std::string& shape, const std::string& config) {
  return Evaluate(absl::StrCat("x = f32[4] constant({1, 5, 3, 2}) ROOT y = ", shape,
                               " custom-call(x), custom_call_target=\"", target, "\", backend_config=\"",
                               config, "\""));
}

TEST(CustomConfigTest, AllSpellings) {
  EXPECT_THAT(FindOption("dimension=1,start_indices=[1,-2],amount=3", "start_indices"),
              testing::Optional(ElementsAre(1, -2)));
  EXPECT_THAT(FindOption("{\"top_k\": 5, \"a\": true}", "top_k"), testing::Optional(ElementsAre(5)));
  EXPECT_THAT(FindOption("{top_k = 5 : i64, flag = false}", "flag"), testing::Optional(ElementsAre(0)));
  EXPECT_EQ(FindOption("left_amount=1", "amount"), std::nullopt);
  EXPECT_EQ(FindOption("amount=x", "amount"), std::nullopt);
  EXPECT_THAT(IntOption("a=[1,2]", "a").status().message(), HasSubstr("give a=N"));
}

TEST(CustomCallTest, UnknownTargetsAreNamedAndCanBeRegistered) {
  const std::string body =
      "x = s32[] constant(2) ROOT y = s32[] custom-call(x), custom_call_target=\"test.twice\"";
  EXPECT_THAT(
      Evaluate(body),
      HasSubstr("main/y: custom-call target \"test.twice\" cannot run here; dump the function without "
                "it. In C++ a kernel can be given with RegisterCustomCall"));
  RegisterCustomCall("test.twice", [](OpCall& call) -> absl::Status {
    if (absl::Status status = call.NewResult(call.uniform(0)); !status.ok()) return status;
    const int32_t* x = reinterpret_cast<const int32_t*>(call.data(0));
    reinterpret_cast<int32_t*>(call.result().mutable_data())[0] = 2 * x[0];
    return absl::OkStatus();
  });
  EXPECT_EQ(Evaluate(body), "4");
  EXPECT_THAT(KnownCustomCalls(), Contains("test.twice"));
}

TEST(CustomCallTest, AnnotationsAreIdentities) {
  for (const std::string target :
       {"Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape", "ShardBarrierFrom", "ShardBarrierTo",
        "annotate_device_placement", "MoveToHost", "MoveToDevice", "PinToDevice", "PinToDeviceSram",
        "LayoutConstraint", "InspectSharding", "AssumeGatherIndicesInBound", "xla.sdy.FuncResultSharding"}) {
    EXPECT_EQ(OnLine(target, "f32[4]", ""), "{1, 5, 3, 2}") << target;
  }
}

TEST(HaloCallTest, RotationsSlicesPaddingsAndWraps) {
  EXPECT_EQ(OnLine("_SPMDInternalOp_RotateRight", "f32[4]", "dimension=0,amount=1"), "{2, 1, 5, 3}");
  EXPECT_EQ(OnLine("_SPMDInternalOp_MultiRotate", "(f32[4], f32[4], f32[4])",
                   "dimension=0,left_amount=1,right_amount=1"),
            "( {5, 3, 2, 1}, {1, 5, 3, 2}, {2, 1, 5, 3} )");
  EXPECT_EQ(OnLine("_SPMDInternalOp_MultiSlice", "(f32[2], f32[2])",
                   "dimension=0,amount=1,start_indices=[1],limit_indices=[3],bufferize=1"),
            "( {5, 3}, {3, 2} )");
  EXPECT_EQ(OnLine("_SPMDInternalOp_MultiPad", "(f32[5], f32[5])", "dimension=0,amt=1,bufferize=1"),
            "( {1, 5, 3, 2, 0}, {0, 1, 5, 3, 2} )");
  EXPECT_EQ(OnLine("_SPMDInternalOp_Wrap", "f32[7]", "dimension=0,left_amount=2,right_amount=1"),
            "{3, 2, 1, 5, 3, 2, 1}");
}

TEST(HaloCallTest, InnerDimensionsAndDevices) {
  EXPECT_EQ(
      Evaluate("x = s32[2,3] constant({{1, 2, 3}, {4, 5, 6}}) ROOT y = s32[2,3] custom-call(x), "
               "custom_call_target=\"_SPMDInternalOp_RotateRight\", backend_config=\"dimension=1,amount=2\""),
      "{ { 2, 3, 1 }, { 5, 6, 4 } }");
  EXPECT_THAT(
      EvaluateOnDevices(
          "i = u32[] partition-id() b = u32[2] broadcast(i), dimensions={} j = u32[2] iota(), "
          "iota_dimension=0 "
          "x = u32[2] add(b, j) ROOT y = u32[3] custom-call(x), custom_call_target=\"_SPMDInternalOp_Wrap\", "
          "backend_config=\"dimension=0,left_amount=1,right_amount=0\"",
          "", {}, 2),
      ElementsAre("{1, 0, 1}", "{2, 1, 2}"));
}

TEST(HaloCallTest, MissingOptionsAndOtherSizesAreErrors) {
  EXPECT_THAT(OnLine("_SPMDInternalOp_RotateRight", "f32[4]", "dimension=0"),
              HasSubstr("has no number amount"));
  EXPECT_THAT(OnLine("_SPMDInternalOp_RotateRight", "f32[4]", "dimension=1,amount=1"),
              HasSubstr("dimension 1 of f32[4]"));
  EXPECT_THAT(OnLine("_SPMDInternalOp_Wrap", "f32[6]", "dimension=0,left_amount=1,right_amount=0"),
              HasSubstr("gives f32[5]"));
  EXPECT_THAT(OnLine("_SPMDInternalOp_MultiSlice", "(f32[2], f32[2])",
                     "dimension=0,amount=1,start_indices=[3],limit_indices=[5]"),
              HasSubstr("slice [3:5:1]"));
}

const char kGreater[] =
    "gt { a = f32[] parameter(0) b = f32[] parameter(1) c = s32[] parameter(2) d = s32[] parameter(3) "
    "ROOT r = pred[] compare(a, b), direction=GT }";

TEST(ApproximateTopKTest, ExactAndFilledUp) {
  const std::string start =
      "x = f32[4] constant({1, 5, 3, 5}) i = s32[4] iota(), iota_dimension=0 v = f32[] constant(-inf) "
      "m = s32[] constant(-1) ";
  EXPECT_EQ(
      Evaluate(start +
                   "ROOT y = (f32[3], s32[3]) custom-call(x, i, v, m), custom_call_target=\"ApproxTopK\", "
                   "called_computations={gt}, backend_config=\"top_k=3,reduction_dim=0\"",
               kGreater),
      "( {5, 5, 3}, {1, 3, 2} )");
  EXPECT_EQ(
      Evaluate(start +
                   "ROOT y = (f32[5], s32[5]) custom-call(x, i, v, m), custom_call_target=\"PartialReduce\", "
                   "called_computations={gt}, backend_config=\"top_k=3,reduction_dim=0\"",
               kGreater),
      "( {5, 5, 3, 1, -inf}, {1, 3, 2, 0, -1} )");
}

TEST(ElementwiseCallTest, NamesOfUnaryOps) {
  EXPECT_EQ(
      Evaluate(
          "x = f32[2] constant({0, inf}) ROOT y = f32[2] custom-call(x), custom_call_target=\"mhlo.erf\""),
      "{0, 1}");
  EXPECT_EQ(
      Evaluate(
          "x = f32[2] constant({0, inf}) ROOT y = f32[2] custom-call(x), custom_call_target=\"mhlo.atan\""),
      "{0, 1.5707964}");
  for (const std::string op : {"tan", "sinh", "cosh", "asin", "acos", "asinh", "atanh"}) {
    EXPECT_EQ(
        Evaluate(
            "x = bf16[2] constant({0.25, -0.5}) ROOT y = bf16[2] custom-call(x), custom_call_target=\"mhlo." +
            op + "\""),
        Evaluate("x = bf16[2] constant({0.25, -0.5}) ROOT y = bf16[2] " + op + "(x)"))
        << op;
  }
}

TEST(X64CallTest, HalvesAndBack) {
  EXPECT_EQ(Evaluate("l = u32[1] constant({5}) h = u32[1] constant({1}) "
                     "ROOT c = u64[1] custom-call(l, h), custom_call_target=\"X64Combine\""),
            "{4294967301}");
  EXPECT_EQ(Evaluate("x = u64[1] constant({4294967301}) ROOT c = u32[1] custom-call(x), "
                     "custom_call_target=\"X64SplitLow\""),
            "{5}");
  EXPECT_EQ(Evaluate("x = u64[1] constant({4294967301}) ROOT c = u32[1] custom-call(x), "
                     "custom_call_target=\"X64SplitHigh\""),
            "{1}");
}

// Multiplies the factors, over batches, types and shapes.
class DecompositionTest : public testing::TestWithParam<PrimitiveType> {
 protected:
  using C = std::complex<double>;
  using Matrix = std::vector<std::vector<C>>;

  // Matrix number `index` of a literal.
  static Matrix MatrixAt(const Literal& literal, int64_t index) {
    const int64_t m = literal.shape().dim(literal.shape().rank() - 2), n = literal.shape().dims().back();
    Matrix matrix(m, std::vector<C>(n));
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < n; ++j) matrix[i][j] = At(literal, (index * m + i) * n + j);
    }
    return matrix;
  }
  static C At(const Literal& literal, int64_t i) {
    return IsComplex(literal.shape().element_type()) ? ComplexAt(literal, i) : C(FloatAt(literal, i));
  }
  static Matrix Times(const Matrix& a, const Matrix& b) {
    Matrix c(a.size(), std::vector<C>(b[0].size()));
    for (size_t i = 0; i < a.size(); ++i) {
      for (size_t j = 0; j < b[0].size(); ++j) {
        for (size_t k = 0; k < b.size(); ++k) c[i][j] += a[i][k] * b[k][j];
      }
    }
    return c;
  }
  static Matrix Adjoint(const Matrix& a) {
    Matrix b(a[0].size(), std::vector<C>(a.size()));
    for (size_t i = 0; i < a.size(); ++i) {
      for (size_t j = 0; j < a[0].size(); ++j) b[j][i] = std::conj(a[i][j]);
    }
    return b;
  }
  static void ExpectNear(const Matrix& a, const Matrix& b, double tolerance) {
    for (size_t i = 0; i < a.size(); ++i) {
      for (size_t j = 0; j < a[0].size(); ++j)
        EXPECT_LE(std::abs(a[i][j] - b[i][j]), tolerance) << i << "," << j;
    }
  }
  Literal Call(const std::string& target, const std::string& result, const std::vector<Literal>& operands,
               const std::string& config = "") {
    std::string text, names;
    for (size_t i = 0; i < operands.size(); ++i) {
      absl::StrAppend(&text, "x", i, " = ", operands[i].shape().ToString(), " parameter(", i, ") ");
      absl::StrAppend(&names, i > 0 ? ", x" : "x", i);
    }
    const auto module =
        MakeModule(absl::StrCat(text, "ROOT y = ", result, " custom-call(", names, "), custom_call_target=\"",
                                target, "\", backend_config=\"", config, "\""));
    absl::StatusOr<Literal> literal = RunSingle(*module, operands);
    TOROID_CHECK(literal.ok(), literal.status().ToString());
    return *std::move(literal);
  }
  double Tolerance() const {
    return GetParam() == xla::F64 || GetParam() == xla::C128 ? 1e-12 : GetParam() == xla::BF16 ? 0.3 : 1e-5;
  }

  std::mt19937_64 random_{41};
};

TEST_P(DecompositionTest, QrAndItsReflectorsGiveTheMatrixBack) {
  for (const auto& [m, n] : {std::pair<int64_t, int64_t>{4, 3}, {3, 3}, {5, 1}}) {
    const Literal a = RandomArray(GetParam(), {2, m, n}, random_, false);
    const std::string matrix = TypedShape(GetParam(), {2, m, n}),
                      vector = TypedShape(GetParam(), {2, std::min(m, n)});
    const Literal qr = Call("Qr", absl::StrCat("(", matrix, ", ", vector, ")"), {a});
    const Literal q =
        Call("ProductOfElementaryHouseholderReflectors", matrix, {qr.element(0), qr.element(1)});
    for (int b = 0; b < 2; ++b) {
      Matrix r = MatrixAt(qr.element(0), b);
      r.resize(n);
      for (int64_t i = 0; i < n; ++i) std::fill_n(r[i].begin(), i, 0);
      ExpectNear(Times(MatrixAt(q, b), r), MatrixAt(a, b), 10 * Tolerance());
      Matrix one(n, std::vector<C>(n));
      for (int64_t i = 0; i < n; ++i) one[i][i] = 1;
      ExpectNear(Times(Adjoint(MatrixAt(q, b)), MatrixAt(q, b)), one, 10 * Tolerance());
    }
  }
}

TEST_P(DecompositionTest, LuOfThePermutedRows) {
  for (const auto& [m, n] : {std::pair<int64_t, int64_t>{4, 4}, {3, 5}, {5, 3}}) {
    const int64_t k = std::min(m, n);
    const Literal a = RandomArray(GetParam(), {2, m, n}, random_, false);
    const Literal lu =
        Call("LuDecomposition",
             absl::StrCat("(", TypedShape(GetParam(), {2, m, n}), ", s32[2,", k, "], s32[2,", m, "])"), {a});
    for (int b = 0; b < 2; ++b) {
      const Matrix packed = MatrixAt(lu.element(0), b), x = MatrixAt(a, b);
      Matrix l(m, std::vector<C>(k)), u(k, std::vector<C>(n)), rows;
      std::vector<int64_t> order(m);
      for (int64_t i = 0; i < m; ++i) order[i] = i;
      for (int64_t i = 0; i < k; ++i) std::swap(order[i], order[IntAt(lu.element(1), b * k + i)]);
      for (int64_t i = 0; i < m; ++i) {
        EXPECT_EQ(order[i], static_cast<int64_t>(IntAt(lu.element(2), b * m + i)));
        rows.push_back(x[order[i]]);
        for (int64_t j = 0; j < k; ++j) l[i][j] = i == j ? 1 : i > j ? packed[i][j] : 0;
        for (int64_t j = 0; j < n && i < k; ++j) u[i][j] = i <= j ? packed[i][j] : 0;
      }
      ExpectNear(Times(l, u), rows, 10 * Tolerance());
    }
  }
}

TEST_P(DecompositionTest, EighAndCholeskyReadOneTriangle) {
  const int64_t n = 4;
  for (const bool lower : {true, false}) {
    const Literal g = RandomArray(GetParam(), {1, n, n}, random_, false);
    Matrix a = Times(MatrixAt(g, 0), Adjoint(MatrixAt(g, 0)));
    for (int64_t i = 0; i < n; ++i) a[i][i] += 5;
    Literal x(Shape(GetParam(), {1, n, n}));
    const bool complex = IsComplex(GetParam());
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        // Garbage in places that must not be read.
        const bool read = lower ? j <= i : j >= i;
        const int64_t at = i * n + j;
        if (complex) SetBits(&x, 2 * at + 1, BitsOfFloat(GetParam(), read ? a[i][j].imag() : 77));
        SetBits(&x, (complex ? 2 : 1) * at, BitsOfFloat(GetParam(), read ? a[i][j].real() : 77));
        if (read) a[i][j] = At(x, at);
        if (read) a[j][i] = std::conj(a[i][j]);
      }
    }
    const PrimitiveType real = GetParam() == xla::C64    ? xla::F32
                               : GetParam() == xla::C128 ? xla::F64
                                                         : GetParam();
    const std::string matrix = TypedShape(GetParam(), {1, n, n});
    const Literal eigh = Call("Eigh", absl::StrCat("(", matrix, ", ", TypedShape(real, {1, n}), ")"), {x},
                              lower ? "1,1,100,1e-6" : "0,1,100,1e-6");
    const Matrix v = MatrixAt(eigh.element(0), 0);
    Matrix scaled = v;
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < n; ++j) scaled[i][j] *= At(eigh.element(1), j);
      if (i > 0) {
        EXPECT_LE(At(eigh.element(1), i - 1).real(), At(eigh.element(1), i).real());
      }
    }
    ExpectNear(Times(scaled, Adjoint(v)), a, 100 * Tolerance());
    const Literal factor = Call("Cholesky", matrix, {x}, lower ? "lower=true" : "lower=false");
    const Matrix l = MatrixAt(factor, 0);
    ExpectNear(lower ? Times(l, Adjoint(l)) : Times(Adjoint(l), l), a, 100 * Tolerance());
  }
}

INSTANTIATE_TEST_SUITE_P(Types, DecompositionTest,
                         testing::Values(xla::BF16, xla::F32, xla::F64, xla::C64, xla::C128),
                         [](const auto& info) { return std::string(TypeName(info.param)); });

// Only the kernels verify the shapes of custom-calls; without that they would exceed their buffers.
TEST(CustomCallTest, ShapesThatDoNotFitAreRefused) {
  const auto call = [](const std::string& operands, const std::string& result, const std::string& target,
                       const std::string& config = "", const std::string& computations = "") {
    std::string text, names;
    for (const absl::string_view operand : absl::StrSplit(operands, ' ')) {
      const std::string name = absl::StrCat("x", text.size());
      absl::StrAppend(&text, "z", name, " = ", operand.substr(0, operand.find('[')), "[] constant(0) ", name,
                      " = ", operand, " broadcast(z", name, "), dimensions={} ");
      absl::StrAppend(&names, names.empty() ? "" : ", ", name);
    }
    return Evaluate(absl::StrCat(text, "ROOT y = ", result, " custom-call(", names,
                                 "), custom_call_target=\"", target, "\", backend_config=\"", config, "\"",
                                 computations.empty() ? "" : ", called_computations={f}"),
                    computations);
  };
  EXPECT_THAT(call("f32[4] f32[]", "(f32[4], s32[4])", "xla.sdy.GlobalToLocalShape"),
              HasSubstr("from f32[4], f32[] to (f32[4], s32[4])"));
  EXPECT_THAT(call("f32[4] f32[]", "f32[4]", "MoveToHost"), HasSubstr("partition the module first"));
  EXPECT_THAT(call("f32[5,2,2] f32[1,2]", "f32[5,2,2]", "ProductOfElementaryHouseholderReflectors"),
              HasSubstr("a vector of factors for each"));
  EXPECT_THAT(call("f32[4]", "(f32[9], s32[])", "PadToStatic"), HasSubstr("one s32[] size per dimension"));
  EXPECT_THAT(call("f32[4]", "(f32[4], s32[2])", "PadToStatic"), HasSubstr("one s32[] size per dimension"));
  EXPECT_THAT(call("s8[4] s32[]", "f32[<=4]", "SliceToDynamic"), HasSubstr("one s32[] size per dimension"));
  EXPECT_THAT(call("f32[4] s8[]", "f32[<=4]", "SliceToDynamic"), HasSubstr("one s32[] size per dimension"));
  EXPECT_THAT(call("f32[4] f32[]", "(f32[4])", "ApproxTopK", "reduction_dim=0",
                   "f { a = f64[] parameter(0) b = f64[] parameter(1) ROOT c = pred[] compare(a, b), "
                   "direction=GT }"),
              HasSubstr("and a comparator"));
  EXPECT_THAT(call("f32[4]", "(f32[4])", "_SPMDInternalOp_MultiRotate",
                   "dimension=0,left_amount=9223372036854775807,right_amount=0"),
              HasSubstr("below 2^31"));
  EXPECT_EQ(
      call("f32[2]", "f32[2]", "_SPMDInternalOp_RotateRight", "dimension=0,amount=-9223372036854775808"),
      "{0, 0}");
}

TEST(DecompositionErrorTest, OtherShapesAreRefused) {
  EXPECT_THAT(Evaluate("x = f32[2,3] constant({{1,2,3},{4,5,6}}) ROOT y = f32[2,3] custom-call(x), "
                       "custom_call_target=\"Cholesky\""),
              HasSubstr("matrices of 2 x 3; give square ones"));
  EXPECT_THAT(
      Evaluate("x = f32[1,1] constant({{1}}) ROOT y = f32[1,1] custom-call(x), custom_call_target=\"Qr\""),
      HasSubstr("result 1 is f32[1], not in f32[1,1]"));
  EXPECT_THAT(
      Evaluate(
          "x = s32[1,1] constant({{1}}) ROOT y = s32[1,1] custom-call(x), custom_call_target=\"Cholesky\""),
      HasSubstr("floats or complex numbers"));
}

// The padding of a pad needs no memory of its own.
TEST(CustomCallTest, PadsFarBeyondTheirDataAreCountedBeforeTheyAreMade) {
  const std::unique_ptr<Module> module = MakeModule(
      "x = s32[4] constant({1, 5, 3, 2}) ROOT y = (s32[5], s32[2147483648]) custom-call(x), "
      "custom_call_target=\"_SPMDInternalOp_MultiPad\", backend_config=\"dimension=0,amt=1\"");
  RunOptions options;
  options.max_bytes = 16 << 20;
  EXPECT_THAT(std::string(RunSingle(*module, {}, options).status().message()), HasSubstr("8.6 GB"));
}

}  // namespace
}  // namespace toroid
