// The attributes of the collectives in a partitioned program.
#include <set>

#include "tests/partitioner/equivalence.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

std::vector<int64_t> Channels(const Module& module) {
  std::vector<int64_t> channels;
  for (const auto& computation : module.computations()) {
    for (const auto& instruction : computation->instructions()) {
      if (IsCollective(instruction->opcode())) channels.push_back(instruction->attrs().channel_id());
    }
  }
  return channels;
}

TEST(CollectivesTest, EveryOneHasAChannelOfItsOwn) {
  ASSERT_OK_AND_ASSIGN(const Partitioned partitioned, PartitionModule(*ProgramFor(R"(ENTRY main {
  a = f32[8,8] parameter(0), sharding={devices=[$n,1]<=[$n]}
  b = f32[8,8] parameter(1), sharding={devices=[1,$n]3,2,1,0}
  c = f32[8,8] add(a, b), sharding={devices=[$n,1]<=[$n]}
  s = f32[6,8] slice(c), slice={[1:7], [0:8]}, sharding={devices=[$n,1]<=[$n]}
  ROOT r = f32[6,8] negate(s), sharding={replicated}
})",
                                                                                  4),
                                                                      PartitionOptions()));
  const std::vector<int64_t> channels = Channels(*partitioned.module);
  ASSERT_GE(channels.size(), 3);
  EXPECT_EQ(std::set<int64_t>(channels.begin(), channels.end()).size(), channels.size());
  EXPECT_GT(*std::min_element(channels.begin(), channels.end()), 0);
}

TEST(CollectivesTest, ChannelsOfTheInputKeepTheirNumbers) {
  ASSERT_OK_AND_ASSIGN(const Partitioned partitioned, PartitionModule(*ProgramFor(R"(
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = f32[] add(a, b) }
ENTRY main {
  x = f32[8] parameter(0), sharding={devices=[$n]<=[$n]}
  k = f32[8] custom-call(x), custom_call_target="Sharding", sharding={devices=[$n]<=[$n]}
  m = f32[2] custom-call(k), custom_call_target="SPMDFullToShardShape", sharding={manual}
  s = f32[2] all-reduce(m), channel_id=7, replica_groups={{0,1,2,3}}, use_global_device_ids=true, to_apply=add
  t = f32[2] custom-call(s), custom_call_target="Sharding", sharding={manual}
  f = f32[8] custom-call(t), custom_call_target="SPMDShardToFullShape", sharding={devices=[$n]<=[$n]}
  ROOT r = f32[8] negate(f), sharding={replicated}
})",
                                                                                  4),
                                                                      PartitionOptions()));
  EXPECT_THAT(Channels(*partitioned.module), ::testing::UnorderedElementsAre(7, 8));
}

}  // namespace
}  // namespace toroid
