#include "examples/training/trainer.h"

#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "hlo/io/hlo_text.h"
#include "hlo/ir/native_types.h"
#include "runtime/engine/executor.h"
#include "tests/examples/training/linear_program.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::HasSubstr;

absl::StatusOr<std::unique_ptr<Trainer>> LinearTrainer(int64_t devices, uint64_t seed = 1, int threads = 0) {
  ASSIGN_OR_RETURN(TrainingProgram program, LinearProgram(devices));
  return Trainer::Create(std::move(program), {devices, seed, threads});
}

// Losses of the next `steps` steps.
std::vector<float> Losses(Trainer& trainer, int steps) {
  std::vector<float> losses;
  for (int i = 0; i < steps; ++i) {
    const auto metrics = trainer.Step(LinearInputs(trainer.steps_done()));
    EXPECT_OK(metrics);
    if (!metrics.ok()) break;
    losses.push_back(metrics->Find("loss")->data<float>()[0]);
  }
  return losses;
}

TEST(TrainerTest, LossFallsAndStepsAreCounted) {
  ASSERT_OK_AND_ASSIGN(const auto trainer, LinearTrainer(4));
  const std::vector<float> losses = Losses(*trainer, 60);
  ASSERT_EQ(losses.size(), 60);
  EXPECT_LT(losses.back(), losses.front() / 100);
  EXPECT_EQ(trainer->steps_done(), 60);
  ASSERT_OK_AND_ASSIGN(const Checkpoint saved, trainer->Save());
  EXPECT_EQ(saved.names[0], "step");
  EXPECT_EQ(saved.arrays[0].data<int32_t>()[0], 60);
}

TEST(TrainerTest, ManyDevicesFollowOneWithinRounding) {
  ASSERT_OK_AND_ASSIGN(const auto one, LinearTrainer(1));
  const std::vector<float> expected = Losses(*one, 20);
  for (const int64_t devices : {2, 4, 8}) {
    ASSERT_OK_AND_ASSIGN(const auto many, LinearTrainer(devices));
    const std::vector<float> losses = Losses(*many, 20);
    for (int i = 0; i < 20; ++i)
      EXPECT_NEAR(losses[i], expected[i], 1e-5 * expected[i]) << devices << " devices, step " << i;
  }
}

TEST(TrainerTest, SameSeedGivesTheSameBitsAtAnyNumberOfThreads) {
  ASSERT_OK_AND_ASSIGN(const auto one, LinearTrainer(8, 3, 1));
  ASSERT_OK_AND_ASSIGN(const auto two, LinearTrainer(8, 3, 2));
  ASSERT_OK_AND_ASSIGN(const auto other, LinearTrainer(8, 4, 2));
  const std::vector<float> losses = Losses(*one, 10);
  EXPECT_EQ(Losses(*two, 10), losses);
  EXPECT_NE(Losses(*other, 10), losses);
}

TEST(TrainerTest, RestoredRunGoesOnWithTheSameBits) {
  ASSERT_OK_AND_ASSIGN(const auto whole, LinearTrainer(4));
  ASSERT_OK_AND_ASSIGN(const auto first, LinearTrainer(4));
  ASSERT_OK_AND_ASSIGN(const auto second, LinearTrainer(4));
  const std::vector<float> before = Losses(*whole, 7), after = Losses(*whole, 9);
  EXPECT_EQ(Losses(*first, 7), before);
  ASSERT_OK_AND_ASSIGN(const Checkpoint checkpoint, first->Save());
  ASSERT_OK(second->Restore(checkpoint));
  EXPECT_EQ(second->steps_done(), 7);
  EXPECT_EQ(Losses(*second, 9), after);
  ASSERT_OK_AND_ASSIGN(const Checkpoint a, whole->Save());
  ASSERT_OK_AND_ASSIGN(const Checkpoint b, second->Save());
  EXPECT_EQ(a.names, b.names);
  EXPECT_EQ(a.arrays, b.arrays);
}

