// hlo-simulate as a user sees it: exit status, messages, reports, sweeps.
// BUILD: size = "medium"
// BUILD: data = ["//simulator:hlo-simulate", "//partitioner:hlo-partition", "//tests/corpus:jax"]
#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "hlo/base/files.h"
#include "nlohmann/json.hpp"
#include "tests/commands/command_runner.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::HasSubstr;

const char kSimulate[] = "simulator/hlo-simulate ";
const char kModel[] = "tests/corpus/jax/moe_layer_forward.gspmd.snapshot.pb";

void ExpectFailure(const std::string& arguments, int exit, const std::string& message) {
  const Outcome outcome = RunShell(kSimulate + arguments);
  EXPECT_EQ(outcome.exit, exit) << arguments << "\n" << outcome.err;
  EXPECT_EQ(outcome.ErrorLines(), 1) << arguments << "\n" << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr(message)) << arguments;
}

nlohmann::json Json(const std::string& arguments) {
  const Outcome outcome = RunShell(absl::StrCat(kSimulate, arguments, " --json=-"));
  EXPECT_EQ(outcome.exit, 0) << outcome.err;
  return nlohmann::json::parse(outcome.out, nullptr, false);
}

TEST(HloSimulateTest, ExitStatusTellsUsageFromInput) {
  const std::string model = kModel;
  EXPECT_EQ(RunShell(absl::StrCat(kSimulate, "--help")).exit, 0);
  ExpectFailure("", 2, "IN");
  ExpectFailure(model + " --no_such_flag", 2, "no_such_flag");
  ExpectFailure(model + " --trip_count=-1", 2, "trip_count");
  ExpectFailure(model + " --branch_probability=2", 2, "branch_probability");
  ExpectFailure(model + " --sweep_output=x", 2, "sweep");
  ExpectFailure("/nonexistent.hlo", 1, "/nonexistent.hlo");
  ExpectFailure(model + " --machine=tpu-v3-129", 1, "did you mean tpu-v3-128?");
  ExpectFailure(model + " --machine=/nonexistent.textproto", 1, "/nonexistent.textproto");
  ExpectFailure(model + " --set=network.link_bytes_per_second=-1", 1, "negative");
  ExpectFailure(model + " --set=network.link_speed=1", 1, "no parameter network.link_speed");
  ExpectFailure(model + " --device_assignment=/nonexistent", 1, "/nonexistent");
  ExpectFailure(model + " --sweep=machine", 1, "NAME=VALUE");
}

TEST(HloSimulateTest, ASliceSmallerThanTheModuleIsRefused) {
  const std::string module = TempFile("many.hlo", R"(HloModule many
ENTRY main { ROOT x = f32[4096] parameter(0), sharding={devices=[4096]<=[4096]} })");
  ExpectFailure(module, 1, "4096 devices");
  ExpectFailure(module + " --machine=tpu-v3-16", 1, "tpu-v3-16 has 16 cores");
}

TEST(HloSimulateTest, MeasuredRatesAreSlowerAndSaid) {
  const std::string module = TempFile(
      "negate.hlo",
      "HloModule negate\nENTRY main { x = f32[4096,4096] parameter(0) ROOT y = f32[4096,4096] negate(x) }");
  const nlohmann::json compiler = Json(module), measured = Json(module + " --rates=measured");
  EXPECT_EQ(compiler["rates"], "compiler");
  EXPECT_EQ(measured["rates"], "measured");
  EXPECT_GT(measured["step_seconds"].get<double>(), 1.2 * compiler["step_seconds"].get<double>());
  EXPECT_THAT(RunShell(absl::StrCat(kSimulate, module, " --rates=measured")).out,
              HasSubstr("at measured rates"));
  ExpectFailure(module + " --rates=guessed", 2, "rates");
}

TEST(HloSimulateTest, AModuleOfShardingsIsPartitionedFirst) {
  const nlohmann::json whole = Json(absl::StrCat(kModel, " --machine=tpu-v3-8"));
  EXPECT_EQ(whole["devices"], 8);
  EXPECT_EQ(whole["machine"], "tpu-v3-8");
  EXPECT_GT(whole["step_seconds"].get<double>(), 0);
  int all_to_alls = 0;
  for (const auto& row : whole["collectives"]) all_to_alls += row["kind"] == "all-to-all";
  EXPECT_EQ(all_to_alls, 2);
  // The output of hlo-partition has the same cost.
  const std::string local = absl::StrCat(testing::TempDir(), "/local.hlo.pb");
  ASSERT_EQ(RunShell(absl::StrCat("partitioner/hlo-partition ", kModel, " -o ", local)).exit, 0);
  EXPECT_EQ(Json(local + " --machine=tpu-v3-8")["step_seconds"], whole["step_seconds"]);
}

TEST(HloSimulateTest, AModuleTooBigForMemorySaysByHowMuchAndWhatHoldsMost) {
  const std::string module = TempFile("big.hlo", R"(HloModule big
ENTRY main {
  x = f32[65536,65536] parameter(0), metadata={op_name="params['huge']"}
  ROOT y = f32[65536,65536] negate(x) })");
  const Outcome outcome = RunShell(kSimulate + module);
  EXPECT_EQ(outcome.exit, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("DOES NOT FIT: 17.2 GB too much"));
  EXPECT_THAT(outcome.out, HasSubstr("params['huge']"));
}

