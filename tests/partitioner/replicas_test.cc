// BUILD: size = "small"
// Several replicas of all partitions: the module's own collectives run between replicas, those of the
// partitioner within one replica.
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "hlo/devices/spmd_record.h"
#include "hlo/io/hlo_text.h"
#include "partitioner/rewrite/poison_padding.h"
#include "runtime/engine/executor.h"
#include "tests/partition_and_run.h"
#include "tests/partitioner/equivalence.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

// x differs between the replicas; a product contracts over a cut dimension; `between` then runs collectives
// between the replicas.
std::string Program(int64_t replicas, int64_t rows, const std::string& sharding, const std::string& between) {
  return absl::StrReplaceAll(R"(HloModule m, replica_count=$replicas
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
ENTRY main {
  x = f32[$rows,6] parameter(0), sharding=$sharding
  w = f32[$rows,4] parameter(1), sharding=$sharding
  id = u32[] replica-id()
  number = f32[] convert(id)
  factor = f32[$rows,6] broadcast(number), dimensions={}
  y = f32[$rows,6] add(x, factor)
  d = f32[6,4] dot(y, w), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  ROOT r = $between
})",
                             {{"$replicas", absl::StrCat(replicas)},
                              {"$rows", absl::StrCat(rows)},
                              {"$sharding", sharding},
                              {"$between", between}});
}

void ExpectEqual(const std::string& text, int64_t partitions) {
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Module> module, ParseModule(text));
  const std::vector<Literal> arguments = IntegerArguments(*module);
  RunOptions single;
  single.num_replicas = ReplicasOf(*module);
  ASSERT_OK_AND_ASSIGN(const Literal expected, RunSingle(*module, arguments, single));
  for (const uint64_t seed : {0, 1, 2}) {
    PartitionOptions options;
    options.num_partitions = partitions;
    if (seed > 0) options.device_order_seed = seed;
    if (seed == 2) options.on_local_value = PoisonPadding;
    ASSERT_OK_AND_ASSIGN(const Literal actual, PartitionAndRun(*module, options, arguments));
    EXPECT_EQ(actual, expected) << text;
  }
}

TEST(ReplicasTest, SumsAndExchangesBetweenReplicasAreThoseOfEachPartition) {
  for (const int64_t rows : {8, 10, 12}) {
    for (const std::string sharding :
         {"{devices=[4,1]<=[4]}", "{devices=[2,1,2]<=[2,2]T(1,0) last_tile_dim_replicate}",
          "{devices=[4,1]2,0,3,1}"}) {
      ExpectEqual(Program(2, rows, sharding, "f32[6,4] all-reduce(d), replica_groups={{0,1}}, to_apply=add"),
                  4);
      ExpectEqual(
          Program(4, rows, sharding, "f32[6,4] all-reduce(d), replica_groups={{0,2},{3,1}}, to_apply=add"),
          4);
      ExpectEqual(
          Program(3, rows, sharding, "f32[18,4] all-gather(d), replica_groups={{2,0,1}}, dimensions={0}"), 4);
      ExpectEqual(
          Program(3, rows, sharding,
                  "f32[2,4] reduce-scatter(d), replica_groups={{0,1,2}}, dimensions={0}, to_apply=add"),
          4);
      ExpectEqual(
          Program(3, rows, sharding, "f32[6,4] collective-permute(d), source_target_pairs={{2,0},{0,1}}"), 4);
    }
  }
}

TEST(ReplicasTest, TheProgramSaysHowManyThereAre) {
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Module> module,
                       ParseModule(Program(3, 8, "{devices=[4,1]<=[4]}",
                                           "f32[6,4] all-reduce(d), replica_groups={}, to_apply=add")));
  PartitionOptions options;
  ASSERT_OK_AND_ASSIGN(const Partitioned partitioned, PartitionModule(*module, options));
  EXPECT_EQ(ReplicasOf(*partitioned.module), 3);
  EXPECT_THAT(PartitionsOf(*partitioned.module), IsOkAndHolds(4));
}

TEST(ReplicasTest, ThereMayBeTooMany) {
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Module> module,
                       ParseModule(Program(1 << 30, 8, "{devices=[4,1]<=[4]}", "f32[6,4] copy(d)")));
  EXPECT_THAT(PartitionModule(*module, PartitionOptions()),
              StatusIs(absl::StatusCode::kInvalidArgument, testing::HasSubstr("replicas of 4 devices")));
}

}  // namespace
}  // namespace toroid
