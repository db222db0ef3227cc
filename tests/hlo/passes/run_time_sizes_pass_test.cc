#include "hlo/passes/run_time_sizes_pass.h"

#include <memory>
#include <string>

#include "gmock/gmock.h"
#include "hlo/io/hlo_text.h"
#include "hlo/ops/verify_module.h"
#include "tests/partitioner/equivalence.h"
#include "tests/runtime/evaluate.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

constexpr char kTwice[] = R"(
  i = s32[4,4] parameter(0), sharding={devices=[2,2]<=[4]}
  n = s32[] constant(2)
  m = s32[] constant(3)
  f = s32[] constant(4)
  a = s32[<=4,4] set-dimension-size(i, n), dimensions={0}
  b = s32[4,<=4] set-dimension-size(a, m), dimensions={1}
  c = s32[4,4] set-dimension-size(a, f), dimensions={1}
  g = s32[] get-dimension-size(b), dimensions={0}
  h = s32[] get-dimension-size(b), dimensions={1}
  k = s32[] get-dimension-size(c), dimensions={0}
  d = s32[4,<=4] negate(b)
  z = s32[] constant(0)
  s = s32[] reduce(d, z), dimensions={0,1}, to_apply=add
  ROOT t = (s32[], s32[], s32[], s32[], s32[4,<=4]) tuple(g, h, k, s, d)
)";

std::unique_ptr<Module> Twice() {
  std::unique_ptr<Module> module = MakeModule(kTwice, ReducerText("add", "s32", "add"));
  EXPECT_TRUE(DropsRunTimeSizes(*module));
  EXPECT_TRUE(KeepRunTimeSizes(module.get()));
  EXPECT_FALSE(DropsRunTimeSizes(*module));
  EXPECT_OK(VerifyModule(*module));
  return module;
}

TEST(RunTimeSizesTest, ASecondSizeKeepsTheFirst) {
  const std::unique_ptr<Module> module = Twice();
  const Literal x = ParseLiteral("s32[4,4] {{1,2,3,4},{5,6,7,8},{9,9,9,9},{9,9,9,9}}");
  const absl::StatusOr<std::vector<Literal>> result = RunOnDevices(*module, {{x}}, 1);
  ASSERT_OK(result.status());
  EXPECT_EQ(ToText((*result)[0].element(0)), "2");
  EXPECT_EQ(ToText((*result)[0].element(1)), "3");
  EXPECT_EQ(ToText((*result)[0].element(2)), "2");
  EXPECT_EQ(ToText((*result)[0].element(3)), "-24");
  EXPECT_EQ((*result)[0].element(4).shape().ToString(), "s32[2,3]");
}

TEST(RunTimeSizesTest, PartitionsAgreeOnThem) { ExpectEquivalent(PrintModule(*Twice()), {}, {4}); }

TEST(RunTimeSizesTest, WhatALoopDeclaresStaticStaysSo) {
  const std::unique_ptr<Module> module = MakeModule(R"(
  i = s32[4,4] parameter(0)
  n = s32[] constant(2)
  a = s32[<=4,4] set-dimension-size(i, n), dimensions={0}
  f = s32[] constant(4)
  c = s32[4,4] set-dimension-size(a, f), dimensions={1}
  ROOT w = s32[4,4] while(c), condition=never, body=same
)",
                                                    R"(
same { p = s32[4,4] parameter(0)  ROOT q = s32[4,4] copy(p) }
never { p = s32[4,4] parameter(0)  ROOT q = pred[] constant(false) })");
  const std::string before = PrintModule(*module);
  EXPECT_FALSE(KeepRunTimeSizes(module.get()));
  EXPECT_EQ(PrintModule(*module), before);
}

}  // namespace
}  // namespace toroid
