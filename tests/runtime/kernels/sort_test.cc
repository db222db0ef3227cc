// BUILD: size = "small"
// sort.
#include <algorithm>
#include <complex>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "hlo/ir/native_types.h"
#include "runtime/engine/executor.h"
#include "tests/runtime/evaluate.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

std::string Comparator(const std::string& type, const std::string& rest) {
  return absl::StrCat("less { a = ", type, "[] parameter(0) b = ", type,
                      "[] parameter(1) ROOT c = pred[] compare(a, b), ", rest, " }");
}

TEST(SortTest, DirectionsAndDimensions) {
  EXPECT_EQ(
      Evaluate(
          "x = s32[5] constant({3, -1, 2, -1, 9}) ROOT y = s32[5] sort(x), dimensions={0}, to_apply=less",
          Comparator("s32", "direction=LT")),
      "{-1, -1, 2, 3, 9}");
  EXPECT_EQ(
      Evaluate(
          "x = u8[2,2] constant({{1, 200}, {7, 3}}) ROOT y = u8[2,2] sort(x), dimensions={0}, to_apply=less",
          Comparator("u8", "direction=GT")),
      "{ { 7, 200 }, { 1, 3 } }");
}

TEST(SortTest, TotalOrderPutsNansAtTheEnds) {
  EXPECT_EQ(Evaluate("x = f32[6] constant({nan, 1, -0, 0, -nan, -inf}) "
                     "ROOT y = f32[6] sort(x), dimensions={0}, to_apply=less",
                     Comparator("f32", "direction=LT, type=TOTALORDER")),
            "{-nan, -inf, -0, 0, 1, nan}");
}

// The comparator that frontends emit for floats: -0 equals 0, and every NaN is the positive one, which goes
// last.
TEST(SortTest, MappedZerosAndNansKeepTheirOrder) {
  const std::string less =
      "less { a = f32[] parameter(0) b = f32[] parameter(1) i = s32[] parameter(2) j = s32[] parameter(3) "
      "zero = f32[] constant(0) nan = f32[] constant(nan) "
      "az = pred[] compare(a, zero), direction=EQ a1 = f32[] select(az, zero, a) "
      "an = pred[] compare(a, a), direction=NE a2 = f32[] select(an, nan, a1) "
      "bz = pred[] compare(b, zero), direction=EQ b1 = f32[] select(bz, zero, b) "
      "bn = pred[] compare(b, b), direction=NE b2 = f32[] select(bn, nan, b1) "
      "ROOT c = pred[] compare(a2, b2), direction=LT, type=TOTALORDER }";
  EXPECT_EQ(
      Evaluate("x = f32[7] constant({nan, 0, -0, -nan, 1, -inf, -0}) i = s32[7] iota(), iota_dimension=0 "
               "ROOT y = (f32[7], s32[7]) sort(x, i), dimensions={0}, is_stable=true, to_apply=less",
               less),
      "( {-inf, 0, -0, -0, 1, nan, -nan}, {5, 1, 2, 6, 4, 0, 3} )");
}

// A line that is sorted in parts.
TEST(SortTest, LongLinesAreStable) {
  const int n = 200003;
  std::mt19937 random(23);
  Literal keys(Shape(xla::F32, {n})), payload(Shape(xla::S32, {n}));
  for (float& key : keys.mutable_data<float>()) key = static_cast<float>(random() % 1000) - 500;
  std::iota(payload.mutable_data<int32_t>().begin(), payload.mutable_data<int32_t>().end(), 0);
  const auto module = MakeModule(
      absl::StrReplaceAll(
          "k = f32[$n] parameter(0) p = s32[$n] parameter(1) ROOT y = (f32[$n], s32[$n]) sort(k, p), "
          "dimensions={0}, is_stable=true, to_apply=less",
          {{"$n", absl::StrCat(n)}}),
      "less { a = f32[] parameter(0) b = f32[] parameter(1) c = s32[] parameter(2) d = s32[] parameter(3) "
      "ROOT r = pred[] compare(a, b), direction=GT, type=TOTALORDER }");
  ASSERT_OK_AND_ASSIGN(const Literal y, RunSingle(*module, {keys, payload}));
  const absl::Span<const float> key = keys.data<float>();
  std::vector<int32_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) { return key[a] > key[b]; });
  for (int i = 0; i < n; ++i) {
    ASSERT_EQ(y.element(1).data<int32_t>()[i], order[i]);
    ASSERT_EQ(y.element(0).data<float>()[i], key[order[i]]);
  }
}

