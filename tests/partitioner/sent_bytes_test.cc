// Small modules that are easily partitioned so that they send much more than needed. Values are equal, and
// the bytes sent are at most those known to be possible.
// BUILD: data = ["//tests/corpus:wasteful"]
#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "hlo/analysis/program_statistics.h"
#include "hlo/io/file.h"
#include "partitioner/stages/spmd_partitioner.h"
#include "runtime/arguments/random_arguments.h"
#include "runtime/engine/executor.h"
#include "runtime/numerics/compare.h"
#include "tests/partition_and_run.h"
#include "tests/partitioner/equivalence.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

struct Case {
  const char* file;
  int64_t sent;   // The most bytes that a device may send.
  int64_t flops;  // The most flops of a device in dots and convolutions; 0: not checked.
  int64_t collectives;
  bool runs;  // Small enough to run.
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.file; }

class SentBytesTest : public testing::TestWithParam<Case> {};

INSTANTIATE_TEST_SUITE_P(
    , SentBytesTest,
    testing::Values(
        Case{"conv_kernel_gradient.hlo", 46'592, 0, 0, true},  // Cut window dimensions are reduced.
        Case{"dot_chain_partial.hlo", 3'932'160, 269'000'000, 0,
             true},                            // Passing on partial sums must not repeat flops.
        Case{"roll.hlo", 16'384, 0, 1, true},  // One permute.
        Case{"scatter_add_big_table.hlo", 1'850'000, 0, 0, false},  // Gathers the updates.
        Case{"scatter_partial_twice.hlo", 1'850'000, 0, 0, false},
        Case{"segment_max.hlo", 7'000, 0, 0, true},          // Reduces partial maxima.
        Case{"slice_small_4096_8.hlo", 98'304, 0, 0, true},  // Sends rows only to devices that need them.
        Case{"slice_small_512_4.hlo", 49'152, 0, 3, true},
        Case{"manual_open_dims.shardy.hlo.pb", 0, 0, 0, false}),  // Free axes propagate through boundaries.
    [](const auto& info) {
      const std::string file = info.param.file;
      return file.substr(0, file.find('.'));
    });

TEST_P(SentBytesTest, IsAsKnownToBePossible) {
  const std::string path = std::string("tests/corpus/wasteful/") + GetParam().file;
  ASSERT_OK_AND_ASSIGN(const HloFile file, ReadHloFile(path));
  ASSERT_OK_AND_ASSIGN(const Partitioned partitioned, PartitionModule(*file.module, PartitionOptions()));
  const ProgramStatistics statistics = ComputeStatistics(*partitioned.module);
  EXPECT_LE(SentBytes(*partitioned.module), GetParam().sent);
  EXPECT_TRUE(GetParam().flops == 0 || statistics.flops <= GetParam().flops) << statistics.flops;
  int64_t collectives = 0;
  for (const auto& [opcode, totals] : statistics.collectives) collectives += totals.count;
  EXPECT_TRUE(GetParam().collectives == 0 || collectives <= GetParam().collectives) << collectives;
  if (!GetParam().runs) return;
  std::vector<Shape> shapes;
  for (const Instruction* parameter : file.module->entry()->parameters())
    shapes.push_back(parameter->shape());
  const std::vector<Literal> arguments = RandomLiterals(shapes, IndexBound(*file.module), 1);
  ASSERT_OK_AND_ASSIGN(const Literal expected, RunSingle(*file.module, arguments));
  ASSERT_OK_AND_ASSIGN(const Literal actual, PartitionAndRun(*file.module, PartitionOptions(), arguments));
  EXPECT_TRUE(Compare(actual, expected).equal);
}

}  // namespace
}  // namespace toroid
