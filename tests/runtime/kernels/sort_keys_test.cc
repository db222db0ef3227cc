// BUILD: size = "medium"
// Comparators that sort by keys, as JAX, XLA's clients and XLA's passes write them.
#include <algorithm>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "runtime/kernels/sort_order.h"
#include "tests/runtime/evaluate.h"
#include "tests/runtime/kernels/number_format.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

// The kernel sorts by keys if it knows the comparator; else it runs the comparator.
TEST(SortTest, KeysOfEveryTypeAreOrderedAsItsValues) {
  struct Case {
    std::vector<std::string> types;
    std::string values;
    bool is_float = false;
  };
  const std::vector<Case> cases = {
      {{"pred", "u1"}, "1, 0, 1, 0, 0, 1, 1, 0"},
      {{"u2", "u4", "u8", "u16", "u32"}, "1, 3, 0, 2, 3, 0, 1, 2"},
      {{"s1"}, "-1, 0, -1, 0, 0, -1, -1, 0"},
      {{"s2", "s4", "s8", "s16", "s32"}, "1, -2, 0, -1, -2, 0, 1, -1"},
      {{"u64"}, "9223372036854775808, 18446744073709551615, 5, 0, 9223372036854775807, 5, 1, 0"},
      {{"s64"}, "9223372036854775807, -9223372036854775808, 5, 0, -1, 5, 1, 0"},
      {{"f8e8m0fnu"}, "1, 2, 0.5, 4, 1, 8, 0.25, 2", true},
      {{"f4e2m1fn", "f6e2m3fn", "f6e3m2fn", "f8e3m4", "f8e4m3", "f8e4m3b11fnuz", "f8e4m3fn", "f8e4m3fnuz",
        "f8e5m2", "f8e5m2fnuz"},
       "1, -0, 2, -1.5, 0, -2, -0, 0.5",
       true},
      {{"bf16", "f16", "f32", "f64"}, "1, -0, inf, -1.5, 0, -inf, -0, 0.5", true},
  };
  for (const Case& c : cases) {
    for (const std::string& type : c.types) {
      for (const char* rest : {"direction=LT", "direction=GT", "direction=LT, type=TOTALORDER",
                               "direction=GT, type=TOTALORDER"}) {
        if (!c.is_float && absl::StrContains(rest, "TOTALORDER")) continue;
        SCOPED_TRACE(absl::StrCat(type, " ", rest));
        const auto sorted = [&](bool known) {
          const std::string compare = absl::StrCat("c = pred[] compare(a, b), ", rest);
          return Evaluate(
              absl::StrCat("x = ", type, "[8] constant({", c.values,
                           "}) i = s32[8] iota(), iota_dimension=0 ", "ROOT y = (", type,
                           "[8], s32[8]) sort(x, i), dimensions={0}, is_stable=true, to_apply=less"),
              absl::StrCat("less { a = ", type, "[] parameter(0) b = ", type, "[] parameter(1) ",
                           "k = s32[] parameter(2) l = s32[] parameter(3) ",
                           known ? "ROOT " + compare : compare + " ROOT r = pred[] and(c, c)", " }"));
        };
        const std::string by_comparator = sorted(/*known=*/false);
        EXPECT_TRUE(absl::StartsWith(by_comparator, "( {")) << by_comparator;
        EXPECT_EQ(sorted(/*known=*/true), by_comparator);
      }
    }
  }
}

