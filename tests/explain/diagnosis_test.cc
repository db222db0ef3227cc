// Changes that were tried, as text.
#include "explain/diagnosis.h"

#include <string>

#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hlo/base/terminal.h"

namespace toroid {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

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
