// Manual shardings without a boundary to global values: the whole module is the program of one device.
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "partitioner/prepare/sharding_lines.h"
#include "runtime/partitioned/run_partitioned.h"
#include "tests/partition_and_run.h"
#include "tests/partitioner/equivalence.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::HasSubstr;

// Expects that every device runs the module unchanged: its result is that of the module on one device.
void ExpectRunsAsItStands(const std::string& text) {
  for (const int64_t n : {2, 4}) {
    const std::unique_ptr<Module> module = ProgramFor(text, n);
    PartitionOptions options;
    options.num_partitions = n;
    ASSERT_OK_AND_ASSIGN(const Partitioned partitioned, PartitionModule(*module, options));
    const std::vector<Literal> arguments = IntegerArguments(*module);
    ASSERT_OK_AND_ASSIGN(const Literal expected, RunSingle(*module, arguments));
    ASSERT_OK_AND_ASSIGN(const Literal actual,
                         RunPartitioned(*partitioned.module, arguments, expected.shape()));
    EXPECT_EQ(actual, expected) << text;
  }
}

TEST(ManualRegionsTest, ControlFlowAtTheRootIsManualAllThrough) {
  ExpectRunsAsItStands(R"(
T { x = f32[4] parameter(0), sharding={manual}  ROOT n = f32[4] negate(x), sharding={manual} }
F { y = f32[4] parameter(0), sharding={manual}  ROOT c = f32[4] copy(y) }
ENTRY main {
  p = pred[] parameter(0), sharding={manual}
  a = f32[4] parameter(1), sharding={manual}
  ROOT r = f32[4] conditional(p, a, a), true_computation=T, false_computation=F, sharding={manual}
})");
  ExpectRunsAsItStands(R"(
body {
  s = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[4] get-tuple-element(s), index=1
  one = s32[] constant(1)
  j = s32[] add(i, one)
  y = f32[4] add(x, x)
  ROOT t = (s32[], f32[4]) tuple(j, y)
}
cond {
  s = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(3)
  ROOT c = pred[] compare(i, n), direction=LT
}
ENTRY main {
  a = f32[4] parameter(0), sharding={manual}
  z = s32[] constant(0)
  s = (s32[], f32[4]) tuple(z, a)
  ROOT w = (s32[], f32[4]) while(s), condition=cond, body=body
})");
}

// The device order inside is that of the value that enters, not that of a parameter with another order.
TEST(ManualRegionsTest, TilesEnterInTheOrderOfTheBoundary) {
  const auto program = [](const std::string& leaving) {
    return absl::StrCat(R"(
ENTRY main {
  p = f32[8] parameter(0), sharding={devices=[4]2,3,0,1}
  outside = f32[8] custom-call(p), custom_call_target="Sharding", sharding={devices=[4]<=[4]}
  v = f32[2] custom-call(outside), custom_call_target="SPMDFullToShardShape", sharding={manual}
  w = f32[2] collective-permute(v), channel_id=1, source_target_pairs={{0,1},{1,2},{2,3},{3,0}}
  ROOT r = f32[8] custom-call(w), custom_call_target="SPMDShardToFullShape", sharding={)",
                        leaving, "}\n}");
  };
  const std::unique_ptr<Module> module = ProgramFor(program("devices=[4]<=[4]"), 4);
  const std::unique_ptr<Module> rolled = ProgramFor(R"(
ENTRY main {
  p = f32[8] parameter(0)
  last = f32[2] slice(p), slice={[6:8]}
  rest = f32[6] slice(p), slice={[0:6]}
  ROOT r = f32[8] concatenate(last, rest), dimensions={0}
})",
                                                    4);
  const std::vector<Literal> arguments = IntegerArguments(*module);
  ASSERT_OK_AND_ASSIGN(const Literal expected, RunSingle(*rolled, arguments));
  EXPECT_THAT(PartitionAndRun(*module, PartitionOptions(), arguments), IsOkAndHolds(expected));
  // The value leaves in a third device order, which cannot be the mesh's order too.
  EXPECT_THAT(PartitionModule(*ProgramFor(program("devices=[4]1,0,2,3"), 4), PartitionOptions()),
              StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("boundary of a manual region")));
}

TEST(ManualRegionsTest, ChainsOfAnyLengthStayManual) {
  // A chain of conditionals, each of which takes the result of the one before: the manual axes propagate step
  // by step.
  std::string text =
      "ENTRY main {\n  v0 = f32[4] parameter(0), sharding={manual}\n  p = pred[] parameter(1)\n";
  std::string branches;
  const int kDepth = 150;
  for (int i = 0; i < kDepth; ++i) {
    absl::StrAppend(&branches, "T", i, " { x = f32[4] parameter(0)  ROOT n = f32[4] negate(x) }\nF", i,
                    " { y = f32[4] parameter(0)  ROOT c = f32[4] copy(y) }\n");
    absl::StrAppend(&text, "  v", i + 1, " = f32[4] conditional(p, v", i, ", v", i, "), true_computation=T",
                    i, ", false_computation=F", i, "\n");
  }
  absl::StrAppend(&text, "  ROOT r = f32[4] copy(v", kDepth, ")\n}");
  ExpectRunsAsItStands(absl::StrCat(branches, text));
}

TEST(ManualRegionsTest, AManualValueIsNotShardedFromOutside) {
  const std::string text = R"(
ENTRY main {
  x = f32[4] parameter(0), sharding={manual}
  y = f32[4] negate(x)
  ROOT z = f32[4] negate(y)
})";
  for (const char* name : {"parameter(0)", "y", "output{0}"}) {
    SCOPED_TRACE(name);
    const std::unique_ptr<Module> module = ProgramFor(text, 2);
    absl::Status status = ApplyShardingLines({{absl::StrCat(name, "={devices=[2]<=[2]}"), ""}}, module.get());
    if (status.ok()) status = PartitionModule(*module, PartitionOptions()).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(status.message()), HasSubstr("outside the manual region"));
  }
}

TEST(ManualRegionsTest, OneValueIsGivenOneSharding) {
  const std::unique_ptr<Module> module = ProgramFor("ENTRY main { ROOT x = f32[4] parameter(0) }", 2);
  const absl::Status status =
      ApplyShardingLines({{"x={devices=[2]<=[2]}", ""}, {" x = {replicated}", ""}}, module.get());
  EXPECT_THAT(std::string(status.message()), HasSubstr("'x' is given two shardings"));
}

}  // namespace
}  // namespace toroid
