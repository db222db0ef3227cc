// Ops with side effects that run on one device, and outfeeds of cut data.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "hlo/io/hlo_text.h"
#include "runtime/engine/executor.h"
#include "runtime/partitioned/run_partitioned.h"
#include "tests/partitioner/equivalence.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Partitions the program and runs it with these infeeds. Returns its result; `outfeed` gets the data it fed
// out.
absl::StatusOr<Literal> RunFed(const std::string& text, int64_t n, const std::vector<Literal>& infeed,
                               Outfeed* outfeed, std::optional<uint64_t> device_order = std::nullopt) {
  const std::unique_ptr<Module> module = ProgramFor(text, n);
  PartitionOptions options;
  options.num_partitions = n;
  options.device_order_seed = device_order;
  ASSIGN_OR_RETURN(const Partitioned partitioned, PartitionModule(*module, options));
  RunPartitionedOptions run;
  run.run.infeed = std::make_shared<LiteralInfeed>(infeed);
  run.run.outfeed = outfeed;
  const Shape result = module->entry()->root()->shape();
  run.result = &result;
  run.assemble.check_replicas = true;
  return RunPartitioned(*partitioned.module, IntegerArguments(*module), run);
}

constexpr char kInfeed[] = R"(
ENTRY main {
  x = f32[8] parameter(0), sharding={devices=[$n]<=[$n]}
  k = token[] after-all()
  i = ((f32[8], pred[]), token[]) infeed(k), sharding={{maximal device=1}, {maximal device=1}, {maximal device=1}}
  d = (f32[8], pred[]) get-tuple-element(i), index=0
  y = f32[8] get-tuple-element(d), index=0
  b = pred[] get-tuple-element(d), index=1
  bb = pred[8] broadcast(b), dimensions={}
  s = f32[8] add(x, y)
  ROOT r = f32[8] select(bb, s, x)
})";

TEST(SideEffectsTest, WhatOneDeviceIsFedReachesAll) {
  const std::vector<Literal> infeed = {Literal::Array<float>({8}, {1, 2, 3, 4, 5, 6, 7, -0.0f}),
                                       Literal::Scalar<bool>(true)};
  for (const int64_t n : {2, 4, 8}) {
    for (const std::optional<uint64_t> order : {std::optional<uint64_t>(), std::optional<uint64_t>(3)}) {
      Outfeed outfeed;
      ASSERT_OK_AND_ASSIGN(const Literal actual, RunFed(kInfeed, n, infeed, &outfeed, order));
      const std::unique_ptr<Module> module = ProgramFor(kInfeed, n);
      RunOptions options;
      options.infeed = std::make_shared<LiteralInfeed>(infeed);
      ASSERT_OK_AND_ASSIGN(const Literal expected, RunSingle(*module, IntegerArguments(*module), options));
      EXPECT_EQ(actual, expected);
    }
  }
}

TEST(SideEffectsTest, AMaximalOutfeedRunsInABranchOfItsDevice) {
  const std::string text = R"(
ENTRY main {
  x = f32[8] parameter(0), sharding={devices=[$n]<=[$n]}
  k = token[] after-all()
  o = token[] outfeed(x, k), outfeed_shape=f32[8], sharding={maximal device=1}
  ROOT r = f32[8] negate(x)
})";
  PartitionOptions options;
  ASSERT_OK_AND_ASSIGN(const Partitioned partitioned, PartitionModule(*ProgramFor(text, 2), options));
  for (const auto& instruction : partitioned.module->entry()->instructions()) {
    EXPECT_NE(instruction->opcode(), Opcode::kOutfeed);
  }
  EXPECT_THAT(PrintModule(*partitioned.module), HasSubstr("conditional("));
  Outfeed outfeed;
  ASSERT_OK(RunFed(text, 2, {}, &outfeed).status());
  ASSERT_EQ(outfeed.size(), 1);
  EXPECT_THAT(outfeed[0].devices, ElementsAre(1));
}

// A custom call to "log" with a result of this shape, with or without a side effect, placed on device 1, in
// GSPMD or Shardy annotations.
std::string Callback(const std::string& shape, bool side_effect, bool shardy) {
  return absl::StrCat(
      "HloModule m",
      shardy ? ", frontend_attributes={xla.sdy.meshes=\"{mesh = #sdy.mesh<[\\\"x\\\"=2]>, one = "
               "#sdy.mesh<[], device_ids=[1]>}\"}"
             : "",
      "\nENTRY main {\n  x = f32[8] parameter(0)",
      shardy ? ", frontend_attributes={xla.sdy.sharding=\"#sdy.sharding<@mesh, [{\\\"x\\\"}]>\"}"
             : ", sharding={devices=[2]<=[2]}",
      "\n  c = ", shape, " custom-call(x), custom_call_target=\"log\"",
      side_effect ? ", custom_call_has_side_effect=true" : "",
      shardy ? ", frontend_attributes={xla.sdy.sharding=\"#sdy.sharding_per_value<[<@one, []>]>\"}"
             : ", sharding={{maximal device=1}}",
      "\n  ROOT r = f32[8] ", shape == "()" ? "negate(x)" : "add(x, c)", "\n}");
}

