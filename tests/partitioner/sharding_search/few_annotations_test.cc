// BUILD: size = "small"
// Annotations that propagation cannot find by itself.
#include "partitioner/sharding_search/few_annotations.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "partitioner/choice/solve.h"
#include "partitioner/sharding_search/tensor_names.h"
#include "tests/partitioner/sharding_search/models.h"
#include "tests/partitioner/sharding_search/searched_program.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

// A plan in which some arguments have these shardings, and its few annotations.
struct Reduced {
  Reduced(const std::string& text, const std::string& mesh) : on(PrepareForSearch(text, mesh)) {}

  std::optional<FewAnnotations> Find(bool keeps_memory = false, double tolerance = 0.01) {
    const std::vector<TensorLife> lives = LivesOf(*on.program, ProgramSteps(on.base, on.memo.get()));
    auto problem = ShardingProblem::Make(on.base, on.space, on.memo.get());
    EXPECT_OK(problem.status());
    for (const auto& [tensor, sharding] : fixed) problem->Fix(tensor, sharding);
    const auto solution = Solve(problem->problem(), SolveOptions());
    EXPECT_OK(solution.status());
    wanted = DecideGreedily(problem->PlanOf(solution->choice), CheapestAssignments(), true, on.memo.get());
    EXPECT_TRUE(wanted.has_value());
    const Kinds kinds = AllApart(ProgramSteps(wanted->plan, on.memo.get()));
    const StepPrices prices(*on.program, lives, {});
    const std::vector<std::string> names = GivenNamesOfTensors(*on.module, *on.program);
    std::optional<FewAnnotations> few = FindFewAnnotations(
        {*wanted, kinds, problem->state(), names, prices, lives, keeps_memory, tolerance}, on.memo.get());
    if (few) {
      seconds = prices.OfPlan(few->plan, on.memo.get()).sum();
      wanted_seconds = prices.OfPlan(*wanted, on.memo.get()).sum();
      peak = PeakOfPlan(*on.program, lives, few->plan.plan);
      wanted_peak = PeakOfPlan(*on.program, lives, wanted->plan);
    }
    return few;
  }

  void Cut(const std::string& name, int dim) {
    Sharding sharding = Sharding::Replicated(2);
    sharding.dims[dim] = on.space.units[0];
    fixed.push_back({on.TensorOf(name), sharding});
  }

  SearchedProgram on;
  std::vector<std::pair<int, Sharding>> fixed;
  std::optional<PricedPlan> wanted;
  double seconds = 0, wanted_seconds = 0;
  int64_t peak = 0, wanted_peak = 0;
};

TEST(FewAnnotationsTest, WhatPropagationFindsAgainIsLeftOut) {
  Reduced reduced(MlpStep(8192, 64, 64), "d=4");
  reduced.Cut("x", 0);
  const auto few = reduced.Find();
  ASSERT_TRUE(few.has_value());
  ASSERT_EQ(few->annotations.size(), 1u) << "everything follows from the rows of x";
  EXPECT_EQ(few->annotations[0].tensors, std::vector<int>({reduced.on.TensorOf("x")}));
  EXPECT_LE(reduced.seconds, 1.01 * reduced.wanted_seconds);
}

TEST(FewAnnotationsTest, TheProgramIsAsGoodAsThePlan) {
  for (const char* mesh : {"d=4", "d=2,m=2"}) {
    for (const std::string& text : {Layers(3, 128, 64), MlpStep(256, 128, 512, true)}) {
      Reduced reduced(text, mesh);
      const auto few = reduced.Find();
      ASSERT_TRUE(few.has_value());
      EXPECT_LE(reduced.seconds, 1.011 * reduced.wanted_seconds);
      EXPECT_LE(few->annotations.size(), 12u);
    }
  }
}

TEST(FewAnnotationsTest, MemoryIsKeptWhereItIsAskedFor) {
  Reduced reduced(MlpStep(256, 128, 128, true), "d=4");
  for (const char* name : {"w1", "w2", "m1", "m2"}) reduced.Cut(name, 0);
  const auto few = reduced.Find(/*keeps_memory=*/true, /*tolerance=*/0.5);
  ASSERT_TRUE(few.has_value());
  EXPECT_LE(static_cast<double>(reduced.peak), 1.006 * static_cast<double>(reduced.wanted_peak));
  for (const char* name : {"w1", "w2", "m1", "m2"}) {
    const int t = reduced.on.TensorOf(name);
    EXPECT_EQ(few->plan.plan.shardings[t], reduced.wanted->plan.shardings[t]) << name;
  }
}

TEST(FewAnnotationsTest, AWholePlanNeedsNone) {
  Reduced reduced(Layers(1, 8, 8), "d=7");
  const auto few = reduced.Find();
  ASSERT_TRUE(few.has_value());
  EXPECT_TRUE(few->annotations.empty());
}

// The rows of an activation that is made anew for the backward pass are lost between two barriers at once: to annotate one of
// both values alone saves nothing.
TEST(FewAnnotationsTest, WhereNoneHelpsAloneSeveralDo) {
  Reduced reduced(R"(
HloModule two_values
ENTRY main {
  x = f32[64,64] parameter(0)
  w = f32[64,64] parameter(1)
  i = s32[64] parameter(2)
  a = f32[64,64] gather(x, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,64}
  b = f32[64,64] dot(a, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  j = s32[64] negate(i)
  c = f32[64,64] gather(b, j), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,64}
  ROOT d = f32[64,64] dot(c, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
)",
                  "d=4");
  const auto few = reduced.Find();
  ASSERT_TRUE(few.has_value());
  EXPECT_LE(reduced.seconds, 1.011 * reduced.wanted_seconds);
}

}  // namespace
}  // namespace toroid
