// BUILD: data = ["//tests/corpus:tpu_v3"]
#include "benchmarks/ablation.h"

#include "benchmarks/program_set.h"
#include "gtest/gtest.h"
#include "simulator/machines/tpu_v3_core.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

class RuleAblationTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK_AND_ASSIGN(const Batch batch, FindBatch("tests/corpus", "held_out"));
    EXPECT_OK(AddBatch(batch.path, batch.name, &judged_));
    ASSERT_OK_AND_ASSIGN(with_all_, JudgeAll(judged_.programs, TpuV3Core(), /*threads=*/2));
  }

  JudgedPrograms judged_;
  std::vector<Judgement> with_all_;
};

// Why WorthOf looks at no others.
TEST_F(RuleAblationTest, WithoutARuleThatWasNotAskedForNothingChanges) {
  int compared = 0;
  for (int rule = 0; rule < kRules; rule += 7) {
    const CoreSpec without = Without(TpuV3Core(), RowOf(static_cast<Rule>(rule)).name);
    for (size_t i = static_cast<size_t>(rule) % 5; i < judged_.programs.size(); i += 5) {
      if (with_all_[i].asked[rule]) continue;
      ++compared;
      ASSERT_OK_AND_ASSIGN(const Judgement judgement, Judge(judged_.programs[i], without));
      EXPECT_EQ(judgement.error, with_all_[i].error)
          << judged_.programs[i].name << " without " << RowOf(static_cast<Rule>(rule)).name;
    }
  }
  EXPECT_GT(compared, 50);
}

TEST_F(RuleAblationTest, ErrorsGrowWithoutWhatProductsTakeBehindThem) {
  ASSERT_OK_AND_ASSIGN(const RuleWorth worth, WorthOf(Rule::kProductsTakeReaders, judged_.programs, with_all_,
                                                      TpuV3Core(), /*threads=*/1));
  EXPECT_GT(worth.changed, 5);
  EXPECT_GE(worth.touched, worth.changed);
  std::vector<double> with;
  for (const Judgement& one : with_all_) with.push_back(one.error);
  EXPECT_GT(ErrorsOf(worth.errors).mean, ErrorsOf(with).mean);
}

TEST_F(RuleAblationTest, PlainRulesAreWorse) {
  ASSERT_OK_AND_ASSIGN(const std::vector<double> simple, SimpleErrors(judged_.programs, TpuV3Core()));
  std::vector<double> with;
  for (const Judgement& one : with_all_) with.push_back(one.error);
  EXPECT_GT(ErrorsOf(simple).median, 4 * ErrorsOf(with).median);
}

}  // namespace
}  // namespace toroid
