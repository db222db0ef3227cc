// BUILD: size = "small"
// What ops and collectives take, in picoseconds.
#include "partitioner/sharding_search/step_prices.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/partitioner/sharding_search/models.h"
#include "tests/partitioner/sharding_search/searched_program.h"

namespace toroid {
namespace {

struct Priced {
  explicit Priced(const std::string& text, const PriceScales& scales = {})
      : on(PrepareForSearch(text, "x=2")),
        lives(LivesOf(*on.program, ProgramSteps(on.base, on.memo.get()))),
        prices(*on.program, lives, scales) {}

  const FlowOp& Op(const std::string& name) const {
    for (const FlowOp& op : on.program->graph->ops()) {
      if (op.instruction != nullptr && op.instruction->name() == name) return op;
    }
    ADD_FAILURE() << name;
    return on.program->graph->ops()[0];
  }
  // The choices of an op: by which it is cut least first.
  double Cheapest(const std::string& name) const {
    double least = -1;
    for (const OpChoice* choice : on.memo->Choices(Op(name), on.space.units)) {
      const double price = prices.OfOp(Op(name), *choice);
      if (least < 0 || price < least) least = price;
    }
    return least;
  }
  double Whole(const std::string& name) const {
    const FlowOp& op = Op(name);
    return prices.OfOp(op, on.memo->Choice(op, FactorAxesList(op.rule->factors.size())));
  }

  SearchedProgram on;
  std::vector<TensorLife> lives;
  StepPrices prices;
};

constexpr char kProduct[] = R"(
ENTRY main {
  x = f32[512,512] parameter(0)
  w = f32[512,512] parameter(1)
  a = f32[512,512] negate(x)
  p = f32[512,512] dot(a, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT y = f32[512,512] add(p, x)
})";

TEST(StepPricesTest, AProductTakesTheTimeOfItsFlopsOrOfItsBytes) {
  for (const int64_t depth : {int64_t{8}, int64_t{4096}}) {
    const Priced priced(absl::StrCat("ENTRY main { x = f32[2048,", depth, "] parameter(0) w = f32[", depth,
                                     ",2048] parameter(1)\n ROOT p = f32[2048,2048] dot(x, w), "
                                     "lhs_contracting_dims={1}, rhs_contracting_dims={0} }"));
    const CostModel& cost = priced.on.program->planner->cost();
    const double unit = cost.SecondsPerLinkByte() * 1e12;
    const double products = cost.MatrixTime(2.0 * 2048 * 2048 * static_cast<double>(depth));
    const double memory = cost.MemoryTime(4.0 * 2048 * (2048 + 2 * static_cast<double>(depth)));
    EXPECT_EQ(products > memory, depth == 4096);
    EXPECT_NEAR(priced.Whole("p"), unit * std::max(products, memory), 1);
  }
}

TEST(StepPricesTest, CutInTwoItTakesHalf) {
  const Priced priced(kProduct);
  // Its rows are cut, the weight is read whole.
  EXPECT_LT(priced.Cheapest("p"), 0.7 * priced.Whole("p"));
  EXPECT_GE(priced.Cheapest("p"), 0.5 * priced.Whole("p"));
}

TEST(StepPricesTest, WhatIsFusedTakesNextToNothing) {
  const Priced priced(kProduct);
  EXPECT_LT(priced.Whole("a"), 0.01 * priced.Whole("y"));
  EXPECT_GT(priced.Whole("y"), 0);
}

TEST(StepPricesTest, ScalesMultiply) {
  const Priced plain(kProduct), scaled(kProduct, {.collectives = 3, .compute = 2});
  EXPECT_NEAR(scaled.Whole("p"), 2 * plain.Whole("p"), 1e-6 * plain.Whole("p"));
  EXPECT_DOUBLE_EQ(scaled.prices.OfCollectives(100, 2), 3 * plain.prices.OfCollectives(100, 2));
}

TEST(StepPricesTest, ACollectiveHasItsFixedTime) {
  const Priced priced(kProduct);
  const CostModel& cost = priced.on.program->planner->cost();
  const double unit = cost.SecondsPerLinkByte() * 1e12;
  EXPECT_DOUBLE_EQ(priced.prices.OfCollectives(1000, 1), unit * (1000 + cost.StartTime()));
  EXPECT_DOUBLE_EQ(priced.prices.OfCollectives(0, 0), 0);
}

TEST(StepPricesTest, ARunIsTheSumOfItsSteps) {
  const Priced priced(Layers(4, 64, 32));
  const std::optional<PricedPlan> plan =
      DecideGreedily(priced.on.base, CheapestAssignments(), false, priced.on.memo.get());
  ASSERT_TRUE(plan.has_value());
  const PricedRun run = priced.prices.OfPlan(*plan, priced.on.memo.get());
  double sum = 0;
  for (const char* name : {"q0", "k0", "v0", "o0", "y0"}) sum += 4 * priced.Whole(name);
  EXPECT_NEAR(run.compute, sum, 0.01 * sum) << "nothing is cut";
  EXPECT_LT(run.collectives, 0.01 * sum);
}

}  // namespace
}  // namespace toroid