TEST(HloSimulateTest, WhatIsNotKnownIsSaid) {
  const std::string call = TempFile("call.hlo", R"(HloModule call
ENTRY main {
  x = f32[1000] parameter(0)
  ROOT y = f32[1000] custom-call(x), custom_call_target="who_knows" })");
  EXPECT_THAT(RunShell(kSimulate + call).out,
              HasSubstr("what the custom call who_knows (1 times in the program) computes is not known"));
  const std::string loop = TempFile("loop.hlo", R"(HloModule loop
more { s = (f32[1000]) parameter(0)
  ROOT t = pred[] constant(true) }
body { s = (f32[1000]) parameter(0)
  x = f32[1000] get-tuple-element(s), index=0
  y = f32[1000] sine(x)
  ROOT r = (f32[1000]) tuple(y) }
ENTRY main {
  x = f32[1000] parameter(0)
  s = (f32[1000]) tuple(x)
  ROOT w = (f32[1000]) while(s), condition=more, body=body })");
  EXPECT_THAT(RunShell(kSimulate + loop).out,
              HasSubstr("how long the loop main/w runs: 1 trips are assumed"));
}

TEST(HloSimulateTest, NothingShardedIsSaid) {
  const std::string plain = TempFile("plain.hlo", R"(HloModule plain
ENTRY main {
  x = f32[64,128] parameter(0)
  ROOT y = f32[64,128] negate(x) })");
  EXPECT_THAT(RunShell(absl::StrCat(kSimulate, plain, " --num_partitions=8")).err,
              HasSubstr("nothing is sharded"));
  EXPECT_EQ(RunShell(absl::StrCat(kSimulate, plain)).err, "");
}

TEST(HloSimulateTest, ReportsAreWritten) {
  const std::string prefix = absl::StrCat(testing::TempDir(), "/step");
  const Outcome outcome =
      RunShell(absl::StrCat(kSimulate, kModel, " --report=", prefix, ".html --trace=", prefix,
                            ".trace.json --dump_lowered=", prefix, ".hlo"));
  ASSERT_EQ(outcome.exit, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("a step"));
  ASSERT_OK_AND_ASSIGN(const std::string page, ReadFile(prefix + ".html"));
  EXPECT_THAT(page, HasSubstr("all-to-all"));
  ASSERT_OK_AND_ASSIGN(const std::string trace, ReadFile(prefix + ".trace.json"));
  EXPECT_FALSE(nlohmann::json::parse(trace, nullptr, false).is_discarded());
  // The lowered module is HLO that every command reads; its cost is not above that of its source.
  EXPECT_EQ(RunShell(absl::StrCat(kSimulate, prefix, ".hlo")).exit, 0);
}

TEST(HloSimulateTest, ASweepOverMeshesPartitionsForEach) {
  const std::string file = TempFile("meshed.hlo", R"(HloModule meshed
ENTRY main {
  x = f32[64,512] parameter(0)
  w = f32[512,256] parameter(1)
  ROOT y = f32[64,256] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
)");
  const Outcome outcome = RunShell(absl::StrCat(kSimulate, file, " --shard 'x=[{\"data\"}, {\"model\"}]'",
                                                " --sweep 'mesh=data=8,model=1|data=1,model=8'"));
  ASSERT_EQ(outcome.exit, 0) << outcome.err;
  const std::vector<std::string> rows = absl::StrSplit(outcome.out, '\n', absl::SkipEmpty());
  ASSERT_EQ(rows.size(), 3);
  EXPECT_THAT(rows[1], HasSubstr("data=8,model=1"));
  EXPECT_THAT(rows[2], HasSubstr("data=1,model=8"));
  ExpectFailure(file + " --sweep mesh=data", 1, "NAME=SIZE");
}

TEST(HloSimulateTest, ASweepHasARowForEveryCombination) {
  const std::string prefix = absl::StrCat(testing::TempDir(), "/sweep");
  const Outcome outcome = RunShell(absl::StrCat(
      kSimulate, kModel,
      " --sweep=machine=tpu-v3-8,tpu-v3-16 --sweep=network.link_bytes_per_second=40e9,80e9,160e9"));
  ASSERT_EQ(outcome.exit, 0) << outcome.err;
  EXPECT_EQ(std::count(outcome.out.begin(), outcome.out.end(), '\n'), 7);
  ASSERT_EQ(
      RunShell(absl::StrCat(kSimulate, kModel, " --sweep=machine=tpu-v3-8,tpu-v3-16 --sweep_output=", prefix))
          .exit,
      0);
  ASSERT_OK_AND_ASSIGN(const std::string csv, ReadFile(prefix + ".csv"));
  EXPECT_THAT(csv, HasSubstr("tpu-v3-16"));
  ASSERT_OK_AND_ASSIGN(const std::string page, ReadFile(prefix + ".html"));
  EXPECT_THAT(page, HasSubstr("tpu-v3-16"));
}

TEST(HloSimulateTest, ASweepOverShardingsLeavesTheModuleAsItIs) {
  const std::string layer = TempFile("layer.hlo", R"(HloModule layer
ENTRY main {
  x = f32[64,128] parameter(0)
  w = f32[128,512] parameter(1)
  ROOT h = f32[64,512] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0} })");
  const Outcome outcome = RunShell(absl::StrCat(
      kSimulate, layer,
      " --num_partitions=8 '--sweep=shard=w={devices=[8,1]<=[8]}|w={devices=[1,8]<=[8]}|w={devices=[8,1]<=[8]}'"));
  ASSERT_EQ(outcome.exit, 0) << outcome.err;
  const std::vector<std::string> lines = absl::StrSplit(outcome.out, '\n');
  ASSERT_GE(lines.size(), 4);
  EXPECT_EQ(lines[1], lines[3]);
  EXPECT_NE(lines[1].substr(lines[1].find("tpu")), lines[2].substr(lines[2].find("tpu")));
}

}  // namespace
}  // namespace toroid
