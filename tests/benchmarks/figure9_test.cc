// The simulator's errors on GShard's figure 9 do not grow.
#include <algorithm>

#include "benchmarks/figure9_model.h"
#include "gmock/gmock.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

TEST(Figure9Test, ErrorsAreWithinWhatIsPublished) {
  ASSERT_OK_AND_ASSIGN(const std::vector<Figure9Point> points, SimulateFigure9());
  ASSERT_EQ(points.size(), 32u);
  std::vector<double> errors;
  for (const Figure9Point& p : points) errors.push_back(p.error());
  EXPECT_LE(Summarize(errors).mean, 0.049);
  EXPECT_LE(Summarize(errors).worst, 0.1305);
}

TEST(Figure9Test, HalfOfTheSizesPredictTheOtherHalf) {
  ASSERT_OK_AND_ASSIGN(const std::vector<LeftOut> choices, LeaveOutFigure9());
  ASSERT_EQ(choices.size(), 70u);
  for (const LeftOut& choice : choices) {
    EXPECT_LE(choice.left_out.mean, 0.08);
    EXPECT_LE(choice.left_out.worst, 0.16);
    // Values stay physical.
    EXPECT_GT(choice.injection_bytes_per_second, 82e9);
    EXPECT_LT(choice.step_cost_seconds, 2e-6);
  }
}

TEST(Figure9Test, MoreCoresOfTheSameLongestAxisCostAnAllToAllNoMore) {
  ASSERT_OK_AND_ASSIGN(const std::vector<Figure9Point> points, SimulateFigure9());
  const auto time = [&](int64_t cores) {
    for (const Figure9Point& p : points) {
      if (p.cores == cores && p.kind == CollectiveKind::kAllToAll) return p.our_microseconds;
    }
    return 0.0;
  };
  for (const int64_t cores : {16, 64, 256}) EXPECT_LT(time(2 * cores), 1.35 * time(cores));
  for (const int64_t cores : {32, 128, 512}) EXPECT_GT(time(2 * cores), 1.5 * time(cores));
}

}  // namespace
}  // namespace toroid
