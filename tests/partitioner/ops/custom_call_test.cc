// Custom calls to every known target, with operands and results that may not fit it.
#include "runtime/kernels/custom_call.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "hlo/devices/spmd_record.h"
#include "hlo/io/hlo_text.h"
#include "hlo/ops/verify_module.h"
#include "partitioner/stages/spmd_partitioner.h"
#include "runtime/engine/executor.h"
#include "tests/partitioner/equivalence.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

// Every call gives a result or an error. If it gives a result, the partitioned program gives the same.
TEST(CustomCallTest, NoTargetTrustsItsOperandsOrItsShape) {
  std::vector<std::string> targets = KnownCustomCalls();
  for (const char* target : {"xla.sdy.FuncResultSharding", "xla.sdy.PropagationBarrier", "xla.sdy.other",
                             "SPMDFullToShardShape", "SPMDShardToFullShape", "unknown"}) {
    targets.push_back(target);
  }
  int runs = 0;
  for (const std::string& target : targets) {
    for (const char* operands : {"", "x", "i", "s", "t", "k", "x, x", "x, i", "t, t", "x, s, s", "x, x, x"}) {
      for (const char* shape : {"f32[3,4]", "s32[3]", "s32[]", "u7[3]", "f32[<=3,4]", "()", "token[]",
                                "(f32[3,4], s32[])", "(f32[3,4], s32[], s32[])", "(f32[3,2], s32[3,2])"}) {
        const auto module = ParseModule(absl::StrCat(R"(
ENTRY main {
  x = f32[3,4] parameter(0), sharding={devices=[2,1]<=[2]}
  i = s32[3] parameter(1)
  s = s32[] parameter(2)
  t = (f32[3,4], s32[]) tuple(x, s)
  k = token[] after-all()
  ROOT r = )",
                                                     shape, " custom-call(", operands,
                                                     "), custom_call_target=\"", target, "\" }"));
        if (!module.ok() || !VerifyModule(**module).ok()) continue;
        SCOPED_TRACE(PrintModule(**module));
        ++runs;
        const auto partitioned = PartitionModule(**module, PartitionOptions());
        if (partitioned.ok()) {
          EXPECT_OK(VerifyModule(*partitioned->module));
        }
        const std::vector<Literal> arguments = IntegerArguments(**module);
        const auto result = RunSingle(**module, arguments, RunOptions());
        if (!result.ok() || !partitioned.ok()) continue;
        // Manual regions fix the number of devices.
        if (!result->shape().IsArray() || HasManualRegions(**module)) continue;
        ExpectEquivalent(PrintModule(**module), arguments, {2});
      }
    }
  }
  EXPECT_GT(runs, 1000);
}

TEST(CustomCallTest, ElementwiseTargetsStayCut) {
  for (const char* name : {"erf", "tan", "sinh", "cosh", "asin", "acos", "atan", "asinh", "acosh", "atanh"}) {
    SCOPED_TRACE(name);
    const std::string text = absl::StrCat(R"(
ENTRY main {
  x = f32[7,4] parameter(0), sharding={devices=[4,1]<=[4]}
  ROOT y = f32[7,4] custom-call(x), custom_call_target="mhlo.)",
                                          name, "\" }");
    ASSERT_OK_AND_ASSIGN(const auto module, ParseModule(text));
    ASSERT_OK_AND_ASSIGN(const Partitioned partitioned, PartitionModule(*module, PartitionOptions()));
    EXPECT_THAT(PrintModule(*partitioned.module), ::testing::Not(::testing::HasSubstr("all-gather")));
    ExpectEquivalent(text, IntegerArguments(*module), {4});
  }
  const std::string halves = R"(
ENTRY main {
  x = u64[7] parameter(0), sharding={devices=[4]<=[4]}
  low = u32[7] custom-call(x), custom_call_target="X64SplitLow"
  high = u32[7] custom-call(x), custom_call_target="X64SplitHigh"
  ROOT y = u64[7] custom-call(high, low), custom_call_target="X64Combine" })";
  ASSERT_OK_AND_ASSIGN(const auto module, ParseModule(halves));
  ASSERT_OK_AND_ASSIGN(const Partitioned partitioned, PartitionModule(*module, PartitionOptions()));
  EXPECT_THAT(PrintModule(*partitioned.module), ::testing::Not(::testing::HasSubstr("all-gather")));
  ExpectEquivalent(halves, IntegerArguments(*module), {4});
}

