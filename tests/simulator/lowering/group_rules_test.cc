// What runs together, is made anew, is read from where it is: rules found on programs of strangers, each on a small program.
#include <cstdio>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/simulator/lowering/lowered_programs.h"

namespace toroid {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;

TEST(GroupRulesTest, AVectorForEachOfABatchIsMultipliedAndAddedIfMatricesAreSmall) {
  const auto program = [](absl::string_view matrix, absl::string_view vector, absl::string_view result, absl::string_view numbers) {
    return absl::StrCat(" a = f32", matrix, " parameter(0) v = f32", vector, " parameter(1) ROOT d = f32", result, " dot(a, v), ", numbers);
  };
  const std::string small = program("[5,7,6]", "[5,6]", "[5,7]",
                                    "lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0}, rhs_contracting_dims={1}");
  ExpectSameValues(small);
  EXPECT_THAT(Groups(small), Not(Contains("dot")));
  ExpectSameValues(program("[7,5,6,3]", "[6,3,5]", "[5,3,7]",
                           "lhs_batch_dims={1,3}, lhs_contracting_dims={2}, rhs_batch_dims={2,1}, rhs_contracting_dims={0}"));
  // Under a dimension of one element; behind it in the result.
  const std::string one = program("[4,128,96]", "[4,1,96]", "[4,128,1]",
                                  "lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0}, rhs_contracting_dims={2}");
  ExpectSameValues(one);
  EXPECT_THAT(Groups(one), Not(Contains("dot")));
  EXPECT_THAT(Groups(program("[4,128,96]", "[4,96]", "[4,128]",
                             "lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0}, rhs_contracting_dims={1}")),
              Contains("dot"));
  // The vector on the left.
  ExpectSameValues(R"( v = f32[5,6] parameter(0) a = f32[5,7,6] parameter(1)
    ROOT d = f32[5,7] dot(v, a), lhs_batch_dims={0}, lhs_contracting_dims={1}, rhs_batch_dims={0}, rhs_contracting_dims={2} )");
}

TEST(GroupRulesTest, PiecesOfAPaddingArePaddedByLess) {
  for (const absl::string_view cut : {"[0:6], [0:9]", "[1:7], [2:11]", "[2:8], [3:12]", "[2:4], [4:6]", "[0:2], [0:9]", "[7:8], [0:2]"}) {
    int64_t a, b, c, d;
    ASSERT_EQ(std::sscanf(std::string(cut).c_str(), "[%ld:%ld], [%ld:%ld]", &a, &b, &c, &d), 4);
    ExpectSameValues(absl::StrCat(R"( x = f32[5,7] parameter(0)
      three = f32[] constant(3)
      p = f32[8,12] pad(x, three), padding=2_1x3_2
      ROOT s = f32[)", b - a, ",", d - c, "] slice(p), slice={[", a, ":", b, "], [", c, ":", d, "]}"));
  }
  // A difference of neighbours reads x, not what is padded.
  EXPECT_THAT(Groups(R"( x = f32[256,256] parameter(0)
    zero = f32[] constant(0)
    p = f32[258,256] pad(x, zero), padding=1_1x0_0
    a = f32[256,256] slice(p), slice={[0:256], [0:256]}
    b = f32[256,256] slice(p), slice={[2:258], [0:256]}
    ROOT d = f32[256,256] subtract(a, b) )"),
              ElementsAre("loop"));
}

TEST(GroupRulesTest, WindowsTakeAPaddingAsTheirs) {
  const char* program = R"( x = f32[5,7] parameter(0)
    zero = f32[] constant(0)
    p = f32[12,16] pad(x, zero), padding=1_2_1x2_1_1
    ROOT w = f32[11,9] reduce-window(p, zero), window={size=2x3 stride=1x2 pad=0_0x1_2}, to_apply=sum )";
  ExpectSameValues(program);
  EXPECT_EQ(Groups(program).size(), 1u);
  // Another value than the windows begin with.
  ExpectSameValues(R"( x = f32[5,7] parameter(0)
    zero = f32[] constant(0)
    one = f32[] constant(1)
    p = f32[7,7] pad(x, one), padding=1_1x0_0
    ROOT w = f32[6,7] reduce-window(p, zero), window={size=2x1}, to_apply=sum )");
}

TEST(GroupRulesTest, ReductionsOfDifferentTypesArePassesOfTheirOwn) {
  EXPECT_THAT(Groups(R"( x = f32[256,512] parameter(0)
    zero = f32[] constant(0)
    s = f32[512] reduce(x, zero), dimensions={0}, to_apply=sum
    i = s32[256,512] convert(x)
    none = s32[] constant(0)
    n = s32[512] reduce(i, none), dimensions={0}, to_apply=count
    ROOT t = (f32[512], s32[512]) tuple(s, n) )"),
              ElementsAre("reduce", "reduce"));
}

constexpr char kLargestAndPlace[] = R"( x = f32[256,512] parameter(0)
    low = f32[] constant(-inf)
    none = s32[] constant(0)
    i = s32[256,512] iota(), iota_dimension=1
    a = (f32[256], s32[256]) reduce(x, i, low, none), dimensions={1}, to_apply=largest
    p = s32[256] get-tuple-element(a), index=1
    m = f32[256] reduce(x, low), dimensions={1}, to_apply=max
    zero = f32[] constant(0)
    s = f32[256] reduce(x, zero), dimensions={1}, to_apply=sum )";

