// GShard-size MoE Transformers, partitioned for 128 and 2048 devices, have only the communication that the
// algorithm needs.
// BUILD: size = "medium"
// BUILD: data = ["//tests/corpus:full_size"]
#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "hlo/analysis/collective_records.h"
#include "hlo/analysis/program_statistics.h"
#include "hlo/io/file.h"
#include "partitioner/stages/spmd_partitioner.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

constexpr int64_t kMegabyte = 1'000'000;

absl::StatusOr<Partitioned> PartitionFile(const std::string& name) {
  ASSIGN_OR_RETURN(const HloFile file, ReadHloFile(absl::StrCat("tests/corpus/full_size/", name)));
  return PartitionModule(*file.module, {});
}

void ExpectNothingLargeIsReplicated(const Partitioned& partitioned) {
  for (const CollectiveRecord& record : ListCollectives(*partitioned.module)) {
    if (record.opcode != "all-gather") continue;
    EXPECT_LE(record.operand_bytes * record.group_size, kMegabyte)
        << record.instruction << ", needed by " << record.cause;
  }
  for (const FullReplication& replication : partitioned.full_replications) {
    EXPECT_LE(replication.bytes, kMegabyte) << replication.instruction << ": " << replication.reason;
  }
}

TEST(FullSizeTest, ForwardMoeNeedsTwoAllToAllsALayerAndOneScalarAllReduce) {
  ASSERT_OK_AND_ASSIGN(const Partitioned partitioned, PartitionFile("moe_2048e_36l_forward.shardy.hlo.pb"));
  EXPECT_EQ(partitioned.num_partitions, 2048);
  std::map<std::string, CollectiveTotals> collectives = ComputeStatistics(*partitioned.module).collectives;
  // 36 layers, every second one with experts: 18 * 2.
  EXPECT_EQ(collectives["all-to-all"].count, 36);
  EXPECT_EQ(collectives["all-reduce"].count, 1);
  EXPECT_EQ(collectives["all-reduce"].operand_bytes, 4);
  for (const auto& [opcode, totals] : collectives) {
    if (opcode == "all-to-all" || opcode == "all-reduce") continue;
    EXPECT_EQ(totals.operand_bytes, 0) << opcode;
  }
  EXPECT_TRUE(partitioned.full_replications.empty());
}

TEST(FullSizeTest, TrainingReducesTheReplicatedGradientsOnce) {
  ASSERT_OK_AND_ASSIGN(const Partitioned partitioned, PartitionFile("moe_2048e_36l_train.gspmd.hlo.pb"));
  EXPECT_EQ(partitioned.num_partitions, 2048);
  std::map<std::string, CollectiveTotals> collectives = ComputeStatistics(*partitioned.module).collectives;
  constexpr int64_t kReplicatedWeights = 825'675'776;
  EXPECT_LE(collectives["all-reduce"].operand_bytes + collectives["reduce-scatter"].operand_bytes,
            1.1 * 4 * kReplicatedWeights);
  EXPECT_GE(collectives["all-reduce"].operand_bytes + collectives["reduce-scatter"].operand_bytes,
            4 * kReplicatedWeights);
  ExpectNothingLargeIsReplicated(partitioned);
}

TEST(FullSizeTest, TrainingOn128DevicesReplicatesNothingLarge) {
  ASSERT_OK_AND_ASSIGN(const Partitioned partitioned, PartitionFile("moe_128e_12l_train.shardy.hlo.pb"));
  EXPECT_EQ(partitioned.num_partitions, 128);
  ExpectNothingLargeIsReplicated(partitioned);
}

}  // namespace
}  // namespace toroid
