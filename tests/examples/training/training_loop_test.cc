#include "examples/training/training_loop.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "hlo/base/files.h"
#include "tests/examples/training/linear_program.h"
#include "tests/fresh_path.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

absl::StatusOr<std::unique_ptr<Trainer>> LinearTrainer(double learning_rate = 0.05) {
  ASSIGN_OR_RETURN(TrainingProgram program, LinearProgram(4, learning_rate));
  return Trainer::Create(std::move(program), {4});
}

TrainingData LinearData() { return {LinearInputs, {LinearInputs(1001), LinearInputs(1002)}}; }

LoopOptions Options(int64_t steps) {
  LoopOptions options;
  options.steps = steps;
  options.evaluate_every = 5;
  options.save_every = 4;
  return options;
}

TEST(TrainingLoopTest, CurveHasEveryStepAndTheEvaluations) {
  ASSERT_OK_AND_ASSIGN(const auto trainer, LinearTrainer());
  LoopOptions options = Options(12);
  options.report_every = 6;
  std::vector<std::string> lines;
  options.report = [&](const std::string& line) { lines.push_back(line); };
  ASSERT_OK_AND_ASSIGN(const LearningCurve curve, RunTraining(*trainer, LinearData(), options));
  ASSERT_NE(curve.Find("loss"), nullptr);
  EXPECT_EQ(curve.Find("loss")->points.size(), 12);
  EXPECT_LT(curve.Find("loss")->points.back().value, curve.Find("loss")->points.front().value);
  ASSERT_NE(curve.Find("held_out_loss"), nullptr);
  EXPECT_EQ(curve.Find("held_out_loss")->points.size(), 3);  // 5, 10, 12
  EXPECT_EQ(curve.Find("load_peak")->points.size(), 12);
  ASSERT_EQ(lines.size(), 2);
  options.reported = {"load_peak"};
  options.steps = 13;
  ASSERT_OK(RunTraining(*trainer, LinearData(), options).status());
  ASSERT_EQ(lines.size(), 3);
  EXPECT_THAT(lines[2],
              AllOf(HasSubstr("step     13  loss "), HasSubstr("load_peak"), Not(HasSubstr("held_out"))));
  EXPECT_THAT(lines[1],
              AllOf(HasSubstr("step     12  loss "), HasSubstr("held_out_loss"), HasSubstr("steps/s")));
}

// A run stopped after any step and resumed has the same curve and the same state.
TEST(TrainingLoopTest, ResumedRunIsTheSameAsOneThatDidNotStop) {
  LoopOptions options = Options(11);
  ASSERT_OK_AND_ASSIGN(const auto whole, LinearTrainer());
  ASSERT_OK_AND_ASSIGN(const LearningCurve expected, RunTraining(*whole, LinearData(), options));
  ASSERT_OK_AND_ASSIGN(const Checkpoint expected_state, whole->Save());
  for (const int64_t stop : {1, 4, 5, 10, 11}) {
    SCOPED_TRACE(stop);
    options.checkpoint = FreshPath(absl::StrCat("stopped_", stop, ".npz"));
    options.steps = stop;
    options.resume = false;
    ASSERT_OK_AND_ASSIGN(const auto first, LinearTrainer());
    TrainingData data = LinearData();
    if (stop % 5 != 0 && stop != 11) data.held_out.clear();  // Evaluates only where the whole run does.
    ASSERT_OK(RunTraining(*first, data, options).status());
    options.steps = 11;
    options.resume = true;
    ASSERT_OK_AND_ASSIGN(const auto second, LinearTrainer());
    ASSERT_OK_AND_ASSIGN(const LearningCurve curve, RunTraining(*second, LinearData(), options));
    ASSERT_EQ(curve.series().size(), expected.series().size());
    for (const LearningCurve::Series& series : expected.series()) {
      const LearningCurve::Series* same = curve.Find(series.name);
      ASSERT_NE(same, nullptr) << series.name;
      ASSERT_EQ(same->points.size(), series.points.size()) << series.name;
      for (size_t i = 0; i < series.points.size(); ++i) {
        EXPECT_EQ(same->points[i].step, series.points[i].step);
        EXPECT_EQ(same->points[i].value, series.points[i].value) << series.name;
      }
    }
    ASSERT_OK_AND_ASSIGN(const Checkpoint state, second->Save());
    EXPECT_EQ(state.arrays, expected_state.arrays);
  }
}

