// BUILD: size = "medium"
// reduce-window by one op, of random windows and types, against its definition; the accuracy of running sums.
#include <cmath>
#include <complex>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "runtime/engine/executor.h"
#include "tests/runtime/evaluate.h"
#include "tests/runtime/kernels/index_loops.h"
#include "tests/runtime/kernels/number_format.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using C = std::complex<double>;

struct Window {
  int64_t size = 1, stride = 1, low = 0, high = 0, base = 1, dilation = 1;

  int64_t Padded(int64_t n) const { return n == 0 ? low + high : (n - 1) * base + 1 + low + high; }
  int64_t Extent() const { return (size - 1) * dilation + 1; }
  int64_t Count(int64_t n) const { return Padded(n) < Extent() ? 0 : (Padded(n) - Extent()) / stride + 1; }
};

bool IsFloatOrComplex(PrimitiveType type) {
  return Has(Index(FloatTypes().begin(), FloatTypes().end()), type) ||
         Has(Index(ComplexTypes().begin(), ComplexTypes().end()), type);
}

// Small values, on which every op is exact.
C ValueAt(const Literal& x, int64_t i) {
  const PrimitiveType type = x.shape().element_type();
  if (type == xla::C64 || type == xla::C128) return ComplexAt(x, i);
  if (IsFloatOrComplex(type)) return FloatAt(x, i);
  return static_cast<double>(IntAt(x, i));
}

C Apply(const std::string& op, C a, C b) {
  if (op == "add") return a + b;
  if (op == "multiply") return a * b;
  if (op == "maximum") return std::max(a.real(), b.real());
  return std::min(a.real(), b.real());
}

void ExpectValue(const Literal& y, int64_t i, C expected) {
  const PrimitiveType type = y.shape().element_type();
  if (type == xla::C64 || type == xla::C128) {
    ASSERT_EQ(ComplexAt(y, i), expected) << "element " << i;
  } else if (IsFloatOrComplex(type)) {
    ASSERT_EQ(BitsAt(y, i), BitsOfFloat(type, expected.real() + 0.0))
        << "element " << i << ": " << FloatAt(y, i);
  } else {
    ASSERT_EQ(BitsAt(y, i), BitsOfInt(type, static_cast<__int128>(expected.real()))) << "element " << i;
  }
}