// Keys and payload, comparators that the kernel knows and comparators that it must run, against
// std::stable_sort.
TEST(SortTest, AnyComparatorIsStable) {
  std::mt19937 random(13);
  const std::string simple =
      "less { a = s32[] parameter(0) b = s32[] parameter(1) c = s32[] parameter(2) d = s32[] parameter(3) "
      "ROOT r = pred[] compare(a, b), direction=LT }";
  // By key modulo 4, then larger keys first.
  const std::string complex =
      "less { a = s32[] parameter(0) b = s32[] parameter(1) c = s32[] parameter(2) d = s32[] parameter(3) "
      "four = s32[] constant(4) e = s32[] remainder(a, four) f = s32[] remainder(b, four) "
      "lt = pred[] compare(e, f), direction=LT eq = pred[] compare(e, f), direction=EQ "
      "gt = pred[] compare(a, b), direction=GT both = pred[] and(eq, gt) ROOT r = pred[] or(lt, both) }";
  for (const bool by_key : {true, false}) {
    for (const int n : {0, 1, 2, 3, 7, 64, 100, 1000}) {
      const int lines = 3;
      Literal keys(Shape(xla::S32, {lines, n})), payload(Shape(xla::S32, {lines, n}));
      for (int32_t& key : keys.mutable_data<int32_t>()) key = static_cast<int32_t>(random() % 20);
      std::iota(payload.mutable_data<int32_t>().begin(), payload.mutable_data<int32_t>().end(), 0);
      const std::string shape = absl::StrCat("s32[", lines, ",", n, "]");
      const auto module = MakeModule(
          absl::StrCat("k = ", shape, " parameter(0) p = ", shape, " parameter(1) ROOT y = (", shape, ", ",
                       shape, ") sort(k, p), dimensions={1}, is_stable=true, to_apply=less"),
          by_key ? simple : complex);
      ASSERT_OK_AND_ASSIGN(const Literal y, RunSingle(*module, {keys, payload}));
      for (int line = 0; line < lines; ++line) {
        const int32_t* key = keys.data<int32_t>().data();
        std::vector<int32_t> order(n);
        std::iota(order.begin(), order.end(), line * n);
        std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
          if (by_key) return key[a] < key[b];
          return key[a] % 4 != key[b] % 4 ? key[a] % 4 < key[b] % 4 : key[a] > key[b];
        });
        for (int i = 0; i < n; ++i) {
          ASSERT_EQ(y.element(1).data<int32_t>()[line * n + i], order[i]) << n << " elements, place " << i;
          ASSERT_EQ(y.element(0).data<int32_t>()[line * n + i], key[order[i]]);
        }
      }
    }
  }
}

// Lines that are sorted in many steps, by a comparator that has to be run; elements of all widths move along.
TEST(SortTest, LongLinesByAnyComparatorAreStable) {
  std::mt19937 random(29);
  const std::string less =
      "less { a = s32[] parameter(0) b = s32[] parameter(1) c = u8[] parameter(2) d = u8[] parameter(3) "
      "g = c128[] parameter(4) h = c128[] parameter(5) ar = f64[] real(g) br = f64[] real(h) "
      "ten = s32[] constant(10) e = s32[] divide(a, ten) f = s32[] divide(b, ten) "
      "lt = pred[] compare(e, f), direction=LT eq = pred[] compare(e, f), direction=EQ "
      "gt = pred[] compare(c, d), direction=GT real = pred[] compare(ar, br), direction=LT "
      "same = pred[] compare(c, d), direction=EQ last = pred[] and(same, real) rest = pred[] or(gt, last) "
      "both = pred[] and(eq, rest) ROOT r = pred[] or(lt, both) }";
  for (const auto& [lines, n] :
       {std::pair(1, 60000), std::pair(40, 500), std::pair(3, 4096), std::pair(2, 65)}) {
    for (const int kind : {0, 1, 2, 3, 4}) {  // Random, in order, in reverse, all equal, up and down.
      Literal key(Shape(xla::S32, {lines, n})), byte(Shape(xla::U8, {lines, n})),
          wide(Shape(xla::C128, {lines, n})), place(Shape(xla::S32, {lines, n}));
      for (int i = 0; i < lines * n; ++i) {
        const int at = i % n;
        key.mutable_data<int32_t>()[i] = kind == 0   ? static_cast<int>(random() % 2000)
                                         : kind == 1 ? at
                                         : kind == 2 ? n - at
                                         : kind == 3 ? 5
                                                     : std::min(at, n - at);
        byte.mutable_data<uint8_t>()[i] = static_cast<uint8_t>(kind == 0 ? random() % 3 : 1);
        wide.mutable_data<std::complex<double>>()[i] = {static_cast<double>(kind == 0 ? random() % 2 : 0),
                                                        1.0 * i};
        place.mutable_data<int32_t>()[i] = i;
      }
      const std::string dims = absl::StrCat("[", lines, ",", n, "]");
      const auto module = MakeModule(
          absl::StrReplaceAll(
              "k = s32$d parameter(0) c = u8$d parameter(1) w = c128$d parameter(2) p = s32$d parameter(3) "
              "ROOT y = (s32$d, u8$d, c128$d, s32$d) sort(k, c, w, p), dimensions={1}, is_stable=true, "
              "to_apply=less",
              {{"$d", dims}}),
          absl::StrReplaceAll(
              less, {{"parameter(5)", "parameter(5) o = s32[] parameter(6) q = s32[] parameter(7)"}}));
      ASSERT_OK_AND_ASSIGN(const Literal y, RunOnThreads(*module, {key, byte, wide, place}));
      for (int line = 0; line < lines; ++line) {
        std::vector<int32_t> order(n);
        std::iota(order.begin(), order.end(), line * n);
        std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
          const int x = key.data<int32_t>()[a] / 10, z = key.data<int32_t>()[b] / 10;
          if (x != z) return x < z;
          const uint8_t c = byte.data<uint8_t>()[a], d = byte.data<uint8_t>()[b];
          if (c != d) return c > d;
          return wide.data<std::complex<double>>()[a].real() < wide.data<std::complex<double>>()[b].real();
        });
        for (int i = 0; i < n; ++i) {
          const int at = line * n + i;
          ASSERT_EQ(y.element(3).data<int32_t>()[at], order[i]) << kind << " " << n << " place " << i;
          ASSERT_EQ(y.element(0).data<int32_t>()[at], key.data<int32_t>()[order[i]]);
          ASSERT_EQ(y.element(1).data<uint8_t>()[at], byte.data<uint8_t>()[order[i]]);
          ASSERT_EQ(y.element(2).data<std::complex<double>>()[at],
                    wide.data<std::complex<double>>()[order[i]]);
        }
      }
    }
  }
}

