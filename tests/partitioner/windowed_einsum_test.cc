// Products of gathered and scattered arrays as loops over their parts: equal values, equal bytes, less
// memory.
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "hlo/analysis/program_statistics.h"
#include "hlo/io/hlo_text.h"
#include "partitioner/rewrite/poison_padding.h"
#include "runtime/engine/executor.h"
#include "runtime/numerics/compare.h"
#include "tests/partition_and_run.h"
#include "tests/partitioner/equivalence.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

std::string Cut(int rank, int dim) {
  std::string tiles;
  for (int d = 0; d < rank; ++d) absl::StrAppend(&tiles, d > 0 ? "," : "", d == dim ? "$n" : "1");
  return absl::StrCat("sharding={devices=[", tiles, "]<=[$n]}");
}

// y [m,n] = dot of x [m,k] and w [k,n], each cut along the given dimension; -1: replicated.
std::string Product(const std::string& type, int64_t m, int64_t k, int64_t n, int x, int w, int y) {
  const auto cut = [](int dim) { return dim < 0 ? std::string("sharding={replicated}") : Cut(2, dim); };
  return absl::StrCat("ENTRY main {\n  x = ", type, "[", m, ",", k, "] parameter(0), ", cut(x),
                      "\n  w = ", type, "[", k, ",", n, "] parameter(1), ", cut(w), "\n  ROOT y = ", type,
                      "[", m, ",", n, "] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}, ",
                      cut(y), "\n}\n");
}

// The default passes, with loops for all products.
std::vector<std::string> WithLoops(int64_t directions = 1, int64_t unroll = 1) {
  std::vector<std::string> passes = DefaultPasses();
  passes[0] = absl::StrCat("windowed_einsum:bytes=0:directions=", directions, ":unroll=", unroll);
  return passes;
}

std::vector<std::string> WithoutLoops() {
  std::vector<std::string> passes = DefaultPasses();
  passes.erase(passes.begin());
  return passes;
}

int LoopsIn(const Module& module) {
  int loops = 0;
  for (const auto& computation : module.computations()) {
    for (const auto& instruction : computation->instructions())
      loops += instruction->opcode() == Opcode::kWhile;
  }
  return loops;
}

// Expects that the program has equal values and sends equal bytes with and without loops. Returns the number
// of loops.
int ExpectSame(const std::string& text, int64_t n) {
  SCOPED_TRACE(absl::StrCat(n, " devices\n", text));
  const auto module = ProgramFor(text, n);
  const std::vector<Literal> arguments = IntegerArguments(*module);
  const auto expected = RunSingle(*module, arguments);
  EXPECT_OK(expected.status());
  PartitionOptions plain, always;
  plain.num_partitions = always.num_partitions = n;
  plain.strategies = always.strategies = NoSearch();  // Both have the same plan.
  plain.passes = WithoutLoops();
  always.passes = WithLoops();
  always.observer.verify = true;
  const auto without = PartitionModule(*module, plain), with = PartitionModule(*module, always);
  EXPECT_OK(without.status());
  EXPECT_OK(with.status());
  if (!expected.ok() || !without.ok() || !with.ok()) return 0;
  EXPECT_EQ(SentBytes(*with->module), SentBytes(*without->module));
  for (int variant = 0; variant < 6; ++variant) {
    PartitionOptions options = always;
    if (variant > 0) options.on_local_value = PoisonPadding;
    if (variant > 1) options.device_order_seed = 5;
    options.passes = WithLoops(variant > 2 ? 2 : 1, variant > 3 ? variant - 2 : 1);  // Unrolled by 1, 2 or 3.
    if (variant > 2) {
      const auto partitioned = PartitionModule(*module, options);
      EXPECT_OK(partitioned.status());
      if (partitioned.ok()) {
        EXPECT_EQ(SentBytes(*partitioned->module), SentBytes(*without->module)) << variant;
      }
    }
    const auto actual = PartitionAndRun(*module, options, arguments);
    EXPECT_OK(actual.status());
    EXPECT_TRUE(actual.ok() && Compare(*actual, *expected, 0).equal);
  }
  return LoopsIn(*with->module);
}

TEST(WindowedEinsumTest, GatheredOperandsAndScatteredResults) {
  for (const char* type : {"f32", "bf16", "s32"}) {
    for (const int64_t n : {2, 3, 8}) {
      EXPECT_EQ(ExpectSame(Product(type, 24, 48, 24, 0, 0, 0), n),
                1);  // w is gathered along the contracting dimension.
      EXPECT_EQ(ExpectSame(Product(type, 48, 24, 24, 0, 1, 0), n), 1);  // w is gathered along its columns.
      EXPECT_EQ(ExpectSame(Product(type, 24, 24, 48, 0, 1, 1), n), 1);  // x is gathered along its rows.
      EXPECT_EQ(ExpectSame(Product(type, 24, 48, 48, 1, 0, 0), n), 1);  // Sums are scattered along rows.
      EXPECT_EQ(ExpectSame(Product(type, 24, 48, 48, 1, 0, 1), n), 1);  // Sums are scattered along columns.
    }
  }
}

