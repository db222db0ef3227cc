// BUILD: size = "small"
// The equal cuts of an array.
#include "partitioner/sharding_search/shardings_to_try.h"

#include <set>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/partitioner/sharding_search/searched_program.h"

namespace toroid {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

std::vector<std::string> Texts(absl::Span<const int64_t> dims, const std::string& mesh,
                               bool prefers_even = true) {
  const SearchedProgram on = PrepareForSearch("ENTRY e { ROOT x = f32[4] parameter(0) }", mesh);
  std::vector<std::string> texts;
  for (const Sharding& sharding :
       ShardingsToTry(dims, on.space.units, on.program->annotations.mesh, prefers_even))
    texts.push_back(on.program->annotations.mesh.ToHlo(sharding).ToString());
  return texts;
}

TEST(ShardingsToTryTest, TheFirstIsWholeAndAllDivide) {
  EXPECT_THAT(
      Texts({4, 6}, "x=2,y=4"),
      ElementsAre("{replicated}", "{devices=[2,1,4]<=[8] last_tile_dim_replicate}",
                  "{devices=[1,2,4]<=[8] last_tile_dim_replicate}",
                  "{devices=[4,1,2]<=[2,4]T(1,0) last_tile_dim_replicate}", "{devices=[4,2]<=[2,4]T(1,0)}"));
}

TEST(ShardingsToTryTest, UnitsOfOneDimensionKeepTheirOrder) {
  EXPECT_THAT(Texts({8}, "x=2,y=2"),
              ElementsAre("{replicated}", "{devices=[2,2]<=[4] last_tile_dim_replicate}",
                          "{devices=[2,2]<=[2,2]T(1,0) last_tile_dim_replicate}", "{devices=[4]<=[4]}"));
}

TEST(ShardingsToTryTest, ThereAreAsManyAsUnitsHaveWaysToGo) {
  EXPECT_THAT(Texts({16, 16, 16}, "x=2,y=2"), SizeIs(4 * 4));
  EXPECT_THAT(Texts({16, 16}, "x=2,y=2,z=2"), SizeIs(3 * 3 * 3));
}

TEST(ShardingsToTryTest, ScalarsEmptyArraysAndSmallPrimesAreWhole) {
  EXPECT_THAT(Texts({}, "x=2"), ElementsAre("{replicated}"));
  EXPECT_THAT(Texts({0, 7}, "x=2"), ElementsAre("{replicated}"));
  EXPECT_THAT(Texts({5, 7}, "x=3,y=2"), ElementsAre("{replicated}"));
}

TEST(ShardingsToTryTest, WhatNothingDividesIsCutWithLittlePadding) {
  // 25 rows on a device; 7 columns over 4 would be a seventh more.
  EXPECT_THAT(Texts({99, 7}, "x=4"), ElementsAre("{replicated}", "{devices=[4,1]<=[4]}"));
  EXPECT_THAT(Texts({99, 8}, "x=4"), ElementsAre("{replicated}", "{devices=[1,4]<=[4]}"));
  EXPECT_THAT(Texts({99, 8}, "x=4", /*prefers_even=*/false),
              ElementsAre("{replicated}", "{devices=[4,1]<=[4]}", "{devices=[1,4]<=[4]}"));
  EXPECT_THAT(Texts({9}, "x=8"), ElementsAre("{replicated}"));
}

TEST(ShardingsToTryTest, NoneIsFoundTwice) {
  const std::vector<std::string> texts = Texts({8, 4, 2}, "x=2,y=2,z=2");
  EXPECT_EQ(std::set<std::string>(texts.begin(), texts.end()).size(), texts.size());
}

}  // namespace
}  // namespace toroid
