// BUILD: size = "medium"
// Training steps of GShard's largest models as //benchmarks:table3_throughput and :figure7_memory print them.
// Bounds are the errors reached, rounded up, so that a change that makes errors grow fails here.
#include "benchmarks/training_model.h"

#include <cmath>

#include "tests/status_matchers.h"

namespace toroid {
namespace {

double StepsPerSecond(const SimulatedTraining& training) { return 1 / training.step_seconds; }

TEST(TrainingModelTest, StepsThatComputeLayersAgainAreAsFastAsPublished) {
  ASSERT_OK_AND_ASSIGN(const SimulatedTraining again,
                       SimulateTraining({.experts = 2048, .layers = 36, .remat = Remat::kLayers}));
  ASSERT_OK_AND_ASSIGN(const SimulatedTraining kept,
                       SimulateTraining({.experts = 2048, .layers = 36, .remat = Remat::kNone}));
  EXPECT_NEAR(StepsPerSecond(again) / 0.72, 1, 0.083);
  // The step takes longer by the time of recomputed values, including their all-to-alls.
  EXPECT_NEAR(again.recomputed_share,
              1 - (1 - kept.recomputed_share) * kept.step_seconds / again.step_seconds, 0.01);
  EXPECT_GT(again.recomputed_share, 0.2);

  ASSERT_OK_AND_ASSIGN(const SimulatedTraining fewer,
                       SimulateTraining({.experts = 512, .layers = 36, .remat = Remat::kLayers}));
  EXPECT_NEAR(StepsPerSecond(fewer) / 1.05, 1, 0.05);
}

TEST(TrainingModelTest, MemoryOfTheLargestModelIsAsPublished) {
  ASSERT_OK_AND_ASSIGN(const SimulatedTraining step, SimulateTraining({.experts = 2048, .layers = 60}));
  constexpr double kGiB = 1 << 30;
  EXPECT_TRUE(step.fits);
  EXPECT_NEAR(step.state_bytes / kGiB, 9.55, 0.02 * 9.55);
  EXPECT_NEAR((step.activation_bytes + step.gradient_bytes) / kGiB, 4.30, 0.07 * 4.30);
}

TEST(TrainingModelTest, ActivationsThatAreKeptAreAsPublished) {
  constexpr double kGiB = 1 << 30;
  for (const PublishedMemory& paper : kFigure7) {
    if (paper.experts < 2048 || paper.layers == 60) continue;
    SCOPED_TRACE(paper.layers);
    ASSERT_OK_AND_ASSIGN(const SimulatedTraining step,
                         SimulateTraining({.experts = 2048, .layers = paper.layers, .remat = Remat::kNone}));
    const double gib = (step.activation_bytes + step.gradient_bytes) / kGiB;
    EXPECT_NEAR(gib / paper.activations, 1, paper.layers == 36 ? 0.105 : 0.03);
  }
}

TEST(TrainingModelTest, TheCompilerAloneIsSaidToMakeAgainAsMuchAsPublished) {
  ASSERT_OK_AND_ASSIGN(const SimulatedTraining small,
                       SimulateTraining({.experts = 2048, .layers = 24, .by_compiler_alone = true}));
  ASSERT_OK_AND_ASSIGN(const SimulatedTraining large,
                       SimulateTraining({.experts = 2048, .layers = 36, .by_compiler_alone = true}));
  EXPECT_EQ(small.recomputed_share, 0);
  EXPECT_NEAR(large.recomputed_share, kShareComputedAgain36, 0.02);
}

}  // namespace
}  // namespace toroid
