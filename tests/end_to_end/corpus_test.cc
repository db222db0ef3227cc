// Programs lowered by JAX, partitioned for the devices they name and run on a simulated mesh, give the
// recorded results. The partitioned real models among them send no more bytes and compute no more than with
// XLA's partitioning.
// BUILD: size = "medium"
// BUILD: data = ["//tests/corpus:jax"]
// BUILD: shard_count = 4
#include <map>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "hlo/analysis/program_statistics.h"
#include "hlo/io/file.h"
#include "partitioner/assign/assignment.h"
#include "partitioner/rewrite/poison_padding.h"
#include "partitioner/stages/spmd_partitioner.h"
#include "runtime/numerics/compare.h"
#include "tests/corpus_files.h"
#include "tests/partition_and_run.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

const char* const kModels[] = {"moe_layer_forward",     "moe_layer_gradient",      "moe_layer_uneven",
                               "moe_transformer_train", "lm_data_tensor_parallel", "lm_fsdp_tensor_parallel",
                               "lm_uneven_mesh",        "conv_spatial_forward",    "decode_kv_cache"};

// A program in one of its two forms, with the arguments and the result of its snapshot.
struct Program {
  std::string path;
  std::unique_ptr<Module> module;
  std::vector<Literal> arguments;
  Literal expected;
};

std::string Stem(const std::string& path) {
  const size_t begin = path.rfind('/') + 1;
  return path.substr(begin, path.find('.', begin) - begin);
}

absl::StatusOr<Program> ReadProgram(const std::string& path) {
  Program program;
  program.path = path;
  ASSIGN_OR_RETURN(HloFile file, ReadHloFile(path));
  program.module = std::move(file.module);
  ASSIGN_OR_RETURN(const HloFile snapshot,
                   ReadHloFile(absl::StrCat("tests/corpus/jax/", Stem(path), ".gspmd.snapshot.pb")));
  ASSIGN_OR_RETURN(program.arguments, snapshot.Arguments());
  ASSIGN_OR_RETURN(const std::optional<Literal> result, snapshot.Result());
  if (!result) return absl::NotFoundError("the snapshot has no result");
  program.expected = *result;
  return program;
}

void ExpectRecordedResult(const Program& program, const PartitionOptions& options) {
  ASSERT_OK_AND_ASSIGN(const Literal actual, PartitionAndRun(*program.module, options, program.arguments));
  const Comparison comparison = Compare(actual, program.expected);
  EXPECT_TRUE(comparison.equal);
  for (size_t i = 0; i < comparison.outputs.size(); ++i) {
    const ArrayComparison& output = comparison.outputs[i];
    EXPECT_TRUE(output.equal) << "output " << i << " at " << output.difference << ", relative error "
                              << output.max_rel_error;
  }
}

std::string NameOf(const testing::TestParamInfo<std::string>& info) {
  const std::string form = absl::StrContains(info.param, ".shardy.") ? "_shardy" : "_gspmd";
  return Stem(info.param) + form;
}

std::vector<std::string> Both(const std::vector<std::string>& stems) {
  std::vector<std::string> paths;
  for (const std::string& stem : stems) {
    paths.push_back(absl::StrCat("tests/corpus/jax/", stem, ".gspmd.snapshot.pb"));
    paths.push_back(absl::StrCat("tests/corpus/jax/", stem, ".shardy.hlo.pb"));
  }
  return paths;
}

std::vector<std::string> AllPrograms() {
  std::vector<std::string> stems;
  for (const std::string& path : CorpusFiles("jax", ".snapshot.pb")) stems.push_back(Stem(path));
  return Both(stems);
}

class CorpusTest : public testing::TestWithParam<std::string> {};

TEST_P(CorpusTest, PartitionedRunGivesTheRecordedResult) {
  ASSERT_OK_AND_ASSIGN(const Program program, ReadProgram(GetParam()));
  ExpectRecordedResult(program, {});
}

