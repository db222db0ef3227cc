#include "partitioner/assign/assignment.h"

#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "partitioner/ops/op_families.h"
#include "tests/partitioner/equivalence.h"

namespace toroid {
namespace {

// The assignment problem of an op, the root of a program, over four devices: axes 0 and 1 of size two.
class Problem {
 public:
  explicit Problem(const std::string& text)
      : module_(ProgramFor(text, 4)),
        mesh_(4, {2}, DeviceOrder(4)),
        planner_(&mesh_),
        exchanges_(&mesh_, &DefaultCostModel()),
        op_(*module_->entry()->root()),
        rule_(ShardingRuleOf(op_)) {
    problem_.op = &op_;
    problem_.rule = &rule_;
    for (const Instruction* operand : op_.operands()) problem_.operands.push_back(View(operand->shape()));
    problem_.results.push_back(View(op_.shape()));
  }

  Problem& OperandIn(int i, absl::InlinedVector<AxisList, 4> dims) {
    problem_.operands[i].places.push_back(Cut(dims));
    return *this;
  }
  Problem& ResultIn(absl::InlinedVector<AxisList, 4> dims) {
    problem_.results[0].places.push_back(Cut(dims));
    return *this;
  }
  Problem& FreeOperand(int i) {
    problem_.operands[i].free = true;
    return *this;
  }
  Problem& Reserve(AxisSet axes) {
    problem_.reserved = axes;
    return *this;
  }

  Assignment Choose(const AssignmentPolicy& policy = CheapestAssignments()) {
    return policy.Choose(problem_, {&mesh_, &planner_, &exchanges_});
  }
  Sharding ResultUnder(const Assignment& assignment) const {
    return ShardingUnder(mesh_, rule_, rule_.results[0], assignment.factor_axes);
  }
  Sharding OperandUnder(int i, const Assignment& assignment) const {
    return ShardingUnder(mesh_, rule_, rule_.operands[i], assignment.factor_axes);
  }

  static Sharding Cut(absl::InlinedVector<AxisList, 4> dims) {
    Sharding sharding;
    sharding.dims = std::move(dims);
    return sharding;
  }

 private:
  static TensorView View(const Shape& shape) {
    TensorView view;
    view.dims = shape.dims();
    view.width = ByteWidth(shape.element_type());
    return view;
  }

  std::unique_ptr<Module> module_;
  Mesh mesh_;
  ReshardPlanner planner_;
  ExchangePrices exchanges_;
  const Instruction& op_;
  ShardingRule rule_;
  AssignmentProblem problem_;
};

const char kDot[] = R"(ENTRY main {
  x = f32[64,1024] parameter(0)
  w = f32[1024,4096] parameter(1)
  ROOT y = f32[64,4096] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
})";

TEST(AssignmentTest, AnOpIsComputedWhereItsOperandLies) {
  Problem p("ENTRY main { x = f32[8,8] parameter(0) ROOT y = f32[8,8] tanh(x) }");
  const Assignment assignment = p.OperandIn(0, {{0, 1}, {}}).Choose();
  EXPECT_EQ(assignment.sent_bytes, 0);
  EXPECT_EQ(p.ResultUnder(assignment), Problem::Cut({{0, 1}, {}}));
}

TEST(AssignmentTest, OfTwoWaysToCutTheWorkTheOneThatMovesTheSmallerOperandWins) {
  // x is cut by rows and w by columns, over the same axes. Cutting the dot by rows gathers w; cutting it by
  // columns gathers x, which is smaller.
  Problem p(kDot);
  const Assignment assignment = p.OperandIn(0, {{0, 1}, {}}).OperandIn(1, {{}, {0, 1}}).Choose();
  EXPECT_EQ(p.ResultUnder(assignment), Problem::Cut({{}, {0, 1}}));
  EXPECT_EQ(assignment.sent_bytes, 3 * 16 * 1024 * 4);
}

