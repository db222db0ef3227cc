// BUILD: size = "small"
// Which instructions plain rules put into one group.
#include "simulator/simple/plain_groups.h"

#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hlo/ops/verify_module.h"
#include "simulator/machines/machine.h"
#include "simulator/simple/lower_simply.h"
#include "tests/runtime/evaluate.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

// Names of what goes to memory and is made by a group.
std::vector<std::string> Groups(const std::string& body, const std::string& computations = "") {
  const std::unique_ptr<Module> module = MakeModule(body, computations);
  std::vector<std::string> names;
  for (const auto& group : PlainGroups(*module->entry()).groups) names.push_back(group[0]->name());
  return names;
}

TEST(PlainGroupsTest, ElementwiseOpsJoinTheirReader) {
  EXPECT_THAT(Groups(R"(
    x = f32[64,64] parameter(0)
    a = f32[64,64] exponential(x)
    b = f32[64,64] add(a, a)
    ROOT c = f32[64,64] negate(b)
)"),
              ElementsAre("c"));
}

TEST(PlainGroupsTest, AProductTakesTheOpsAroundIt) {
  EXPECT_THAT(Groups(R"(
    x = f32[64,64] parameter(0)
    a = f32[64,64] tanh(x)
    d = f32[64,64] dot(a, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
    ROOT c = f32[64,64] negate(d)
)"),
              ElementsAre("c"));
  // One product in each group.
  EXPECT_THAT(Groups(R"(
    x = f32[64,64] parameter(0)
    d = f32[64,64] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
    e = f32[64,64] dot(x, x), lhs_contracting_dims={0}, rhs_contracting_dims={0}
    ROOT c = f32[64,64] add(d, e)
)"),
              UnorderedElementsAre("d", "c"));
}

TEST(PlainGroupsTest, AValueThatSeveralReadIsWrittenIfThatIsLessToMove) {
  // Made of four arrays: two groups would read eight, instead of four, one that is written, and two.
  EXPECT_THAT(Groups(R"(
    x = f32[64,64] parameter(0)
    y = f32[64,64] parameter(1)
    z = f32[64,64] parameter(2)
    u = f32[64,64] parameter(3)
    s = f32[64,64] add(x, y)
    r = f32[64,64] add(z, u)
    t = f32[64,64] add(s, r)
    d = f32[64,64] dot(t, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
    e = f32[64,64] dot(t, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
    ROOT both = (f32[64,64], f32[64,64]) tuple(d, e)
)"),
              UnorderedElementsAre("t", "d", "e"));
  // Made of one: reading that is as cheap.
  EXPECT_THAT(Groups(R"(
    x = f32[64,64] parameter(0)
    t = f32[64,64] negate(x)
    d = f32[64,64] dot(t, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
    e = f32[64,64] dot(t, x), lhs_contracting_dims={0}, rhs_contracting_dims={0}
    ROOT r = (f32[64,64], f32[64,64]) tuple(d, e)
)"),
              UnorderedElementsAre("d", "e"));
}

// Two products would make each element of a tanh several times; two sums make it once each, while its operand is read.
TEST(PlainGroupsTest, ADearValueThatSeveralProductsReadIsWritten) {
  EXPECT_THAT(Groups(R"(
    x = f32[64,64] parameter(0)
    t = f32[64,64] tanh(x)
    n = f32[64,64] negate(t)
    d = f32[64,64] dot(n, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
    e = f32[64,64] dot(n, x), lhs_contracting_dims={0}, rhs_contracting_dims={0}
    ROOT r = (f32[64,64], f32[64,64]) tuple(d, e)
)"),
              UnorderedElementsAre("n", "d", "e"));
  EXPECT_THAT(Groups(R"(
    x = f32[64,64] parameter(0)
    zero = f32[] constant(0)
    t = f32[64,64] tanh(x)
    d = f32[64] reduce(t, zero), dimensions={0}, to_apply=sum
    e = f32[64] reduce(t, zero), dimensions={1}, to_apply=sum
    ROOT r = (f32[64], f32[64]) tuple(d, e)
)",
                     "sum { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] add(a, b) }"),
              UnorderedElementsAre("d", "e"));
}

TEST(PlainGroupsTest, ALoopReadsItsStateFromMemory) {
  const std::string loop = R"(
condition { s = (s32[], f32[64]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(7)
  ROOT more = pred[] compare(i, n), direction=LT }
body { s = (s32[], f32[64]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  one = s32[] constant(1)
  next = s32[] add(i, one)
  x = f32[64] get-tuple-element(s), index=1
  y = f32[64] sine(x)
  ROOT t = (s32[], f32[64]) tuple(next, y) }
)";
  EXPECT_THAT(Groups(R"(
    x = f32[64] parameter(0)
    zero = s32[] constant(0)
    a = f32[64] negate(x)
    t = (s32[], f32[64]) tuple(zero, a)
    ROOT w = (s32[], f32[64]) while(t), condition=condition, body=body
)",
                     loop),
              ElementsAre("a"));
}

// The lowered program computes what the module does.
TEST(PlainGroupsTest, LoweringKeepsValues) {
  const std::unique_ptr<Module> module = MakeModule(R"(
    x = f32[3,4] parameter(0)
    t = f32[4,3] transpose(x), dimensions={1,0}
    a = f32[4,3] exponential(t)
    d = f32[3,3] dot(x, a), lhs_contracting_dims={1}, rhs_contracting_dims={0}
    r = f32[9] reshape(d)
    s = f32[4] slice(r), slice={[2:6]}
    zero = f32[] constant(0)
    m = f32[] reduce(r, zero), dimensions={0}, to_apply=sum
    b = f32[4] broadcast(m), dimensions={}
    ROOT y = f32[4] divide(s, b)
)",
                                                    ReducerText("sum", "f32", "add"));
  ASSERT_OK_AND_ASSIGN(const Machine machine, LoadMachine("tpu-v5e-4"));
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Module> lowered, LowerSimply(*module, machine.family.core()));
  ASSERT_OK(VerifyModule(*lowered));
  const std::vector<Literal> x = {
      ParseLiteral("f32[3,4] {{0.1,0.2,0.3,0.4},{0.5,0.6,0.7,0.8},{-1,-0.5,0.25,1}}")};
  ASSERT_OK_AND_ASSIGN(const Literal expected, RunOnThreads(*module, x));
  ASSERT_OK_AND_ASSIGN(const Literal actual, RunOnThreads(*lowered, x));
  EXPECT_EQ(ToText(actual), ToText(expected));
}

}  // namespace
}  // namespace toroid
