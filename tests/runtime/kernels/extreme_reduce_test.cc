// BUILD: size = "small"
#include "runtime/kernels/extreme_reduce.h"

#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "hlo/io/hlo_text.h"
#include "runtime/engine/executor.h"
#include "tests/runtime/evaluate.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

// Bodies over (v, i) and (w, j), as clients write them; VALUE and INDEX stand for types, > for a direction.
constexpr char kJax[] = R"(
  c = pred[] compare(v, w), direction=>
  n = pred[] compare(v, v), direction=NE
  p = pred[] or(c, n)
  e = pred[] compare(v, w), direction=EQ
  l = pred[] compare(i, j), direction=LT
  t = pred[] and(e, l)
  q = pred[] or(p, t)
  m = VALUE[] select(p, v, w)
  k = INDEX[] select(q, i, j)
)";
constexpr char kTensorFlow[] = R"(
  c = pred[] compare(v, w), direction=>=
  m = VALUE[] select(c, v, w)
  e = pred[] compare(v, w), direction=EQ
  a = INDEX[] minimum(i, j)
  b = INDEX[] select(c, i, j)
  k = INDEX[] select(e, a, b)
)";
constexpr char kOneChoice[] = R"(
  g = pred[] compare(v, w), direction=>
  e = pred[] compare(v, w), direction=EQ
  l = pred[] compare(j, i), direction=GT
  t = pred[] and(e, l)
  c = pred[] or(g, t)
  m = VALUE[] select(c, v, w)
  k = INDEX[] select(c, i, j)
)";

std::string Body(const std::string& body, const std::string& value, const std::string& index, bool greatest) {
  const std::string strict = greatest ? "GT" : "LT", loose = greatest ? "GE" : "LE";
  return absl::StrReplaceAll(body, {{"direction=>=", "direction=" + loose},
                                    {"direction=>", "direction=" + strict},
                                    {"VALUE", value},
                                    {"INDEX", index}});
}

// The reducer; `evaluated`: with an addition of 0, which is no comparison.
std::string Reducer(const std::string& body, const std::string& value, const std::string& index,
                    bool evaluated) {
  return absl::StrCat("r { v = ", value, "[] parameter(0) i = ", index, "[] parameter(1) w = ", value,
                      "[] parameter(2) j = ", index, "[] parameter(3)", body,
                      evaluated ? absl::StrCat("z = ", index, "[] constant(0) s = ", index, "[] add(k, z) ")
                                : absl::StrCat("s = ", index, "[] copy(k) "),
                      "ROOT both = (", value, "[], ", index, "[]) tuple(m, s) }\n");
}

std::string WithoutCopy(const std::string& reducer, const std::string& index) {
  return absl::StrReplaceAll(
      reducer, {{absl::StrCat("s = ", index, "[] copy(k) "), ""}, {"tuple(m, s)", "tuple(m, k)"}});
}

std::unique_ptr<Module> Parsed(const std::string& text) {
  absl::StatusOr<std::unique_ptr<Module>> module = ParseModule(text);
  EXPECT_OK(module.status());
  return *std::move(module);
}

// The bytes of both results on all devices.
std::string Results(const Module& module, const std::vector<Literal>& rows, int threads) {
  const absl::StatusOr<std::unique_ptr<Executor>> executor = Executor::Create(module);
  EXPECT_OK(executor.status());
  std::vector<MeshValue> values;
  absl::StatusOr<MeshValue> x = MeshValue::PerDevice(rows);
  EXPECT_OK(x.status());
  values.push_back(*std::move(x));
  RunOptions options;
  options.num_partitions = static_cast<int64_t>(rows.size());
  options.threads = threads;
  const absl::StatusOr<MeshValue> result = (*executor)->Run(std::move(values), options);
  EXPECT_OK(result.status());
  std::string bytes;
  for (size_t d = 0; d < rows.size(); ++d) {
    for (int i = 0; i < 2; ++i) {
      const Literal literal = result->element(i).ToLiteral(d);
      bytes.append(literal.bytes(), literal.shape().ByteSize());
    }
  }
  return bytes;
}

// Few different values, so that many are equal; zeros of both signs and infinities among them. With NaN the result depends on
// the order unless the reducer gives NaN back.
Literal RandomValues(const Shape& shape, absl::string_view type, bool with_nan, std::mt19937& random) {
  const bool is_float = IsFloat(shape.element_type());
  const Literal list = ParseLiteral(absl::StrCat(
      type, "[12] {",
      is_float ? "0, -0, 1, -1, 2.5, -2.5, inf, -inf, 7, 8, 9, nan" : "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11",
      "}"));
  const uint64_t kinds = 3 + random() % (with_nan ? 10 : 9);
  const int64_t width = ByteWidth(shape.element_type());
  Literal literal(shape);
  for (int64_t e = 0; e < shape.NumElements(); ++e) {
    std::memcpy(literal.mutable_bytes() + e * width,
                list.bytes() + static_cast<int64_t>(random() % kinds) * width, width);
  }
  return literal;
}

