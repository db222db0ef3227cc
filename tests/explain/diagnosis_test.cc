// Changes that were tried, as text.
#include "explain/diagnosis.h"

#include <string>

#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hlo/base/terminal.h"

namespace toroid {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TriedChange Change() {
  TriedChange change;
  change.name = "sharding_constraint.6";
  change.source = "model.py:21";
  change.from = "[{}, {\"model\"}]";
  change.to = "[{\"data\"}, {}]";
  change.given = {"sharding_constraint.6={devices=[8,1]<=[8]}", "sharding_constraint.7={devices=[8,1]<=[8]}"};
  change.sent_now = 2000;
  change.sent_then = 1500;
  change.peak_now = 4000;
  change.peak_then = 3000;
  return change;
}

TEST(DiagnosisTest, SaysWhichAnnotationChangedHowSendsAndNeedsHowMuch) {
  EXPECT_EQ(
      ChangeText(Change()),
      "sharding_constraint.6 and 1 other like it [{\"data\"}, {}] instead of [{}, {\"model\"}] sends 1.5 kB instead "
      "of 2.0 kB (-25.0 %), and needs 3.0 kB of memory instead of 4.0 kB");
}

TEST(DiagnosisTest, ChangesThatAreMadeTogetherAreOneSentence) {
  TriedChange change = Change();
  change.together = {"w [{}] instead of [{\"data\"}]", "v [{}] instead of [{\"data\"}]"};
  EXPECT_THAT(
      ChangeText(change),
      HasSubstr("instead of [{}, {\"model\"}], and w [{}] instead of [{\"data\"}], and v [{}] instead of "
                "[{\"data\"}] sends "));
}

TEST(DiagnosisTest, StandsAboveATableThatFillsTheScreen) {
  Diagnosis diagnosis;
  diagnosis.changes = {Change()};
  std::string table = "sent per device in all: 2.0 kB\n";
  EXPECT_THAT(WithDiagnosis(table, diagnosis, 200), StartsWith(table));
  for (int row = 0; row < 39; ++row) table += "a row\n";
  EXPECT_THAT(WithDiagnosis(table, diagnosis, 200), AllOf(StartsWith("tried: "), EndsWith(table)));
  // What was not tried is no news.
  Diagnosis skipped;
  skipped.is_skipped = true;
  EXPECT_THAT(WithDiagnosis(table, skipped, 200), StartsWith(table));
}

TEST(DiagnosisTest, NamesTheRowThatIsGone) {
  TriedChange change = Change();
  change.removed = "all-gather";
  change.removed_bytes = 700;
  change.removed_for = "add.7";
  change.removed_source = "model.py:24";
  EXPECT_THAT(ChangeText(change),
              HasSubstr("(-25.0 %), without the all-gather of 700 B for add.7 (model.py:24), and"));
}

TEST(DiagnosisTest, LinesAreNoWiderThanTheTerminal) {
  Diagnosis diagnosis;
  diagnosis.changes = {Change(), Change()};
  const std::string text = DiagnosisText(diagnosis, 60);
  for (const absl::string_view line : absl::StrSplit(text, '\n')) EXPECT_LE(TextWidth(line), 60) << line;
  EXPECT_THAT(text, HasSubstr("tried: sharding_constraint.6"));
  EXPECT_THAT(text, HasSubstr("(model.py:21)"));
}

TEST(DiagnosisTest, NothingToSayIsNoLine) {
  EXPECT_EQ(DiagnosisText({}, 80), "");
  Diagnosis skipped;
  skipped.is_skipped = true;
  EXPECT_THAT(DiagnosisText(skipped, 200), HasSubstr("--advise"));
  EXPECT_THAT(DiagnosisText(skipped, 200), Not(HasSubstr("tried:")));
}

}  // namespace
}  // namespace toroid
