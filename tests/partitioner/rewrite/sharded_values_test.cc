#include "partitioner/rewrite/sharded_values.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "tests/partitioner/rewrite/rewrite_fixture.h"

namespace toroid {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const char kTwoUsers[] = R"(ENTRY main {
  x = f32[8,6] parameter(0), sharding={devices=[$n,1]<=[$n]}
  y = f32[8,6] negate(x)
  z = f32[8,6] tanh(x)
  ROOT r = f32[8,6] add(y, z)
})";

TEST(ShardedValuesTest, TheSecondUserOfAShardingTakesTheVersionOfTheFirst) {
  RewriteFixture f(kTwoUsers, 4);
  ShardedValues& values = f.state.values;
  const int x = f.Tensor("x");
  f.AddValue("x", CutAlong(f, 2, 0));
  Instruction* first = values.Get(f.b, x, values.Replicated(x), f.Get("y"));
  EXPECT_EQ(f.Count(Opcode::kAllGather), 1);
  EXPECT_EQ(values.Get(f.b, x, values.Replicated(x), f.Get("z")), first);
  EXPECT_EQ(f.Count(Opcode::kAllGather), 1);
  EXPECT_EQ(values.versions(x).size(), 2);
}

TEST(ShardedValuesTest, TheCheapestVersionIsTheOneThatIsResharded) {
  RewriteFixture f(kTwoUsers, 4);
  ShardedValues& values = f.state.values;
  const int x = f.Tensor("x");
  f.AddValue("x", CutAlong(f, 2, 0));
  values.Get(f.b, x, values.Replicated(x), f.Get("y"));
  // From the rows it would take an all-to-all; but the replicated version exists by now, and a slice of it is
  // free.
  values.Get(f.b, x, CutAlong(f, 2, 1), f.Get("z"));
  EXPECT_EQ(f.Count(Opcode::kAllToAll), 0);
  EXPECT_EQ(f.Count(Opcode::kDynamicSlice), 1);
}

TEST(ShardedValuesTest, AFetchTellsOverWhichAxesItGatheredToReplicate) {
  RewriteFixture f(kTwoUsers, 4);
  ShardedValues& values = f.state.values;
  const int x = f.Tensor("x");
  f.AddValue("x", CutAlong(f, 2, 0));
  EXPECT_EQ(values.Fetch(f.b, x, CutAlong(f, 2, 1), f.Get("y")).gathered, 0)
      << "an all-to-all gathers nothing";
  EXPECT_EQ(values.Fetch(f.b, x, values.Replicated(x), f.Get("y")).gathered, f.state.mesh.AllAxes());
  EXPECT_EQ(values.Fetch(f.b, x, values.Replicated(x), f.Get("z")).gathered, 0) << "it is there by now";
}

TEST(ShardedValuesTest, APartialValueIsPartialUntilSomebodyNeedsItReduced) {
  RewriteFixture f(kTwoUsers, 4);
  ShardedValues& values = f.state.values;
  const int x = f.Tensor("x");
  f.AddValue("x", PartialOverAll(f, 2));
  EXPECT_TRUE(values.IsPartial(x));
  values.Get(f.b, x, CutAlong(f, 2, 0), f.Get("y"));
  EXPECT_EQ(f.Count(Opcode::kReduceScatter), 1);
  EXPECT_FALSE(values.IsPartial(x));
}

TEST(ShardedValuesTest, ConstantsAndWhatIsMadeOfThemAreRematerializedWithoutCommunication) {
  RewriteFixture f(R"(ENTRY main {
    c = f32[] constant(3)
    w = f32[8,6] broadcast(c), dimensions={}
    i = s32[8,6] iota(), iota_dimension=0
    d = f32[2] constant({1, 2})
    x = f32[8,6] parameter(0), sharding={devices=[$n,1]<=[$n]}
    z = f32[8,6] add(w, x)
    ROOT r = (f32[8,6], s32[8,6], f32[2]) tuple(z, i, d)
  })",
                   4);
  ShardedValues& values = f.state.values;
  for (const char* name : {"c", "w", "i", "d"}) {
    EXPECT_FALSE(values.IsRematerializable(f.Tensor(name)));
    values.AddRematerializable(f.Tensor(name), &f.Get(name));
    EXPECT_TRUE(values.IsRematerializable(f.Tensor(name)));
  }
  for (const char* name : {"w", "i"}) {
    const Instruction* rows = values.Get(f.b, f.Tensor(name), CutAlong(f, 2, 0), f.Get("z"));
    EXPECT_THAT(std::vector<int64_t>(rows->shape().dims().begin(), rows->shape().dims().end()),
                ElementsAre(2, 6));
    const Instruction* columns = values.Get(f.b, f.Tensor(name), CutAlong(f, 2, 1), f.Get("z"));
    EXPECT_THAT(std::vector<int64_t>(columns->shape().dims().begin(), columns->shape().dims().end()),
                ElementsAre(8, 2));
  }
  // The elements of d differ, so every device holds the whole constant and slices its tile out of it.
  const Instruction* part = values.Get(f.b, f.Tensor("d"), CutAlong(f, 1, 0), f.Get("z"));
  EXPECT_EQ(part->shape().dim(0), 1);
  for (const auto& instruction : f.b.computation()->instructions()) {
    EXPECT_FALSE(IsCollective(instruction->opcode())) << instruction->name();
  }
}

TEST(ShardedValuesTest, TheHookSeesWhatIsMadeAndNothingElse) {
  std::vector<std::string> seen;
  RewriteFixture f(kTwoUsers, 4,
                   [&](SpmdBuilder& b, Instruction* local, absl::Span<const int64_t>, const Sharding&) {
                     seen.push_back(std::string(local->opcode_name()));
                     return b.Binary(Opcode::kAdd, local, local);
                   });
  ShardedValues& values = f.state.values;
  const int x = f.Tensor("x");
  f.AddValue("x", CutAlong(f, 2, 0));
  EXPECT_THAT(seen, ElementsAre()) << "it lies there as it stands";
  Instruction* whole = values.Get(f.b, x, values.Replicated(x), f.Get("y"));
  EXPECT_THAT(seen, ElementsAre("all-gather"));
  EXPECT_EQ(whole->opcode(), Opcode::kAdd) << "what the hook gives takes its place";
  EXPECT_EQ(values.Get(f.b, x, values.Replicated(x), f.Get("z")), whole);
  EXPECT_EQ(seen.size(), 1);
}

TEST(ShardedValuesTest, CollectivesSayWhatTheyAreThereFor) {
  RewriteFixture f(kTwoUsers, 4);
  ShardedValues& values = f.state.values;
  const int x = f.Tensor("x");
  f.AddValue("x", CutAlong(f, 2, 0));
  const Instruction* whole = values.Get(f.b, x, values.Replicated(x), f.Get("y"));
  EXPECT_THAT(f.out->causes()[whole->cause()], HasSubstr("y of x: [{a4}, {}] -> [{}, {}]"));
}

TEST(ShardedValuesTest, AForgottenValueIsDefinedAnew) {
  RewriteFixture f(kTwoUsers, 4);
  ShardedValues& values = f.state.values;
  const int x = f.Tensor("x");
  f.AddValue("x", CutAlong(f, 2, 0));
  values.Forget(x);
  EXPECT_TRUE(values.versions(x).empty());
  Instruction* other = f.AddValue("x", CutAlong(f, 2, 1));
  EXPECT_EQ(values.Get(f.b, x, CutAlong(f, 2, 1), f.Get("y")), other);
}

}  // namespace
}  // namespace toroid
