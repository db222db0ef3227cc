// BUILD: size = "small"
// BUILD: data = ["//partitioner:hlo-partition", "//tests/corpus:jax"]
// hlo-partition --search=shardings as a user runs it.
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/commands/command_runner.h"
#include "tests/partitioner/sharding_search/models.h"

namespace toroid {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr char kSearch[] = "partitioner/hlo-partition --search=shardings --search_steps=10 ";

std::string ReadAll(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string Step() {
  return TempFile("step.hlo", absl::StrCat("HloModule m\n", MlpStep(131072, 64, 64, true)));
}

TEST(SearchCommandTest, TheFoundProgramIsProvenEqual) {
  const Outcome found = RunShell(absl::StrCat(kSearch, Step(), " --mesh=data=2,model=2"));
  EXPECT_EQ(found.exit, 0) << found.err;
  EXPECT_THAT(found.out, AllOf(HasSubstr("search of "), HasSubstr("found: 1 annotation"), HasSubstr("P((")));
  // Small enough to run: memory is what cuts its state.
  const std::string small = TempFile("small.hlo", absl::StrCat("HloModule m\n", MlpStep(256, 64, 64, true)));
  const Outcome checked =
      RunShell(absl::StrCat(kSearch, small, " --mesh=data=2,model=2 --memory=200kB --check"));
  EXPECT_EQ(checked.exit, 0) << checked.err;
  EXPECT_THAT(checked.out, AllOf(Not(HasSubstr("no annotation")), HasSubstr("\"equal\":true")));
}

TEST(SearchCommandTest, TheAnnotationsThatItWritesMakeTheSameProgram) {
  const std::string file = TempPath("found.txt"), first = TempPath("first.hlo"),
                    second = TempPath("second.hlo");
  const Outcome found =
      RunShell(absl::StrCat(kSearch, Step(), " --mesh=data=4 --annotations=", file, " -o ", first));
  ASSERT_EQ(found.exit, 0) << found.err;
  EXPECT_THAT(ReadAll(file), StartsWith("# Found by hlo-partition --search=shardings\n"));
  const Outcome again = RunShell(absl::StrCat("partitioner/hlo-partition ", Step(),
                                              " --mesh=data=4 --annotations=", file, " -o ", second));
  ASSERT_EQ(again.exit, 0) << again.err;
  EXPECT_EQ(ReadAll(second), ReadAll(first));
  EXPECT_FALSE(ReadAll(first).empty());
  // It may be written again, another file may not.
  EXPECT_EQ(RunShell(absl::StrCat(kSearch, Step(), " --mesh=data=4 --annotations=", file)).exit, 0);
  const std::string own = TempFile("own.txt", "x={replicated}\n");
  const Outcome refused = RunShell(absl::StrCat(kSearch, Step(), " --mesh=data=4 --annotations=", own));
  EXPECT_EQ(refused.exit, 1);
  EXPECT_THAT(refused.err, HasSubstr("this file is by someone else"));
  EXPECT_EQ(ReadAll(own), "x={replicated}\n");
}

TEST(SearchCommandTest, WithoutAMeshTheMeshIsFound) {
  const Outcome found = RunShell(absl::StrCat(kSearch, Step(), " --num_partitions=4"));
  EXPECT_EQ(found.exit, 0) << found.err;
  EXPECT_THAT(found.out, HasSubstr("mesh: --mesh="));
}

TEST(SearchCommandTest, FreedShardingsAreComparedWithThoseOfBefore) {
  const std::string conv = "tests/corpus/jax/conv_spatial_forward.gspmd.snapshot.pb";
  const Outcome found = RunShell(absl::StrCat(kSearch, conv, " --free='*'"));
  EXPECT_EQ(found.exit, 0) << found.err;
  EXPECT_THAT(found.out, AllOf(HasSubstr("mesh: --mesh="), HasSubstr("before")));
}

TEST(SearchCommandTest, MemoryIsKept) {
  const Outcome found = RunShell(absl::StrCat(
      kSearch, TempFile("zero.hlo", absl::StrCat("HloModule m\n", MlpStep(1024, 256, 256, true))),
      " --mesh=data=4 --memory=3MB"));
  EXPECT_EQ(found.exit, 0) << found.err << found.out;
  EXPECT_THAT(found.out, HasSubstr(" MB of memory"));
}

TEST(SearchCommandTest, BadRequestsAreAnsweredByOneClearLine) {
  const struct {
    std::string flags, message;
  } cases[] = {
      {"", "one device"},
      {"--mesh=data=4 --memory=1kB", "1000 bytes"},
      {"--mesh=data=4 --free=nothing_like_this", "matches no name"},
      {"--num_partitions=1", "one device"},
      {"--mesh=data=0", "data=0"},
      {"--mesh=data", "data"},
  };
  for (const auto& [flags, message] : cases) {
    const Outcome outcome = RunShell(absl::StrCat(kSearch, Step(), " ", flags));
    EXPECT_NE(outcome.exit, 0) << flags;
    EXPECT_NE(outcome.exit, -1) << flags;
    EXPECT_THAT(outcome.err, HasSubstr(message)) << flags;
    EXPECT_EQ(outcome.ErrorLines(), 1) << flags << "\n" << outcome.err;
  }
  EXPECT_NE(RunShell(absl::StrCat("partitioner/hlo-partition ", Step(), " --free='*'")).exit, 0)
      << "without --search";
  EXPECT_NE(RunShell("partitioner/hlo-partition --search=shapes x.hlo").exit, 0);
}

}  // namespace
}  // namespace toroid
