// BUILD: size = "small"
// reduce, reduce-window, select-and-scatter, map.
#include <algorithm>
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

// Value and position of the maximum; the lower position if values are equal.
constexpr char kArgmax[] = R"(
argmax { v = f32[] parameter(0)
  i = s32[] parameter(1)
  w = f32[] parameter(2)
  j = s32[] parameter(3)
  gt = pred[] compare(v, w), direction=GT
  eq = pred[] compare(v, w), direction=EQ
  lt = pred[] compare(i, j), direction=LT
  tie = pred[] and(eq, lt)
  first = pred[] or(gt, tie)
  m = f32[] select(first, v, w)
  k = s32[] select(first, i, j)
  ROOT t = (f32[], s32[]) tuple(m, k) }
)";

TEST(ReduceTest, NothingGivesInitAndInitEntersOnce) {
  EXPECT_EQ(Evaluate("x = s32[0,2] constant({}) z = s32[] constant(7) "
                     "ROOT y = s32[2] reduce(x, z), dimensions={0}, to_apply=add",
                     ReducerText("add", "s32", "add")),
            "{7, 7}");
  EXPECT_EQ(Evaluate("x = s32[3] constant({1, 2, 3}) z = s32[] constant(10) "
                     "ROOT y = s32[] reduce(x, z), dimensions={0}, to_apply=add",
                     ReducerText("add", "s32", "add")),
            "16");
}

TEST(ReduceTest, NanReachesTheMaximum) {
  EXPECT_EQ(Evaluate("x = f32[2,3] constant({{1, nan, 3}, {4, 5, -inf}}) z = f32[] constant(-inf) "
                     "ROOT y = f32[2] reduce(x, z), dimensions={1}, to_apply=max",
                     ReducerText("max", "f32", "maximum")),
            "{nan, 5}");
}

TEST(ReduceTest, LogicalReducers) {
  const std::string x = "x = pred[2,2] constant({{true, false}, {true, true}}) z = pred[] constant(";
  EXPECT_EQ(Evaluate(x + "true) ROOT y = pred[2] reduce(x, z), dimensions={1}, to_apply=f",
                     ReducerText("f", "pred", "and")),
            "{0, 1}");
  EXPECT_EQ(Evaluate(x + "false) ROOT y = pred[2] reduce(x, z), dimensions={1}, to_apply=f",
                     ReducerText("f", "pred", "xor")),
            "{1, 0}");
}

TEST(ReduceTest, NarrowFloatsAreSummedInFloat) {
  // In bf16 the sum would stop at 256.
  EXPECT_EQ(
      Evaluate("o = bf16[] constant(1) x = bf16[1024] broadcast(o), dimensions={} z = bf16[] constant(0) "
               "ROOT y = bf16[] reduce(x, z), dimensions={0}, to_apply=add",
               ReducerText("add", "bf16", "add")),
      "1024");
}

TEST(ReduceTest, VariadicBodiesOnShortAndLongReductions) {
  std::mt19937 random(11);
  for (const std::vector<int64_t>& dims :
       {std::vector<int64_t>{5, 3}, {3, 5}, {1000, 2}, {2, 1000}, {70, 1500}, {4099, 1}, {1, 1}}) {
    Literal x(Shape(xla::F32, dims));
    for (float& value : x.mutable_data<float>()) value = static_cast<float>(random() % 50);
    for (const int d : {0, 1}) {
      const std::string list = absl::StrJoin(dims, ","), kept = absl::StrCat(dims[1 - d]);
      const auto module = MakeModule(
          absl::StrCat("x = f32[", list, "] parameter(0) i = s32[", list, "] iota(), iota_dimension=", d,
                       " z = f32[] constant(-inf) n = s32[] constant(2147483647) ROOT y = (f32[", kept,
                       "], s32[", kept, "]) reduce(x, i, z, n), dimensions={", d, "}, to_apply=argmax"),
          kArgmax);
      ASSERT_OK_AND_ASSIGN(const Literal y, RunSingle(*module, {x}));
      for (int64_t k = 0; k < dims[1 - d]; ++k) {
        float best = -1;
        int32_t position = -1;
        for (int64_t r = 0; r < dims[d]; ++r) {
          const float value = x.data<float>()[d == 0 ? r * dims[1] + k : k * dims[1] + r];
          if (value > best) {
            best = value;
            position = static_cast<int32_t>(r);
          }
        }
        ASSERT_EQ(y.element(0).data<float>()[k], best) << list << " along " << d << " at " << k;
        ASSERT_EQ(y.element(1).data<int32_t>()[k], position) << list << " along " << d << " at " << k;
      }
    }
  }
}

