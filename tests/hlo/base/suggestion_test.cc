// BUILD: size = "small"
#include "hlo/base/suggestion.h"

#include <string>

#include "gtest/gtest.h"

namespace toroid {
namespace {

const std::vector<std::string> kFlags = {"--num_partitions", "--shard", "--stats", "--seed", "-o", "--help"};

TEST(SuggestionTest, TheNearestIsNamed) {
  EXPECT_EQ(Nearest("--num_partition", kFlags), "--num_partitions");
  EXPECT_EQ(Nearest("--num-partitions", kFlags), "--num_partitions");
  EXPECT_EQ(Nearest("--Shard", kFlags), "--shard");
  EXPECT_EQ(Nearest("--satts", kFlags), "--stats");
  EXPECT_EQ(Nearest("--sead", kFlags), "--seed");
  EXPECT_EQ(DidYouMean("--sharding", kFlags), "; did you mean --shard?");
}

TEST(SuggestionTest, NothingNearIsNothing) {
  EXPECT_EQ(Nearest("--frobnicate", kFlags), "");
  EXPECT_EQ(DidYouMean("--frobnicate", kFlags), "");
  EXPECT_EQ(Nearest("", kFlags), "");
  EXPECT_EQ(Nearest("x", {}), "");
  EXPECT_EQ(Nearest(std::string(1 << 20, 'x'), kFlags), "");
}

}  // namespace
}  // namespace toroid