// Compares with the definition; padding and holes hold init.
void Check(PrimitiveType type, const Index& dims, const std::vector<Window>& window, const std::string& op,
           int init, std::mt19937_64& random) {
  const bool product = op == "multiply";
  Literal x = RandomSmall(type, dims, random, product ? 0 : -2, product ? 1 : 2);
  if (product) {  // 1 and -1.
    for (int64_t i = 0; i < x.shape().NumElements() * (type == xla::C64 ? 2 : 1); ++i) {
      if (type == xla::C64 && i % 2 != 0) continue;
      const bool one = random() % 2 == 0;
      SetBits(&x, i,
              IsFloatOrComplex(type) ? BitsOfFloat(type == xla::C64 ? xla::F32 : type, one ? 1 : -1)
                                     : BitsOfInt(type, one ? 1 : -1));
      if (type == xla::C64) SetBits(&x, i + 1, 0);
    }
  }
  Index out;
  std::vector<std::string> sizes, strides, pads, bases, dilations;
  for (size_t d = 0; d < dims.size(); ++d) {
    const Window& w = window[d];
    out.push_back(w.Count(dims[d]));
    sizes.push_back(absl::StrCat(w.size));
    strides.push_back(absl::StrCat(w.stride));
    pads.push_back(absl::StrCat(w.low, "_", w.high));
    bases.push_back(absl::StrCat(w.base));
    dilations.push_back(absl::StrCat(w.dilation));
  }
  const std::string name = TypedShape(type, {}), scalar = name.substr(0, name.find('['));
  const std::string value = type == xla::C64 ? absl::StrCat("(", init, ", 0)") : absl::StrCat(init);
  const std::string text = absl::StrCat(
      "x = ", TypedShape(type, dims), " parameter(0) z = ", name, " constant(", value,
      ") ROOT y = ", TypedShape(type, out), " reduce-window(x, z), window={size=", absl::StrJoin(sizes, "x"),
      " stride=", absl::StrJoin(strides, "x"), " pad=", absl::StrJoin(pads, "x"),
      " lhs_dilate=", absl::StrJoin(bases, "x"), " rhs_dilate=", absl::StrJoin(dilations, "x"),
      "}, to_apply=f");
  SCOPED_TRACE(text);
  SCOPED_TRACE(op);
  ASSERT_OK_AND_ASSIGN(const Literal y, RunOnThreads(*MakeModule(text, ReducerText("f", scalar, op)), {x}));
  int64_t elements = 1;
  for (const Window& w : window) elements *= w.size;
  Index window_sizes;
  for (const Window& w : window) window_sizes.push_back(w.size);
  for (int64_t i = 0; i < Count(out); ++i) {
    const Index at = IndexOf(out, i);
    C expected = init;
    for (int64_t k = 0; k < elements; ++k) {
      const Index in = IndexOf(window_sizes, k);
      Index source(dims.size());
      bool inside = true;
      for (size_t d = 0; d < dims.size(); ++d) {
        const Window& w = window[d];
        const int64_t position = at[d] * w.stride + in[d] * w.dilation - w.low;
        inside &= position >= 0 && position % w.base == 0 && position / w.base < dims[d];
        source[d] = position / w.base;
      }
      expected = Apply(op, expected, inside ? ValueAt(x, Offset(dims, source)) : C(init));
    }
    ASSERT_NO_FATAL_FAILURE(ExpectValue(y, i, expected));
  }
}

const PrimitiveType kTypes[] = {xla::F32, xla::BF16, xla::F16, xla::F64,
                                xla::C64, xla::S8,   xla::S32, xla::S64};

std::string RandomOp(PrimitiveType type, std::mt19937_64& random) {
  const char* ops[] = {"add", "multiply", "maximum", "minimum"};
  return ops[random() % (type == xla::C64 ? 2 : 4)];
}

TEST(ReduceWindowRandomTest, WindowsOfAllKinds) {
  std::mt19937_64 random(401);
  for (int round = 0; round < 400; ++round) {
    const PrimitiveType type = kTypes[random() % std::size(kTypes)];
    const std::string op = RandomOp(type, random);
    Index dims(1 + random() % 3);
    std::vector<Window> window(dims.size());
    for (size_t d = 0; d < dims.size(); ++d) {
      dims[d] = d + 1 == dims.size() && random() % 2 == 0 ? 30 + random() % 40 : random() % 9;
      if (random() % 4 == 0) continue;
      Window& w = window[d];
      w.size = 1 + random() % (random() % 3 == 0 ? 12 : 4);
      w.stride = 1 + random() % 3;
      w.low = static_cast<int64_t>(random() % 8) - 2;
      w.high = static_cast<int64_t>(random() % 8) - 2;
      w.base = 1 + (random() % 4 == 0) * (random() % 3);
      w.dilation = 1 + (random() % 4 == 0) * (random() % 3);
      if (w.Padded(dims[d]) < 0) w = Window();
    }
    // An init that is no identity is folded once more for every place of the padding.
    const int init = op == "multiply"                   ? 1
                     : op == "add" && random() % 3 != 0 ? 0
                                                        : static_cast<int>(random() % 3);
    ASSERT_NO_FATAL_FAILURE(Check(type, dims, window, op, init, random)) << round;
  }
}

