// BUILD: size = "small"
// BUILD: data = ["//hlo:hlo-convert", "//tests/corpus:hlo_text"]
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "hlo/base/files.h"
#include "tests/corpus_files.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::HasSubstr;

struct Outcome {
  int exit = -1;
  std::string out, err;
};

Outcome Convert(const std::string& arguments) {
  const std::string folder = ::testing::TempDir();
  const std::string command =
      absl::StrCat("hlo/hlo-convert </dev/null ", arguments, " >", folder, "/out 2>", folder, "/err");
  Outcome outcome;
  const int status = std::system(command.c_str());
  outcome.exit = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  outcome.out = ReadFile(folder + "/out").value();
  outcome.err = ReadFile(folder + "/err").value();
  return outcome;
}

std::string Lines(const std::string& text) {
  return absl::StrCat(std::count(text.begin(), text.end(), '\n'));
}

TEST(HloConvertTest, ExitStatusTellsUsageFromInput) {
  const std::string input = CorpusFiles("hlo_text", ".hlo")[0];
  EXPECT_EQ(Convert("--help").exit, 0);
  EXPECT_THAT(Convert("--help").out, HasSubstr("HLO"));
  EXPECT_EQ(Convert("").exit, 2);
  EXPECT_EQ(Convert(input).exit, 2);
  EXPECT_EQ(Convert(input + " --no_such_flag").exit, 2);
  EXPECT_EQ(Convert(input + " -o - --format=foo").exit, 2);
  EXPECT_EQ(Convert("/nonexistent -o -").exit, 1);
  EXPECT_EQ(Convert("/dev/null -o -").exit, 1);
  EXPECT_EQ(Convert(input + " -o /nonexistent/x.hlo").exit, 1);
  EXPECT_EQ(Convert(input + " -o /dev/null").exit, 0);
}

TEST(HloConvertTest, UnknownFlagsGetASuggestion) {
  for (const auto& [flag, suggestion] :
       {std::pair("--formt=text", "there is no flag --formt; did you mean --format?"),
        std::pair("--Stats", "there is no flag --Stats; did you mean --stats?"),
        std::pair("-stats", "did you mean --stats?"),
        std::pair("--frobnicate=1", "there is no flag --frobnicate (--help explains the flags)")}) {
    const Outcome outcome = Convert(absl::StrCat("in.hlo -o - ", flag));
    EXPECT_EQ(outcome.exit, 2);
    EXPECT_THAT(outcome.err, HasSubstr(suggestion));
    EXPECT_EQ(Lines(outcome.err), "1");
  }
}

TEST(HloConvertTest, TheVersionIsOneLine) {
  const Outcome outcome = Convert("--version");
  EXPECT_EQ(outcome.exit, 0);
  EXPECT_THAT(outcome.out, HasSubstr("hlo-convert (Toroid) "));
  EXPECT_EQ(Lines(outcome.out), "1");
}

TEST(HloConvertTest, AnOutputNameWithoutFormatIsWrongUsage) {
  const std::string input = CorpusFiles("hlo_text", ".hlo")[0];
  const std::string path = std::string(::testing::TempDir()) + "/module.bin";
  const Outcome outcome = Convert(absl::StrCat(input, " -o ", path));
  EXPECT_EQ(outcome.exit, 2);
  EXPECT_EQ(Lines(outcome.err), "1");
  for (const char* part : {"module.bin", ".pbtxt", "--format"}) EXPECT_THAT(outcome.err, HasSubstr(part));
  EXPECT_FALSE(ReadFile(path).ok());
  EXPECT_EQ(Convert(absl::StrCat(input, " -o ", path, " --format=pb")).exit, 0);
  EXPECT_TRUE(ReadFile(path).ok());
}

TEST(HloConvertTest, WarningsAreLinesOnStandardError) {
  const std::string path = std::string(::testing::TempDir()) + "/signature.hlo";
  std::ofstream(path) << "ENTRY main (x: f32[3]) -> f32[2] {\n  ROOT x = f32[2] parameter(0)\n}\n";
  const Outcome outcome = Convert(path + " -o -");
  EXPECT_EQ(outcome.exit, 0);
  EXPECT_THAT(outcome.err, HasSubstr(path + ":1:12: warning: the signature of main differs"));
  EXPECT_EQ(Lines(outcome.err), "1");
}

