// BUILD: size = "small"
#include "examples/images/conv_network.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "hlo/analysis/collective_records.h"
#include "hlo/analysis/program_statistics.h"
#include "hlo/ops/verify_module.h"
#include "partitioner/rewrite/poison_padding.h"
#include "runtime/engine/executor.h"
#include "runtime/numerics/compare.h"
#include "tests/partition_and_run.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::HasSubstr;

struct Cut {
  int64_t height, width, batch_parts, row_parts, column_parts;
};

ConvNetworkConfig ConfigOf(const Cut& cut) {
  ConvNetworkConfig config;
  config.height = cut.height;
  config.width = cut.width;
  config.batch_parts = cut.batch_parts;
  config.row_parts = cut.row_parts;
  config.column_parts = cut.column_parts;
  return config;
}

// Even tilings; uneven ones; columns only; with the batch cut too; tiles smaller than a halo.
constexpr Cut kCuts[] = {{24, 24, 1, 2, 2}, {27, 22, 1, 3, 2}, {17, 30, 1, 1, 5},
                         {20, 13, 2, 2, 2}, {16, 16, 1, 7, 1}, {19, 21, 2, 3, 3}};

TEST(ConvNetworkTest, LossAndGradientsEqualThoseOfOneDevice) {
  for (const Cut& cut : kCuts) {
    SCOPED_TRACE(absl::StrCat(cut.height, "x", cut.width, " over ", cut.batch_parts, "x", cut.row_parts, "x",
                              cut.column_parts));
    ASSERT_OK_AND_ASSIGN(const auto module, BuildConvNetworkGradient(ConfigOf(cut)));
    ASSERT_OK(VerifyModule(*module));
    const std::vector<Literal> arguments = ConvNetworkArguments(*module, 3);
    ASSERT_OK_AND_ASSIGN(const Literal expected, RunSingle(*module, arguments));
    for (int variant = 0; variant < 3; ++variant) {
      SCOPED_TRACE(variant);
      PartitionOptions options;
      if (variant > 0) options.on_local_value = PoisonPadding;
      if (variant > 1) options.device_order_seed = 5;
      ASSERT_OK_AND_ASSIGN(const Literal actual, PartitionAndRun(*module, options, arguments));
      const Comparison comparison = Compare(actual, expected);
      for (const ArrayComparison& output : comparison.outputs) EXPECT_EQ(output.difference, "");
    }
  }
}

// Halos, and sums for the gradients of weights.
TEST(ConvNetworkTest, NothingIsGathered) {
  for (const Cut& cut : kCuts) {
    SCOPED_TRACE(absl::StrCat(cut.height, "x", cut.width, " over ", cut.batch_parts, "x", cut.row_parts, "x",
                              cut.column_parts));
    const ConvNetworkConfig config = ConfigOf(cut);
    ASSERT_OK_AND_ASSIGN(const auto module, BuildConvNetworkGradient(config));
    PartitionOptions in_tiles;  // Images as small as these would send less with other cuts.
    in_tiles.strategies = NoSearch();
    ASSERT_OK_AND_ASSIGN(const Partitioned partitioned, PartitionModule(*module, in_tiles));
    EXPECT_TRUE(partitioned.full_replications.empty());
    int64_t weights = 1, reduced = 0;  // 1: the loss.
    for (const Instruction* parameter : module->entry()->parameters()) {
      if (parameter->parameter_number() > 1) weights += parameter->shape().NumElements();
    }
    for (const CollectiveRecord& record : ListCollectives(*partitioned.module)) {
      EXPECT_TRUE(record.opcode == "collective-permute" || record.opcode == "all-reduce")
          << record.opcode << " " << record.cause;
      if (record.opcode == "all-reduce") reduced += record.operand_bytes;
    }
    EXPECT_EQ(reduced, 4 * weights);
  }
}

TEST(ConvNetworkTest, HalosAreASmallPartOfLargeImages) {
  ConvNetworkConfig config;
  config.batch = 1;
  config.height = config.width = 1024;
  config.row_parts = config.column_parts = 8;
  ASSERT_OK_AND_ASSIGN(const auto module, BuildConvNetworkGradient(config));
  ASSERT_OK_AND_ASSIGN(const Partitioned partitioned, PartitionModule(*module, PartitionOptions()));
  ProgramStatistics statistics = ComputeStatistics(*partitioned.module);
  EXPECT_LT(statistics.collectives["collective-permute"].sent_bytes, BytesIfGathered(*module, config) / 200);
}

TEST(ConvNetworkTest, BadSizesAreRefused) {
  ConvNetworkConfig config;
  config.height = 0;
  EXPECT_THAT(BuildConvNetwork(config),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("a size of the images")));
  config = ConvNetworkConfig();
  config.layers[1].kernel = 2;
  EXPECT_THAT(BuildConvNetwork(config), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("odd")));
  config = ConvNetworkConfig();
  config.row_parts = config.column_parts = 1 << 19;
  EXPECT_THAT(BuildConvNetwork(config), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("devices")));
  config = ConvNetworkConfig();
  config.height = 2;
  EXPECT_THAT(BuildConvNetwork(config),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("take larger ones")));
}

}  // namespace
}  // namespace toroid
