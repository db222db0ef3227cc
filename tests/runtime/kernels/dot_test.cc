// BUILD: size = "small"
// dot, ragged-dot and scaled-dot.
#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "runtime/engine/executor.h"
#include "tests/runtime/evaluate.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

TEST(DotTest, ResultTypesMayBeWider) {
  EXPECT_EQ(Evaluate("a = s8[2] constant({100, 100}) b = s8[2] constant({100, 100}) "
                     "ROOT y = s32[] dot(a, b), lhs_contracting_dims={0}, rhs_contracting_dims={0}"),
            "20000");
  EXPECT_EQ(Evaluate("a = bf16[3] constant({256, 1, 1}) b = bf16[3] constant({1, 1, 1}) "
                     "ROOT y = f32[] dot(a, b), lhs_contracting_dims={0}, rhs_contracting_dims={0}"),
            "258");
}

TEST(DotTest, IntegersWrapAndPredIsOrOfAnds) {
  EXPECT_EQ(Evaluate("a = s8[2] constant({100, 100}) b = s8[2] constant({100, 100}) "
                     "ROOT y = s8[] dot(a, b), lhs_contracting_dims={0}, rhs_contracting_dims={0}"),
            "32");
  EXPECT_EQ(
      Evaluate("a = pred[2,2] constant({{true, true}, {false, false}}) b = pred[2] constant({true, true}) "
               "ROOT y = pred[2] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}"),
      "{1, 0}");
}

TEST(DotTest, EmptyContractionIsZeroAndNoneIsAnOuterProduct) {
  EXPECT_EQ(Evaluate("a = f32[2,0] constant({{}, {}}) b = f32[0,2] constant({}) "
                     "ROOT y = f32[2,2] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}"),
            "{ { 0, 0 }, { 0, 0 } }");
  EXPECT_EQ(Evaluate("a = f32[2] constant({1, 2}) b = f32[2] constant({3, 4}) ROOT y = f32[2,2] dot(a, b)"),
            "{ { 3, 4 }, { 6, 8 } }");
}

Literal SmallIntegers(PrimitiveType type, const std::vector<int64_t>& dims, std::mt19937& random) {
  Literal literal(Shape(type, dims));
  for (int64_t i = 0; i < literal.shape().NumElements(); ++i) {
    const int value = static_cast<int>(random() % 7) - 3;
    if (type == xla::F32) literal.mutable_data<float>()[i] = static_cast<float>(value);
    if (type == xla::S32) literal.mutable_data<int32_t>()[i] = value;
    if (type == xla::F64) literal.mutable_data<double>()[i] = value;
  }
  return literal;
}

