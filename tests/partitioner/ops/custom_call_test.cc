// Custom calls of every known target over operands and results that may not be theirs.
#include "runtime/kernels/custom_call.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "hlo/io/hlo_text.h"
#include "hlo/ir/spmd_record.h"
#include "hlo/ops/verify_module.h"
#include "partitioner/spmd_partitioner.h"
#include "runtime/executor.h"
#include "tests/partitioner/equivalence.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

// An answer or an error, and where there is an answer it is that of the partitioned program.
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
        if (partitioned.ok()) EXPECT_OK(VerifyModule(*partitioned->module));
        const std::vector<Literal> arguments = IntegerArguments(**module);
        const auto result = RunSingle(**module, arguments, RunOptions());
        if (!result.ok() || !partitioned.ok()) continue;
        // Manual regions name their devices, and keep them.
        if (!result->shape().IsArray() || HasManualRegions(**module)) continue;
        ExpectEquivalent(PrintModule(**module), arguments, {2});
      }
    }
  }
  EXPECT_GT(runs, 1000);
}

}  // namespace
}  // namespace toroid