TEST(AssignmentTest, NoWorkIsRepeatedToSaveBytes) {
  // The result is wanted replicated. Computing all of it on every device would send nothing, but repeats
  // work: each device computes a quarter, which is then gathered.
  Problem p(kDot);
  const Assignment assignment =
      p.OperandIn(0, {{0, 1}, {}}).OperandIn(1, {{}, {}}).ResultIn({{}, {}}).Choose();
  EXPECT_EQ(assignment.flops, 2.0 * 16 * 1024 * 4096);
}

TEST(AssignmentTest, AContractionKeepsTheCutOfItsContractedDimension) {
  Problem p(kDot);
  const Assignment assignment = p.OperandIn(0, {{}, {0, 1}}).OperandIn(1, {{0, 1}, {}}).Choose();
  EXPECT_EQ(p.OperandUnder(0, assignment), Problem::Cut({{}, {0, 1}}));
  EXPECT_EQ(assignment.flops, 2.0 * 64 * 256 * 4096);
}

TEST(AssignmentTest, AFreeOperandGivesNoReasonAndCostsNothing) {
  Problem p("ENTRY main { x = f32[8,8] parameter(0) y = f32[8,8] parameter(1) ROOT z = f32[8,8] add(x, y) }");
  const Assignment assignment =
      p.OperandIn(0, {{0, 1}, {}}).OperandIn(1, {{}, {0, 1}}).FreeOperand(1).Choose();
  EXPECT_EQ(p.ResultUnder(assignment), Problem::Cut({{0, 1}, {}}));
  EXPECT_EQ(assignment.sent_bytes, 0);
}

TEST(AssignmentTest, ReservedAxesCutNothing) {
  Problem p("ENTRY main { x = f32[8,8] parameter(0) ROOT y = f32[8,8] tanh(x) }");
  const Assignment assignment = p.OperandIn(0, {{0, 1}, {}}).Reserve(0b10).Choose();
  EXPECT_EQ(p.ResultUnder(assignment), Problem::Cut({{0}, {}}));
}

TEST(AssignmentTest, AnOpThatNeedsItsDimensionReplicatedTakesTheAxesToAnotherOne) {
  Problem p(R"(
less {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = pred[] compare(a, b), direction=LT
}
ENTRY main { x = f32[64,64] parameter(0) ROOT y = f32[64,64] sort(x), dimensions={0}, to_apply=less })");
  const Assignment assignment = p.OperandIn(0, {{0, 1}, {}}).ResultIn({{0, 1}, {}}).Choose();
  EXPECT_EQ(p.OperandUnder(0, assignment), Problem::Cut({{}, {0, 1}}));
  EXPECT_EQ(assignment.sent_bytes, 2 * 3 * 64 * 64 / 4 / 4 * 4) << "an all-to-all there, one back";
}

TEST(AssignmentPolicyTest, ReplicateEverythingCutsNoFactor) {
  Problem p(kDot);
  const Assignment assignment =
      p.OperandIn(0, {{0, 1}, {}}).OperandIn(1, {{}, {0, 1}}).Choose(ReplicateEverything());
  EXPECT_EQ(p.ResultUnder(assignment), Sharding::Replicated(2));
  EXPECT_EQ(p.OperandUnder(1, assignment), Sharding::Replicated(2));
}

TEST(AssignmentPolicyTest, ReplicateEverythingLeavesWhatTheCallerReliesOn) {
  std::vector<Sharding> plan(3, Problem::Cut({{0}, {1}}));
  ReplicateEverything().AdjustPlan({true, false, true}, &plan);
  EXPECT_EQ(plan[0], Problem::Cut({{0}, {1}}));
  EXPECT_EQ(plan[1], Sharding::Replicated(2));
  EXPECT_EQ(plan[2], Problem::Cut({{0}, {1}}));
}

}  // namespace
}  // namespace toroid