// JAX's comparator of a key: zeros and NaNs each have one value. `name`: that of the key; a and b: both elements.
std::string JaxKey(const std::string& name, const std::string& type, const std::string& a,
                   const std::string& b) {
  std::string text = absl::StrReplaceAll("$n_zero = $t[] constant(0) $n_nan = $t[] constant(nan) ",
                                         {{"$n", name}, {"$t", type}});
  for (const auto& [side, x] : {std::pair("l", a), std::pair("r", b)}) {
    absl::StrAppend(&text, absl::StrReplaceAll("$n_e$s = pred[] compare($x, $n_zero), direction=EQ "
                                               "$n_z$s = $t[] select($n_e$s, $n_zero, $x) "
                                               "$n_u$s = pred[] compare($x, $x), direction=NE "
                                               "$n_c$s = $t[] select($n_u$s, $n_nan, $n_z$s) ",
                                               {{"$n", name}, {"$t", type}, {"$s", side}, {"$x", x}}));
  }
  return absl::StrCat(
      text, absl::StrReplaceAll("$n_lt = pred[] compare($n_cl, $n_cr), direction=LT, type=TOTALORDER "
                                "$n_eq = pred[] compare($n_cl, $n_cr), direction=EQ, type=TOTALORDER ",
                                {{"$n", name}}));
}

// Two keys and a payload, sorted by keys and, with a root that hides them, by running the comparator.
TEST(SortTest, KeysOfJaxOrderAsTheirComparator) {
  for (const std::string type : {"f32", "bf16", "f64"}) {
    const std::string parameters = absl::StrReplaceAll(
        "less { a = $t[] parameter(0) b = $t[] parameter(1) c = $t[] parameter(2) d = $t[] parameter(3) "
        "i = s32[] parameter(4) j = s32[] parameter(5) ",
        {{"$t", type}});
    const std::string one = JaxKey("p", type, "a", "b"), two = JaxKey("q", type, "c", "d");
    const std::string both = "both = pred[] and(p_eq, q_lt) last = pred[] or(p_lt, both) ";
    const auto sorted = [&](const std::string& keys, const std::string& root) {
      return Evaluate(
          absl::StrReplaceAll(
              "x = $t[8] constant({nan, 0, -0, -nan, 1, -inf, 1, 0}) "
              "y = $t[8] constant({2, -0, 0, 1, nan, 5, -nan, -1}) i = s32[8] iota(), iota_dimension=0 "
              "ROOT r = ($t[8], $t[8], s32[8]) sort(x, y, i), dimensions={0}, is_stable=true, "
              "to_apply=less",
              {{"$t", type}}),
          absl::StrCat(parameters, keys, root, " }"));
    };
    const std::string by_one = sorted(one, "ROOT r = pred[] and(p_lt, p_lt)");
    EXPECT_TRUE(absl::StrContains(by_one, "{5, 1, 2, 7, 4, 6, 0, 3}")) << by_one;
    EXPECT_EQ(sorted(one, "ROOT r = pred[] compare(p_cl, p_cr), direction=LT, type=TOTALORDER"), by_one);
    const std::string by_two = sorted(one + two + both, "ROOT r = pred[] and(last, last)");
    EXPECT_EQ(sorted(one + two, "both = pred[] and(q_lt, p_eq) ROOT r = pred[] or(both, p_lt)"), by_two);
    EXPECT_TRUE(absl::StrContains(by_two, "{5, 7, 1, 2, 4, 6, 3, 0}")) << by_two;
  }
}

TEST(SortTest, ComplexNumbersAreOrderedByTheirParts) {
  const std::string keys =
      "less { a = c64[] parameter(0) b = c64[] parameter(1) ar = f32[] real(a) br = f32[] real(b) "
      "ai = f32[] imag(a) bi = f32[] imag(b) " +
      JaxKey("p", "f32", "ar", "br") + JaxKey("q", "f32", "ai", "bi") + "both = pred[] and(p_eq, q_lt) ";
  const auto sorted = [&](const std::string& root) {
    return Evaluate(
        "x = c64[5] constant({(1, 2), (-1, 5), (1, -2), (nan, 0), (-1, -inf)}) "
        "ROOT r = c64[5] sort(x), dimensions={0}, to_apply=less",
        absl::StrCat(keys, root, " }"));
  };
  const std::string by_comparator = sorted("last = pred[] or(p_lt, both) ROOT r = pred[] and(last, last)");
  EXPECT_EQ(by_comparator, "{(-1, -inf), (-1, 5), (1, -2), (1, 2), (nan, 0)}");
  EXPECT_EQ(sorted("ROOT r = pred[] or(p_lt, both)"), by_comparator);
}

