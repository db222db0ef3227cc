#include "partitioner/propagation/flow_graph.h"

#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "hlo/passes/inline_calls_pass.h"
#include "tests/partitioner/equivalence.h"

namespace toroid {
namespace {

using ::testing::ElementsAre;

struct Flow {
  explicit Flow(const std::string& text)
      : module(InlineCalls(*ProgramFor(text, 4)).value()), graph(*module) {}

  const Instruction& Get(absl::string_view name) const {
    for (const auto& computation : module->computations()) {
      for (const auto& instruction : computation->instructions()) {
        if (instruction->name() == name) return *instruction;
      }
    }
    TOROID_CHECK(false, name);
    return *module->entry()->root();
  }
  std::vector<int> Leaves(absl::string_view name) const {
    const auto leaves = graph.Leaves(Get(name));
    return {leaves.begin(), leaves.end()};
  }
  // The number of edges from one tensor to another, that is, of data flow that no instruction computes.
  int Edges(int from, int to) const {
    int count = 0;
    for (const FlowOp& op : graph.ops()) {
      count += op.instruction == nullptr && op.operands.size() == 1 && op.operands[0] == from &&
               op.results[0] == to;
    }
    return count;
  }

  std::unique_ptr<Module> module;
  FlowGraph graph;
};

TEST(FlowGraphTest, TuplesAreTransparent) {
  const Flow f(R"(ENTRY main {
    x = f32[8] parameter(0)
    y = f32[4] parameter(1)
    t = (f32[8], f32[4]) tuple(x, y)
    ROOT z = f32[4] get-tuple-element(t), index=1
  })");
  EXPECT_THAT(f.Leaves("t"), ElementsAre(f.Leaves("x")[0], f.Leaves("y")[0]));
  EXPECT_EQ(f.Leaves("z"), f.Leaves("y"));
  EXPECT_EQ(f.graph.OpOf(f.Get("t")), nullptr);
}

TEST(FlowGraphTest, AnOutputIsATensorOfItsOwn) {
  const Flow f("ENTRY main { x = f32[8] parameter(0) ROOT y = f32[8] negate(x) }");
  ASSERT_EQ(f.graph.outputs().size(), 1);
  EXPECT_NE(f.graph.outputs()[0], f.Leaves("y")[0]);
  EXPECT_EQ(f.Edges(f.Leaves("y")[0], f.graph.outputs()[0]), 1);
}

TEST(FlowGraphTest, TheStateOfALoopIsOneTensorPerLeaf) {
  const Flow f(R"(
body {
  s = (s32[], f32[8]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[8] get-tuple-element(s), index=1
  one = s32[] constant(1)
  j = s32[] add(i, one)
  y = f32[8] negate(x)
  ROOT next = (s32[], f32[8]) tuple(j, y)
}
condition {
  c = (s32[], f32[8]) parameter(0)
  k = s32[] get-tuple-element(c), index=0
  n = s32[] constant(3)
  ROOT less = pred[] compare(k, n), direction=LT
}
ENTRY main {
  p = f32[8] parameter(0)
  z = s32[] constant(0)
  init = (s32[], f32[8]) tuple(z, p)
  w = (s32[], f32[8]) while(init), condition=condition, body=body
  ROOT r = f32[8] get-tuple-element(w), index=1
})");
  const int state = f.Leaves("w")[1];
  EXPECT_EQ(f.Leaves("x")[0], state);
  EXPECT_EQ(f.Leaves("c")[1], state);
  EXPECT_NE(f.Leaves("p")[0], state) << "the initial state may lie elsewhere";
  EXPECT_EQ(f.Edges(f.Leaves("p")[0], state), 1);
  EXPECT_EQ(f.Edges(f.Leaves("y")[0], state), 1);
}

TEST(FlowGraphTest, BranchesFlowIntoTheResultOfTheirConditional) {
  const Flow f(R"(
up { a = f32[8] parameter(0) ROOT u = f32[8] negate(a) }
down { b = f32[8] parameter(0) ROOT d = f32[8] abs(b) }
ENTRY main {
  p = pred[] parameter(0)
  x = f32[8] parameter(1)
  ROOT c = f32[8] conditional(p, x, x), true_computation=up, false_computation=down
})");
  EXPECT_EQ(f.Edges(f.Leaves("x")[0], f.Leaves("a")[0]), 1);
  EXPECT_EQ(f.Edges(f.Leaves("x")[0], f.Leaves("b")[0]), 1);
  EXPECT_EQ(f.Edges(f.Leaves("u")[0], f.Leaves("c")[0]), 1);
  EXPECT_EQ(f.Edges(f.Leaves("d")[0], f.Leaves("c")[0]), 1);
}

TEST(FlowGraphTest, AnOpThatHandsATupleOnIsOneOpPerArray) {
  const Flow f(R"(ENTRY main {
    x = f32[8] parameter(0)
    y = f32[4,2] parameter(1)
    t = (f32[8], f32[4,2]) tuple(x, y)
    ROOT b = (f32[8], f32[4,2]) opt-barrier(t)
  })");
  const auto ops = f.graph.LeafOps(f.Get("b"));
  ASSERT_EQ(ops.size(), 2);
  EXPECT_EQ(ops[1].operands[0], f.Leaves("y")[0]);
  EXPECT_EQ(ops[1].results[0], f.Leaves("b")[1]);
  EXPECT_EQ(f.graph.OpOf(f.Get("b")), nullptr);
}

TEST(FlowGraphTest, ComputationsThatAreOnlyAppliedAreNotReached) {
  const Flow f(R"(
sum { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }
ENTRY main {
  x = f32[8] parameter(0)
  z = f32[] constant(0)
  ROOT y = f32[] reduce(x, z), dimensions={0}, to_apply=sum
})");
  EXPECT_FALSE(f.graph.Reached(*f.Get("c").computation()));
  EXPECT_TRUE(f.Leaves("c").empty());
  EXPECT_TRUE(f.graph.Reached(*f.module->entry()));
}

TEST(FlowProblemTest, AProblemAsksForEachOperandAndResultOnceInOrder) {
  const Flow f(R"(ENTRY main {
    x = f32[8,4] parameter(0)
    w = bf16[4,2] parameter(1)
    v = f32[4,2] convert(w)
    ROOT y = f32[8,2] dot(x, v), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  })");
  std::vector<std::pair<int, bool>> asked;
  const AssignmentProblem problem =
      ProblemOf(f.graph, *f.graph.OpOf(f.Get("y")), [&](int tensor, bool is_result, TensorView* view) {
        asked.emplace_back(tensor, is_result);
        view->places.push_back(Sharding::Replicated(2));
        view->free = !is_result;
      });
  EXPECT_THAT(asked,
              ElementsAre(std::make_pair(f.Leaves("x")[0], false), std::make_pair(f.Leaves("v")[0], false),
                          std::make_pair(f.Leaves("y")[0], true)));
  EXPECT_EQ(problem.op, &f.Get("y"));
  EXPECT_TRUE(problem.operands[1].free);
  EXPECT_EQ(problem.operands[1].width, 4);
  EXPECT_EQ(problem.results[0].dims, f.Get("y").shape().dims());
}

}  // namespace
}  // namespace toroid