// Comparators that are no strict weak order, such as LT on NaNs, leave the order open, but each line keeps
// its elements and pairs stay together.
TEST(SortTest, EveryComparatorPermutesItsLine) {
  // The elements of each line, and their places: every place occurs once.
  EXPECT_EQ(
      Evaluate("x = f32[2,7] constant({{7,6,5,4,3,2,1}, {nan,1,2,3,5,nan,-1}}) i = s32[2,7] iota(), "
               "iota_dimension=1 y = (f32[2,7], s32[2,7]) sort(x, i), dimensions={1}, to_apply=less "
               "z = s32[2,7] get-tuple-element(y), index=1 one = s32[] constant(1) zero = s32[] constant(0) "
               "o = s32[2,7] broadcast(one), dimensions={} b = s32[2,7] shift-left(o, z) "
               "ROOT t = s32[2] reduce(b, zero), dimensions={1}, to_apply=add",
               "less { a = f32[] parameter(0) b = f32[] parameter(1) c = s32[] parameter(2) d = s32[] "
               "parameter(3) ROOT e = pred[] compare(a, b), direction=LT } " +
                   ReducerText("add", "s32", "add")),
      "{127, 127}");
  std::mt19937 random(17);
  const std::string scalars = "{ a = s32[] parameter(0) b = s32[] parameter(1) ";
  for (const std::string body :
       {"ROOT r = pred[] compare(a, b), direction=NE }", "ROOT r = pred[] compare(a, b), direction=LE }",
        "ROOT r = pred[] constant(true) }",
        "t = s32[] constant(3) x = s32[] xor(a, b) y = s32[] remainder(x, t) z = s32[] constant(0) "
        "ROOT r = pred[] compare(y, z), direction=EQ }"}) {
    for (const int n : {2, 3, 5, 17, 100, 3000}) {
      const int lines = 4;
      Literal keys(Shape(xla::S32, {lines, n}));
      for (int32_t& key : keys.mutable_data<int32_t>()) key = static_cast<int32_t>(random() % 50);
      const std::string shape = absl::StrCat("s32[", lines, ",", n, "]");
      const auto module = MakeModule(absl::StrCat("k = ", shape, " parameter(0) ROOT y = ", shape,
                                                  " sort(k), dimensions={1}, to_apply=less"),
                                     "less " + scalars + body);
      ASSERT_OK_AND_ASSIGN(Literal y, RunSingle(*module, {keys}));
      for (int line = 0; line < lines; ++line) {
        const auto sorted = [&](Literal& literal) {
          const auto values = literal.mutable_data<int32_t>().subspan(line * n, n);
          std::sort(values.begin(), values.end());
          return std::vector<int32_t>(values.begin(), values.end());
        };
        EXPECT_EQ(sorted(y), sorted(keys)) << body;
      }
    }
  }
}

}  // namespace
}  // namespace toroid
