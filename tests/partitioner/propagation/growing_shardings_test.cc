#include "partitioner/propagation/growing_shardings.h"

#include <memory>
#include <optional>
#include <vector>

#include "tests/partitioner/equivalence.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::ElementsAre;

// y = -x, arrays of 8 x 8, on a mesh of axes 0 and 1 of two devices each.
struct Negation {
  Negation()
      : module(ProgramFor("ENTRY main {\n x = f32[8,8] parameter(0)\n ROOT y = f32[8,8] negate(x)\n}", 4)),
        graph(*module) {
    annotations.mesh = Mesh(4, {2}, DeviceOrder(4));
    annotations.tensor.resize(graph.num_tensors());
    x = graph.Leaves(*module->entry()->parameter(0))[0];
    y = graph.Leaves(*module->entry()->root())[0];
  }
  // States that a tensor's dimension 0 is cut over `axes`.
  Annotation& State(int tensor, const AxisList& axes) {
    Annotation& annotation = annotations.tensor[tensor].emplace();
    annotation.sharding = Sharding::Replicated(2);
    annotation.sharding.dims[0] = axes;
    return annotation;
  }
  std::optional<AgreedAxes> Agreed() const {
    const FlowOp& op = *graph.OpOf(*module->entry()->root());
    return AgreeOn(op, annotations.mesh, GrowingShardings(graph, annotations, {}), /*results_only=*/false);
  }

  std::unique_ptr<Module> module;
  FlowGraph graph;
  Annotations annotations;
  int x, y;
};

TEST(GrowingShardingsTest, ADimensionGrowsByAxesThatNoOtherUses) {
  Negation program;
  program.State(program.x, {0});
  GrowingShardings shardings(program.graph, program.annotations, {});
  EXPECT_TRUE(shardings.Extend(program.x, 0, {0, 1}));
  EXPECT_FALSE(shardings.Extend(program.x, 1, {1}));
  EXPECT_THAT(shardings[program.x].sharding.dims, ElementsAre(AxisList({0, 1}), AxisList()));
}

TEST(GrowingShardingsTest, AClosedDimensionGrowsOnlyAsStated) {
  Negation program;
  program.State(program.x, {0}).closed = 1;
  GrowingShardings shardings(program.graph, program.annotations, {});
  EXPECT_FALSE(shardings.Extend(program.x, 0, {0, 1}));
  EXPECT_TRUE(shardings.Extend(program.x, 0, {0, 1}, /*given=*/true));
}

TEST(GrowingShardingsTest, LaterPrioritiesComeInOrder) {
  Negation program;
  program.State(program.x, {0}).priorities = {2, 0};
  program.State(program.y, {1}).priorities = {1, 0};
  GrowingShardings shardings(program.graph, program.annotations, {});
  EXPECT_TRUE(shardings[program.x].sharding.dims[0].empty());
  EXPECT_THAT(*shardings.ExtendNextPriority(), ElementsAre(program.y));
  EXPECT_THAT(*shardings.ExtendNextPriority(), ElementsAre(program.x));
  EXPECT_EQ(shardings.ExtendNextPriority(), std::nullopt);
}

TEST(AgreedAxesTest, TheLongerOfTwoListsWinsIfItBeginsWithTheOther) {
  Negation program;
  EXPECT_FALSE(program.Agreed().has_value());
  program.State(program.x, {0});
  program.State(program.y, {0, 1});
  const std::optional<AgreedAxes> agreed = program.Agreed();
  ASSERT_TRUE(agreed.has_value());
  EXPECT_THAT(agreed->factor_axes, ElementsAre(AxisList({0, 1}), AxisList()));
  EXPECT_FALSE(agreed->conflict);
}

TEST(AgreedAxesTest, ListsThatDifferAgreeOnTheirCommonPart) {
  Negation program;
  program.State(program.x, {0});
  program.State(program.y, {1});
  const std::optional<AgreedAxes> agreed = program.Agreed();
  ASSERT_TRUE(agreed.has_value());
  EXPECT_THAT(agreed->factor_axes, ElementsAre(AxisList(), AxisList()));
  EXPECT_TRUE(agreed->conflict);
}

}  // namespace
}  // namespace toroid
