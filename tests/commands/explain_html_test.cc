// hlo-partition --html as a user sees it: what is written, and what is left alone.
// BUILD: data = ["//partitioner:hlo-partition"]
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hlo/base/files.h"
#include "tests/commands/command_runner.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

const char kPartition[] = "partitioner/hlo-partition ";

// A layer whose sum over 4 devices is on line 2 of `source`.
std::string Layer(const std::string& source) {
  return absl::StrCat(
      "HloModule layer\nENTRY main {\n  x = f32[8,6] parameter(0), sharding={devices=[1,4]<=[4]}\n"
      "  w = f32[6,4] parameter(1), sharding={devices=[4,1]<=[4]}\n"
      "  ROOT y = f32[8,4] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}, "
      "sharding={replicated}, metadata={op_name=\"layer/dot\" source_file=\"",
      source, "\" source_line=2}\n}\n");
}

TEST(ExplainHtmlTest, ThePageComesBesideTheTableOrAlone) {
  const std::string module = TempFile("layer.hlo", Layer("layer.py"));
  const std::string page = TempPath("beside.html");
  const Outcome beside = RunShell(absl::StrCat(kPartition, module, " --explain --html=", page));
  EXPECT_EQ(beside.exit, 0) << beside.err;
  EXPECT_THAT(beside.out, StartsWith("collective"));
  ASSERT_OK_AND_ASSIGN(const std::string text, ReadFile(page));
  EXPECT_THAT(text,
              AllOf(StartsWith("<!DOCTYPE html>"), HasSubstr("\"all-reduce\""), HasSubstr("layer.hlo")));

  const Outcome alone = RunShell(absl::StrCat(kPartition, module, " --html=", TempPath("alone.html")));
  EXPECT_EQ(alone.exit, 0) << alone.err;
  EXPECT_EQ(alone.out, "");
  EXPECT_OK(ReadFile(TempPath("alone.html")).status());

  const Outcome printed = RunShell(absl::StrCat(kPartition, module, " --html=-"));
  EXPECT_THAT(printed.out, StartsWith("<!DOCTYPE html>"));
}

TEST(ExplainHtmlTest, ThePageOfAPartitionedModuleIsThatOfItsPartitioning) {
  const std::string module = TempFile("layer.hlo", Layer("layer.py"));
  const std::string partition = TempPath("layer.spmd.hlo"), page = TempPath("partition.html");
  ASSERT_EQ(RunShell(absl::StrCat(kPartition, module, " -o ", partition)).exit, 0);
  const Outcome outcome = RunShell(absl::StrCat(kPartition, partition, " --html=", page));
  EXPECT_EQ(outcome.exit, 0) << outcome.err;
  ASSERT_OK_AND_ASSIGN(const std::string text, ReadFile(page));
  EXPECT_THAT(text, HasSubstr("one program for 4 devices: 1 collective sends"));
}

TEST(ExplainHtmlTest, SourceIsLeftOutWhenAsked) {
  const std::string source = TempFile("secret.py", "def layer(x, w):\n  return x @ w  # a secret\n");
  const std::string module = TempFile("layer.hlo", Layer(source));
  EXPECT_THAT(RunShell(absl::StrCat(kPartition, module, " --html=-")).out,
              HasSubstr("return x @ w  # a secret"));
  EXPECT_THAT(RunShell(absl::StrCat(kPartition, module, " --html=- --html_sources=none")).out,
              AllOf(StartsWith("<!DOCTYPE html>"), Not(HasSubstr("# a secret"))));
}

TEST(ExplainHtmlTest, AFailedRunLeavesAnOlderPageAlone) {
  const std::string page = TempFile("old.html", "an older page");
  const Outcome failed = RunShell(absl::StrCat(
      kPartition, TempFile("bad.hlo", "HloModule bad\nENTRY main {\n  ROOT y = f32[2] foo bar\n}\n"),
      " --html=", page));
  EXPECT_EQ(failed.exit, 1);
  ASSERT_OK_AND_ASSIGN(const std::string text, ReadFile(page));
  EXPECT_EQ(text, "an older page");

  const Outcome nowhere = RunShell(absl::StrCat(kPartition, TempFile("layer.hlo", Layer("layer.py")),
                                                " --html=/no/such/folder/page.html"));
  EXPECT_EQ(nowhere.exit, 1);
  EXPECT_EQ(nowhere.ErrorLines(), 1) << nowhere.err;
  EXPECT_THAT(nowhere.err, HasSubstr("/no/such/folder/page.html"));
}

TEST(ExplainHtmlTest, AnUnknownChoiceOfSourcesIsWrongUsage) {
  const Outcome outcome = RunShell(
      absl::StrCat(kPartition, TempFile("layer.hlo", Layer("layer.py")), " --html=- --html_sources=some"));
  EXPECT_EQ(outcome.exit, 2);
  EXPECT_THAT(outcome.err, HasSubstr("html_sources"));
}

}  // namespace
}  // namespace toroid
