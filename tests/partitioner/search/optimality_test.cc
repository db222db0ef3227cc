// How far partitioned programs are from the best ones, which an exhaustive search over assignments finds.
// BUILD: size = "medium"
#include "gtest/gtest.h"
#include "hlo/io/hlo_text.h"
#include "partitioner/stages/spmd_partitioner.h"
#include "tests/partitioner/search/small_programs.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

// To check more seeds, by hand: bazel run //tests/partitioner/search:optimality -- --count=2000
TEST(OptimalityTest, SmallProgramsSendLittleMoreThanTheBest) {
  double sum = 0;
  int known = 0, best = 0;
  for (uint64_t seed = 0; seed < 80; ++seed) {
    const Optimality optimality = OptimalityOf(MakeSmallProgram(seed), /*max_states=*/5000);
    if (!optimality.known) continue;
    ++known;
    best += optimality.Ratio() == 1;
    sum += optimality.Ratio();
    EXPECT_LE(optimality.fewest, optimality.sent);
    EXPECT_LE(optimality.Ratio(), 1.5) << "seed " << seed;
  }
  EXPECT_GE(known, 40);
  EXPECT_GE(best, known * 9 / 10);
  EXPECT_LE(sum / known, 1.02);
}

TEST(OptimalityTest, EveryRunGivesTheSameProgram) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const auto module = ParseModule(MakeSmallProgram(seed).text);
    ASSERT_OK(module);
    const auto first = PartitionModule(**module, PartitionOptions()),
               second = PartitionModule(**module, PartitionOptions());
    ASSERT_OK(first);
    ASSERT_OK(second);
    EXPECT_EQ(PrintModule(*first->module), PrintModule(*second->module)) << "seed " << seed;
  }
}

TEST(OptimalityTest, SmallProgramsGiveWhatTheyGiveOnOneDevice) {
  for (uint64_t seed = 0; seed < 100; ++seed) ExpectRunsEqual(MakeSmallProgram(seed));
}

}  // namespace
}  // namespace toroid
