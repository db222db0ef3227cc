#include "simulator/network/symmetry.h"

#include <set>

#include "gmock/gmock.h"
#include "tests/simulator/network/slices.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

bool Always(absl::Span<const int32_t>) { return true; }

int64_t ChipClasses(const Folding& folding) {
  return static_cast<int64_t>(std::set<int32_t>(folding.chip_class.begin(), folding.chip_class.end()).size());
}

TEST(SymmetryTest, AllChipsOfATorusAreAlike) {
  ASSERT_OK_AND_ASSIGN(const Topology torus, Topology::Create(PlainNetwork(), Slice({6, 4, 3}, true), 2));
  const Folding folding = Fold(torus, Always);
  EXPECT_EQ(ChipClasses(folding), 1);
  EXPECT_EQ(folding.chip_count[0], 72);
  EXPECT_EQ(folding.link_count.size(), 3u);  // One per axis: reflections join its directions.
  EXPECT_EQ(folding.link_count[0], 2 * 72);
  EXPECT_DOUBLE_EQ(folding.capacity[0], 2 * 72 * 100.0);
}

TEST(SymmetryTest, AMeshFoldsIntoItsQuarter) {
  ASSERT_OK_AND_ASSIGN(const Topology mesh, Topology::Create(PlainNetwork(), Slice({4, 6}), 1));
  EXPECT_EQ(ChipClasses(Fold(mesh, Always)), 2 * 3);
}

TEST(SymmetryTest, APatternThatNothingKeepsIsNotFolded) {
  ASSERT_OK_AND_ASSIGN(const Topology torus, Topology::Create(PlainNetwork(), Slice({4, 4}, true), 1));
  const auto never = [](absl::Span<const int32_t>) { return false; };
  EXPECT_EQ(ChipClasses(Fold(torus, never)), 16);
  EXPECT_EQ(Fold(torus, never).link_count.size(), 64u);
}

TEST(SymmetryTest, TheSmallestTranslationThatKeepsThePatternIsTaken) {
  ASSERT_OK_AND_ASSIGN(const Topology ring, Topology::Create(PlainNetwork(), Slice({12}, true), 1));
  const auto by_four = [](absl::Span<const int32_t> image) {
    return image[1] == image[0] + 1 && image[0] % 4 == 0;
  };
  EXPECT_EQ(ChipClasses(Fold(ring, by_four)), 4);
}

TEST(SymmetryTest, ADeadLinkEndsAllSymmetry) {
  SliceSpec slice = Slice({4}, true);
  slice.add_dead_links();
  ASSERT_OK_AND_ASSIGN(const Topology ring, Topology::Create(PlainNetwork(), slice, 1));
  EXPECT_EQ(ChipClasses(Fold(ring, Always)), 4);
}

}  // namespace
}  // namespace toroid
