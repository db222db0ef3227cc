// BUILD: size = "small"
// Lists of strategies, and what each strategy proposes, without writing a module.
#include "partitioner/search/strategies.h"

#include "gmock/gmock.h"
#include "partitioner/prepare/partition_options.h"
#include "tests/partitioner/search/proposals.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

TEST(StrategiesTest, AListNamesStrategiesAndTheirBudgets) {
  ASSERT_OK_AND_ASSIGN(const std::vector<ListedStrategy> listed,
                       ListStrategies({"frontier:steps=7", "forms", "even_cuts", "neighbours"}));
  ASSERT_THAT(listed, SizeIs(3));
  EXPECT_EQ(listed[0].strategy->name, "frontier");
  EXPECT_EQ(listed[0].steps, 7);
  EXPECT_EQ(listed[1].strategy->name, "even_cuts");
  EXPECT_EQ(listed[2].steps, listed[2].strategy->steps);
  EXPECT_OK(ListStrategies(DefaultStrategies()).status());
  const std::pair<const char*, const char*> kWrong[] = {
      {"luck", "there is no strategy 'luck'; there are even_cuts, idle_axes, neighbours, frontier, forms"},
      {"", "there is no strategy ''"},
      {"even_cuts:steps=3", "strategy 'even_cuts:steps=3': it has no budget"},
      {"frontier:", "expected NAME:steps=NUMBER"},
      {"frontier:steps=", "expected NAME:steps=NUMBER"},
      {"frontier:steps=-1", "expected NAME:steps=NUMBER"},
      {"frontier:luck=1", "expected NAME:steps=NUMBER"},
  };
  for (const auto& [entry, message] : kWrong) {
    EXPECT_THAT(ListStrategies({entry}).status(),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(message)))
        << entry;
  }
}

class ProposalsTest : public ::testing::Test {
 protected:
  // The plans that a strategy proposes, given the first plan of a program over `n` devices.
  std::vector<PricedPlan> ProposedBy(absl::string_view name, const std::string& text, int64_t n) {
    proposals_ = ProposalsOf(*ListStrategies({std::string(name)}).value()[0].strategy, text, n);
    return proposals_.plans;
  }

  Proposals proposals_;
  const PricedPlan& first_ = proposals_.first;
};

TEST_F(ProposalsTest, NeighboursMoveAnOperandOnceForAllItsUsers) {
  const std::vector<PricedPlan> plans = ProposedBy("neighbours", kThreeUsers, 4);
  EXPECT_EQ(first_.price.sent_bytes, 3 * 576);
  EXPECT_EQ(first_.price.collectives, 3);
  ASSERT_THAT(plans, SizeIs(1));
  EXPECT_EQ(plans[0].price.sent_bytes, 576);
  EXPECT_EQ(plans[0].price.collectives, 1);
}

TEST_F(ProposalsTest, TheFrontierDecidesUsersTogether) {
  const std::vector<PricedPlan> plans = ProposedBy("frontier", kThreeUsers, 4);
  ASSERT_THAT(plans, SizeIs(1));
  EXPECT_EQ(plans[0].price.sent_bytes, 576);
}

TEST_F(ProposalsTest, EvenCutsCostNoMore) {
  // The user cuts 10 rows over 4 devices, 3 rows each; the parameter and the result then have 10 rows, too, or fewer parts.
  const std::vector<PricedPlan> plans = ProposedBy("even_cuts", R"(ENTRY main {
  p = f32[10,8] parameter(0)
  c = f32[10,8] custom-call(p), custom_call_target="Sharding", sharding={devices=[$n,1]<=[$n]}
  ROOT y = f32[10,8] tanh(c)
})",
                                                   4);
  for (const PricedPlan& plan : plans) {
    EXPECT_LE(plan.price.sent_bytes, first_.price.sent_bytes);
    EXPECT_LE(plan.price.flops, first_.price.flops);
    EXPECT_NE(plan.plan.shardings, first_.plan.shardings);
  }
}

TEST_F(ProposalsTest, NothingIsProposedForAProgramThatSendsNothing) {
  for (const char* name : {"idle_axes", "neighbours", "frontier"}) {
    EXPECT_THAT(ProposedBy(name, R"(ENTRY main {
  x = f32[8,16] parameter(0), sharding={devices=[$n,1]<=[$n]}
  ROOT y = f32[8,16] tanh(x)
})",
                           4),
                SizeIs(0))
        << name;
  }
}

// The dot is repeated on all devices; cut over them, its small result must be gathered, which adds 3 % to the bytes.
TEST_F(ProposalsTest, IdleAxesShareTheFlopsOfAContraction) {
  const std::vector<PricedPlan> plans = ProposedBy("idle_axes", R"(ENTRY main {
  x = f32[512,16] parameter(0), sharding={devices=[$n,1]<=[$n]}
  a = f32[16,1024] parameter(1), sharding={replicated}
  b = f32[1024,16] parameter(2), sharding={replicated}
  y = f32[512,16] negate(x), sharding={replicated}
  d = f32[16,16] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT r = (f32[512,16], f32[16,16]) tuple(y, d), sharding={{replicated}, {replicated}}
})",
                                                   8);
  ASSERT_FALSE(plans.empty());
  EXPECT_EQ(plans[0].price.flops, first_.price.flops / 8);
  EXPECT_LT(plans[0].price.sent_bytes, 1.09 * first_.price.sent_bytes);
}

}  // namespace
}  // namespace toroid
