// Values computed from constants and iotas alone are computed in each sharding in which they are needed.
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "tests/partitioner/equivalence.h"

namespace toroid {
namespace {

// Normalized bilinear weights interpolate between 12 and 20 rows. `cut`: the tiles of the image.
std::string Interpolation(const char* cut) {
  return absl::StrCat(R"(
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }
ENTRY main {
  x = f32[4,12,5] parameter(0), sharding={devices=)",
                      cut, R"(<=[$n]}
  i = f32[12,20] iota(), iota_dimension=0
  j = f32[12,20] iota(), iota_dimension=1
  h = f32[] constant(0.5)
  hs = f32[12,20] broadcast(h), dimensions={}
  k = f32[12,20] multiply(j, hs)
  d = f32[12,20] subtract(i, k)
  a = f32[12,20] abs(d)
  one = f32[] constant(1)
  ones = f32[12,20] broadcast(one), dimensions={}
  r = f32[12,20] subtract(ones, a)
  z = f32[] constant(0)
  zs = f32[12,20] broadcast(z), dimensions={}
  w = f32[12,20] maximum(r, zs)
  s = f32[20] reduce(w, z), dimensions={0}, to_apply=add
  sb = f32[12,20] broadcast(s), dimensions={1}
  q = f32[12,20] add(w, sb)
  t = f32[20,12] transpose(q), dimensions={1,0}
  ROOT y = f32[4,5,20] dot(x, t), lhs_contracting_dims={1}, rhs_contracting_dims={1}
})");
}

TEST(FreeValuesTest, AreEqualHoweverTheyAreCut) {
  for (const char* cut : {"[$n,1,1]", "[1,$n,1]", "[1,1,$n]"}) ExpectEquivalent(Interpolation(cut));
}

TEST(FreeValuesTest, AreNeverSent) {
  EXPECT_THAT(Collectives(Interpolation("[$n,1,1]"), 4), ::testing::IsEmpty());
  EXPECT_THAT(Collectives(Interpolation("[1,$n,1]"), 4), ::testing::ElementsAre("all-reduce 1600"));
}

// A reshaped iota. A device may need a tile of it that is no contiguous range of the iota.
TEST(FreeValuesTest, AReshapeThatCannotBeCutAsWantedIsMadeWholeFirst) {
  for (const char* tiles : {"[2,3]<=[6]", "[3,2]<=[6]", "[1,6]<=[6]", "[6,1]<=[6]", "[2,3]<=[3,2]T(1,0)"}) {
    const std::string program = absl::StrCat(R"(
ENTRY main {
  x = s32[12,12] parameter(0), sharding={devices=)",
                                             tiles, R"(}
  i = s32[144] iota(), iota_dimension=0
  r = s32[12,12] reshape(i)
  ROOT y = s32[12,12] add(x, r)
})");
    ExpectEquivalent(program, {}, {6});
  }
}

// Two users need the mask in two shardings.
TEST(FreeValuesTest, UsersGetTheirOwn) {
  const std::string program = R"(
ENTRY main {
  x = s32[8,16] parameter(0), sharding={devices=[$n,1]<=[$n]}
  y = s32[8,16] parameter(1), sharding={devices=[1,$n]<=[$n]}
  i = s32[8,16] iota(), iota_dimension=0
  j = s32[8,16] iota(), iota_dimension=1
  m = pred[8,16] compare(i, j), direction=GE
  z = s32[] constant(0)
  zs = s32[8,16] broadcast(z), dimensions={}
  a = s32[8,16] select(m, x, zs)
  b = s32[8,16] select(m, y, zs)
  ROOT t = (s32[8,16], s32[8,16]) tuple(a, b), sharding={{devices=[$n,1]<=[$n]}, {devices=[1,$n]<=[$n]}}
})";
  ExpectEquivalent(program);
  EXPECT_THAT(Collectives(program, 8), ::testing::IsEmpty());
}

TEST(FreeValuesTest, AReshapeWithoutCommonFactorsIsMadeWholeAndCut) {
  for (const char* cut : {"[1,$n,1]", "[$n,1,1]", "[1,1,$n]"}) {
    ExpectEquivalent(absl::StrCat(R"(
ENTRY main {
  q = f32[7] parameter(0)
  b = f32[4,15,7] broadcast(q), dimensions={2}
  ROOT r = f32[7,4,15] reshape(b), sharding={devices=)",
                                  cut, "<=[$n]}\n}"));
  }
}

}  // namespace
}  // namespace toroid
