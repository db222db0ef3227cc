// BUILD: size = "medium"
#include "examples/training/moe_training.h"

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::HasSubstr;

// 4 experts, 8 groups of 2 made-up names of at most 15 letters.
MoeTrainingOptions Tiny(int64_t devices) {
  MoeTrainingOptions options = SmallMoeTraining(4);
  options.names = "made-up";
  options.model.devices = devices;
  options.model.groups = 8;
  options.model.model = 16;
  options.model.hidden = 32;
  options.task.length = 16;
  options.held_out_batches = 1;
  return options;
}

// The losses of the first steps.
std::vector<double> Losses(const MoeTrainingOptions& options, int64_t steps) {
  std::string says;
  auto training = MoeTraining::Create(options, &says);
  EXPECT_OK(training);
  if (!training.ok()) return {};
  LoopOptions loop;
  loop.steps = steps;
  const auto curve = RunTraining((*training)->trainer(), (*training)->Data(), loop);
  EXPECT_OK(curve);
  std::vector<double> losses;
  if (!curve.ok() || curve->Find("loss") == nullptr) return losses;
  for (const LearningCurve::Point& point : curve->Find("loss")->points) losses.push_back(point.value);
  return losses;
}

TEST(MoeTrainingTest, PartitionedRunFollowsTheUnpartitionedOneForTwentySteps) {
  const std::vector<double> expected = Losses(Tiny(1), 20);
  ASSERT_EQ(expected.size(), 20);
  for (const int64_t devices : {2, 8}) {
    const std::vector<double> losses = Losses(Tiny(devices), 20);
    ASSERT_EQ(losses.size(), 20);
    for (int i = 0; i < 20; ++i)
      EXPECT_NEAR(losses[i], expected[i], 1e-4 * expected[i]) << devices << " devices, step " << i;
  }
}

TEST(MoeTrainingTest, SameSeedGivesTheSameCurveAtOneAndTwoThreads) {
  MoeTrainingOptions options = Tiny(4);
  options.trainer.threads = 1;
  const std::vector<double> one = Losses(options, 6);
  options.trainer.threads = 2;
  EXPECT_EQ(Losses(options, 6), one);
  options.trainer.seed = 2;
  EXPECT_NE(Losses(options, 6), one);
}

TEST(MoeTrainingTest, LearnsSomethingInFiftySteps) {
  const std::vector<double> losses = Losses(Tiny(4), 50);
  ASSERT_EQ(losses.size(), 50);
  EXPECT_LT(losses.back(), 0.9 * losses.front());
}

TEST(MoeTrainingTest, LossOfLanguagesCoversAllOfThem) {
  std::string says;
  ASSERT_OK_AND_ASSIGN(const auto training, MoeTraining::Create(Tiny(2), &says));
  ASSERT_OK_AND_ASSIGN(const auto parts, training->LossByLanguages(3, 2));
  ASSERT_EQ(parts.size(), 3);
  EXPECT_EQ(parts[0].first, 0);
  EXPECT_EQ(parts[2].last + 1, training->task().languages().size());
  const double chance = std::log(static_cast<double>(training->config().target_vocabulary));
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) {
      EXPECT_EQ(parts[i].first, parts[i - 1].last + 1);
      EXPECT_LT(parts[i].training_sentences, parts[i - 1].training_sentences);
    }
    EXPECT_NEAR(parts[i].cross_entropy, chance, 1);
  }
}

TEST(MoeTrainingTest, MadeUpLanguagesAreAnnouncedOnlyWhereTheyStandIn) {
  std::string says;
  ASSERT_OK(MoeTraining::Create(Tiny(2), &says).status());
  EXPECT_EQ(says, "");
}

TEST(MoeTrainingTest, VocabularyWithoutRoomIsRefused) {
  MoeTrainingOptions options = Tiny(2);
  options.model.source_vocabulary = 10;
  std::string says;
  EXPECT_THAT(MoeTraining::Create(options, &says),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("no room")));
}

}  // namespace
}  // namespace toroid