TEST(GroupRulesTest, TheLargestAndItsPlaceAreFoundTogetherAloneOfOthers) {
  EXPECT_THAT(Groups(absl::StrCat(kLargestAndPlace, "ROOT t = (s32[256], f32[256]) tuple(p, m)")), ElementsAre("reduce"));
  EXPECT_THAT(Groups(absl::StrCat(kLargestAndPlace, "ROOT t = (s32[256], f32[256]) tuple(p, s)")), ElementsAre("reduce", "reduce"));
}

TEST(GroupRulesTest, ReductionsOfWhatAProductWritesJoinItAlongAnyDimension) {
  const char* program = R"( x = f32[256,128] parameter(0) y = f32[128,512] parameter(1)
    zero = f32[] constant(0)
    low = f32[] constant(-inf)
    d = f32[256,512] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
    s = f32[512] reduce(d, zero), dimensions={0}, to_apply=sum
    m = f32[256] reduce(d, low), dimensions={1}, to_apply=max
    ROOT t = (f32[256,512], f32[512], f32[256]) tuple(d, s, m) )";
  ExpectSameValues(program);
  EXPECT_THAT(Groups(program), ElementsAre("dot"));
}

TEST(GroupRulesTest, RowsAreReadFromWhereTheyAre) {
  const char* program = R"( x = f32[16,8,256] parameter(0) y = f32[8,16,256] parameter(1) z = f32[8,16,256] parameter(2)
    t = f32[8,16,256] transpose(x), dimensions={1,0,2}
    a = f32[8,16,256] add(y, z)
    ROOT s = f32[8,16,256] multiply(a, t) )";
  ExpectSameValues(program);
  EXPECT_THAT(Groups(program), ElementsAre("loop"));
  EXPECT_EQ(Groups(R"( x = f32[256,128] parameter(0) y = f32[128,256] parameter(1)
    t = f32[128,256] transpose(x), dimensions={1,0}
    ROOT s = f32[128,256] add(y, t) )").size(),
            2u);  // Lanes are turned before.
}

TEST(GroupRulesTest, ScoresOfAMaskedProductAreKeptInBf16) {
  const char* program = R"( x = bf16[8,256,128] parameter(0) y = bf16[8,256,128] parameter(1)
    low = f32[] constant(-inf)
    zero = f32[] constant(0)
    d = bf16[8,256,256] dot(x, y), lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0}, rhs_contracting_dims={2}
    f = f32[8,256,256] convert(d)
    i = s32[256,256] iota(), iota_dimension=0
    j = s32[256,256] iota(), iota_dimension=1
    c = pred[256,256] compare(i, j), direction=GE
    cb = pred[8,256,256] broadcast(c), dimensions={1,2}
    lb = f32[8,256,256] broadcast(low), dimensions={}
    m = f32[8,256,256] select(cb, f, lb)
    r = f32[8,256] reduce(m, low), dimensions={2}, to_apply=max
    rb = f32[8,256,256] broadcast(r), dimensions={0,1}
    e = f32[8,256,256] subtract(m, rb)
    ROOT s = f32[8,256] reduce(e, zero), dimensions={2}, to_apply=sum )";
  EXPECT_THAT(Groups(program), ElementsAre("loop", "dot", "reduce"));
}

TEST(GroupRulesTest, WhatNeedsASumOfAllWaitsForIt) {
  EXPECT_THAT(Groups(R"( x = f32[256,512] parameter(0) y = f32[256,512] parameter(1)
    zero = f32[] constant(0)
    m = f32[256,512] add(x, y)
    q = f32[256,512] multiply(m, m)
    s = f32[] reduce(q, zero), dimensions={0,1}, to_apply=sum
    b = f32[256,512] broadcast(s), dimensions={}
    u = f32[256,512] multiply(m, b)
    ROOT t = (f32[256,512], f32[256,512]) tuple(m, u) )"),
              ElementsAre("reduce", "loop"));
}

TEST(GroupRulesTest, AValueThatOneGroupMakesFromManyIsNotWritten) {
  // t is read on two ways by one group.
  EXPECT_THAT(Groups(R"( x = f32[256,512] parameter(0) y = f32[256,512] parameter(1) z = f32[256,512] parameter(2)
    a = f32[256,512] add(x, y)
    t = f32[256,512] multiply(a, z)
    e = f32[256,512] exponential(t)
    ROOT r = f32[256,512] subtract(e, t) )"),
              ElementsAre("loop"));
}

TEST(GroupRulesTest, ManyArraysAreWrittenToTheirPlaces) {
  std::string program = " x = f32[64,128] parameter(0) ";
  std::string operands;
  for (int i = 0; i < 6; ++i) {
    absl::StrAppend(&program, "c", i, " = f32[] constant(", i, ") b", i, " = f32[64,128] broadcast(c", i, "), dimensions={} p", i,
                    " = f32[64,128] add(x, b", i, ") ");
    absl::StrAppend(&operands, i == 0 ? "" : ", ", "p", i);
  }
  absl::StrAppend(&program, "ROOT c = f32[384,128] concatenate(", operands, "), dimensions={0}");
  ExpectSameValues(program);
  EXPECT_EQ(Groups(program).size(), 6u);
}

}  // namespace
}  // namespace toroid
