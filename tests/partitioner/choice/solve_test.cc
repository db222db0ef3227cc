// The solver against enumeration, its determinism, and its answers where memory does not suffice.
#include "partitioner/choice/solve.h"

#include <algorithm>
#include <atomic>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/partitioner/choice/random_problem.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

SolveOptions Quick() {
  SolveOptions options;
  options.threads = 1;
  options.steps = 40;
  return options;
}

// The example of problem.h.
ChoiceProblem TwoNodes() {
  ChoiceProblem problem;
  problem.nodes = {{"a", {0, 3}, {8, 2}, 0, 5}, {"b", {4, 0}, {8, 2}, 0, 5}};
  problem.edges = {{{0, 1}, {0, 5, 5, 0}}};
  return problem;
}

TEST(SolveTest, TheExampleOfTheHeader) {
  ASSERT_OK_AND_ASSIGN(const Solution solution, Solve(TwoNodes(), Quick()));
  EXPECT_EQ(solution.choice, (std::vector<int>{1, 1}));
  EXPECT_EQ(solution.cost, 3);
  EXPECT_EQ(solution.bound, 3);
  EXPECT_EQ(solution.peak, 4);
  EXPECT_EQ(solution.ended_by, "optimal");
}

// Of docs/sharding_search.md.
TEST(SolveTest, TheExampleOfTheDocumentation) {
  ChoiceProblem problem;
  problem.nodes = {
      {"a", {0, 0}, {8, 4}, 0, 2}, {"w", {0, 0}, {8, 4}, 0, 4}, {"b", {6, kForbidden}, {8, 4}, 1, 4}};
  problem.edges = {{{0, 2}, {0, 2, 2, 0}}, {{1, 2}, {0, 5, 5, 0}}};
  const std::pair<int64_t, int64_t> kCostByLimit[] = {{24, 6}, {23, 8}, {20, 8}, {19, 13}, {16, 13}};
  for (const auto& [limit, cost] : kCostByLimit) {
    problem.usage_limit = limit;
    ASSERT_OK_AND_ASSIGN(const Solution solution, Solve(problem, Quick()));
    EXPECT_EQ(solution.cost, cost);
    EXPECT_EQ(solution.bound, cost);
  }
  problem.usage_limit = 15;
  EXPECT_THAT(
      Solve(problem, Quick()),
      StatusIs(
          absl::StatusCode::kResourceExhausted,
          "a memory of 15 bytes is too small: at least 16 bytes are needed, at time 1 by b (8), a (4), w (4)"));
}

TEST(SolveTest, NothingToChoose) {
  ASSERT_OK_AND_ASSIGN(const Solution solution, Solve(ChoiceProblem(), Quick()));
  EXPECT_TRUE(solution.choice.empty());
  EXPECT_EQ(solution.cost, 0);
  EXPECT_EQ(solution.ended_by, "optimal");
}

TEST(SolveTest, AgreesWithEnumerationOnRandomProblems) {
  RandomNumbers random(7);
  int limited = 0;
  int too_small = 0;
  for (int k = 0; k < 300; ++k) {
    SCOPED_TRACE(absl::StrCat("problem ", k));
    ChoiceProblem problem = RandomProblem(random, k % 10 == 0 ? 12 : 8);
    const Enumerated free = Enumerate(problem);
    if (k % 3 != 0 && free.least_peak.has_value()) {
      problem.usage_limit = std::max<int64_t>(0, *free.least_peak - 2 + random.Below(12));
      ++limited;
    }
    const Enumerated expected = Enumerate(problem);
    const absl::StatusOr<Solution> solution = Solve(problem, Quick());
    if (!expected.least_peak.has_value()) {
      EXPECT_THAT(solution, StatusIs(absl::StatusCode::kFailedPrecondition, Not(HasSubstr("\n"))));
    } else if (!expected.cost.has_value()) {
      ++too_small;
      EXPECT_THAT(
          solution,
          StatusIs(absl::StatusCode::kResourceExhausted,
                   AllOf(HasSubstr("is too small"),
                         HasSubstr(absl::StrCat("at least ", *expected.least_peak, " bytes are needed,")))));
    } else {
      ASSERT_OK(solution.status());
      EXPECT_EQ(solution->cost, *expected.cost);
      EXPECT_EQ(solution->bound, *expected.cost);
      EXPECT_EQ(solution->ended_by, "optimal");
      const ChoiceValue value = Evaluate(problem, solution->choice);
      EXPECT_EQ(value.cost, solution->cost);
      EXPECT_EQ(value.peak, solution->peak);
      if (problem.usage_limit.has_value()) {
        EXPECT_LE(solution->peak, *problem.usage_limit);
      }
    }
  }
  EXPECT_GT(limited, 150);
  EXPECT_GT(too_small, 10);
}