TEST(ReduceTest, OverwritingBodyKeepsTheLastElement) {
  EXPECT_EQ(Evaluate("i = s32[200,2] iota(), iota_dimension=0 z = s32[] constant(0) "
                     "ROOT y = s32[2] reduce(i, z), dimensions={0}, to_apply=second",
                     "second { a = s32[] parameter(0) ROOT b = s32[] parameter(1) }"),
            "{199, 199}");
}

// Random shapes and dimensions, integers, against a plain loop.
TEST(ReduceTest, AnyDimensions) {
  std::mt19937 random(2);
  for (int round = 0; round < 100; ++round) {
    const int rank = 1 + static_cast<int>(random() % 4);
    std::vector<int64_t> dims(rank), reduced, kept;
    std::vector<bool> is_reduced(rank);
    for (int d = 0; d < rank; ++d) {
      dims[d] = 1 + random() % (round % 7 == 0 ? 60 : 12);
      is_reduced[d] = random() % 2;
      if (is_reduced[d]) reduced.push_back(d);
      if (!is_reduced[d]) kept.push_back(dims[d]);
    }
    Literal x(Shape(xla::S32, dims));
    for (int32_t& value : x.mutable_data<int32_t>()) value = static_cast<int32_t>(random() % 1000);
    const auto module = MakeModule(
        absl::StrCat("x = s32[", absl::StrJoin(dims, ","),
                     "] parameter(0) z = s32[] constant(5) ROOT y = s32[", absl::StrJoin(kept, ","),
                     "] reduce(x, z), dimensions={", absl::StrJoin(reduced, ","), "}, to_apply=add"),
        ReducerText("add", "s32", "add"));
    ASSERT_OK_AND_ASSIGN(const Literal y, RunSingle(*module, {x}));
    std::vector<int32_t> expected(y.shape().NumElements(), 5);
    for (int64_t i = 0; i < x.shape().NumElements(); ++i) {
      int64_t rest = i, at = 0, stride = 1;
      for (int d = rank - 1; d >= 0; --d) {
        if (!is_reduced[d]) {
          at += rest % dims[d] * stride;
          stride *= dims[d];
        }
        rest /= dims[d];
      }
      expected[at] += x.data<int32_t>()[i];
    }
    ASSERT_EQ(std::vector<int32_t>(y.data<int32_t>().begin(), y.data<int32_t>().end()), expected)
        << absl::StrJoin(dims, ",") << " over " << absl::StrJoin(reduced, ",");
  }
}

