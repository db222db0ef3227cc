// BUILD: data = ["//tests/corpus:tpu_v3"]
// Steps that do not fit: our rematerialized values and their time are near those of Google's compiler.
#include "benchmarks/rematerialization_model.h"

#include <cmath>

#include "gtest/gtest.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

TEST(RematerializationModelTest, MoeStepsTakeAboutAsLongAgainAsTheCompilersAndAreGivenUpWhereItDoes) {
  ASSERT_OK_AND_ASSIGN(const auto steps, SimulateOversizedSteps());
  double errors = 0;
  int fitting = 0;
  for (const OversizedProgram& step : steps) {
    SCOPED_TRACE(step.name);
    EXPECT_EQ(step.ours.fits, step.compiler.fits);
    if (!step.compiler.fits) continue;
    const double error = std::abs(step.ours.milliseconds / step.compiler.milliseconds - 1);
    EXPECT_LE(error, 0.36);
    EXPECT_NEAR(step.ours.Share(), step.compiler.Share(), 0.045);
    EXPECT_NEAR(step.ours.all_milliseconds / step.compiler.all_milliseconds, 1, 0.075);
    EXPECT_NEAR(step.ours.gibibytes / step.compiler.gibibytes, 1, 0.21);
    errors += error;
    ++fitting;
  }
  EXPECT_EQ(fitting, 6);
  EXPECT_LE(errors / fitting, 0.13);
}

TEST(RematerializationModelTest, OtherStepsTakeAboutAsLong) {
  ASSERT_OK_AND_ASSIGN(const auto programs, SimulateOversizedPrograms("tests/corpus/tpu_v3/oversized"));
  int again = 0;
  for (const OversizedProgram& program : programs) {
    SCOPED_TRACE(program.name);
    EXPECT_TRUE(program.ours.fits);
    EXPECT_NEAR(program.ours.Share(), program.compiler.Share(), 0.105);
    EXPECT_NEAR(program.ours.gibibytes / program.compiler.gibibytes, 1, 0.2);
    if (program.compiler.values == 0) continue;
    ++again;
    EXPECT_NEAR(program.ours.all_milliseconds / program.compiler.all_milliseconds, 1, 0.05);
  }
  EXPECT_EQ(again, 7);
}

}  // namespace
}  // namespace toroid