TEST(SolveTest, ALimitThatIsTooSmallIsAnsweredWithTheLeastAndTheNodesInTheWay) {
  ChoiceProblem problem = TwoNodes();
  problem.usage_limit = 3;
  EXPECT_THAT(
      Solve(problem, Quick()),
      StatusIs(absl::StatusCode::kResourceExhausted,
               "a memory of 3 bytes is too small: at least 4 bytes are needed, at time 0 by a (2), b (2)"));
  problem.usage_limit = 4;
  EXPECT_OK(Solve(problem, Quick()).status());
}

// A chain with a few long edges, of some size: not solved in the first steps.
ChoiceProblem Larger() {
  RandomNumbers random(3);
  ChoiceProblem problem;
  constexpr int kNodes = 120;
  for (int i = 0; i < kNodes; ++i) {
    ChoiceNode& node = problem.nodes.emplace_back();
    for (int s = 0; s < 5; ++s) {
      node.costs.push_back(random.Below(1000));
      node.usages.push_back(random.Below(100));
    }
    node.begin = i;
    node.end = i + 1 + random.Below(20);
  }
  for (int i = 1; i < kNodes; ++i) {
    for (const int j : {i - 1, random.Below(i), random.Below(i)}) {
      ChoiceEdge& edge = problem.edges.emplace_back();
      edge.nodes = {i, j};
      for (int c = 0; c < 25; ++c) edge.costs.push_back(random.Below(1000));
    }
  }
  problem.usage_limit = 350;
  return problem;
}

TEST(SolveTest, TheAnswerDependsOnSeedAndStepsAlone) {
  const ChoiceProblem problem = Larger();
  SolveOptions options;
  options.steps = 6;
  options.threads = 1;
  ASSERT_OK_AND_ASSIGN(const Solution one, Solve(problem, options));
  EXPECT_EQ(one.ended_by, "steps");
  EXPECT_EQ(one.steps, 6);
  EXPECT_LE(one.bound, one.cost);
  EXPECT_LE(one.peak, 350);
  for (const int threads : {1, 2, 5}) {
    options.threads = threads;
    ASSERT_OK_AND_ASSIGN(const Solution again, Solve(problem, options));
    EXPECT_EQ(again.choice, one.choice) << threads;
    EXPECT_EQ(again.bound, one.bound) << threads;
  }
}

// A start of another problem with the same nodes may not fit, or have strategies that do not exist: it is left out then.
TEST(SolveTest, TheAnswerIsNoWorseThanAStartThatFits) {
  RandomNumbers random(77);
  for (int round = 0; round < 40; ++round) {
    ChoiceProblem problem = RandomProblem(random, 10);
    const auto best = Solve(problem, Quick());
    if (!best.ok()) continue;
    SolveOptions options = Quick();
    options.steps = 0;
    options.starts = {{}, std::vector<int>(problem.nodes.size(), 9), best->choice};
    ASSERT_OK_AND_ASSIGN(const Solution again, Solve(problem, options));
    EXPECT_LE(again.cost, best->cost);
    EXPECT_LE(again.bound, again.cost);
    problem.usage_limit = best->peak - 1;
    ASSERT_EQ(Evaluate(problem, best->choice).cost, best->cost);
    const auto less = Solve(problem, options);
    if (less.ok()) {
      EXPECT_LE(less->peak, *problem.usage_limit) << "the start does not fit";
    }
  }
}

