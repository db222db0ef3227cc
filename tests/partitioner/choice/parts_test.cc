// The solver's parts, each on random problems whose best answers are known by enumeration.
#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "partitioner/choice/dual_ascent.h"
#include "partitioner/choice/elimination.h"
#include "partitioner/choice/memory_rows.h"
#include "partitioner/choice/reduction.h"
#include "partitioner/choice/rounded_rows.h"
#include "tests/partitioner/choice/random_problem.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

// The least cost of the core's choices that fit, by enumeration.
std::optional<int64_t> EnumerateCore(const ChoiceCore& core) {
  std::optional<int64_t> best;
  std::vector<int> choice(core.size(), 0);
  while (true) {
    const int64_t cost = CoreCost(core, choice);
    if (cost < kForbidden && (!best.has_value() || cost < *best) && MemoryRows(core, choice).Fits())
      best = cost;
    int i = 0;
    for (; i < core.size(); ++i) {
      if (++choice[i] < core.strategies(i)) break;
      choice[i] = 0;
    }
    if (i == core.size()) return best;
  }
}

class PartsTest : public ::testing::Test {
 protected:
  // Calls fn(problem, best cost) for 100 random problems with solutions, two thirds of them with limits.
  template <typename Fn>
  void ForEachProblem(Fn fn) {
    RandomNumbers random(11);
    for (int k = 0; k < 100; ++k) {
      SCOPED_TRACE(absl::StrCat("problem ", k));
      ChoiceProblem problem = RandomProblem(random, 7);
      const Enumerated free = Enumerate(problem);
      if (!free.least_peak.has_value()) continue;
      if (k % 3 != 0) problem.usage_limit = *free.least_peak + random.Below(12);
      fn(problem, *Enumerate(problem).cost);
    }
  }
};

TEST_F(PartsTest, ReductionKeepsABestChoice) {
  ForEachProblem([](const ChoiceProblem& problem, int64_t best) {
    for (const int64_t most : {best, best + 5, kForbidden - 1}) {
      ASSERT_OK_AND_ASSIGN(const Reduction reduction, ReduceBelow(problem, most));
      EXPECT_EQ(EnumerateCore(reduction.core), best);
      std::vector<int> choice;
      for (int i = 0; i < reduction.core.size(); ++i) choice.push_back(reduction.core.strategies(i) - 1);
      EXPECT_EQ(CoreCost(reduction.core, choice), Evaluate(problem, Expand(reduction, choice)).cost);
    }
  });
}

TEST_F(PartsTest, RoundedRowsForbidNothingThatFits) {
  ForEachProblem([](const ChoiceProblem& problem, int64_t best) {
    ASSERT_OK_AND_ASSIGN(const Reduction reduction, Reduce(problem));
    const ChoiceCore tightened = WithRoundedRows(reduction.core);
    EXPECT_GE(tightened.limits.size(), reduction.core.limits.size());
    EXPECT_EQ(EnumerateCore(tightened), best);
  });
}

TEST_F(PartsTest, TheBoundIsNeverAboveTheBest) {
  int reached = 0;
  ForEachProblem([&](const ChoiceProblem& problem, int64_t best) {
    ASSERT_OK_AND_ASSIGN(const Reduction reduction, Reduce(problem));
    DualAscent dual(reduction.core);
    dual.SetUpper(best + 4);
    for (int step = 0; step < 200; ++step) {
      dual.Step();
      ASSERT_FALSE(dual.closed());
      ASSERT_LE(dual.bound(), best);
    }
    reached += dual.bound() == best;
    DualAscent proof(reduction.core);
    proof.SetUpper(best + 1);
    for (int step = 0; step < 50; ++step) proof.Step();
    EXPECT_FALSE(proof.closed());
  });
  EXPECT_GT(reached, 50);
}

TEST(EliminationTest, FindsTheLeastSum) {
  RandomNumbers random(5);
  for (int k = 0; k < 50; ++k) {
    EliminationProblem problem;
    const int size = 2 + random.Below(6);
    for (int i = 0; i < size; ++i) {
      std::vector<double>& costs = problem.costs.emplace_back(1 + random.Below(4));
      for (double& cost : costs) cost = random.Below(50);
      for (int j = 0; j < i; ++j) {
        if (random.Below(2) == 0) continue;
        EliminationEdge& edge = problem.edges.emplace_back();
        edge.a = random.Below(2) == 0 ? i : j;
        edge.b = i + j - edge.a;
        edge.costs.resize(problem.costs[i].size() * problem.costs[j].size());
        for (double& cost : edge.costs) cost = random.Below(50);
      }
    }
    const auto value = [&](const std::vector<int>& choice) {
      double sum = 0;
      for (int i = 0; i < size; ++i) sum += problem.costs[i][choice[i]];
      for (const EliminationEdge& edge : problem.edges) {
        sum += edge.costs[choice[edge.a] * problem.costs[edge.b].size() + choice[edge.b]];
      }
      return sum;
    };
    double least = std::numeric_limits<double>::infinity();
    std::vector<int> choice(size, 0);
    for (int i = 0; i < size;) {
      least = std::min(least, value(choice));
      for (i = 0; i < size; ++i) {
        if (++choice[i] < static_cast<int>(problem.costs[i].size())) break;
        choice[i] = 0;
      }
    }
    EXPECT_EQ(value(Eliminate(problem, 100'000, random)), least);
    // With tables of at most 8 combinations nodes are held: no worse than as they were.
    EXPECT_LE(value(Eliminate(problem, 8, random)), value(std::vector<int>(size, 0)));
  }
}

}  // namespace
}  // namespace toroid