// Random dimension numbers against a sum over all index combinations; small integers make floats exact.
TEST(DotTest, AnyDimensionNumbers) {
  std::mt19937 random(3);
  for (int round = 0; round < 80; ++round) {
    const PrimitiveType type = round % 3 == 0 ? xla::F32 : round % 3 == 1 ? xla::S32 : xla::F64;
    // Each label is a dimension: b batch, k contracting, m lhs free, n rhs free.
    std::vector<char> lhs_labels, rhs_labels;
    std::vector<int64_t> lhs_dims, rhs_dims, lhs_of, rhs_of;
    struct Label {
      bool lhs, rhs;
      int64_t size;
    };
    std::vector<Label> labels;
    for (int i = static_cast<int>(random() % 3); i > 0; --i)
      labels.push_back({true, true, int64_t(1 + random() % 3)});
    const int batch = static_cast<int>(labels.size());
    for (int i = static_cast<int>(random() % 3); i > 0; --i)
      labels.push_back({true, true, int64_t(1 + random() % 30)});
    const int contracting = static_cast<int>(labels.size());
    for (int i = static_cast<int>(random() % 3); i > 0; --i)
      labels.push_back({true, false, int64_t(1 + random() % 9)});
    for (int i = static_cast<int>(random() % 3); i > 0; --i)
      labels.push_back({false, true, int64_t(1 + random() % 9)});
    for (int l = 0; l < static_cast<int>(labels.size()); ++l) {
      if (labels[l].lhs) lhs_of.push_back(l);
      if (labels[l].rhs) rhs_of.push_back(l);
    }
    std::shuffle(lhs_of.begin(), lhs_of.end(), random);
    std::shuffle(rhs_of.begin(), rhs_of.end(), random);
    for (const int64_t l : lhs_of) lhs_dims.push_back(labels[l].size);
    for (const int64_t l : rhs_of) rhs_dims.push_back(labels[l].size);
    const auto position = [](const std::vector<int64_t>& of, int64_t l) {
      return std::find(of.begin(), of.end(), l) - of.begin();
    };
    std::vector<int64_t> numbers[4], out_of, out_dims;
    for (int l = 0; l < contracting; ++l) {
      numbers[l < batch ? 0 : 2].push_back(position(lhs_of, l));
      numbers[l < batch ? 1 : 3].push_back(position(rhs_of, l));
      if (l < batch) out_of.push_back(l);
    }
    for (const int64_t l : lhs_of) {
      if (l >= contracting) out_of.push_back(l);
    }
    for (const int64_t l : rhs_of) {
      if (l >= contracting) out_of.push_back(l);
    }
    for (const int64_t l : out_of) out_dims.push_back(labels[l].size);
    const std::string name(TypeName(type));
    const std::string text = absl::StrCat(
        "a = ", name, "[", absl::StrJoin(lhs_dims, ","), "] parameter(0) b = ", name, "[",
        absl::StrJoin(rhs_dims, ","), "] parameter(1) ROOT y = ", name, "[", absl::StrJoin(out_dims, ","),
        "] dot(a, b), lhs_batch_dims={", absl::StrJoin(numbers[0], ","), "}, rhs_batch_dims={",
        absl::StrJoin(numbers[1], ","), "}, lhs_contracting_dims={", absl::StrJoin(numbers[2], ","),
        "}, rhs_contracting_dims={", absl::StrJoin(numbers[3], ","), "}");
    SCOPED_TRACE(text);
    const Literal a = SmallIntegers(type, lhs_dims, random), b = SmallIntegers(type, rhs_dims, random);
    ASSERT_OK_AND_ASSIGN(const Literal y, RunSingle(*MakeModule(text), {a, b}));
    const auto at = [&](const Literal& literal, int64_t i) -> double {
      if (type == xla::F32) return literal.data<float>()[i];
      if (type == xla::S32) return literal.data<int32_t>()[i];
      return literal.data<double>()[i];
    };
    std::vector<double> expected(y.shape().NumElements(), 0);
    std::vector<int64_t> index(labels.size(), 0);
    const auto offset = [&](const std::vector<int64_t>& of) {
      int64_t i = 0;
      for (const int64_t l : of) i = i * labels[l].size + index[l];
      return i;
    };
    while (true) {
      expected[offset(out_of)] += at(a, offset(lhs_of)) * at(b, offset(rhs_of));
      int l = static_cast<int>(labels.size()) - 1;
      for (; l >= 0; --l) {
        if (++index[l] < labels[l].size) break;
        index[l] = 0;
      }
      if (l < 0) break;
    }
    for (size_t i = 0; i < expected.size(); ++i) ASSERT_EQ(at(y, i), expected[i]) << "element " << i;
  }
}