TEST(ReduceWindowRandomTest, RunningFoldsAlongEveryDimension) {
  std::mt19937_64 random(402);
  for (int round = 0; round < 100; ++round) {
    const PrimitiveType type = kTypes[random() % std::size(kTypes)];
    const std::string op = RandomOp(type, random);
    // Lines, rows, and elements of a row: short, narrow and wide ones.
    Index dims = {static_cast<int64_t>(random() % 4), static_cast<int64_t>(random() % 40),
                  static_cast<int64_t>(1 + random() % 3)};
    if (random() % 4 == 0)
      dims = {static_cast<int64_t>(60 + random() % 80), static_cast<int64_t>(1 + random() % 40), 1};
    if (random() % 4 == 0) dims[2] = 60 + random() % 10;
    const size_t along = random() % 3;
    const int64_t n = dims[along];
    std::vector<Window> window(3);
    Window& w = window[along];
    w.size = std::max<int64_t>(1, n) + random() % 2;
    (random() % 2 == 0 ? w.low : w.high) = w.size - 1;
    if (random() % 3 == 0) {  // Without the element itself, or a part of the sums.
      const int64_t shift = 1 + random() % 2;
      w.low += w.low > 0 ? shift : -shift;
      w.high += w.low > 0 ? -shift : shift;
    }
    if (w.Padded(n) < 0) continue;
    const int init = op == "multiply"                   ? 1
                     : op == "add" && random() % 8 != 0 ? 0
                                                        : static_cast<int>(random() % 3);
    ASSERT_NO_FATAL_FAILURE(Check(type, dims, window, op, init, random)) << round;
  }
}

// Long lines have blocks, and chunks of blocks.
TEST(ReduceWindowRandomTest, LongRunningSums) {
  std::mt19937_64 random(403);
  for (const PrimitiveType type : {xla::S32, xla::F64, xla::BF16}) {
    for (const Index& dims :
         {Index{70001, 1}, Index{1, 70000}, Index{4500, 65}, Index{34000, 3}, Index{2500, 40}}) {
      for (const bool reverse : {false, true}) {
        const Literal x = RandomSmall(type, dims, random, -2, 2);
        const int along = dims[0] > 1 ? 0 : 1;
        const int64_t n = dims[along], inner = along == 0 ? dims[1] : 1;
        const std::string pad = reverse ? absl::StrCat("0_", n - 1) : absl::StrCat(n - 1, "_0");
        const std::string name = TypedShape(type, {}), shape = TypedShape(type, dims);
        const std::string text = absl::StrCat(
            "x = ", shape, " parameter(0) z = ", name, " constant(0) ROOT y = ", shape,
            " reduce-window(x, z), window={size=", along == 0 ? absl::StrCat(n, "x1") : absl::StrCat("1x", n),
            " pad=", along == 0 ? absl::StrCat(pad, "x0_0") : absl::StrCat("0_0x", pad), "}, to_apply=f");
        SCOPED_TRACE(text);
        ASSERT_OK_AND_ASSIGN(
            const Literal y,
            RunOnThreads(*MakeModule(text, ReducerText("f", name.substr(0, name.find('[')), "add")), {x}));
        std::vector<double> sums(inner, 0);
        for (int64_t k = 0; k < n; ++k) {
          const int64_t row = reverse ? n - 1 - k : k;
          for (int64_t i = 0; i < inner; ++i) {
            sums[i] += ValueAt(x, row * inner + i).real();
            ASSERT_NO_FATAL_FAILURE(ExpectValue(y, row * inner + i, sums[i]));
          }
        }
      }
    }
  }
}