TEST(ExtremeReduceTest, GivesTheBitsOfTheReducersBody) {
  struct Nest {
    const char *dims, *reduced, *kept;
  };
  const std::vector<Nest> nests = {{"7,700", "1", "7"},     {"700,7", "0", "7"},     {"3,50,5", "1", "3,5"},
                                   {"2,3,300", "1,2", "2"}, {"4,30,6", "0,2", "30"}, {"2111", "0", ""},
                                   {"3,1,4", "1", "3,4"},   {"60,1100", "0", "1100"}};
  std::mt19937 random(1);
  for (const char* body : {kJax, kTensorFlow, kOneChoice}) {
    for (const auto& [value, index] :
         {std::pair("f32", "s32"), std::pair("bf16", "s32"), std::pair("f64", "s64"), std::pair("s32", "u32"),
          std::pair("u8", "s32"), std::pair("f16", "u32")}) {
      for (const Nest& nest : nests) {
        const bool greatest = random() % 2 == 0;
        const std::string text = Body(body, value, index, greatest);
        const auto program = [&](const std::string& reducer) {
          const std::string shape = absl::StrCat("[", nest.dims, "]"),
                            out = absl::StrCat("[", nest.kept, "]");
          return Parsed(absl::StrCat(
              "HloModule m\n", reducer, "ENTRY e { x = ", value, shape, " parameter(0) n = s32", shape,
              " iota(), iota_dimension=0 i = ", index, shape, " convert(n) a = ", value, "[] constant(",
              greatest ? "0" : "9", ") b = ", index, "[] constant(3) ROOT y = (", value, out, ", ", index,
              out, ") reduce(x, i, a, b), dimensions={", nest.reduced, "}, to_apply=r }"));
        };
        const std::unique_ptr<Module> compared =
            program(WithoutCopy(Reducer(text, value, index, false), index));
        const std::unique_ptr<Module> evaluated = program(Reducer(text, value, index, true));
        ASSERT_TRUE(ExtremeReducerOf(*compared->entry()->root()->called(0)).has_value());
        ASSERT_FALSE(ExtremeReducerOf(*evaluated->entry()->root()->called(0)).has_value());
        std::vector<Literal> rows;
        for (int d = 0; d < 3; ++d)
          rows.push_back(RandomValues(compared->entry()->parameter(0)->shape(), value, body == kJax, random));
        const std::string expected = Results(*evaluated, rows, 1);
        for (const int threads : {1, 2}) {
          EXPECT_EQ(Results(*compared, rows, threads), expected)
              << value << " " << nest.dims << " by " << nest.reduced << text;
        }
      }
    }
  }
}

TEST(ExtremeReduceTest, KnowsWhatAReducerDoes) {
  const std::unique_ptr<Module> module = Parsed(absl::StrCat(
      "HloModule m\n", WithoutCopy(Reducer(Body(kJax, "f32", "s32", true), "f32", "s32", false), "s32"),
      "ENTRY e { x = f32[5] parameter(0) i = s32[5] iota(), iota_dimension=0 a = f32[] constant(0) "
      "b = s32[] constant(0) ROOT y = (f32[], s32[]) reduce(x, i, a, b), dimensions={0}, to_apply=r }"));
  const std::optional<ExtremeReducer> reducer = ExtremeReducerOf(*module->entry()->root()->called(0));
  ASSERT_TRUE(reducer.has_value());
  using Case = ExtremeReducer::Case;
  const Case keeps, takes{{true, true, true}, {true, true, true}};
  EXPECT_EQ(reducer->at(Relation::kGreater), keeps);
  EXPECT_EQ(reducer->at(Relation::kLess), takes);
  EXPECT_EQ(reducer->at(Relation::kNanFirst), keeps);
  EXPECT_EQ(reducer->at(Relation::kNanSecond), takes);
  EXPECT_EQ(reducer->at(Relation::kNanBoth), keeps);
  EXPECT_EQ(reducer->at(Relation::kEqual), (Case{{true, true, true}, {false, true, true}}));
}

TEST(ExtremeReduceTest, OtherReducersAreNone) {
  for (
      const char* body :
      {"m = f32[] add(v, w) k = s32[] minimum(i, j)",      // Computes.
       "m = f32[] maximum(v, w) k = s32[] minimum(i, j)",  // Of zeros, either.
       "c = pred[] compare(v, w), direction=GT, type=TOTALORDER m = f32[] select(c, v, w) "  // Tells zeros apart.
       "k = s32[] select(c, i, j)",
       "o = f32[] constant(1) c = pred[] compare(v, o), direction=GT m = f32[] select(c, v, w) "  // A bound.
       "k = s32[] select(c, i, j)"}) {
    const std::unique_ptr<Module> module = Parsed(absl::StrCat(
        "HloModule m\nr { v = f32[] parameter(0) i = s32[] parameter(1) w = f32[] parameter(2) j = s32[] parameter(3) ",
        body,
        " ROOT both = (f32[], s32[]) tuple(m, k) }\nENTRY e { x = f32[5] parameter(0) i = s32[5] iota(), iota_dimension=0 "
        "a = f32[] constant(0) b = s32[] constant(0) ROOT y = (f32[], s32[]) reduce(x, i, a, b), dimensions={0}, to_apply=r }"));
    EXPECT_FALSE(ExtremeReducerOf(*module->entry()->root()->called(0)).has_value()) << body;
  }
}

}  // namespace
}  // namespace toroid
