// Steps that do not fit: what the compiler makes twice is made twice here, for about as long.
#include "benchmarks/rematerialization_model.h"

#include <cmath>

#include "gtest/gtest.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

TEST(RematerializationModelTest, TakesAboutAsLongAsTheCompilersAndGivesUpWhereItDoes) {
  ASSERT_OK_AND_ASSIGN(const auto steps, SimulateStepsThatDoNotFit());
  double errors = 0;
  int fitting = 0;
  for (const StepThatDoesNotFit& step : steps) {
    SCOPED_TRACE(step.layers);
    EXPECT_EQ(step.ours.fits, step.compiler.fits);
    if (!step.compiler.fits) continue;
    const double error = std::abs(step.ours.milliseconds / step.compiler.milliseconds - 1);
    EXPECT_LE(error, 0.36);
    EXPECT_NEAR(step.ours.share, step.compiler.share, 0.045);
    EXPECT_NEAR(step.ours.gibibytes / step.compiler.gibibytes, 1, 0.21);
    errors += error;
    ++fitting;
  }
  EXPECT_EQ(fitting, 6);
  EXPECT_LE(errors / fitting, 0.13);
}

}  // namespace
}  // namespace toroid
