// BUILD: size = "small"
// The progress of a run.
#include "runtime/plan/progress.h"

#include "gtest/gtest.h"
#include "runtime/engine/executor.h"
#include "tests/runtime/evaluate.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

TEST(ProgressTest, TheTimeLeftFollowsFromTheShareDone) {
  EXPECT_EQ(ProgressText("run", 0.25, 10), "run: 25 %, about 30 s left");
  EXPECT_EQ(ProgressText("run", 0.5, 600), "run: 50 %, about 10 min left");
  EXPECT_EQ(ProgressText("run", 0.5, 7200), "run: 50 %, about 2.0 h left");
  EXPECT_EQ(ProgressText("run", 0, 3), "run: 0 %");
  EXPECT_EQ(ProgressText("run", 1.5, 3), "run: 100 %, about 0 s left");
}

TEST(ProgressTest, TripsOfALoopAreThoseItsConditionNames) {
  const auto module = MakeModule(
      "z = s32[] constant(0) ROOT w = s32[] while(z), condition=go, body=step",
      "step { i = s32[] parameter(0) one = s32[] constant(1) ROOT j = s32[] add(i, one) }\n"
      "go { i = s32[] parameter(0) n = s32[] constant(300) ROOT p = pred[] compare(i, n), direction=LT }\n");
  EXPECT_EQ(EstimatedTrips(*module->entry()->root()), 300);
}

TEST(ProgressTest, ShortRunsSayNothing) {
  const auto module = MakeModule(
      "x = f32[64,64] parameter(0) ROOT y = f32[64,64] dot(x, x), "
      "lhs_contracting_dims={1}, rhs_contracting_dims={0}");
  testing::internal::CaptureStderr();
  {
    Progress progress("run");
    RunOptions options;
    options.progress = &progress;
    ASSERT_OK(RunSingle(*module, {Literal(Shape(xla::F32, {64, 64}))}, options));
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace toroid
