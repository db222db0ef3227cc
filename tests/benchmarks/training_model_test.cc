// BUILD: size = "medium"
// Training steps of GShard's largest models as //benchmarks:table3_throughput and :figure7_memory print them.
#include "benchmarks/training_model.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "tests/status_matchers.h"
#include "tests/tolerances.h"

namespace toroid {
namespace {

double StepsPerSecond(const SimulatedTraining& training) { return 1 / training.step_seconds; }

TEST(TrainingModelTest, StepsThatComputeLayersAgainAreAsFastAsPublished) {
  ASSERT_OK_AND_ASSIGN(const SimulatedTraining again,
                       SimulateTraining({.experts = 2048, .layers = 36, .remat = Remat::kLayers}));
  ASSERT_OK_AND_ASSIGN(const SimulatedTraining kept,
                       SimulateTraining({.experts = 2048, .layers = 36, .remat = Remat::kNone}));
  // The step takes longer by the time of recomputed values, including their all-to-alls.
  EXPECT_NEAR(again.recomputed_share,
              1 - (1 - kept.recomputed_share) * kept.step_seconds / again.step_seconds, 0.01);
  EXPECT_GT(again.recomputed_share, 0.2);
}

// Table 3, every row. The steps of 128 cores have twice as many tokens per core (table3_throughput says why).
TEST(TrainingModelTest, StepsAreAsFastAsPublished) {
  for (const PublishedCost& paper : kTable3) {
    SCOPED_TRACE(absl::StrCat(paper.experts, " experts, ", paper.layers, " layers"));
    ASSERT_OK_AND_ASSIGN(const SimulatedTraining step,
                         SimulateTraining({.experts = paper.experts,
                                           .layers = paper.layers,
                                           .tokens_per_core = paper.experts == 128 ? 4096 : 2048,
                                           .remat = PublishedRemat(paper.layers)}));
    // An exception: the published step of 12 layers on 2,048 cores takes longer than a third of that of 36 layers. The paper
    // does not say what this step does besides its layers; it takes several times as long as our embeddings and loss.
    const bool is_exception = paper.experts == 2048 && paper.layers == 12;
    EXPECT_NEAR(StepsPerSecond(step) / paper.steps_per_second, 1, is_exception ? 0.30 : kTenPercent);
  }
}

TEST(TrainingModelTest, MemoryOfTheLargestModelIsAsPublished) {
  ASSERT_OK_AND_ASSIGN(const SimulatedTraining step, SimulateTraining({.experts = 2048, .layers = 60}));
  constexpr double kGiB = 1 << 30;
  EXPECT_TRUE(step.fits);
  EXPECT_NEAR(step.state_bytes / kGiB, 9.55, kTwoPercent * 9.55);
  EXPECT_NEAR((step.activation_bytes + step.gradient_bytes) / kGiB, 4.30, kTenPercent * 4.30);
}

TEST(TrainingModelTest, ActivationsThatAreKeptAreAsPublished) {
  constexpr double kGiB = 1 << 30;
  for (const PublishedMemory& paper : kFigure7) {
    if (paper.experts < 2048 || paper.layers == 60) continue;
    SCOPED_TRACE(paper.layers);
    ASSERT_OK_AND_ASSIGN(const SimulatedTraining step,
                         SimulateTraining({.experts = 2048, .layers = paper.layers, .remat = Remat::kNone}));
    const double gib = (step.activation_bytes + step.gradient_bytes) / kGiB;
    // At 36 layers the published program computes some values again; ours keeps all here.
    EXPECT_NEAR(gib / paper.activations, 1, paper.layers == 36 ? kTwentyPercent : kFivePercent);
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