TEST(CustomCallTest, BuffersStayWholeAndKeepTheirType) {
  const std::string text = R"(
cond { s = (s32[], b(f32[6])) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(3)
  ROOT c = pred[] compare(i, n), direction=LT }
body { s = (s32[], b(f32[6])) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  one = s32[] constant(1)
  j = s32[] add(i, one)
  b = b(f32[6]) get-tuple-element(s), index=1, sharding={devices=[$n]<=[$n]}
  a = f32[6] custom-call(b), custom_call_target="Unpin", output_to_operand_aliasing={{}: (0, {})}
  d = f32[6] add(a, a), sharding={devices=[$n]<=[$n]}
  p = b(f32[6]) custom-call(d), custom_call_target="Pin", output_to_operand_aliasing={{}: (0, {})}
  ROOT t = (s32[], b(f32[6])) tuple(j, p) }
ENTRY main {
  x = f32[6] parameter(0), sharding={devices=[$n]<=[$n]}
  b = b(f32[6]) custom-call(x), custom_call_target="Pin", output_to_operand_aliasing={{}: (0, {})}
  z = s32[] constant(0)
  s = (s32[], b(f32[6])) tuple(z, b)
  w = (s32[], b(f32[6])) while(s), condition=cond, body=body
  r = b(f32[6]) get-tuple-element(w), index=1
  ROOT y = f32[6] custom-call(r), custom_call_target="Unpin", output_to_operand_aliasing={{}: (0, {})}
})";
  ExpectEquivalent(text);
  ASSERT_OK_AND_ASSIGN(const Partitioned partitioned,
                       PartitionModule(*ProgramFor(text, 2), PartitionOptions()));
  const std::string printed = PrintModule(*partitioned.module);
  EXPECT_THAT(printed, testing::HasSubstr("b(f32[6]{0}) custom-call("));
  ASSERT_OK_AND_ASSIGN(const auto again, ParseModule(printed));
  EXPECT_OK(VerifyModule(*again));
}

// The right-hand sides of a triangular solve are independent.
TEST(CustomCallTest, TriangularSolvesStayCutAlongTheirRightHandSides) {
  const auto solve = [](const std::string& b, const std::string& tiles, int side, int batch) {
    const std::string front = batch > 0 ? "2," : "";
    return absl::StrCat(
        "ENTRY main {\n  a = f64[", front, "5,5] parameter(0)\n  b = f64[", front, b,
        "] parameter(1), sharding={devices=[", batch > 0 ? "1," : "", tiles, "]<=[$n]}\n  ROOT x = f64[",
        front, b,
        "] custom-call(a, b), custom_call_target=\"lapack_dtrsm_ffi\", api_version=API_VERSION_TYPED_FFI, "
        "frontend_attributes={num_batch_dims=\"",
        batch, "\"}, backend_config={diag = 85 : ui8, side = ", side,
        " : ui8, trans_x = 78 : ui8, uplo = 76 : ui8}\n}\n");
  };
  for (const int batch : {0, 1}) {
    for (const std::string& text : {solve("5,7", "1,$n", 76, batch), solve("7,5", "$n,1", 82, batch),
                                    solve("5,5", "1,$n", 76, batch), solve("5,5", "$n,1", 82, batch)}) {
      ExpectEquivalent(text, {}, {2, 3, 7}, 1e-9);
      EXPECT_THAT(Collectives(text, 4), ::testing::IsEmpty()) << text;
    }
    ExpectEquivalent(solve("5,7", "$n,1", 76, batch), {}, {2, 3}, 1e-9);
  }
}

}  // namespace
}  // namespace toroid
