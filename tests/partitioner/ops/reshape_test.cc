#include <string>

#include "absl/strings/str_cat.h"
#include "hlo/io/shape_text.h"
#include "tests/partitioner/equivalence.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string Reshape(const std::string& from, const std::string& a, const std::string& to,
                    const std::string& b) {
  return absl::StrCat("ENTRY main {\n  x = s32[", from, "] parameter(0), sharding={devices=", a,
                      "<=[$n]}\n  ROOT y = s32[", to, "] reshape(x), sharding={devices=", b, "<=[$n]}\n}\n");
}

TEST(ReshapeTest, MergedAndSplitDimensions) {
  ExpectEquivalent(Reshape("6,4", "[$n,1]", "24", "[$n]"));
  ExpectEquivalent(Reshape("6,4", "[1,$n]", "24", "[$n]"));
  ExpectEquivalent(Reshape("24", "[$n]", "6,4", "[$n,1]"));
  ExpectEquivalent(Reshape("24", "[$n]", "6,4", "[1,$n]"));
  ExpectEquivalent(Reshape("6,4", "[$n,1]", "4,6", "[$n,1]"));
  ExpectEquivalent(Reshape("7,5", "[$n,1]", "5,7", "[1,$n]"));
  ExpectEquivalent(Reshape("3,1,5", "[$n,1,1]", "15,1", "[1,$n]"));
  ExpectEquivalent(Reshape("1", "[$n]", "1,1,1", "[1,$n,1]"));
  ExpectEquivalent(Reshape("0,4", "[$n,1]", "4,0", "[$n,1]"));
}

TEST(ReshapeTest, MajorSplitsThatDivideMoveNothing) {
  EXPECT_THAT(Collectives(Reshape("6,4", "[$n,1]", "24", "[$n]"), 3), IsEmpty());
  EXPECT_THAT(Collectives(Reshape("24", "[$n]", "6,4", "[$n,1]"), 6), IsEmpty());
  EXPECT_THAT(Collectives(Reshape("6,4", "[$n,1]", "6,2,2", "[$n,1,1]"), 2), IsEmpty());
}

TEST(ReshapeTest, UnevenSplitsMoveTheElementsThatChangeOwner) {
  for (const char* whole : {"24", "60", "36"}) {
    for (const char* split : {"6,4", "12,5", "3,20", "9,4", "4,9", "2,3,10", "3,2,6"}) {
      const Shape from = *ParseShape(absl::StrCat("f32[", whole, "]")),
                  to = *ParseShape(absl::StrCat("f32[", split, "]"));
      if (from.NumElements() != to.NumElements()) continue;
      SCOPED_TRACE(absl::StrCat(whole, " ", split));
      const std::string cut = to.rank() == 2 ? "[$n,1]" : "[$n,1,1]";
      ExpectEquivalent(Reshape(whole, "[$n]", split, cut), {}, {2, 3, 4, 5, 7});
      ExpectEquivalent(Reshape(split, cut, whole, "[$n]"), {}, {2, 3, 4, 5, 7});
    }
  }
  ExpectEquivalent(Reshape("10,6", "[$n,1]", "5,12", "[$n,1]"), {}, {2, 3, 4});
  // f32[6,4] over 4 devices: tiles of 8, 8, 8 and 0 elements become tiles of 6 each.
  for (const std::string& collective : Collectives(Reshape("6,4", "[$n,1]", "24", "[$n]"), 4)) {
    EXPECT_EQ(collective.find("collective-permute"), 0) << collective;
  }
}

// f32[3,5] over 4 devices, the last of which has no row: tiles of 5, 5, 5 and 0 elements become 4, 4, 4 and
// 3.
TEST(ReshapeTest, TilesMayOutnumberTheRowsThatAreMerged) {
  EXPECT_THAT(Collectives(Reshape("3,5", "[$n,1]", "15", "[$n]"), 4), ElementsAre("collective-permute 12"));
  for (const auto& [split, whole] :
       {std::pair{"3,5", "15"}, std::pair{"5,3", "15"}, std::pair{"2,9", "18"}, std::pair{"3,5,2", "15,2"}}) {
    SCOPED_TRACE(split);
    const bool tail = std::string(whole).find(',') != std::string::npos;
    const std::string rows = tail ? "[$n,1,1]" : "[$n,1]", merged = tail ? "[$n,1]" : "[$n]";
    ExpectEquivalent(Reshape(split, rows, whole, merged), {}, {2, 3, 4, 5, 6, 8, 12});
    ExpectEquivalent(Reshape(whole, merged, split, rows), {}, {2, 3, 4, 5, 6, 8, 12});
  }
}

// The state of 7 to 18 qubits: many dimensions of size two merge into one, in the end more than the 15
// factors that a rule has room for.
TEST(ReshapeTest, ManyDimensionsMergeIntoOne) {
  for (const int qubits : {7, 8, 15, 16, 17, 18}) {
    SCOPED_TRACE(qubits);
    std::string dims = "2", cut = "2";
    for (int q = 1; q < qubits; ++q) {
      absl::StrAppend(&dims, ",2");
      absl::StrAppend(&cut, q < 3 ? ",2" : ",1");
    }
    const std::string rest = absl::StrCat(1 << (qubits - 1)), all = absl::StrCat(1 << qubits);
    const auto program = [&](const std::string& from, const std::string& a, const std::string& to,
                             const std::string& b) {
      return absl::StrCat("ENTRY main {\n  x = s32[", from, "] parameter(0), sharding={devices=[", a,
                          "]<=[8]}\n  y = s32[", to, "] reshape(x)\n  ROOT z = s32[", to,
                          "] negate(y), sharding={", b, "}\n}\n");
    };
    const std::string first = "devices=[2,1,4]<=[8] last_tile_dim_replicate";
    ExpectEquivalent(program(dims, cut, absl::StrCat("2,", rest), first), {}, {8});
    ExpectEquivalent(program(dims, cut, absl::StrCat("2,", rest), "devices=[2,4]<=[8]"), {}, {8});
    ExpectEquivalent(program(dims, cut, all, "devices=[8]<=[8]"), {}, {8});
    ExpectEquivalent(program(all, "8", dims, absl::StrCat("devices=[", cut, "]<=[8]")), {}, {8});
    ExpectEquivalent(program(absl::StrCat("2,", rest), "2,4", dims, absl::StrCat("devices=[", cut, "]<=[8]")),
                     {}, {8});
  }
}

TEST(TransposeTest, SplitsFollowTheirDimensions) {
  const std::string text = R"(ENTRY main {
  x = s32[5,6,7] parameter(0), sharding={devices=[1,$n,1]<=[$n]}
  ROOT y = s32[7,5,6] transpose(x), dimensions={2,0,1}, sharding={devices=[1,1,$n]<=[$n]}
})";
  ExpectEquivalent(text);
  EXPECT_THAT(Collectives(text, 3), IsEmpty());
}

TEST(BroadcastTest, EveryDeviceMakesItsOwnPart) {
  const std::string text = R"(ENTRY main {
  x = s32[5] parameter(0), sharding={devices=[$n]<=[$n]}
  ROOT y = s32[5,6] broadcast(x), dimensions={0}, sharding={devices=[$n,1]<=[$n]}
})";
  ExpectEquivalent(text);
  EXPECT_THAT(Collectives(text, 4), IsEmpty());
}

}  // namespace
}  // namespace toroid