TEST(DotTest, EqualOperandsHaveEqualResultsWhereverTheyStand) {
  // Products of a batch of copies begin at every alignment. Negative zeros reveal the order of additions,
  // too.
  std::mt19937_64 random(3);
  for (int i = 0; i < 200; ++i) {
    const int64_t m = random() % 12 + 1, n = random() % 12 + 1, k = random() % 6 + 1;
    const auto module = MakeModule(
        absl::StrCat("x = f32[", m, ",", k, "] parameter(0) y = f32[", k, ",", n,
                     "] parameter(1) xs = f32[7,", m, ",", k, "] broadcast(x), dimensions={1,2} ys = f32[7,",
                     k, ",", n, "] broadcast(y), dimensions={1,2} ROOT z = f32[7,", m, ",", n,
                     "] dot(xs, ys), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, "
                     "rhs_contracting_dims={1}"));
    std::vector<Literal> operands = {Literal(Shape(xla::F32, {m, k})), Literal(Shape(xla::F32, {k, n}))};
    for (Literal& operand : operands) {
      for (float& value : operand.mutable_data<float>()) {
        value = random() % 3 == 0 ? (random() % 2 == 0 ? 0.0f : -0.0f)
                                  : static_cast<float>(random() % 1000) / 7 - 70;
      }
    }
    ASSERT_OK_AND_ASSIGN(const Literal z, RunSingle(*module, operands));
    const size_t bytes = static_cast<size_t>(m * n) * sizeof(float);
    for (size_t copy = 1; copy < 7; ++copy) {
      ASSERT_EQ(std::memcmp(z.bytes(), z.bytes() + copy * bytes, bytes), 0) << m << " " << k << " " << n;
    }
  }
}

TEST(DotTest, LargeProductsDoNotDependOnThreads) {
  std::mt19937 random(5);
  Literal a(Shape(xla::F32, {700, 300})), b(Shape(xla::F32, {300, 500}));
  for (float& x : a.mutable_data<float>()) x = static_cast<float>(random() % 1000) / 999;
  for (float& x : b.mutable_data<float>()) x = static_cast<float>(random() % 1000) / 999;
  const auto module = MakeModule(
      "a = f32[700,300] parameter(0) b = f32[300,500] parameter(1) "
      "ROOT y = f32[700,500] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}");
  std::vector<Literal> results;
  for (const int threads : {1, 2, 3}) {
    RunOptions options;
    options.threads = threads;
    ASSERT_OK_AND_ASSIGN(MeshValue x, MeshValue::Uniform(a, 1));
    ASSERT_OK_AND_ASSIGN(MeshValue y, MeshValue::Uniform(b, 1));
    ASSERT_OK_AND_ASSIGN(const MeshValue result, RunModule(*module, {x, y}, options));
    results.push_back(result.ToLiteral(0));
  }
  EXPECT_TRUE(results[0] == results[1]);
  EXPECT_TRUE(results[0] == results[2]);
}

TEST(RaggedDotTest, RowsUseTheRhsOfTheirGroup) {
  EXPECT_EQ(
      Evaluate("a = f32[4,1] constant({{1}, {2}, {3}, {4}}) b = f32[2,1,1] constant({{{10}}, {{100}}}) "
               "n = s32[2] constant({1, 2}) "
               "ROOT y = f32[4,1] ragged-dot(a, b, n), lhs_contracting_dims={1}, rhs_contracting_dims={1}, "
               "lhs_ragged_dims={0}, rhs_group_dims={0}"),
      "{ {10}, {200}, {300}, {0} }");
}

TEST(RaggedDotTest, ContractingGroupsSumTheirPartAndSkipNans) {
  EXPECT_EQ(
      Evaluate("a = f32[1,4] constant({{1, 2, 3, nan}}) b = f32[4,1] constant({{1}, {1}, {10}, {nan}}) "
               "n = s32[2] constant({2, 1}) "
               "ROOT y = f32[2,1,1] ragged-dot(a, b, n), lhs_contracting_dims={1}, rhs_contracting_dims={0}, "
               "lhs_ragged_dims={1}"),
      "{ { {3} }, { {30} } }");
}

TEST(ScaledDotTest, OneScalePerBlock) {
  EXPECT_EQ(
      Evaluate(
          "a = f8e4m3fn[1,4] constant({{1, 2, 3, 4}}) b = f8e4m3fn[4,1] constant({{1}, {1}, {1}, {1}}) "
          "s = f8e8m0fnu[1,2] constant({{2, 4}}) t = f8e8m0fnu[] constant(1) "
          "ROOT y = f32[1,1] scaled-dot(a, b, s, t), lhs_contracting_dims={1}, rhs_contracting_dims={0}"),
      "{ {34} }");
}

}  // namespace
}  // namespace toroid
