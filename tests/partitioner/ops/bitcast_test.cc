// Bitcasts between layouts.
#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "gmock/gmock.h"
#include "tests/partitioner/equivalence.h"

namespace toroid {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(BitcastTest, EveryLayoutOfOperandAndResult) {
  std::string from = "012";
  do {
    std::string to = "01";
    do {
      for (const std::string cut : {"$$n,1,1", "1,$$n,1", "1,1,$$n"}) {
        ExpectEquivalent(
            absl::Substitute(R"(
ENTRY main {
  p = s32[2,5,6]{$0} parameter(0), sharding={devices=[)" +
                                 cut + R"(]<=[$$n]}
  n = s32[2,5,6]{$0} negate(p)
  b = s32[4,15]{$1} bitcast(n)
  ROOT r = s32[4,15]{$1} negate(b)
})",
                             absl::StrCat(from.substr(0, 1), ",", from.substr(1, 1), ",", from.substr(2)),
                             absl::StrCat(to.substr(0, 1), ",", to.substr(1))),
            {}, {1, 3, 4});
      }
    } while (std::next_permutation(to.begin(), to.end()));
  } while (std::next_permutation(from.begin(), from.end()));
}

TEST(BitcastTest, ElementTypesMayChange) {
  ExpectEquivalent(R"(
ENTRY main {
  p = s32[3,6]{0,1} parameter(0), sharding={devices=[1,$n]<=[$n]}
  b = s16[12,3]{0,1} bitcast(p)
  c = pred[8,9] bitcast(b)
  ROOT r = (s16[12,3], pred[8,9]) tuple(b, c), sharding={{devices=[$n,1]<=[$n]}, {devices=[1,$n]<=[$n]}}
})");
}

TEST(BitcastTest, CallsMayGiveOtherLayoutsThanTheyState) {
  ExpectEquivalent(R"(
f { q = s32[3,6]{0,1} parameter(0)  ROOT n = s32[3,6]{0,1} negate(q) }
ENTRY main {
  p = s32[3,6]{1,0} parameter(0), sharding={devices=[$n,1]<=[$n]}
  c = s32[3,6]{1,0} call(p), to_apply=f
  ROOT b = s16[36]{0} bitcast(c)
})");
}

TEST(BitcastTest, StaysCutWhereReshapeAndTransposeDo) {
  const std::string text = R"(
ENTRY main {
  p = f32[8,6]{0,1} parameter(0), sharding={devices=[$n,1]<=[$n]}
  b = f32[3,2,8]{2,0,1} bitcast(p)
  ROOT r = f32[3,2,8]{2,0,1} negate(b), sharding={devices=[1,1,$n]<=[$n]}
})";
  EXPECT_THAT(Collectives(text, 4), IsEmpty());
  ExpectEquivalent(text);
}

TEST(BitcastTest, TilesWithoutPaddingAndTheSameTilesOnBothSidesArePartitioned) {
  ExpectEquivalent(R"(
ENTRY main {
  p = f32[8,6]{1,0:T(2,3)} parameter(0), sharding={devices=[$n,1]<=[$n]}
  b = f32[48]{0} bitcast(p)
  ROOT r = f32[48] negate(b)
})");
  const std::string text = R"(
ENTRY main {
  p = f32[9,6]{1,0:T(8,128)} parameter(0), sharding={devices=[$n,1]<=[$n]}
  b = f32[6,9,1]{0,1,2:T(8,128)} bitcast(p)
  ROOT r = f32[6,9,1] negate(b), sharding={devices=[1,$n,1]<=[$n]}
})";
  EXPECT_THAT(Collectives(text, 4), IsEmpty());
  ExpectEquivalent(text);
}

TEST(BitcastTest, PaddingThatLiesWhereItLayIsPartitionedAsAReshape) {
  const std::string text = R"(
ENTRY main {
  p = f32[4,6,5]{2,1,0:T(2,4)} parameter(0), sharding={devices=[$n,1,1]<=[$n]}
  b = f32[24,5]{1,0:T(2,4)} bitcast(p)
  ROOT r = f32[24,5] negate(b), sharding={devices=[$n,1]<=[$n]}
})";
  EXPECT_THAT(Collectives(text, 4), IsEmpty());
  ExpectEquivalent(text);
  ExpectEquivalent(R"(
ENTRY main {
  p = f32[3,4,5]{2,0,1:T(2,4)} parameter(0), sharding={devices=[1,$n,1]<=[$n]}
  b = f32[4,1,5,3]{2,3,1,0:T(2,4)} bitcast(p)
  v = f32[5] parameter(1)
  c = f32[1,5]{1,0:T(1,8)} bitcast(v)
  ROOT r = (f32[4,1,5,3], f32[1,5]) tuple(b, c)
})");
  ExpectEquivalent(R"(
ENTRY main {
  p = f32[8,5]{1,0:T(4,4)} parameter(0), sharding={devices=[$n,1]<=[$n]}
  first = f32[7,5]{1,0:T(4,4)} bitcast(p)
  ROOT r = f32[7,5] negate(first), sharding={devices=[$n,1]<=[$n]}
})");
}

TEST(BitcastTest, PaddingThatNothingReadsIsNoMatter) {
  ExpectEquivalent(R"(
f {
  q = f32[4,6]{1,0:T(2,128)} parameter(0)
  b = f32[24] bitcast(q)
  n = f32[24] negate(b)
  ROOT r = f32[4,6] negate(q)
}
ENTRY main {
  p = f32[4,6]{1,0:T(2,128)} parameter(0), sharding={devices=[$n,1]<=[$n]}
  longer = f32[4,8]{1,0:T(2,128)} bitcast(p)
  s = f32[4,8] negate(longer)
  ROOT c = f32[4,6] call(p), to_apply=f
})");
}

TEST(BitcastTest, PaddingThatIsReadIsRefused) {
  const auto partitioned = PartitionModule(*ProgramFor(R"(
ENTRY main {
  p = f32[4,6]{1,0:T(2,128)} parameter(0), sharding={devices=[$n,1]<=[$n]}
  ROOT b = f32[24] bitcast(p)
})",
                                                       2),
                                           PartitionOptions());
  EXPECT_THAT(partitioned.status().message(),
              HasSubstr("main/b: bitcast of f32[4,6]{1,0:T(2,128)} to f32[24]"));
}

}  // namespace
}  // namespace toroid
