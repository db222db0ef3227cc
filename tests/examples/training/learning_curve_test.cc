#include "examples/training/learning_curve.h"

#include <string>

#include "examples/training/curve_plot.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

LearningCurve Sample() {
  LearningCurve curve;
  curve.Add("loss", 1, 4);
  curve.Add("loss", 2, 3);
  curve.Add("validation", 2, 3.5);
  curve.Add("loss", 4, 0.1);
  return curve;
}

TEST(LearningCurveTest, TableHasARowForEachStep) {
  EXPECT_EQ(Sample().ToTsv(), "step\tloss\tvalidation\n1\t4\t\n2\t3\t3.5\n4\t0.1\t\n");
}

TEST(LearningCurveTest, CheckpointKeepsItToTheBit) {
  Checkpoint checkpoint;
  checkpoint.names = {"step"};
  checkpoint.arrays = {Literal::Scalar<int32_t>(3)};
  Sample().AddTo(&checkpoint);
  ASSERT_OK_AND_ASSIGN(const LearningCurve curve, LearningCurve::FromCheckpoint(checkpoint));
  EXPECT_EQ(curve.ToTsv(), Sample().ToTsv());
  EXPECT_EQ(curve.Find("loss")->points.back().value, 0.1);
}

TEST(LearningCurveTest, ArraysThatAreNoCurveAreRefused) {
  for (const Literal& array :
       {Literal::Scalar<double>(1), Literal::Array<float>({1, 2}, {1, 2}),
        Literal::Array<double>({1, 3}, {1, 2, 3}), Literal::Array<double>({2, 2}, {2, 0, 1, 0}),
        Literal::Array<double>({1, 2}, {0.5, 0}), Literal::Array<double>({1, 2}, {1e300, 0})}) {
    const Checkpoint checkpoint = {{}, {"curve.loss"}, {array}};
    EXPECT_THAT(LearningCurve::FromCheckpoint(checkpoint),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("curve.loss")));
  }
}

TEST(LearningCurveTest, SmoothingTakesTheMeanOfTheLastSteps) {
  const LearningCurve curve = Sample();
  const LearningCurve::Series smooth = Smoothed(*curve.Find("loss"), 2);
  ASSERT_EQ(smooth.points.size(), 3);
  EXPECT_EQ(smooth.points[0].value, 4);
  EXPECT_EQ(smooth.points[1].value, 3.5);
  EXPECT_NEAR(smooth.points[2].value, 0.1, 1e-12);
}

TEST(CurvePlotTest, ScriptHasLinesAndNoText) {
  const PlotPanel panel = {
      "it's", "step", "loss", false, {{"a'; system('x')", {1, 2}, {3, 4}}, {"empty", {}, {}}}};
  const std::string script = PanelsScript({panel, PlotPanel()});
  EXPECT_THAT(script, AllOf(HasSubstr("1 3\n2 4\n"), HasSubstr("layout 1,1"), HasSubstr("'it''s'"),
                            HasSubstr("'a''; system(''x'')'"), Not(HasSubstr("'empty'"))));
  EXPECT_THAT(PlotPanels({PlotPanel()}, "x.svg"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("nothing to draw")));
}

}  // namespace
}  // namespace toroid
