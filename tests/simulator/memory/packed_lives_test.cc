// Places of arrays whose lives are known.
#include "simulator/memory/packed_lives.h"

#include <algorithm>
#include <limits>
#include <random>
#include <vector>

#include "gtest/gtest.h"

namespace toroid {
namespace {

int64_t MostAlive(const std::vector<ArrayLife>& lives) {
  int64_t most = 0;
  for (const ArrayLife& at : lives) {
    int64_t alive = 0;
    for (const ArrayLife& life : lives) {
      if (life.begin <= at.begin && at.begin <= life.end) alive += life.bytes;
    }
    most = std::max(most, alive);
  }
  return most;
}

TEST(PackedLivesTest, TheLargestLiesWhereASmallOneWas) {
  EXPECT_EQ(PackedBytes({{0, 1, 4}, {1, 2, 4}, {2, 3, 32}}), 36);
  EXPECT_EQ(PackedBytes({}), 0);
  EXPECT_EQ(PackedBytes({{0, 0, 7}}), 7);
}

TEST(PackedLivesTest, LivesThatShareAStepShareNoPlace) {
  EXPECT_EQ(PackedBytes({{0, 1, 4}, {1, 1, 4}}), 8);
  EXPECT_EQ(PackedBytes({{0, 1, 4}, {2, 3, 4}}), 4);
}

TEST(PackedLivesTest, TakesTheSmallestGapThatHoldsIt) {
  // 100 and 50 at the bottom for all time, 30 between two of them while they last.
  EXPECT_EQ(PackedBytes({{0, 9, 100}, {0, 9, 50}, {0, 4, 30}, {5, 9, 30}, {0, 9, 10}}), 190);
}

TEST(PackedLivesTest, SumsBeyondInt64Saturate) {
  const int64_t half = int64_t{1} << 62;
  EXPECT_EQ(PackedBytes({{0, 1, half}, {0, 1, half}, {0, 1, half}}), std::numeric_limits<int64_t>::max());
}

// A hundred thousand arrays that are alive to the end, two large ones one after the other.
TEST(PackedLivesTest, ManySmallArraysCountByWhatIsAlive) {
  std::vector<ArrayLife> lives = {{0, 1, 1000}, {2, 3, 1000}};
  for (int i = 0; i < 100000; ++i) lives.push_back({i % 2, 100000, 1});
  EXPECT_EQ(PackedBytes(lives), 101000);
}

TEST(PackedLivesTest, RandomLivesNeedLittleMoreThanIsAliveAtATime) {
  std::mt19937 random(7);
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<ArrayLife> lives;
    int64_t sum = 0;
    for (int i = 0; i < 1 + trial; ++i) {
      const int begin = static_cast<int>(random() % 100);
      lives.push_back(
          {begin, begin + static_cast<int>(random() % 10), static_cast<int64_t>(1 + random() % 1000)});
      sum += lives.back().bytes;
    }
    const int64_t packed = PackedBytes(lives);
    EXPECT_GE(packed, MostAlive(lives));
    EXPECT_LE(packed, sum);
    EXPECT_LE(static_cast<double>(packed), 1.4 * static_cast<double>(MostAlive(lives)));
  }
}

}  // namespace
}  // namespace toroid