TEST(SideEffectsTest, ACallbackOfOneDeviceIsPlacedInBothDialects) {
  for (const bool shardy : {false, true}) {
    for (const auto& [shape, side_effect] :
         {std::make_pair("()", true), std::make_pair("f32[8]", true), std::make_pair("f32[8]", false)}) {
      const std::string text = Callback(shape, side_effect, shardy);
      SCOPED_TRACE(text);
      ASSERT_OK_AND_ASSIGN(const Partitioned partitioned,
                           PartitionModule(*ProgramFor(text, 2), PartitionOptions()));
      int calls = 0;
      for (const auto& computation : partitioned.module->computations()) {
        for (const auto& instruction : computation->instructions()) {
          if (instruction->opcode() != Opcode::kCustomCall) continue;
          ++calls;
          EXPECT_NE(computation.get(), partitioned.module->entry()) << PrintModule(*partitioned.module);
        }
      }
      EXPECT_EQ(calls, 1);
    }
  }
}

TEST(SideEffectsTest, ALoopIsFedOnOneDevice) {
  const std::string text = R"(
body {
  s = (s32[], f32[8]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[8] get-tuple-element(s), index=1
  k = token[] after-all()
  d = (f32[8], token[]) infeed(k), sharding={{maximal device=0}, {maximal device=0}}
  y = f32[8] get-tuple-element(d), index=0
  one = s32[] constant(1)
  j = s32[] add(i, one)
  z = f32[8] subtract(y, x)
  ROOT t = (s32[], f32[8]) tuple(j, z)
}
cond {
  s = (s32[], f32[8]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(3)
  ROOT c = pred[] compare(i, n), direction=LT
}
ENTRY main {
  x = f32[8] parameter(0), sharding={devices=[$n]<=[$n]}
  zero = s32[] constant(0)
  s = (s32[], f32[8]) tuple(zero, x)
  w = (s32[], f32[8]) while(s), condition=cond, body=body
  ROOT r = f32[8] get-tuple-element(w), index=1
})";
  std::vector<Literal> infeed;
  for (int i = 0; i < 3; ++i) infeed.push_back(Integers(Shape(xla::F32, {8}), 10 + i));
  RunOptions options;
  options.infeed = std::make_shared<LiteralInfeed>(infeed);
  const std::unique_ptr<Module> module = ProgramFor(text, 4);
  ASSERT_OK_AND_ASSIGN(const Literal expected, RunSingle(*module, IntegerArguments(*module), options));
  Outfeed outfeed;
  EXPECT_THAT(RunFed(text, 4, infeed, &outfeed), IsOkAndHolds(expected));
}

TEST(SideEffectsTest, AResultThatOthersCannotLackIsRefused) {
  const std::string text = R"(
ENTRY main {
  x = f32[8] parameter(0), sharding={devices=[2]<=[2]}
  c = opaque[] custom-call(x), custom_call_target="open", custom_call_has_side_effect=true, sharding={maximal device=0}
  ROOT r = f32[8] negate(x)
})";
  EXPECT_THAT(
      PartitionModule(*ProgramFor(text, 2), PartitionOptions()).status(),
      StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("main/c: device 0 alone gives a opaque[]")));
}

TEST(SideEffectsTest, AnOutfeedOfUnreducedDataIsRefused) {
  const std::string text = R"(
ENTRY main {
  x = f32[8] parameter(0), sharding={devices=[2]<=[2]}
  k = token[] after-all()
  o = token[] outfeed(x, k), outfeed_shape=f32[8], sharding={unreduced}
  ROOT r = f32[8] negate(x)
})";
  EXPECT_THAT(
      PartitionModule(*ProgramFor(text, 2), PartitionOptions()).status(),
      StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("an outfeed of f32[8] that is unreduced")));
}

TEST(SideEffectsTest, ADeviceThatIsNotThereIsRefused) {
  const std::string text = R"(
ENTRY main {
  x = f32[8] parameter(0), sharding={devices=[2]<=[2]}
  c = () custom-call(x), custom_call_target="print", custom_call_has_side_effect=true, sharding={{maximal device=7}}
  ROOT r = f32[8] negate(x)
})";
  const absl::Status status = PartitionModule(*ProgramFor(text, 2), PartitionOptions()).status();
  EXPECT_THAT(std::string(status.message()), HasSubstr("main/c: is to run on device 7 of 2"));
}

TEST(SideEffectsTest, AnOutfeedOfCutDataFeedsTiles) {
  const std::string text = R"(
ENTRY main {
  x = f32[8] parameter(0), sharding={devices=[$n]<=[$n]}
  k = token[] after-all()
  o = token[] outfeed(x, k), outfeed_shape=f32[8], sharding={devices=[$n]<=[$n]}
  ROOT r = f32[8] negate(x)
})";
  EXPECT_THAT(Collectives(text, 4), IsEmpty());
  Outfeed outfeed;
  ASSERT_OK(RunFed(text, 4, {}, &outfeed).status());
  ASSERT_EQ(outfeed.size(), 1);
  const Literal x = IntegerArguments(*ProgramFor(text, 4))[0];
  EXPECT_THAT(outfeed[0].value.shape().dims(), ElementsAre(4, 2));  // One row for each device.
  EXPECT_EQ(std::string(outfeed[0].value.bytes(), 32), std::string(x.bytes(), 32));
}

}  // namespace
}  // namespace toroid