TEST(SolveTest, EndsWhereItStandsStill) {
  // Costs that differ by little beside an edge each, so that neither the bound nor the cost moves far.
  ChoiceProblem problem;
  RandomNumbers random(5);
  for (int i = 0; i < 30; ++i) {
    ChoiceNode& node = problem.nodes.emplace_back();
    node.name = absl::StrCat("n", i);
    node.begin = 0;
    node.end = 10;
    for (int s = 0; s < 4; ++s) {
      node.costs.push_back(1000 + random.Below(100));
      node.usages.push_back(10 + random.Below(50));
    }
  }
  for (int e = 0; e < 90; ++e) {
    const int a = random.Below(29);
    ChoiceEdge& edge = problem.edges.emplace_back();
    edge.nodes = {a, a + 1 + random.Below(29 - a)};
    for (int c = 0; c < 16; ++c) edge.costs.push_back(random.Below(200));
  }
  SolveOptions options = Quick();
  options.steps = 2;
  ASSERT_OK_AND_ASSIGN(const Solution free, Solve(problem, options));
  problem.usage_limit = free.peak * 3 / 4;
  options.steps = 400;
  options.patience = 2;
  const auto solution = Solve(problem, options);
  ASSERT_OK(solution.status());
  EXPECT_LT(solution->steps, 400);
  EXPECT_EQ(solution->ended_by, "standstill");
  EXPECT_LT(solution->bound, solution->cost);
}

TEST(SolveTest, WithoutExplanationAFailureIsShort) {
  ChoiceProblem problem = TwoNodes();
  problem.usage_limit = 1;
  SolveOptions options = Quick();
  options.explains_failure = false;
  EXPECT_THAT(Solve(problem, options),
              StatusIs(absl::StatusCode::kResourceExhausted, "no choice that fits was found"));
}

TEST(SolveTest, CancellingGivesTheBestSoFar) {
  SolveOptions options;
  options.threads = 2;
  options.steps = 1'000'000;
  std::atomic<bool> cancelled = false;
  options.cancelled = [&] { return cancelled.load(); };
  options.progress = [&](const SolveProgress& progress) { cancelled = progress.steps >= 3; };
  const ChoiceProblem problem = Larger();
  ASSERT_OK_AND_ASSIGN(const Solution solution, Solve(problem, options));
  EXPECT_EQ(solution.ended_by, "cancelled");
  EXPECT_EQ(Evaluate(problem, solution.choice).cost, solution.cost);
  options.progress = nullptr;
  // At once: what the first moves found.
  ASSERT_OK_AND_ASSIGN(const Solution first, Solve(problem, options));
  EXPECT_EQ(first.ended_by, "cancelled");
  EXPECT_EQ(first.steps, 0);
}

TEST(SolveTest, MalformedProblems) {
  ChoiceProblem problem = TwoNodes();
  problem.nodes[1].usages.pop_back();
  EXPECT_THAT(Solve(problem, Quick()),
              StatusIs(absl::StatusCode::kInvalidArgument, "b: it has 2 costs and 1 usages"));
  problem = TwoNodes();
  problem.edges[0].nodes[1] = 2;
  EXPECT_THAT(Solve(problem, Quick()),
              StatusIs(absl::StatusCode::kInvalidArgument, "edge 0: there is no node 2"));
  problem = TwoNodes();
  problem.edges[0].costs.pop_back();
  EXPECT_THAT(Solve(problem, Quick()), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("edge 0")));
  problem = TwoNodes();
  problem.edges[0].costs = {kForbidden, kForbidden, kForbidden, kForbidden};
  EXPECT_THAT(Solve(problem, Quick()),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("no strategy goes with")));
}

}  // namespace
}  // namespace toroid