TEST(HloConvertTest, ErrorsAreOneLineWithThePlace) {
  const std::string path = std::string(::testing::TempDir()) + "/bad.hlo";
  std::ofstream(path) << "ENTRY main {\n  x = f32[2] parameter(0)\n  y = f32[2] negate(z)\n}\n";
  const Outcome outcome = Convert(path + " -o -");
  EXPECT_EQ(outcome.exit, 1);
  EXPECT_EQ(Lines(outcome.err), "1");
  EXPECT_THAT(outcome.err, ::testing::StartsWith(path + ":3:21: unknown operand z"));
}

TEST(HloConvertTest, AFailedRunLeavesTheOutputAlone) {
  const std::string keep = std::string(::testing::TempDir()) + "/keep.hlo";
  std::ofstream(keep) << "keep";
  EXPECT_EQ(Convert("/dev/null -o " + keep).exit, 1);
  EXPECT_EQ(ReadFile(keep).value(), "keep");
}

TEST(HloConvertTest, EveryFormatLeadsBackToTheText) {
  const std::string folder = ::testing::TempDir();
  for (const std::string& path : CorpusFiles("hlo_text", "1.hlo")) {
    SCOPED_TRACE(path);
    ASSERT_EQ(Convert(absl::StrCat(path, " -o ", folder, "/direct.hlo")).exit, 0);
    ASSERT_EQ(Convert(absl::StrCat(path, " -o ", folder, "/a.hlo.pb")).exit, 0);
    ASSERT_EQ(Convert(absl::StrCat(folder, "/a.hlo.pb -o ", folder, "/b.json")).exit, 0);
    ASSERT_EQ(Convert(absl::StrCat(folder, "/b.json -o ", folder, "/c.pbtxt")).exit, 0);
    ASSERT_EQ(Convert(absl::StrCat(folder, "/c.pbtxt -o ", folder, "/d.snapshot.pb")).exit, 0);
    ASSERT_EQ(Convert(absl::StrCat(folder, "/d.snapshot.pb -o ", folder, "/e.txt")).exit, 0);
    EXPECT_EQ(ReadFile(folder + "/e.txt").value(), ReadFile(folder + "/direct.hlo").value());
  }
}

TEST(HloConvertTest, CompressedFilesGoInAndOut) {
  const std::string folder = ::testing::TempDir(), path = CorpusFiles("hlo_text", ".hlo")[0];
  ASSERT_EQ(Convert(absl::StrCat(path, " -o ", folder, "/plain.hlo")).exit, 0);
  ASSERT_EQ(Convert(absl::StrCat(path, " -o ", folder, "/packed.hlo.pb.gz")).exit, 0);
  const std::string plain = ReadFile(folder + "/plain.hlo").value();
  EXPECT_EQ(Convert(absl::StrCat(folder, "/packed.hlo.pb.gz -o -")).out, plain);
  EXPECT_EQ(Convert(absl::StrCat("- -o - <", folder, "/packed.hlo.pb.gz")).out, plain);
  std::ofstream(folder + "/cut.gz") << ReadFile(folder + "/packed.hlo.pb.gz").value().substr(0, 100);
  const Outcome cut = Convert(folder + "/cut.gz -o -");
  EXPECT_EQ(cut.exit, 1);
  EXPECT_EQ(cut.err, folder + "/cut.gz: the gzip data is cut short\n");
}

TEST(HloConvertTest, StatsAreTablesOrOneLineOfJson) {
  const Outcome tables = Convert("--stats " + CorpusFiles("hlo_text", ".hlo")[0]);
  EXPECT_EQ(tables.exit, 0) << tables.err;
  EXPECT_THAT(tables.out, HasSubstr("\nopcodes\n"));
  EXPECT_EQ(Convert(CorpusFiles("hlo_text", ".hlo")[0] + " --stats=yaml").exit, 2);
  const Outcome outcome = Convert(CorpusFiles("hlo_text", ".hlo")[0] + " --stats=json");
  EXPECT_EQ(outcome.exit, 0);
  EXPECT_EQ(Lines(outcome.out), "1");
  EXPECT_THAT(outcome.out, HasSubstr("\"container\":\"HLO text\""));
}

}  // namespace
}  // namespace toroid
