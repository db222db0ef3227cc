// BUILD: size = "small"
// Programs that need to send little, or in few steps: equal values for every number and order of devices, and
// the bytes sent.
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "hlo/analysis/program_statistics.h"
#include "runtime/engine/executor.h"
#include "tests/partition_and_run.h"
#include "tests/partitioner/equivalence.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

// Other cuts of the dot than the one by rows, which gives 3 of 9 rows to each of three devices, take fewer
// flops per device. They are not worth moving `a`.
TEST(SmallMovesTest, AFewFlopsAreNotWorthAnExchange) {
  const auto program = [](int64_t rows) {
    return absl::StrCat(
        "ENTRY main {\n  a = f32[", rows, ",5,12] parameter(0), sharding={devices=[$n,1,1]<=[$n]}\n",
        "  b = f32[12,3] parameter(1), sharding={devices=[$n,1]<=[$n]}\n", "  ROOT d = f32[", rows,
        ",5,3] dot(a, b), lhs_contracting_dims={2}, rhs_contracting_dims={0}, "
        "sharding={devices=[$n,1,1]<=[$n]}\n}");
  };
  for (const int64_t rows : {8, 9, 11}) ExpectEquivalent(program(rows));
  EXPECT_EQ(SentBytes(program(9), 4), 3 * 9 * 4);  // Gathers the smaller operand.
}

// The dot is cut over idle devices, although its small result must then be gathered: that adds only 3 % to
// the bytes the program sends anyway. It is so for many flops and for few, since the program may be used with
// larger arrays.
TEST(SmallMovesTest, FlopsAreWorthGatheringALittle) {
  for (const int64_t terms : {1024, 40}) {
    const std::string program = absl::StrCat(R"(ENTRY main {
  x = f32[512,16] parameter(0), sharding={devices=[$n,1]<=[$n]}
  a = f32[16,)",
                                             terms, R"(] parameter(1), sharding={replicated}
  b = f32[)",
                                             terms, R"(,16] parameter(2), sharding={replicated}
  y = f32[512,16] negate(x), sharding={replicated}
  d = f32[16,16] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT r = (f32[512,16], f32[16,16]) tuple(y, d), sharding={{replicated}, {replicated}}
})");
    ExpectEquivalent(program);
    for (const int64_t n : {2, 4, 8}) {
      PartitionOptions options;
      options.num_partitions = n;
      ASSERT_OK_AND_ASSIGN(const Partitioned partitioned, PartitionModule(*ProgramFor(program, n), options));
      EXPECT_EQ(ComputeStatistics(*partitioned.module).flops, static_cast<double>(2 * 16 * 16 * terms / n));
      EXPECT_EQ(SentBytes(*partitioned.module), (512 * 16 + 16 * 16) * 4 * (n - 1) / n);
    }
  }
}

// Every second row of the result is padding, so each tile of the result needs only rows that its device
// holds.
TEST(SmallMovesTest, HolesNeedNoRows) {
  const auto padded = [](int64_t rows) {
    return absl::StrCat("ENTRY main {\n  x = f32[", rows,
                        ",3] parameter(0), sharding={devices=[$n,1]<=[$n]}\n",
                        "  z = f32[] constant(7)\n  ROOT y = f32[", 2 * rows,
                        ",3] pad(x, z), padding=0_1_1x0_0, sharding={devices=[$n,1]<=[$n]}\n}");
  };
  for (const int64_t rows : {1, 5, 8, 13, 16}) ExpectEquivalent(padded(rows));
  EXPECT_EQ(SentBytes(padded(16), 4), 0);
  // The gradient, by its image, of a convolution of stride 2: windows of 3 reach over one border of a tile,
  // not over both.
  const auto gradient = [](int64_t rows) {
    return absl::StrCat(
        "ENTRY main {\n  g = f32[1,", rows, ",2] parameter(0), sharding={devices=[1,$n,1]<=[$n]}\n",
        "  k = f32[3,2,2] parameter(1)\n  ROOT y = f32[1,", 2 * rows,
        ",2] convolution(g, k), window={size=3 pad=1_2 lhs_dilate=2}, dim_labels=b0f_0io->b0f, "
        "sharding={devices=[1,$n,1]<=[$n]}\n}");
  };
  for (const int64_t rows : {4, 7, 16}) ExpectEquivalent(gradient(rows));
  EXPECT_EQ(SentBytes(gradient(16), 4), 8);  // One row.
}

// A permute brings each tile to a device from which an all-to-all takes it to its place.
TEST(SmallMovesTest, APermuteAndAnAllToAllInsteadOfGathering) {
  const auto program = [](int64_t rows) {
    return absl::StrCat("ENTRY main {\n  x = f32[", rows,
                        ",4] parameter(0), sharding={devices=[6,1]<=[6]}\n  ROOT y = f32[", rows,
                        ",4] negate(x), sharding={devices=[3,2]<=[2,3]T(1,0)}\n}");
  };
  for (const int64_t rows : {6, 18, 20}) {
    const std::unique_ptr<Module> module = ProgramFor(program(rows), 6);
    const std::vector<Literal> arguments = IntegerArguments(*module);
    ASSERT_OK_AND_ASSIGN(const Literal expected, RunSingle(*module, arguments));
    EXPECT_THAT(PartitionAndRun(*module, PartitionOptions(), arguments), IsOkAndHolds(expected));
  }
  EXPECT_EQ(SentBytes(program(18), 6), 48 + 24);
}

// The result has no annotation.
TEST(SmallMovesTest, AFreeResultStaysAsItWasMade) {
  const std::string program = R"(ENTRY main {
  x = f32[16,8] parameter(0), sharding={devices=[$n,1]<=[$n]}
  w = f32[8,8] parameter(1), sharding={devices=[1,$n]<=[$n]}
  y = f32[16,8] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  r = f32[8,16] transpose(y), dimensions={1,0}
  ROOT z = f32[8,16] sine(r)
})";
  EXPECT_EQ(SentBytes(program, 4), 64 * 3);  // Gathers the weights only.
}

}  // namespace
}  // namespace toroid
