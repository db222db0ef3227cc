#include <string>

#include "absl/strings/str_cat.h"
#include "tests/partitioner/equivalence.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::ElementsAre;

std::string Reduce(const std::string& type, const std::string& opcode, const std::string& init,
                   const std::string& sizes, const std::string& out) {
  return absl::StrCat("f { a = ", type, "[] parameter(0)  b = ", type, "[] parameter(1)  ROOT c = ", type,
                      "[] ", opcode, "(a, b) }\nENTRY main {\n  x = ", type, "[", sizes,
                      "] parameter(0), sharding={devices=[$n,1]<=[$n]}\n  i = ", type, "[] ", init,
                      "\n  ROOT y = ", type, "[", out,
                      "] reduce(x, i), dimensions={0}, to_apply=f, sharding={replicated}\n}\n");
}

TEST(ReduceTest, EveryReducerOfEveryTypeOverAnUnevenDimension) {
  for (const char* type : {"f32", "bf16", "f64", "s8", "u8", "s32", "u32", "s64", "u64"}) {
    for (const char* opcode : {"add", "maximum", "minimum", "multiply"}) {
      SCOPED_TRACE(absl::StrCat(type, " ", opcode));
      // Padding must hold the neutral element, not the init value: values below or above the init value would
      // show the difference.
      ExpectEquivalent(Reduce(type, opcode, "constant(1)", "5,3", "3"), {}, {2, 3, 7});
    }
  }
  for (const char* type : {"pred", "s32", "u8"}) {
    for (const char* opcode : {"and", "or"}) {
      SCOPED_TRACE(absl::StrCat(type, " ", opcode));
      ExpectEquivalent(
          Reduce(type, opcode, std::string(type) == "pred" ? "constant(true)" : "constant(5)", "5,3", "3"),
          {}, {2, 3, 7});
      ExpectEquivalent(
          Reduce(type, opcode, std::string(type) == "pred" ? "constant(false)" : "constant(0)", "5,3", "3"),
          {}, {2, 3, 7});
    }
  }
  ExpectEquivalent(Reduce("c64", "add", "constant((1, 2))", "5,3", "3"), {}, {2, 7});
}

TEST(ReduceTest, ExtremesFarFromZero) {
  // Maxima of negative and minima of positive numbers: a zero in the padding would win.
  for (const char* type : {"f32", "s32", "s8"}) {
    SCOPED_TRACE(type);
    const Shape shape(*TypeFromName(type), {5, 3});
    ExpectEquivalent(Reduce(type, "maximum", "constant(-100)", "5,3", "3"), {Integers(shape, 1, -9, -5)});
    ExpectEquivalent(Reduce(type, "minimum", "constant(100)", "5,3", "3"), {Integers(shape, 1, 5, 9)});
  }
  ExpectEquivalent(Reduce("u32", "minimum", "constant(4294967295)", "5,3", "3"),
                   {Integers(Shape(xla::U32, {5, 3}), 1, 5, 9)});
}

TEST(ReduceTest, AnInitThatIsNotNeutralCountsOnce) {
  ExpectEquivalent(Reduce("s32", "add", "constant(1000)", "16,3", "3"));
  ExpectEquivalent(Reduce("s32", "add", "parameter(1)", "16,3", "3"));
  ExpectEquivalent(Reduce("s32", "multiply", "constant(3)", "5,3", "3"));
}

TEST(ReduceTest, EmptyAndSingleDimensions) {
  ExpectEquivalent(Reduce("s32", "add", "constant(7)", "0,3", "3"));
  ExpectEquivalent(Reduce("s32", "maximum", "constant(-7)", "1,3", "3"));
}

TEST(ReduceTest, OneAllReduceOfTheResult) {
  EXPECT_THAT(Collectives(Reduce("f32", "add", "constant(0)", "16,3", "3"), 4), ElementsAre("all-reduce 12"));
}

// A reduction of two arrays: the largest value and its position.
std::string ArgMax(int64_t size) {
  return absl::StrCat(R"(f {
  v0 = f32[] parameter(0)
  i0 = s32[] parameter(1)
  v1 = f32[] parameter(2)
  i1 = s32[] parameter(3)
  more = pred[] compare(v0, v1), direction=GT
  same = pred[] compare(v0, v1), direction=EQ
  first = pred[] compare(i0, i1), direction=LT
  tie = pred[] and(same, first)
  take = pred[] or(more, tie)
  v = f32[] select(take, v0, v1)
  i = s32[] select(take, i0, i1)
  ROOT t = (f32[], s32[]) tuple(v, i)
}
ENTRY main {
  x = f32[)",
                      size, R"(,3] parameter(0), sharding={devices=[$n,1]<=[$n]}
  i = s32[)",
                      size, R"(,3] iota(), iota_dimension=0
  low = f32[] constant(-inf)
  none = s32[] constant(1000)
  ROOT r = (f32[3], s32[3]) reduce(x, i, low, none), dimensions={0}, to_apply=f
})");
}

TEST(ReduceTest, ArgMaxOverACutDimension) {
  for (const int64_t size : {1, 5, 16, 17}) ExpectEquivalent(ArgMax(size));
}

TEST(ReduceTest, SeveralDimensionsCutAtOnce) {
  ExpectEquivalent(R"(
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
ENTRY main {
  x = f32[5,3,7] parameter(0), sharding={devices=[2,1,$n]<=[2,$n]}
  zero = f32[] constant(0)
  s = f32[3] reduce(x, zero), dimensions={0,2}, to_apply=add
  ROOT y = f32[3] negate(s)
})",
                   {}, {});
}

std::string TwoReducers(const std::string& first, const std::string& second) {
  return absl::StrCat(R"(
f {
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  c = s32[] parameter(2)
  d = s32[] parameter(3)
  )",
                      first, "\n  ", second, R"(
  ROOT r = (s32[], s32[]) tuple(s, t)
}
ENTRY main {
  x = s32[7,3] parameter(0), sharding={devices=[$n,1]<=[$n]}
  y = s32[7,3] parameter(1), sharding={devices=[$n,1]<=[$n]}
  i = s32[] parameter(2)
  j = s32[] constant(5)
  ROOT r = (s32[3], s32[3]) reduce(x, y, i, j), dimensions={0}, to_apply=f
})");
}

TEST(ReduceTest, InitValuesOfSeveralArraysEnterOnce) {
  ExpectEquivalent(TwoReducers("s = s32[] add(a, c)", "t = s32[] add(b, d)"));
  ExpectEquivalent(TwoReducers("s = s32[] multiply(a, c)", "t = s32[] maximum(b, d)"));
}

TEST(ReduceTest, InitValuesOfAComputationOfItsOwnEnterOnce) {
  // A complex product, (a + b i) (c + d i). The init value must enter only once, and padding rows must be
  // skipped.
  ExpectEquivalent(TwoReducers("p = s32[] multiply(a, c)  q = s32[] multiply(b, d)  s = s32[] subtract(p, q)",
                               "u = s32[] multiply(a, d)  v = s32[] multiply(b, c)  t = s32[] add(u, v)"));
}

TEST(ReduceTest, ArraysReducedApartTakeAnAllReduceEach) {
  EXPECT_THAT(Collectives(TwoReducers("s = s32[] add(a, c)", "t = s32[] add(b, d)"), 2),
              ElementsAre("all-reduce 12", "all-reduce 12"));
}

}  // namespace
}  // namespace toroid