TEST(TrainingLoopTest, CheckpointThatIsThereIsNotOverwrittenUnasked) {
  LoopOptions options = Options(3);
  options.checkpoint = FreshPath("kept.npz");
  ASSERT_OK(WriteFile(options.checkpoint, "precious"));
  ASSERT_OK_AND_ASSIGN(const auto trainer, LinearTrainer());
  EXPECT_THAT(RunTraining(*trainer, LinearData(), options),
              StatusIs(absl::StatusCode::kAlreadyExists, HasSubstr("kept.npz: exists; resume")));
  EXPECT_THAT(ReadFile(options.checkpoint), IsOkAndHolds("precious"));
  options.resume = true;
  EXPECT_THAT(RunTraining(*trainer, LinearData(), options),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("is no checkpoint")));
  EXPECT_THAT(ReadFile(options.checkpoint), IsOkAndHolds("precious"));
}

TEST(TrainingLoopTest, CheckpointOfAnotherModelIsRefused) {
  LoopOptions options = Options(3);
  options.checkpoint = FreshPath("other.npz");
  ASSERT_OK_AND_ASSIGN(auto trainer, LinearTrainer(0.05));
  ASSERT_OK(RunTraining(*trainer, LinearData(), options).status());
  options.resume = true;
  ASSERT_OK_AND_ASSIGN(trainer, LinearTrainer(0.01));
  EXPECT_THAT(RunTraining(*trainer, LinearData(), options),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("learning_rate=0.05, this one has learning_rate=0.01")));
}

TEST(TrainingLoopTest, LossThatIsNotFiniteEndsTheRunAndLeavesTheCheckpoint) {
  LoopOptions options = Options(400);
  options.save_every = 1;
  options.evaluate_every = 0;
  options.checkpoint = FreshPath("diverged.npz");
  ASSERT_OK_AND_ASSIGN(auto trainer, LinearTrainer(50));
  EXPECT_THAT(RunTraining(*trainer, LinearData(), options),
              StatusIs(absl::StatusCode::kDataLoss, AllOf(HasSubstr("step "), HasSubstr(": loss is "))));
  ASSERT_OK_AND_ASSIGN(trainer, LinearTrainer(50));
  options.resume = true;
  options.steps = 1;
  EXPECT_OK(RunTraining(*trainer, LinearData(), options).status());
}

TEST(TrainingLoopTest, EvaluationsAreWeighted) {
  ASSERT_OK_AND_ASSIGN(const auto trainer, LinearTrainer());
  const std::vector<std::vector<Literal>> inputs = LinearData().held_out;
  ASSERT_OK_AND_ASSIGN(const Metrics first, trainer->Evaluate(inputs[0]));
  ASSERT_OK_AND_ASSIGN(const Metrics second, trainer->Evaluate(inputs[1]));
  ASSERT_OK_AND_ASSIGN(const Metrics mean, EvaluateAll(*trainer, inputs, "tokens"));
  EXPECT_FLOAT_EQ(mean.Find("loss")->data<float>()[0],
                  (first.Find("loss")->data<float>()[0] + second.Find("loss")->data<float>()[0]) / 2);
}

TEST(TrainingLoopTest, LoadPeakIsTheShareOfTheMostLoaded) {
  EXPECT_EQ(LoadPeak(Literal::Array<float>({2, 4}, {1, 1, 1, 1, 0, 8, 0, 0})), 2.5);
  EXPECT_EQ(LoadPeak(Literal::Array<float>({1, 2}, {0, 0})), 1);
}

}  // namespace
}  // namespace toroid
