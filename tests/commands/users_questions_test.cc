// What users of partitioners ask in public, each answered by one command in its first lines.
// BUILD: data = glob(["questions/*"]) + ["//partitioner:hlo-partition", "//runtime:hlo-run"]
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/commands/command_runner.h"

namespace toroid {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// The first ten lines of a screen of 160 columns.
std::string FirstLines(const std::string& module, const std::string& arguments) {
  const Outcome outcome = RunShell(absl::StrCat(
      "COLUMNS=160 partitioner/hlo-partition tests/commands/questions/", module, " ", arguments));
  EXPECT_EQ(outcome.exit, 0) << outcome.err;
  std::vector<std::string> lines = absl::StrSplit(outcome.out, '\n');
  if (lines.size() > 10) lines.resize(10);
  return absl::StrJoin(lines, "\n");
}

TEST(UsersQuestionsTest, WhereInMyCodeIsTheInvoluntaryRematerialization) {
  EXPECT_THAT(FirstLines("q01_rematerialization.hlo", "--explain"),
              AllOf(HasSubstr("hidden: [{a8}, {}] -> [{}, {a8}] (model.py:13)"),
                    HasSubstr("tried: hidden [{a8}, {}] instead of [{}, {a8}] sends 0 B")));
}

TEST(UsersQuestionsTest, CanTheExchangeInARowWiseShuffleBeAvoided) {
  EXPECT_THAT(FirstLines("q02_shuffle.hlo", "--explain"),
              AllOf(HasSubstr("sorted of x: [{}, {a8}] -> [{a8}, {}] (shuffle.py:9)"),
                    HasSubstr("tried: x and 1 other like it [{a8}, {}] instead of [{}, {a8}] sends 0 B")));
}

TEST(UsersQuestionsTest, WhichIndexExpressionsBecomeCollectives) {
  const std::string lines = FirstLines("q03_index_expressions.hlo", "--explain");
  EXPECT_THAT(lines, AllOf(HasSubstr("(index.py:5)"), HasSubstr("reversed for output{2} (index.py:7)"),
                           HasSubstr("shifted for output{3} (index.py:8)"), Not(HasSubstr("(index.py:6)"))));
}

TEST(UsersQuestionsTest, WhyIsAConstraintOnSeventeenRowsNotObeyed) {
  EXPECT_THAT(
      FirstLines("q04_uneven.hlo", "--explain"),
      HasSubstr(
          "not obeyed: s f32[17,4], asked for [{a8}, {}]: every device makes all of it (positions.py:4)"));
}

TEST(UsersQuestionsTest, WhatIfTheActivationIsConstrainedInsteadOfTheInputMoved) {
  EXPECT_THAT(FirstLines("q05_fsdp.hlo", "--what_if 'h={devices=[8,1]<=[8]}'"),
              AllOf(HasSubstr("sent                3.9 MB        2.1 MB  -47.1 %"),
                    HasSubstr("gone: all-reduce 3.7 MB  y: partial over {a8} -> [{}, {}] (fsdp.py:8)")));
}

TEST(UsersQuestionsTest, WhatIsWholeOnEveryDeviceAndWhy) {
  EXPECT_THAT(
      FirstLines("q06_initialization.hlo", "--explain"),
      HasSubstr("whole: checkpoint['w'] f32[32768,32768] 4.3 GB, the module asks for it (init.py:6)"));
}

TEST(UsersQuestionsTest, WhichHintCutsTheArrayThatDoesNotFit) {
  EXPECT_THAT(FirstLines("q07_scan.hlo", "--explain"),
              HasSubstr("whole: params['up'] f32[32,1024,4096] 536.9 MB, the module asks for it"));
  EXPECT_THAT(FirstLines("q07_scan.hlo", "--what_if \"params['up']={devices=[1,1,8]<=[8]}\""),
              HasSubstr("peak memory       607.6 MB      137.9 MB  -77.3 %"));
}

TEST(UsersQuestionsTest, IsThisChainAroundAScatterEqualToAnAllGather) {
  EXPECT_THAT(FirstLines("q08_scatter.hlo", "--explain --check"),
              AllOf(HasSubstr("\"equal\":true"),
                    HasSubstr("all-gather              1      8     1.0 kB     7.2 kB")));
}

TEST(UsersQuestionsTest, WhatDoesALoopWaitForBeforeEachTrip) {
  EXPECT_THAT(
      FirstLines("q09_loop_condition.hlo", "--explain"),
      AllOf(HasSubstr("all-reduce              1 in a loop's condition"), HasSubstr("(solve.py:12)")));
}

// Kept between the forward and the backward pass: one all-gather for both products, whose it is, and from where to where it is
// held.
TEST(UsersQuestionsTest, AreGatheredWeightsKeptForTheBackwardPass) {
  EXPECT_THAT(
      FirstLines("q11_gathered_weights.hlo", "--explain"),
      AllOf(HasSubstr("all-gather              1      8    32.8 kB   229.4 kB  whole of params['w']: "
                      "[{a8}, {}] -> [{}, {}] (fsdp.py:6)"),
            HasSubstr("kept: params['w'] f32[256,256] 262.1 kB, used again 1 op later, in the backward pass "
                      "(fsdp.py:7)")));
}

// The partitioned gradient on four devices is that of one device, and all devices hold the same.
TEST(UsersQuestionsTest, AreGradientsTheSameOnAllReplicas) {
  const nlohmann::json json =
      nlohmann::json::parse(FirstLines("q12_gradient.hlo", "--check -o /dev/null"), nullptr, false);
  ASSERT_FALSE(json.is_discarded());
  EXPECT_EQ(json["equal"], true);
  EXPECT_EQ(json["devices"], "equal");
}

// A sum by hand over pairs of the four devices: which devices disagree, and the line whose collective joins two of them.
TEST(UsersQuestionsTest, WhichCollectiveMakesGradientsDiffer) {
  const std::string whole = TempPath("whole.npz"), questions = "tests/commands/questions/";
  ASSERT_EQ(RunShell(absl::StrCat("runtime/hlo-run ", questions, "q12_whole.hlo -o ", whole)).exit, 0);
  const Outcome check =
      RunShell(absl::StrCat("runtime/hlo-run ", questions, "q12_wrong_groups.hlo --check --expect=", whole));
  EXPECT_EQ(check.exit, 1);
  EXPECT_THAT(check.err,
              AllOf(HasSubstr("devices 0 and 2 disagree on element [0,0] of output 0"),
                    HasSubstr("all-reduce psum (grad.py:6) joins devices {0,1}, {2,3}, not 0 with 2")));
  EXPECT_THAT(FirstLines("q12_wrong_groups.hlo", "--explain"),
              AllOf(HasSubstr("all-reduce              1      2 "), HasSubstr("psum (grad.py:6)")));
}

TEST(UsersQuestionsTest, CanISeeCollectivesOfStablehlo) {
  EXPECT_THAT(
      FirstLines("q13_stablehlo.mlir", "--explain"),
      HasSubstr("output: [{\"data\"}, {}] partial over {\"model\"} -> [{\"data\"}, {}] (layer.py:4)"));
}

// A budget per line, as a team keeps it in its tests.
TEST(UsersQuestionsTest, WhatDoesEachLineSend) {
  const Outcome outcome =
      RunShell("partitioner/hlo-partition tests/commands/questions/q14_budget.hlo --explain=json");
  const nlohmann::json json = nlohmann::json::parse(outcome.out, nullptr, false);
  ASSERT_FALSE(json.is_discarded()) << outcome.err;
  int64_t of_line_20 = 0, of_line_21 = 0;
  for (const auto& row : json["rows"]) {
    if (row["source"] == "ocean.py:20") of_line_20 += row["sent_bytes"].get<int64_t>();
    if (row["source"] == "ocean.py:21") of_line_21 += row["sent_bytes"].get<int64_t>();
  }
  EXPECT_EQ(of_line_20, 1024);
  EXPECT_EQ(of_line_21, 28672);
  EXPECT_EQ(json["sent_bytes"], of_line_20 + of_line_21);
}

TEST(UsersQuestionsTest, WhyIsABatchedProductsOperandMoved) {
  EXPECT_THAT(FirstLines("q15_batched_product.hlo", "--explain"),
              AllOf(HasSubstr("c of b: [{}, {}, {a8}] -> [{a8}, {}, {}] (attend.py:30)"),
                    HasSubstr("tried: b [{a8}, {}, {}] instead of [{}, {}, {a8}] sends 0 B")));
  EXPECT_THAT(FirstLines("q15_batched_product.hlo", "--why=c"),
              HasSubstr("{a8} in dimension 0: the module asks for it at a"));
}

}  // namespace
}  // namespace toroid