// Comparators of XLA's clients, before and after XLA's passes, with what they amount to. `root` names the last instruction.
struct KeyCase {
  std::string name, comparator, root;
  std::vector<SortKey> keys;  // Empty: not recognized.
};

SortKey Key(int operand, bool descending, bool total) {
  SortKey key;
  key.operand = operand;
  key.descending = descending;
  key.total = total;
  return key;
}

std::string ComparePair(const std::string& name, const std::string& a, const std::string& b,
                        const std::string& direction) {
  return absl::StrCat(name, " = pred[] compare(", a, ", ", b, "), direction=", direction, " ");
}

// XLA's comparison of floats as integers.
std::string InOrder(const std::string& name, const std::string& x, bool with_xor) {
  return absl::StrReplaceAll(
      with_xor ? "$n_s = s32[] bitcast-convert($x) $n_l = pred[] compare($n_s, izero), direction=LT "
                 "$n_f = s32[] xor($n_s, imax) $n = s32[] select($n_l, $n_f, $n_s) "
               : "$n_s = s32[] bitcast-convert($x) $n_u = u32[] bitcast-convert($x) "
                 "$n_l = pred[] compare($n_s, izero), direction=LT $n_d = u32[] subtract(umax, $n_u) "
                 "$n_f = s32[] bitcast-convert($n_d) $n = s32[] select($n_l, $n_f, $n_s) ",
      {{"$n", name}, {"$x", x}});
}

std::vector<KeyCase> KeyCases() {
  const std::string constants =
      "izero = s32[] constant(0) imax = s32[] constant(2147483647) umax = u32[] constant(2147483647) ";
  const std::string total = ", type=TOTALORDER";
  const std::string lt0 = ComparePair("lt0", "a", "b", "LT" + total),
                    gt0 = ComparePair("gt0", "a", "b", "GT" + total),
                    eq0 = ComparePair("eq0", "a", "b", "EQ" + total),
                    ne0 = ComparePair("ne0", "a", "b", "NE" + total),
                    lt1 = ComparePair("lt1", "c", "d", "LT" + total),
                    gt1 = ComparePair("gt1", "c", "d", "GT" + total),
                    eq1 = ComparePair("eq1", "c", "d", "EQ" + total),
                    lt2 = ComparePair("lt2", "i", "j", "LT"), eq2 = ComparePair("eq2", "i", "j", "EQ");
  const SortKey up0 = Key(0, false, true), up1 = Key(1, false, true), up2 = Key(2, false, false),
                down0 = Key(0, true, true);
  return {
      {"two keys by select",
       lt0 + eq0 + gt1 + "r = pred[] select(eq0, gt1, lt0) ",
       "r",
       {up0, Key(1, true, true)}},
      {"two keys by unequal", gt0 + ne0 + lt1 + "r = pred[] select(ne0, gt0, lt1) ", "r", {down0, up1}},
      {"three keys by select",
       lt0 + eq0 + lt1 + eq1 + lt2 +
           "two = pred[] select(eq0, lt1, lt0) both = pred[] and(eq0, eq1) r = pred[] select(both, lt2, two) ",
       "r",
       {up0, up1, up2}},
      {"three keys by or",
       lt0 + eq0 + lt1 + eq1 + lt2 +
           "x = pred[] and(eq1, lt2) y = pred[] or(lt1, x) "
           "z = pred[] and(y, eq0) r = pred[] or(z, lt0) ",
       "r",
       {up0, up1, up2}},
      {"the second key is not equal for sure",
       lt0 + eq0 + lt1 + eq1 + lt2 + "two = pred[] select(eq0, lt1, lt0) r = pred[] select(eq0, lt2, two) ",
       "r",
       {}},
      {"the third key is asked too soon",
       lt0 + eq0 + eq2 + lt1 + "both = pred[] and(eq0, eq2) r = pred[] select(both, lt1, lt0) ",
       "r",
       {}},
      {"bits, subtracted",
       constants + InOrder("x", "a", false) + InOrder("y", "b", false) + ComparePair("r", "x", "y", "LT"),
       "r",
       {up0}},
      {"bits, xor",
       constants + InOrder("x", "a", true) + InOrder("y", "b", true) + ComparePair("r", "y", "x", "LT"),
       "r",
       {down0}},
      {"bits of one side only",
       constants + InOrder("x", "a", true) + "y = s32[] bitcast-convert(b) " +
           ComparePair("r", "x", "y", "LT"),
       "r",
       {}},
      {"negated",
       "x = f32[] negate(a) y = f32[] negate(b) " + ComparePair("r", "x", "y", "LT" + total),
       "r",
       {down0}},
      {"negated, partial order",
       "x = f32[] negate(a) y = f32[] negate(b) " + ComparePair("r", "x", "y", "GT"),
       "r",
       {Key(0, false, false)}},
      {"negated integers, of which one has no negative",
       "x = s32[] negate(i) y = s32[] negate(j) " + ComparePair("r", "x", "y", "LT"),
       "r",
       {}},
      {"widened",
       "x = s64[] convert(i) y = s64[] convert(j) " + ComparePair("r", "x", "y", "GT"),
       "r",
       {Key(2, true, false)}},
      {"narrowed", "x = s8[] convert(i) y = s8[] convert(j) " + ComparePair("r", "x", "y", "GT"), "r", {}},
      {"unsigned", "x = u64[] convert(i) y = u64[] convert(j) " + ComparePair("r", "x", "y", "GT"), "r", {}},
      {"other sides", ComparePair("r", "a", "d", "LT"), "r", {}},
  };
}