TEST(ReduceWindowTest, PaddingStridesAndDilation) {
  const std::string x = "x = s32[5] constant({1, 2, 3, 4, 5}) z = s32[] constant(0) ";
  const std::string add = ReducerText("add", "s32", "add");
  EXPECT_EQ(
      Evaluate(x + "ROOT y = s32[3] reduce-window(x, z), window={size=3 stride=2 pad=1_1}, to_apply=add",
               add),
      "{3, 9, 9}");
  EXPECT_EQ(
      Evaluate(x + "ROOT y = s32[3] reduce-window(x, z), window={size=2 rhs_dilate=2}, to_apply=add", add),
      "{4, 6, 8}");
  EXPECT_EQ(
      Evaluate(x + "ROOT y = s32[8] reduce-window(x, z), window={size=2 lhs_dilate=2}, to_apply=add", add),
      "{1, 2, 2, 3, 3, 4, 4, 5}");
  EXPECT_EQ(Evaluate(x + "ROOT y = s32[2] reduce-window(x, z), window={size=2 pad=-1_-1}, to_apply=add", add),
            "{5, 7}");
  // Padding holds init, which also starts each fold.
  EXPECT_EQ(Evaluate("x = s32[2] constant({1, 2}) z = s32[] constant(10) "
                     "ROOT y = s32[2] reduce-window(x, z), window={size=2 pad=1_0}, to_apply=add",
                     add),
            "{21, 13}");
}

TEST(ReduceWindowTest, CumulativeOpsOfAnyLength) {
  std::mt19937 random(4);
  for (const int n : {1, 2, 5, 8, 31, 100, 257}) {
    Literal x(Shape(xla::S32, {n, 3}));
    for (int32_t& value : x.mutable_data<int32_t>()) value = static_cast<int32_t>(random() % 1000) - 500;
    for (const std::string op : {"add", "maximum"}) {
      const auto module = MakeModule(
          absl::StrCat("x = s32[", n, ",3] parameter(0) z = s32[] constant(",
                       op == "add" ? "0" : "-2147483648", ") ROOT y = s32[", n,
                       ",3] reduce-window(x, z), window={size=", n, "x1 pad=", n - 1, "_0x0_0}, to_apply=f"),
          ReducerText("f", "s32", op));
      ASSERT_OK_AND_ASSIGN(const Literal y, RunSingle(*module, {x}));
      for (int k = 0; k < 3; ++k) {
        int32_t total = op == "add" ? 0 : INT32_MIN;
        for (int i = 0; i < n; ++i) {
          const int32_t value = x.data<int32_t>()[i * 3 + k];
          total = op == "add" ? total + value : std::max(total, value);
          ASSERT_EQ(y.data<int32_t>()[i * 3 + k], total) << op << " of " << n << " at " << i;
        }
      }
    }
  }
}

