// Runs over the ranks of mpirun give the bits of one process.
// BUILD: size = "large"
// BUILD: tags = ["exclusive"]
// BUILD: data = [":mpi_ranks", "//tests/corpus:jax"]
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/commands/command_runner.h"

namespace toroid {
namespace {

using ::testing::HasSubstr;

void ExpectEqual(int ranks, const std::string& flags, const std::string& programs) {
  const Outcome outcome =
      RunShell(absl::StrCat(Mpirun(), "-n ", ranks, " tests/runtime/ranks/mpi_ranks ", flags));
  EXPECT_EQ(outcome.exit, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr(absl::StrCat(programs, " programs equal over ", ranks, " ranks")));
}

TEST(MpiRanksTest, CorpusOnOneRank) { ExpectEqual(1, "--corpus", "48"); }
TEST(MpiRanksTest, CorpusOnTwoRanks) { ExpectEqual(2, "--corpus", "48"); }
TEST(MpiRanksTest, CorpusOnFourRanks) { ExpectEqual(4, "--corpus", "48"); }
TEST(MpiRanksTest, MoeLayerWith64ExpertsOnFourRanks) { ExpectEqual(4, "--moe=64", "1"); }
TEST(MpiRanksTest, MoeLayerWith2048ExpertsOnFourRanks) { ExpectEqual(4, "--moe=2048", "1"); }
TEST(MpiRanksTest, LargeMessagesAreSentInParts) { ExpectEqual(3, "--corpus --max_message=999", "48"); }
TEST(MpiRanksTest, RandomProgramsOnThreeRanks) { ExpectEqual(3, "--random=1000", "1000"); }

}  // namespace
}  // namespace toroid
