// BUILD: size = "small"
// Moves unit by unit against the planner's cheapest plans.
#include "partitioner/sharding_search/move_prices.h"

#include <cmath>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "partitioner/sharding_search/shardings_to_try.h"
#include "tests/partitioner/sharding_search/searched_program.h"

namespace toroid {
namespace {

constexpr Dims::value_type kSize = 48;

// All shardings of f32[48,48], whole and as partial sums over single units.
std::vector<Sharding> AllShardings(const SearchedProgram& on) {
  const Dims dims = {kSize, kSize};
  std::vector<Sharding> found =
      ShardingsToTry(dims, on.space.units, on.program->annotations.mesh, /*prefers_even=*/true);
  const size_t whole = found.size();
  for (const AxisList& unit : on.space.units) {
    for (size_t i = 0; i < whole; ++i) {
      if ((found[i].DimAxes() & unit.Set()) != 0) continue;
      Sharding partial = found[i];
      partial.partial = unit.Set();
      found.push_back(partial);
    }
  }
  return found;
}

struct Compared {
  int pairs = 0, cheaper = 0, dearer = 0;
  double most = 0;  // The largest ratio of a price to the planner's.
};

Compared CompareWithPlanner(const std::string& mesh) {
  const SearchedProgram on = PrepareForSearch("ENTRY e { ROOT x = f32[48,48] parameter(0) }", mesh);
  MovePrices prices(on.space.units, on.memo.get());
  Compared compared;
  const int tensor = on.TensorOf("x");
  for (const Sharding& from : AllShardings(on)) {
    for (const Sharding& to : AllShardings(on)) {
      if ((to.partial & ~from.partial) != 0) continue;
      VersionSets& versions = on.memo->versions();
      const MovePrices::Price price = prices.Of(tensor, versions.Number(from), versions.Number(to));
      const ReshardPlan& plan = on.program->planner->Plan({kSize, kSize}, 4, from, to);
      ++compared.pairs;
      EXPECT_TRUE(std::isfinite(price.time));
      EXPECT_EQ(price.time == 0, plan.time == 0);
      if (price.time < 0.999 * plan.time) ++compared.cheaper;
      if (price.time > 1.001 * plan.time) ++compared.dearer;
      if (plan.time > 0) compared.most = std::max(compared.most, price.time / plan.time);
    }
  }
  return compared;
}

TEST(MovePricesTest, OnOneUnitThePriceIsThePlanners) {
  for (const char* mesh : {"x=2", "x=4", "x=3"}) {
    SCOPED_TRACE(mesh);
    const Compared compared = CompareWithPlanner(mesh);
    EXPECT_GE(compared.pairs, 12);
    EXPECT_EQ(compared.cheaper, 0);
    EXPECT_EQ(compared.dearer, 0);
  }
}

TEST(MovePricesTest, OnTwoUnitsFewMovesDifferAndNoneByMuch) {
  const Compared compared = CompareWithPlanner("x=2,y=4");
  EXPECT_GE(compared.pairs, 100);
  // Whole units move in one order: the planner splits axes of several primes, and may not gather a major unit below a minor
  // one.
  EXPECT_LE(compared.cheaper + compared.dearer, compared.pairs / 3);
  EXPECT_LE(compared.most, 4.001);
}

}  // namespace
}  // namespace toroid