// Random 2-d windows against a plain loop; the body is argmax-like for half of them.
TEST(ReduceWindowTest, AnyWindow) {
  std::mt19937 random(9);
  for (int round = 0; round < 60; ++round) {
    int64_t n[2], size[2], stride[2], low[2], high[2], base[2], dilation[2], out[2];
    for (int d = 0; d < 2; ++d) {
      do {
        n[d] = 1 + random() % 9;
        size[d] = 1 + random() % 7;
        stride[d] = 1 + random() % 3;
        base[d] = 1 + random() % 2;
        dilation[d] = 1 + random() % 2;
        low[d] = static_cast<int64_t>(random() % 5) - 1;
        high[d] = static_cast<int64_t>(random() % 5) - 1;
        const int64_t padded = (n[d] - 1) * base[d] + 1 + low[d] + high[d],
                      window = (size[d] - 1) * dilation[d] + 1;
        out[d] = padded < window ? 0 : (padded - window) / stride[d] + 1;
      } while (out[d] == 0);
    }
    Literal x(Shape(xla::F32, {n[0], n[1]}));
    for (float& value : x.mutable_data<float>()) value = static_cast<float>(random() % 20);
    const std::string window =
        absl::StrCat("window={size=", size[0], "x", size[1], " stride=", stride[0], "x", stride[1],
                     " pad=", low[0], "_", high[0], "x", low[1], "_", high[1], " lhs_dilate=", base[0], "x",
                     base[1], " rhs_dilate=", dilation[0], "x", dilation[1], "}");
    const std::string shape = absl::StrCat("[", n[0], ",", n[1], "]"),
                      result = absl::StrCat("[", out[0], ",", out[1], "]");
    const auto module = MakeModule(
        absl::StrCat("x = f32", shape, " parameter(0) r = s32", shape, " iota(), iota_dimension=0 c = s32",
                     shape, " iota(), iota_dimension=1 k = s32[] constant(100) b = s32", shape,
                     " broadcast(k), dimensions={} m = s32", shape, " multiply(r, b) i = s32", shape,
                     " add(m, c) z = f32[] constant(-inf) e = s32[] constant(2147483647) w = (f32", result,
                     ", s32", result, ") reduce-window(x, i, z, e), ", window,
                     ", to_apply=argmax s = f32[] constant(0) a = f32", result, " reduce-window(x, s), ",
                     window, ", to_apply=add ROOT t = ((f32", result, ", s32", result, "), f32", result,
                     ") tuple(w, a)"),
        absl::StrCat(kArgmax, ReducerText("add", "f32", "add")));
    ASSERT_OK_AND_ASSIGN(const Literal y, RunSingle(*module, {x}));
    for (int64_t o = 0; o < out[0] * out[1]; ++o) {
      float best = -std::numeric_limits<float>::infinity(), sum = 0;
      int32_t position = INT32_MAX;
      for (int64_t k = 0; k < size[0] * size[1]; ++k) {
        const int64_t p0 = o / out[1] * stride[0] + k / size[1] * dilation[0] - low[0];
        const int64_t p1 = o % out[1] * stride[1] + k % size[1] * dilation[1] - low[1];
        if (p0 < 0 || p1 < 0 || p0 % base[0] || p1 % base[1] || p0 / base[0] >= n[0] || p1 / base[1] >= n[1])
          continue;
        const float value = x.data<float>()[p0 / base[0] * n[1] + p1 / base[1]];
        sum += value;
        if (value > best) {
          best = value;
          position = static_cast<int32_t>(p0 / base[0] * 100 + p1 / base[1]);
        }
      }
      ASSERT_EQ(y.element(1).data<float>()[o], sum) << window;
      ASSERT_EQ(y.element(0).element(0).data<float>()[o], best) << window;
      ASSERT_EQ(y.element(0).element(1).data<int32_t>()[o], position) << window;
    }
  }
}

TEST(SelectAndScatterTest, FirstMaximumReceivesTheGradient) {
  EXPECT_EQ(
      Evaluate(
          "x = f32[6] constant({1, 5, 5, 2, 7, 0}) s = f32[3] constant({10, 20, 30}) z = f32[] constant(0) "
          "ROOT y = f32[6] select-and-scatter(x, s, z), window={size=2 stride=2}, select=ge, scatter=add",
          "ge { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = pred[] compare(a, b), direction=GE "
          "}\n" +
              ReducerText("add", "f32", "add")),
      "{0, 10, 20, 0, 30, 0}");
  EXPECT_EQ(
      Evaluate("x = f32[3] constant({1, 9, 9}) s = f32[3] constant({1, 2, 4}) z = f32[] constant(0.5) "
               "ROOT y = f32[3] select-and-scatter(x, s, z), window={size=3 pad=1_1}, select=ge, scatter=add",
               "ge { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = pred[] compare(a, b), "
               "direction=GE }\n" +
                   ReducerText("add", "f32", "add")),
      "{0.5, 7.5, 0.5}");
}

TEST(MapTest, ScalarComputationOnEveryElement) {
  EXPECT_EQ(Evaluate("a = s32[3] constant({1, 2, 3}) b = s32[3] constant({4, 5, 6}) "
                     "ROOT y = s32[3] map(a, b), dimensions={0}, to_apply=f",
                     "f { a = s32[] parameter(0) b = s32[] parameter(1) c = s32[] multiply(a, b) one = s32[] "
                     "constant(1) "
                     "ROOT d = s32[] add(c, one) }"),
            "{5, 11, 19}");
}

}  // namespace
}  // namespace toroid
