// BUILD: size = "small"
// BUILD: data = ["//:docs/op_status.md"]
// docs/op_status.md agrees with the probes, and every opcode works up to execution.
#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "hlo/opcode.h"
#include "tests/corpus_files.h"
#include "tests/op_status/op_probe.h"

namespace toroid {
namespace {

const std::vector<OpStatus>& Statuses() {
  static const auto* const statuses = new std::vector<OpStatus>(ProbeOpcodes());
  return *statuses;
}

TEST(OpStatusTest, ThePageSaysWhatTheProbesFind) {
  EXPECT_EQ(ReadCorpusFile("docs/op_status.md"), StatusPage(Statuses()))
      << "write it anew: bazel run -c opt //tests/op_status -- --write";
}

TEST(OpStatusTest, WhereArraysAreWholeThePageSaysWhy) {
  for (const OpStatus& s : Statuses()) {
    EXPECT_EQ(WhyWhole().count(s.opcode), s.whole_cuts.empty() ? 0 : 1) << s.opcode;
    EXPECT_EQ(s.whole_cuts.empty(), s.partition != kSome && s.partition != kWhole) << s.opcode;
  }
}

TEST(OpStatusTest, EveryOpcodeIsReadPrintedInferredVerifiedAndExecuted) {
  ASSERT_EQ(static_cast<int>(Statuses().size()), kNumOpcodes);
  for (const OpStatus& s : Statuses()) {
    SCOPED_TRACE(s.opcode);
    for (const std::string& cell : {s.read, s.print, s.infer, s.verify, s.execute}) EXPECT_EQ(cell, kYes);
    EXPECT_TRUE(s.rule == kYes || s.rule == kNothing) << s.rule;
    EXPECT_TRUE(s.partition == kYes || s.partition == kSome || s.partition == kWhole ||
                s.partition == kNothing)
        << s.partition;
    EXPECT_TRUE(s.failures.empty()) << absl::StrJoin(s.failures, "\n");
  }
}

}  // namespace
}  // namespace toroid
