#include "partitioner/rewrite/program_rewriter.h"

#include <string>

#include "gmock/gmock.h"
#include "hlo/ops/verify_module.h"
#include "partitioner/search/strategies.h"
#include "partitioner/stages/spmd_partitioner.h"
#include "tests/partitioner/equivalence.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::IsEmpty;
using ::testing::Not;

int CountIn(const Computation& computation, Opcode opcode) {
  int count = 0;
  for (const auto& instruction : computation.instructions()) count += instruction->opcode() == opcode;
  return count;
}

const char kRows[] = R"(ENTRY main {
  x = f32[8,6] parameter(0), sharding={devices=[$n,1]<=[$n]}
  y = f32[8,6] tanh(x)
  ROOT z = f32[8,6] negate(y)
})";

// The first plan, under a policy.
Plan PlanOf(const PreparedProgram& program, const AssignmentPolicy& policy = CheapestAssignments()) {
  PlanMemo memo(program);
  const std::optional<PricedPlan> plan = Propagated(policy, &memo);
  EXPECT_TRUE(plan.has_value());
  return plan ? plan->plan : Plan();
}

TEST(ProgramRewriterTest, OnePreparedProgramIsRewrittenUnderSeveralPlans) {
  ASSERT_OK_AND_ASSIGN(const auto program, PrepareProgram(*ProgramFor(kRows, 4), PartitionOptions()));
  ASSERT_OK_AND_ASSIGN(const RewrittenProgram first, RewriteProgram(*program, PlanOf(*program)));
  ASSERT_OK(GiveSharding(program->graph->outputs()[0], HloSharding::Replicated(), program.get()));
  ASSERT_OK_AND_ASSIGN(const RewrittenProgram second, RewriteProgram(*program, PlanOf(*program)));
  EXPECT_OK(VerifyModule(*first.module));
  EXPECT_OK(VerifyModule(*second.module));
  EXPECT_EQ(CountIn(*first.module->entry(), Opcode::kAllGather), 0);
  EXPECT_EQ(CountIn(*second.module->entry(), Opcode::kAllGather), 1);
}

// An output without an annotation is not gathered, even if the plan replicates it.
TEST(ProgramRewriterTest, AnOutputThatIsFreeStaysAsItWasMade) {
  ASSERT_OK_AND_ASSIGN(const auto program, PrepareProgram(*ProgramFor(kRows, 4), PartitionOptions()));
  Plan wanted = PlanOf(*program);
  const int output = program->graph->outputs()[0];
  const Sharding rows = wanted.shardings[output];
  wanted.shardings[output] = Sharding::Replicated(2);
  PlanMemo memo(*program);
  const std::optional<PricedPlan> free = DecideGreedily(wanted, CheapestAssignments(), false, &memo);
  const std::optional<PricedPlan> fixed = DecideGreedily(wanted, CheapestAssignments(), true, &memo);
  ASSERT_TRUE(free.has_value() && fixed.has_value());
  EXPECT_EQ(free->plan.shardings[output], rows);
  EXPECT_EQ(free->price.sent_bytes, 0);
  EXPECT_EQ(fixed->plan.shardings[output], Sharding::Replicated(2));
  EXPECT_EQ(fixed->price.sent_bytes, 3 * 2 * 6 * 4);
  ASSERT_OK_AND_ASSIGN(const RewrittenProgram rewritten, RewriteProgram(*program, free->plan));
  EXPECT_EQ(CountIn(*rewritten.module->entry(), Opcode::kAllGather), 0);
}

TEST(ProgramRewriterTest, APolicyThatReplicatesEverythingComputesReplicatedArrays) {
  ASSERT_OK_AND_ASSIGN(const auto program, PrepareProgram(*ProgramFor(kRows, 4), PartitionOptions()));
  ASSERT_OK_AND_ASSIGN(const RewrittenProgram rewritten,
                       RewriteProgram(*program, PlanOf(*program, ReplicateEverything())));
  for (const auto& instruction : rewritten.module->entry()->instructions()) {
    if (instruction->opcode() != Opcode::kTanh) continue;
    EXPECT_EQ(instruction->shape().dim(0), 8);
  }
  EXPECT_THAT(rewritten.full_replications, Not(IsEmpty()));
}

TEST(ProgramRewriterTest, ABodyComputesItsPlaceInTheMeshOnce) {
  // The body slices the rows of its state twice: for its ops, and to return the state.
  const std::string text = R"(
body {
  s = (s32[], f32[8,8]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[8,8] get-tuple-element(s), index=1
  one = s32[] constant(1)
  j = s32[] add(i, one)
  rows = s32[8,8] iota(), iota_dimension=0
  scale = f32[8,8] convert(rows)
  w = f32[8,8] multiply(x, scale)
  whole = f32[8,8] custom-call(w), custom_call_target="Sharding", sharding={replicated}
  y = f32[8,8] negate(whole)
  ROOT t = (s32[], f32[8,8]) tuple(j, y)
}
condition {
  s = (s32[], f32[8,8]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(3)
  ROOT c = pred[] compare(i, n), direction=LT
}
ENTRY main {
  x = f32[8,8] parameter(0), sharding={devices=[$n,1]<=[$n]}
  z = s32[] constant(0)
  t = (s32[], f32[8,8]) tuple(z, x)
  w = (s32[], f32[8,8]) while(t), condition=condition, body=body
  ROOT r = f32[8,8] get-tuple-element(w), index=1
})";
  ASSERT_OK_AND_ASSIGN(const auto program, PrepareProgram(*ProgramFor(text, 4), PartitionOptions()));
  ASSERT_OK_AND_ASSIGN(const RewrittenProgram rewritten, RewriteProgram(*program, PlanOf(*program)));
  for (const auto& computation : rewritten.module->computations()) {
    EXPECT_LE(CountIn(*computation, Opcode::kPartitionId), 1) << computation->name();
  }
  ExpectEquivalent(text, {}, {1, 2, 4});
}

TEST(ProgramRewriterTest, ErrorsNameTheInstruction) {
  const std::string text = R"(ENTRY main {
    t = token[] after-all()
    x = f32[6] parameter(0), sharding={devices=[$n]<=[$n]}
    o = token[] outfeed(x, t), outfeed_shape=f32[6], sharding={devices=[$n]<=[$n]}
    ROOT y = f32[6] negate(x)
  })";
  ASSERT_OK_AND_ASSIGN(const auto program, PrepareProgram(*ProgramFor(text, 4), PartitionOptions()));
  EXPECT_THAT(RewriteProgram(*program, PlanOf(*program)).status(),
              StatusIs(absl::StatusCode::kUnimplemented, testing::HasSubstr("main/o: an outfeed of f32[6]")));
}

}  // namespace
}  // namespace toroid
