// What strategies add, as //benchmarks:strategies measures it.
#include "partitioner/search/strategies.h"

#include "benchmarks/strategy_runs.h"
#include "benchmarks/strategy_tables.h"
#include "gmock/gmock.h"
#include "tests/partitioner/equivalence.h"
#include "tests/partitioner/search/proposals.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

TEST(StrategyRunsTest, EachStrategyRunsAloneAndIsLeftOut) {
  ASSERT_OK_AND_ASSIGN(const StrategyRuns runs, RunStrategies("three", *ProgramFor(kThreeUsers, 4)));
  const std::vector<std::string> names = StrategyNames();
  ASSERT_THAT(names, SizeIs(Strategies().size() + 1));
  ASSERT_THAT(runs.alone, SizeIs(names.size()));
  ASSERT_THAT(runs.without, SizeIs(names.size()));
  EXPECT_EQ(runs.first.sent_bytes, 3 * 576);
  EXPECT_EQ(runs.all.sent_bytes, 576);
  EXPECT_LT(runs.all.seconds, runs.first.seconds);
  EXPECT_NE(runs.all.plan, runs.first.plan);
  for (size_t i = 0; i < names.size(); ++i) {
    const bool finds_it = names[i] == "neighbours" || names[i] == "frontier";
    EXPECT_EQ(runs.alone[i].sent_bytes, (finds_it ? 1 : 3) * 576) << names[i];
    EXPECT_EQ(runs.without[i].sent_bytes, 576) << names[i];
    EXPECT_EQ(RatiosOf(runs.alone[i], runs.first).other_plan, finds_it) << names[i];
  }
  const std::string gains = GainsTable({runs}), changes = ChangesTable({runs, runs}, 4);
  for (const std::string& name : names) {
    EXPECT_THAT(gains, HasSubstr(name));
    EXPECT_THAT(changes, HasSubstr(name));
  }
  EXPECT_THAT(changes, HasSubstr("0.333"));
}

TEST(StrategyRunsTest, AProgramOfOneDeviceIsAnError) {
  EXPECT_THAT(RunStrategies("one", *ProgramFor(kThreeUsers, 1)).status(),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("one device")));
}

TEST(StrategyTablesTest, RatiosAreBounded) {
  ProgramCost something, nothing;
  something.sent_bytes = something.flops = 8;
  nothing.flops = 4;
  EXPECT_EQ(RatiosOf(nothing, something).sent, 0.01);
  EXPECT_EQ(RatiosOf(something, nothing).sent, 100);
  EXPECT_EQ(RatiosOf(nothing, nothing).sent, 1);
  EXPECT_EQ(RatiosOf(nothing, something).flops, 0.5);
}

// 4 MB read and 4 MB written at 450 GB/s.
TEST(StrategyRunsTest, PredictedSecondsAreThoseOfMemory) {
  const auto program = ProgramFor(R"(ENTRY main {
  x = f32[1000000] parameter(0)
  ROOT y = f32[1000000] negate(x)
})",
                                  1);
  EXPECT_NEAR(PredictedSeconds(*program), 8e6 / 450e9, 1e-9);
}

}  // namespace
}  // namespace toroid