// The bound of prefix_scan.h: n / 2^16 + 90 roundings, each of half a unit, of partial sums that are no larger than the last.
TEST(ReduceWindowRandomTest, RunningSumsOfAMillionFloatsAreAccurate) {
  constexpr int64_t kSize = 1 << 20;
  std::mt19937_64 random(404);
  Literal x(Shape(xla::F32, {kSize}));
  for (float& value : x.mutable_data<float>()) value = static_cast<float>(random() % 1000003) / 1000003;
  const std::string text =
      absl::StrCat("x = f32[", kSize, "] parameter(0) z = f32[] constant(0) ROOT y = f32[", kSize,
                   "] reduce-window(x, z), window={size=", kSize, " pad=", kSize - 1, "_0}, to_apply=f");
  ASSERT_OK_AND_ASSIGN(const Literal y, RunOnThreads(*MakeModule(text, ReducerText("f", "f32", "add")), {x}));
  double sum = 0;
  for (int64_t i = 0; i < kSize; ++i) {
    sum += x.data<float>()[i];
    ASSERT_LE(std::abs(y.data<float>()[i] - sum), (kSize / 65536 + 90) * sum * 0x1p-24) << i;
  }
}

TEST(ReduceWindowTest, NansSpreadAndZerosKeepTheSignOfTheInit) {
  const std::string max = ReducerText("f", "f32", "maximum"), add = ReducerText("f", "f32", "add");
  EXPECT_EQ(Evaluate("x = f32[4] constant({1, nan, -2, inf}) z = f32[] constant(-inf) "
                     "ROOT y = f32[4] reduce-window(x, z), window={size=4 pad=3_0}, to_apply=f",
                     max),
            "{1, nan, nan, nan}");
  EXPECT_EQ(Evaluate("x = f32[4] constant({1, nan, -2, inf}) z = f32[] constant(-inf) "
                     "ROOT y = f32[3] reduce-window(x, z), window={size=2}, to_apply=f",
                     max),
            "{nan, nan, inf}");
  for (const char* window : {"size=3 pad=2_0", "size=3 pad=0_2", "size=2 pad=1_0", "size=1"}) {
    EXPECT_EQ(Evaluate(absl::StrCat("x = f32[3] constant({-0, -0, -0}) z = f32[] constant(-0) "
                                    "ROOT y = f32[3] reduce-window(x, z), window={",
                                    window, "}, to_apply=f"),
                       add),
              "{-0, -0, -0}")
        << window;
    EXPECT_EQ(Evaluate(absl::StrCat("x = f32[3] constant({-0, -0, -0}) z = f32[] constant(0) "
                                    "ROOT y = f32[3] reduce-window(x, z), window={",
                                    window, "}, to_apply=f"),
                       add),
              "{0, 0, 0}")
        << window;
  }
}

// A window that is far larger than its operand costs what the operand has.
TEST(ReduceWindowTest, AWindowFarLargerThanItsOperand) {
  EXPECT_EQ(
      Evaluate(
          "x = f32[1,64] parameter(0) z = f32[] constant(0) "
          "w = f32[1,64] reduce-window(x, z), window={size=1000000000000x1 pad=999999999999_0x0_0}, to_apply=f "
          "s = f32[1,1] slice(w), slice={[0:1], [0:1]} ROOT y = f32[] reshape(s)",
          ReducerText("f", "f32", "add"), {Literal(Shape(xla::F32, {1, 64}))}),
      "0");
}

// Each device has its own init, operand, or both.
TEST(ReduceWindowTest, InitsAndOperandsOfDevices) {
  const std::string add = ReducerText("f", "s32", "add");
  for (const char* body : {"i = u32[] partition-id() x = s32[3] constant({1, 2, 3}) z = s32[] convert(i) "
                           "ROOT y = s32[3] reduce-window(x, z), window={size=3 pad=2_0}, to_apply=f",
                           "i = u32[] partition-id() x = s32[3] constant({1, 2, 3}) z = s32[] convert(i) "
                           "ROOT y = s32[2] reduce-window(x, z), window={size=2}, to_apply=f"}) {
    const bool running = std::string(body).find("pad") != std::string::npos;
    EXPECT_EQ(EvaluateOnDevices(body, add, {}, 2),
              (running ? std::vector<std::string>{"{1, 3, 6}", "{4, 5, 7}"}
                       : std::vector<std::string>{"{3, 5}", "{4, 6}"}));
  }
}

}  // namespace
}  // namespace toroid