TEST(WindowedEinsumTest, UnevenSizes) {
  for (const int64_t n : {2, 3, 7, 16}) {
    for (int x = -1; x < 2; ++x) {
      for (int w = -1; w < 2; ++w) {
        for (int y = -1; y < 2; ++y) ExpectSame(Product("f32", 13, 22, 9, x, w, y), n);
      }
    }
  }
}

TEST(WindowedEinsumTest, BatchesAndOtherOrdersOfDimensions) {
  for (const int64_t n : {2, 4}) {
    for (int x = 0; x < 3; ++x) {
      for (int w = 0; w < 3; ++w) {
        for (int y = 0; y < 3; ++y) {
          ExpectSame(
              absl::StrCat("ENTRY main {\n  x = f32[8,4,12] parameter(0), ", Cut(3, x),
                           "\n  w = f32[8,16,4] parameter(1), ", Cut(3, w),
                           "\n  ROOT y = f32[4,12,16] dot(x, w), lhs_batch_dims={1}, rhs_batch_dims={2}, "
                           "lhs_contracting_dims={0}, rhs_contracting_dims={0}, ",
                           Cut(3, y), "\n}\n"),
              n);
        }
      }
    }
  }
}

// Groups that are not all devices; two products one after the other; a product in a loop of the program.
TEST(WindowedEinsumTest, GroupsChainsAndLoops) {
  ExpectSame(R"(
ENTRY main {
  x = f32[16,32] parameter(0), sharding={devices=[4,2]<=[8]}
  w = f32[32,64] parameter(1), sharding={devices=[2,4]<=[4,2]T(1,0)}
  v = f32[64,32] parameter(2), sharding={devices=[4,2]<=[8]}
  h = f32[16,64] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT y = f32[16,32] dot(h, v), lhs_contracting_dims={1}, rhs_contracting_dims={0}, sharding={devices=[4,2]<=[8]}
})",
             8);
  const std::string loop = R"(
body {
  p = (s32[], f32[16,16], f32[16,16]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  x = f32[16,16] get-tuple-element(p), index=1
  w = f32[16,16] get-tuple-element(p), index=2
  one = s32[] constant(1)
  j = s32[] add(i, one)
  y = f32[16,16] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT t = (s32[], f32[16,16], f32[16,16]) tuple(j, y, w)
}
condition {
  p = (s32[], f32[16,16], f32[16,16]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(2)
  ROOT l = pred[] compare(i, n), direction=LT
}
ENTRY main {
  x = f32[16,16] parameter(0), sharding={devices=[$n,1]<=[$n]}
  w = f32[16,16] parameter(1), sharding={devices=[$n,1]<=[$n]}
  z = s32[] constant(0)
  s = (s32[], f32[16,16], f32[16,16]) tuple(z, x, w)
  l = (s32[], f32[16,16], f32[16,16]) while(s), condition=condition, body=body
  ROOT y = f32[16,16] get-tuple-element(l), index=1
})";
  EXPECT_EQ(ExpectSame(loop, 4), 2);
}

TEST(WindowedEinsumTest, NoDeviceHoldsTheGatheredArray) {
  const auto module = ProgramFor(Product("f32", 4096, 512, 1024, 0, 1, 0), 8);
  PartitionOptions options;
  options.passes = WithoutLoops();
  ASSERT_OK_AND_ASSIGN(const Partitioned without, PartitionModule(*module, options));
  options.passes = WithLoops();
  ASSERT_OK_AND_ASSIGN(const Partitioned with, PartitionModule(*module, options));
  EXPECT_LT(ComputeStatistics(*with.module).device.peak, ComputeStatistics(*without.module).device.peak);
}

// Parts that come from both sides, and two parts in a trip, need the same number of messages.
TEST(WindowedEinsumTest, DirectionsAndUnrolling) {
  for (const int64_t n : {2, 3, 4, 5, 7, 8, 16}) {
    const auto module = ProgramFor(Product("f32", 240, 240, 240, 0, 1, 0), n);
    const auto scattered = ProgramFor(Product("f32", 240, 240, 240, 1, 0, 0), n);
    const std::vector<Literal> arguments = IntegerArguments(*module);
    for (const Module* program : {module.get(), scattered.get()}) {
      const auto expected = RunSingle(*program, arguments);
      ASSERT_OK(expected.status());
      PartitionOptions options;
      options.num_partitions = n;
      options.strategies = NoSearch();
      options.passes = WithoutLoops();
      ASSERT_OK_AND_ASSIGN(const Partitioned without, PartitionModule(*program, options));
      options.passes = WithLoops();
      options.observer.verify = true;
      for (const bool both : {false, true}) {
        for (const int64_t unroll : {1, 2, 3}) {
          SCOPED_TRACE(absl::StrCat(n, " devices, ", both ? "both directions" : "one direction", ", ", unroll,
                                    " in a trip"));
          options.passes = WithLoops(both ? 2 : 1, unroll);
          ASSERT_OK_AND_ASSIGN(const Partitioned with, PartitionModule(*program, options));
          EXPECT_EQ(SentBytes(*with.module), SentBytes(*without.module));
          const auto actual = PartitionAndRun(*program, options, arguments);
          ASSERT_OK(actual.status());
          EXPECT_TRUE(Compare(*actual, *expected, 0).equal);
        }
      }
    }
  }
}

}  // namespace
}  // namespace toroid