// Recognized as these keys, and sorted as by the comparator.
TEST(SortTest, KeysOfXlasComparatorsOrderAsTheirComparator) {
  for (const KeyCase& c : KeyCases()) {
    SCOPED_TRACE(c.name);
    const auto sorted = [&](bool hidden) {
      return Evaluate(
          "x = f32[9] constant({nan, 0, -0, -nan, 1, -inf, 1, 0, -2}) y = f32[9] constant({2, -0, 0, 1, nan, 5, -nan, -1, 3}) "
          "i = s32[9] constant({5, -3, 4, 4, 300, -2147483648, 7, -1, 0}) p = s32[9] iota(), iota_dimension=0 "
          "ROOT r = (f32[9], f32[9], s32[9], s32[9]) sort(x, y, i, p), dimensions={0}, is_stable=true, to_apply=less",
          absl::StrCat(
              "less { a = f32[] parameter(0) b = f32[] parameter(1) c = f32[] parameter(2) d = f32[] parameter(3) "
              "i = s32[] parameter(4) j = s32[] parameter(5) k = s32[] parameter(6) l = s32[] parameter(7) ",
              c.comparator, "ROOT root = pred[] ",
              hidden ? absl::StrCat("and(", c.root, ", ", c.root, ")") : absl::StrCat("copy(", c.root, ")"),
              " }"));
    };
    // The result does not depend on whether the keys are known, unless NaNs under the partial order leave it open.
    if (c.name != "negated, partial order" && c.name != "other sides") {
      EXPECT_TRUE(absl::StartsWith(sorted(true), "( {")) << sorted(true);
      EXPECT_EQ(sorted(false), sorted(true));
    }
    const auto module = MakeModule(
        "x = f32[9] parameter(0) y = f32[9] parameter(1) i = s32[9] parameter(2) "
        "ROOT r = (f32[9], f32[9], s32[9]) sort(x, y, i), dimensions={0}, to_apply=less",
        absl::StrCat(
            "less { a = f32[] parameter(0) b = f32[] parameter(1) c = f32[] parameter(2) d = f32[] parameter(3) "
            "i = s32[] parameter(4) j = s32[] parameter(5) ",
            absl::StrReplaceAll(c.comparator,
                                {{absl::StrCat(c.root, " = "), absl::StrCat("ROOT ", c.root, " = ")}}),
            " }"));
    const std::optional<std::vector<SortKey>> keys = SortKeysOf(*module->entry()->root()->called(0));
    ASSERT_EQ(keys.has_value(), !c.keys.empty());
    if (!keys.has_value()) continue;
    ASSERT_EQ(keys->size(), c.keys.size());
    for (size_t k = 0; k < keys->size(); ++k) {
      EXPECT_EQ((*keys)[k].operand, c.keys[k].operand) << k;
      EXPECT_EQ((*keys)[k].descending, c.keys[k].descending) << k;
      EXPECT_EQ((*keys)[k].total, c.keys[k].total) << k;
    }
  }
}

