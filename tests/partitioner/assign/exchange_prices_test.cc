// What the local programs of ops send by themselves.
#include "partitioner/assign/exchange_prices.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "partitioner/ops/op_families.h"
#include "tests/partitioner/equivalence.h"

namespace toroid {
namespace {

using ::testing::SizeIs;

class ExchangePricesTest : public ::testing::Test {
 protected:
  // The exchanges of the root of a program if its first factor is cut over `axes` of a mesh of 4 devices, 2 x 2.
  const ExchangePrices::Exchanges& Of(const std::string& text, const AxisList& axes) {
    module_ = ProgramFor(text, 4);
    const Instruction& root = *module_->entry()->root();
    const ShardingRule rule = ShardingRuleOf(root);
    std::vector<AxisList> factor_axes(rule.factors.size());
    factor_axes[0] = axes;
    return prices_.Of(root, rule, factor_axes);
  }

  const Mesh mesh_{4, {2}, DeviceOrder(4)};
  ExchangePrices prices_{&mesh_, &DefaultCostModel()};
  std::unique_ptr<Module> module_;
};

TEST_F(ExchangePricesTest, AnElementwiseOpSendsNothing) {
  EXPECT_EQ(Of("ENTRY main { x = f32[8] parameter(0)\n ROOT y = f32[8] negate(x) }", {0, 1}).collectives, 0);
}

TEST_F(ExchangePricesTest, AReverseOfEvenTilesSendsTheTilesAlone) {
  const ExchangePrices::Exchanges& exchanges =
      Of("ENTRY main { x = f32[8] parameter(0)\n ROOT y = f32[8] reverse(x), dimensions={0} }", {0});
  EXPECT_EQ(exchanges.sent_bytes, 4 * 4);
  EXPECT_EQ(exchanges.collectives, 1);
  EXPECT_EQ(exchanges.delay, 0);
}

TEST_F(ExchangePricesTest, ACumulativeSumSendsOneRowOfEachTile) {
  const std::string text = R"(add { a = f32[] parameter(0)
    b = f32[] parameter(1)
    ROOT c = f32[] add(a, b) }
  ENTRY main { x = f32[8] parameter(0)
    zero = f32[] constant(0)
    ROOT y = f32[8] reduce-window(x, zero), window={size=8 pad=7_0}, to_apply=add })";
  EXPECT_EQ(Of(text, {0, 1}).sent_bytes, 3 * 4);
}

TEST_F(ExchangePricesTest, AStencilSendsItsHalosInTwoPartsOfItsOperand) {
  const std::string text = R"(add { a = f32[] parameter(0)
    b = f32[] parameter(1)
    ROOT c = f32[] add(a, b) }
  ENTRY main { x = f32[16] parameter(0)
    zero = f32[] constant(0)
    ROOT y = f32[16] reduce-window(x, zero), window={size=3 pad=1_1}, to_apply=add })";
  const ExchangePrices::Exchanges& exchanges = Of(text, {0, 1});
  EXPECT_EQ(exchanges.sent_bytes, 2 * 4);
  ASSERT_THAT(exchanges.parts, SizeIs(2));
  for (const ExchangePrices::Exchanges::Part& part : exchanges.parts) {
    EXPECT_EQ(part.operand, 0);
    EXPECT_EQ(part.sent_bytes, 4);
  }
  EXPECT_NE(exchanges.parts[0].hash, exchanges.parts[1].hash);
}

}  // namespace
}  // namespace toroid