// The slowest correct partitioning agrees too, so a difference in the test above is the partitioner's fault,
// not a kernel's.
TEST_P(CorpusTest, ComputedOnReplicatedArraysGivesTheRecordedResult) {
  ASSERT_OK_AND_ASSIGN(const Program program, ReadProgram(GetParam()));
  PartitionOptions options;
  options.policy = &ReplicateEverything();
  ExpectRecordedResult(program, options);
}

INSTANTIATE_TEST_SUITE_P(Jax, CorpusTest, testing::ValuesIn(AllPrograms()), NameOf);

struct Reference {
  int64_t sent_bytes = 0;
  int64_t flops = 0;
};

// XLA's partitioning of each file.
absl::StatusOr<Reference> ReferenceOf(const std::string& path) {
  const std::string name = path.substr(path.rfind('/') + 1);
  std::map<std::string, int> column;
  for (const absl::string_view line :
       absl::StrSplit(ReadCorpusFile("tests/corpus/jax/xla_reference.tsv"), '\n')) {
    const std::vector<std::string> fields = absl::StrSplit(line, '\t');
    if (column.empty()) {
      for (size_t i = 0; i < fields.size(); ++i) column.emplace(fields[i], static_cast<int>(i));
    }
    Reference reference;
    if (fields[0] == name && absl::SimpleAtoi(fields.at(column.at("sent_bytes")), &reference.sent_bytes) &&
        absl::SimpleAtoi(fields.at(column.at("flops_per_device")), &reference.flops)) {
      return reference;
    }
  }
  return absl::NotFoundError(absl::StrCat("xla_reference.tsv has no ", name));
}

int64_t SentBytes(const ProgramStatistics& statistics) {
  int64_t bytes = 0;
  for (const auto& [opcode, totals] : statistics.collectives) bytes += totals.sent_bytes;
  return bytes;
}

class ModelTest : public testing::TestWithParam<std::string> {};

TEST_P(ModelTest, SendsAndComputesNoMoreThanXlaAndReplicatesNothing) {
  ASSERT_OK_AND_ASSIGN(const Program program, ReadProgram(GetParam()));
  ASSERT_OK_AND_ASSIGN(const Reference reference, ReferenceOf(GetParam()));
  ASSERT_OK_AND_ASSIGN(const Partitioned partitioned, PartitionModule(*program.module, {}));
  for (const FullReplication& replication : partitioned.full_replications) {
    ADD_FAILURE() << replication.instruction << ": " << replication.reason << ", " << replication.bytes
                  << " bytes";
  }
  const ProgramStatistics statistics = ComputeStatistics(*partitioned.module);
  EXPECT_LE(SentBytes(statistics), reference.sent_bytes);
  EXPECT_LE(statistics.flops, reference.flops);
}

TEST_P(ModelTest, DeviceOrdersChangeNeitherResultNorBytes) {
  ASSERT_OK_AND_ASSIGN(const Program program, ReadProgram(GetParam()));
  ASSERT_OK_AND_ASSIGN(const Partitioned plain, PartitionModule(*program.module, {}));
  const int64_t bytes = SentBytes(ComputeStatistics(*plain.module));
  for (const uint64_t seed : {1, 2, 3}) {
    SCOPED_TRACE(absl::StrCat("device order ", seed));
    PartitionOptions options;
    options.device_order_seed = seed;
    ASSERT_OK_AND_ASSIGN(const Partitioned partitioned, PartitionModule(*program.module, options));
    EXPECT_EQ(SentBytes(ComputeStatistics(*partitioned.module)), bytes);
    ExpectRecordedResult(program, options);
  }
}

TEST_P(ModelTest, GarbageInPaddingReachesNoResult) {
  ASSERT_OK_AND_ASSIGN(const Program program, ReadProgram(GetParam()));
  PartitionOptions options;
  options.on_local_value = PoisonPadding;
  ExpectRecordedResult(program, options);
}

INSTANTIATE_TEST_SUITE_P(Jax, ModelTest, testing::ValuesIn(Both({std::begin(kModels), std::end(kModels)})),
                         NameOf);

}  // namespace
}  // namespace toroid