// Lines that are sorted digit by digit: keys of all widths, few values or any, up and down, and two keys.
TEST(SortTest, LongLinesOfEveryKindOfKey) {
  std::mt19937_64 random(31);
  for (const PrimitiveType type :
       {xla::F32, xla::BF16, xla::F64, xla::S8, xla::U32, xla::S64, xla::U64, xla::PRED}) {
    for (const auto& [lines, n] : {std::pair(3, 2048), std::pair(2, 5003), std::pair(1, 140000)}) {
      for (const int kind : {0, 1, 2}) {  // Any values, few, or all equal.
        const auto values = [&] {
          return kind == 0 ? RandomArray(type, {lines, n}, random)
                           : RandomSmall(type, {lines, n}, random, 0,
                                         kind == 1 && type != xla::PRED ? 3 : 1 - (kind == 2));
        };
        const Literal x = values(), y = values();
        const std::string name(TypeName(type)), dims = absl::StrCat("[", lines, ",", n, "]");
        const std::string total = IsFloat(type) ? ", type=TOTALORDER" : "";
        const auto module = MakeModule(
            absl::StrReplaceAll(
                "x = $t$d parameter(0) y = $t$d parameter(1) i = s32$d iota(), iota_dimension=1 "
                "ROOT r = ($t$d, $t$d, s32$d) sort(x, y, i), dimensions={1}, is_stable=true, to_apply=less",
                {{"$t", name}, {"$d", dims}}),
            absl::StrReplaceAll(
                "less { a = $t[] parameter(0) b = $t[] parameter(1) c = $t[] parameter(2) d = $t[] parameter(3) "
                "i = s32[] parameter(4) j = s32[] parameter(5) gt = pred[] compare(a, b), direction=GT$o "
                "eq = pred[] compare(a, b), direction=EQ$o lt = pred[] compare(c, d), direction=LT$o "
                "ROOT r = pred[] select(eq, lt, gt) }",
                {{"$t", name}, {"$o", total}}));
        SCOPED_TRACE(absl::StrCat(name, dims, " ", kind));
        ASSERT_OK_AND_ASSIGN(const Literal sorted, RunOnThreads(*module, {x, y}));
        const auto key = [&](const Literal& literal, int64_t i) -> __int128 {
          if (!IsFloat(type)) return IntAt(literal, i);
          const int bits = BitWidth(type);
          const uint64_t code = BitsAt(literal, i), sign = code >> (bits - 1) & 1;
          const __int128 magnitude = code & ((uint64_t{1} << (bits - 1)) - 1);
          return sign ? -magnitude - 1 : magnitude;
        };
        for (int64_t line = 0; line < lines; ++line) {
          std::vector<std::pair<std::pair<__int128, __int128>, int64_t>> expected;
          for (int64_t i = 0; i < n; ++i)
            expected.push_back({{-key(x, line * n + i), key(y, line * n + i)}, i});
          std::sort(expected.begin(), expected.end());
          for (int64_t i = 0; i < n; ++i) {
            const int64_t place = sorted.element(2).data<int32_t>()[line * n + i];
            ASSERT_EQ(place, expected[i].second) << line << " " << i;
            ASSERT_EQ(BitsAt(sorted.element(0), line * n + i), BitsAt(x, line * n + place));
            ASSERT_EQ(BitsAt(sorted.element(1), line * n + i), BitsAt(y, line * n + place));
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace toroid