TEST(TrainerTest, EvaluationSeesTheStateAndLeavesIt) {
  ASSERT_OK_AND_ASSIGN(const auto trainer, LinearTrainer(4));
  ASSERT_OK_AND_ASSIGN(const Metrics fresh, trainer->Evaluate(LinearInputs(1000)));
  ASSERT_OK_AND_ASSIGN(const auto other, LinearTrainer(4));
  EXPECT_EQ(Losses(*trainer, 30), Losses(*other, 30));
  ASSERT_OK_AND_ASSIGN(const Metrics trained, trainer->Evaluate(LinearInputs(1000)));
  EXPECT_LT(trained.Find("loss")->data<float>()[0], fresh.Find("loss")->data<float>()[0] / 10);
  EXPECT_EQ(trained.Find("nothing"), nullptr);
}

TEST(TrainerTest, FreshArraysFollowSeedNameMeanAndDeviation) {
  const TrainedArray array = {"layer.w", Shape(xla::F32, {100, 100}), 1.0, 0.5};
  ASSERT_OK_AND_ASSIGN(const Literal drawn, FreshArray(array, 1));
  double sum = 0, squares = 0;
  for (const float x : drawn.data<float>()) {
    sum += x;
    squares += (x - 1.0) * (x - 1.0);
  }
  EXPECT_NEAR(sum / 1e4, 1.0, 0.02);
  EXPECT_NEAR(std::sqrt(squares / 1e4), 0.5, 0.02);
  EXPECT_THAT(FreshArray(array, 1), IsOkAndHolds(drawn));
  ASSERT_OK_AND_ASSIGN(const Literal other, FreshArray({"layer.v", array.shape, 1.0, 0.5}, 1));
  EXPECT_FALSE(other == drawn);
  ASSERT_OK_AND_ASSIGN(const Literal ones, FreshArray({"norm", Shape(xla::BF16, {2}), 1, 0}, 1));
  EXPECT_EQ(static_cast<float>(ones.data<bfloat16>()[1]), 1.0f);
  EXPECT_THAT(FreshArray({"mask", Shape(xla::PRED, {2})}, 1),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("array mask")));
}

TEST(TrainerTest, ProgramsOfAnotherFormAreRefused) {
  ASSERT_OK_AND_ASSIGN(TrainingProgram program, LinearProgram(2));
  program.state[1].shape = Shape(xla::F32, {8, 5});
  EXPECT_THAT(Trainer::Create(std::move(program), {2}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("w is f32[8,5]")));
  ASSERT_OK_AND_ASSIGN(program, LinearProgram(2));
  program.metrics.pop_back();
  EXPECT_THAT(Trainer::Create(std::move(program), {2}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("results are 6, should be 5")));
  ASSERT_OK_AND_ASSIGN(program, LinearProgram(2));
  program.state.resize(5, program.state[1]);
  EXPECT_THAT(Trainer::Create(std::move(program), {2}), StatusIs(absl::StatusCode::kInvalidArgument));
  ASSERT_OK_AND_ASSIGN(program, LinearProgram(2));
  program.evaluation_state.clear();
  EXPECT_THAT(Trainer::Create(std::move(program), {2}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("parameters are 3, should be 2")));
}

TEST(TrainerTest, StepThatFailsSaysSoUntilThereIsAStateAgain) {
  ASSERT_OK_AND_ASSIGN(const auto trainer, LinearTrainer(4));
  EXPECT_THAT(trainer->Step({}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("inputs are 0, should be 2")));
  std::vector<Literal> inputs = LinearInputs(0);
  std::swap(inputs[0], inputs[1]);
  EXPECT_THAT(trainer->Step(inputs), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("f32[16,8]")));
  // A step that is refused before it runs leaves the state in place.
  EXPECT_OK(trainer->Step(LinearInputs(0)));
}

}  // namespace
}  // namespace toroid
