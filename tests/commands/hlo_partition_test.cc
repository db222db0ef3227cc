// hlo-partition as a user sees it: exit status, messages, files, JSON.
// BUILD: size = "medium"
// BUILD: data = ["//partitioner:hlo-partition", "//runtime:hlo-run", "//tests/corpus:jax"]
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "hlo/base/files.h"
#include "hlo/base/terminal.h"
#include "hlo/io/file.h"
#include "hlo/io/hlo_text.h"
#include "nlohmann/json.hpp"
#include "tests/commands/command_runner.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

const char kPartition[] = "partitioner/hlo-partition ";
const char kRun[] = "runtime/hlo-run ";
const char kModel[] = "tests/corpus/jax/moe_layer_forward.gspmd.snapshot.pb";

const char kLayer[] = R"(HloModule layer

ENTRY main {
  x = f32[8,6] parameter(0), sharding={devices=[4,1]<=[4]}
  w = f32[6,4] parameter(1)
  ROOT y = f32[8,4] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}, metadata={op_name="jit(f)/layer/dot"}
}
)";

// Without shardings.
const char kPlain[] = R"(HloModule plain

ENTRY main {
  x = f32[8,6] parameter(0)
  w = f32[6,4] parameter(1)
  ROOT y = f32[8,4] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}, metadata={op_name="jit(f)/layer/dot"}
}
)";

void ExpectFailure(const std::string& arguments, int exit, const std::string& message) {
  const Outcome outcome = RunShell(kPartition + arguments);
  EXPECT_EQ(outcome.exit, exit) << arguments << "\n" << outcome.err;
  EXPECT_EQ(outcome.ErrorLines(), 1) << arguments << "\n" << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr(message)) << arguments;
}

std::unique_ptr<Module> ReadOutput(const std::string& path) {
  absl::StatusOr<HloFile> file = ReadHloFile(path);
  TOROID_CHECK(file.ok(), file.status().message());
  return std::move(file->module);
}

std::string ParameterShape(const std::string& arguments, int parameter) {
  const Outcome outcome = RunShell(absl::StrCat(kPartition, arguments, " -o ", TempPath("shape.hlo.pb")));
  if (outcome.exit != 0) return outcome.err;
  return ReadOutput(TempPath("shape.hlo.pb"))->entry()->parameter(parameter)->shape().ToString();
}

TEST(HloPartitionTest, HelpTeachesAndSucceeds) {
  const Outcome outcome = RunShell(absl::StrCat(kPartition, "--help"));
  EXPECT_EQ(outcome.exit, 0);
  EXPECT_EQ(outcome.err, "");
  for (const char* flag : {"--num_partitions", "-o", "--shard", "--annotations", "--replicate_outputs",
                           "--device_order", "--stats", "--explain", "--check", "--dump_dir"}) {
    EXPECT_THAT(outcome.out, HasSubstr(flag));
  }
}

TEST(HloPartitionTest, WrongUsageIsStatusTwo) {
  const std::string layer = TempFile("layer.hlo", kLayer);
  ExpectFailure("", 2, "IN");
  ExpectFailure(layer + " --no_such_flag", 2, "no_such_flag");
  ExpectFailure(layer + " --num_partitions=0", 2, "num_partitions");
  ExpectFailure(layer + " --num_partitions=-4", 2, "num_partitions");
  ExpectFailure(layer + " --num_partitions=many", 2, "num_partitions");
  ExpectFailure(layer + " --num_partitions=99999999999999999999", 2, "num_partitions");
  ExpectFailure(layer + " --num_partitions=4 --num_partitions=4", 2, "num_partitions");
  ExpectFailure(layer + " --device_order=3", 2, "random:SEED");
  ExpectFailure(layer + " --device_order=random:x", 2, "random:SEED");
  ExpectFailure(layer + " --format=word", 2, "format");
  ExpectFailure(layer + " another.hlo", 2, "another.hlo");
}

TEST(HloPartitionTest, InputsThatCannotBeProcessedAreStatusOne) {
  const std::string layer = TempFile("layer.hlo", kLayer);
  ExpectFailure("/nonexistent.hlo", 1, "/nonexistent.hlo");
  ExpectFailure("/dev/null", 1, "/dev/null");
  ExpectFailure(::testing::TempDir(), 1, ::testing::TempDir());
  const std::string bad =
      TempFile("bad.hlo", "ENTRY main {\n  x = f32[2] parameter(0)\n  y = f32[2] negate(z)\n}\n");
  ExpectFailure(bad, 1, bad + ":3:21: unknown operand z");
  ExpectFailure(layer + " --num_partitions=8", 1, "set num_partitions=4");
  ExpectFailure(layer + " -o /nonexistent/out.hlo", 1, "/nonexistent/out.hlo");
  ExpectFailure(layer + " --shard 'nobody={replicated}'", 1, "'nobody' names no instruction");
  ExpectFailure(layer + " --shard 'paramter(1)={replicated}'", 1, "did you mean parameter(1)?");
  ExpectFailure(layer + " --shard 'jit(f)/layr/dot={replicated}'", 1, "did you mean jit(f)/layer/dot?");
  ExpectFailure(layer + " --num_partition=4", 2,
                "there is no flag --num_partition; did you mean --num_partitions?");
  ExpectFailure(layer + " -o out.unknown", 2, "--format");
  ExpectFailure(layer + " --shard 'w=somehow'", 1, "'w'");
  ExpectFailure(layer + " --shard w", 1, "NAME=SHARDING");
  ExpectFailure(layer + " --shard 'parameter(2)={replicated}'", 1, "2 parameters");
  ExpectFailure(layer + " --shard 'output{1}={replicated}'", 1, "output");
  ExpectFailure(layer + " --shard 'w={devices=[2,2,2]<=[8]}'", 1, "main/w");
  ExpectFailure(layer + " --annotations=/nonexistent.txt", 1, "/nonexistent.txt");
}

TEST(HloPartitionTest, AFailedRunLeavesTheOutputAlone) {
  const std::string out = TempFile("keep.hlo", "keep");
  const std::string bad = TempFile("bad.hlo", "ENTRY main {");
  const std::string layer = TempFile("layer.hlo", kLayer);
  EXPECT_EQ(RunShell(absl::StrCat(kPartition, bad, " -o ", out)).exit, 1);
  EXPECT_EQ(RunShell(absl::StrCat(kPartition, layer, " --num_partitions=8 -o ", out)).exit, 1);
  EXPECT_EQ(RunShell(absl::StrCat(kPartition, layer, " --bad_flag -o ", out)).exit, 2);
  EXPECT_EQ(ReadFile(out).value(), "keep");
}

TEST(HloPartitionTest, APartitionedModuleIsNotPartitionedAgain) {
  const std::string layer = TempFile("layer.hlo", kLayer);
  ASSERT_EQ(RunShell(absl::StrCat(kPartition, layer, " -o ", TempPath("once.hlo"))).exit, 0);
  ExpectFailure(TempPath("once.hlo"), 1, "partitioned already");
}

TEST(HloPartitionTest, APartitionedModuleIsReportedOn) {
  const std::string once = TempPath("explained.hlo.pb");
  const Outcome first = RunShell(absl::StrCat(kPartition, kModel, " --explain -o ", once));
  ASSERT_EQ(first.exit, 0) << first.err;
  for (const std::string name : {"explained.hlo.pb", "explained.hlo"}) {
    SCOPED_TRACE(name);
    ASSERT_EQ(RunShell(absl::StrCat(kPartition, kModel, " -o ", TempPath(name))).exit, 0);
    const Outcome outcome = RunShell(absl::StrCat(kPartition, TempPath(name), " --explain --stats=-"));
    ASSERT_EQ(outcome.exit, 0) << outcome.err;
    EXPECT_EQ(outcome.err, "");
    EXPECT_THAT(outcome.out,
                AllOf(HasSubstr("\"num_partitions\":8"), HasSubstr("all-to-all"), HasSubstr(".py:")));
    // The same table: the file keeps the cause of each collective.
    const std::string table = outcome.out.substr(outcome.out.find('\n') + 1);
    EXPECT_EQ(table, first.out.substr(0, table.size()));
  }
  ExpectFailure(once + " --explain -o " + TempPath("twice.hlo"), 1, "before_optimizations");
}

TEST(HloPartitionTest, ModulesThatXlaPartitionedAreReportedOn) {
  const std::string xla = TempFile("xla.hlo", R"(HloModule jit_f, num_partitions=8
add { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT s = f32[] add(a, b) }
ENTRY main {
  x = f32[4,8] parameter(0), sharding={devices=[2,4]<=[8]}
  ROOT all-reduce.7 = f32[4,8] all-reduce(x), channel_id=1, replica_groups=[2,4]<=[8], use_global_device_ids=true, to_apply=add, metadata={op_name="jit(f)/jvp()/mlp/reduce_sum" source_file="model.py" source_line=12}
}
)");
  const Outcome outcome = RunShell(absl::StrCat(kPartition, xla, " --explain"));
  ASSERT_EQ(outcome.exit, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("all-reduce              1      4      128 B      192 B  "
                                     "mlp/reduce_sum (model.py:12)\n"));
  ExpectFailure(xla, 1, "before_optimizations");
}

TEST(HloPartitionTest, AMachineAddsTimes) {
  const std::string flags = absl::StrCat(kModel, " --machine=tpu-v3-16 ");
  const Outcome explained =
      RunShell(absl::StrCat(kPartition, flags, "--explain --check --stats=", TempPath("stats.json")));
  ASSERT_EQ(explained.exit, 0) << explained.err;
  EXPECT_THAT(explained.out, AllOf(HasSubstr("of step"), HasSubstr("predicted on tpu-v3-16: ")));
  ASSERT_OK_AND_ASSIGN(const std::string stats, ReadInput(TempPath("stats.json")));
  EXPECT_THAT(stats, HasSubstr("\"predicted\":{\"machine\":\"tpu-v3-16\",\"step_seconds\":"));
  EXPECT_THAT(RunShell(absl::StrCat(kPartition, flags)).out, HasSubstr("predicted on tpu-v3-16: "));
  ExpectFailure(absl::StrCat(kModel, " --machine=tpu-v9-16 -o ", TempPath("none.hlo")), 1, "tpu-v9-16");
  ExpectFailure(
      absl::StrCat(
          TempFile("wide.hlo", "ENTRY main { ROOT x = f32[64] parameter(0), sharding={devices=[64]<=[64]} }"),
          " --machine=tpu-v3-16 -o ", TempPath("none.hlo")),
      1, "wide.hlo: ");
  EXPECT_FALSE(ReadInput(TempPath("none.hlo")).ok());
}

TEST(HloPartitionTest, APlanIsKeptReplayedAndRefusedWhereItDoesNotFit) {
  const std::string layer = TempFile("planned.hlo", kLayer);
  const Outcome chosen = RunShell(absl::StrCat(kPartition, layer, " --explain=plan"));
  ASSERT_EQ(chosen.exit, 0) << chosen.err;
  const std::string plan = TempFile("layer.plan", chosen.out);
  const std::string once = TempPath("chosen.hlo"), again = TempPath("replayed.hlo");
  ASSERT_EQ(RunShell(absl::StrCat(kPartition, layer, " -o ", once)).exit, 0);
  const Outcome replayed = RunShell(absl::StrCat(kPartition, layer, " --check --plan=", plan, " -o ", again));
  ASSERT_EQ(replayed.exit, 0) << replayed.err;
  EXPECT_EQ(PrintModule(*ReadOutput(once)), PrintModule(*ReadOutput(again)));

  ExpectFailure(
      absl::StrCat(layer, " --plan=", TempFile("cut.plan", chosen.out.substr(0, chosen.out.size() / 2))), 1,
      "the plan");
  ExpectFailure(absl::StrCat(layer, " --plan=", TempFile("empty.plan", "")), 1, "the plan is empty");
  ExpectFailure(absl::StrCat(layer, " --plan=", TempPath("no.plan")), 1, "No such file");
  ExpectFailure(absl::StrCat(layer, " --num_partitions=1 --explain=plan"), 1, "leave out --num_partitions=1");
  ExpectFailure(absl::StrCat(layer, " --num_partitions=1 --plan=", plan), 1, "leave out --num_partitions=1");
  ExpectFailure(absl::StrCat(once, " --explain=plan"), 1, "partitioned already");
  ExpectFailure(absl::StrCat(once, " --explain --plan=", plan), 1, "partitioned already");
}

TEST(HloPartitionTest, WhereNothingIsShardedItSaysHowToBegin) {
  const std::string plain = TempFile("plain.hlo", kPlain);
  const Outcome outcome = RunShell(absl::StrCat(kPartition, plain, " --explain"));
  EXPECT_EQ(outcome.exit, 0);
  EXPECT_THAT(outcome.out, StartsWith("no collectives\n"));
  EXPECT_EQ(outcome.err,
            plain +
                ": nothing is sharded, so every device does all of it; give a sharding, for example "
                "--num_partitions=8 --shard 'x={devices=[8,1]<=[8]}'\n");
  // The example works, so there is no message.
  const Outcome example = RunShell(
      absl::StrCat(kPartition, plain, " --explain --num_partitions=8 --shard 'x={devices=[8,1]<=[8]}'"));
  EXPECT_EQ(example.exit, 0);
  EXPECT_EQ(example.err, "");
  EXPECT_EQ(RunShell(absl::StrCat(kPartition, plain, " --num_partitions=1")).err, "");
  EXPECT_THAT(RunShell(absl::StrCat(kPartition, plain, " --num_partitions=4")).err,
              HasSubstr("--num_partitions=4 "));
  const std::string optimized = TempFile("optimized.hlo", R"(HloModule m, is_scheduled=true
ENTRY main {
  x = f32[8,6] parameter(0)
  ROOT y = f32[8,6] negate(x)
}
)");
  EXPECT_THAT(RunShell(absl::StrCat(kPartition, optimized)).err, HasSubstr("before_optimizations"));
}

TEST(HloPartitionTest, NamesThatMatchNothingGetASuggestion) {
  std::string text = kPlain;
  text.replace(text.find("parameter(1)"), 12, "parameter(1), metadata={op_name=\"params['kernel']\"}");
  const std::string plain = TempFile("named.hlo", text);
  ExpectFailure(plain + " --shard \"params['kernle']={replicated}\"", 1, "did you mean params['kernel']?");
  ExpectFailure(plain + " --shard kernel={replicated}", 1, "did you mean params['kernel']?");
  ExpectFailure(plain + " --shard 'jit(f)/layr/dot={replicated}'", 1, "did you mean jit(f)/layer/dot?");
  const std::string constant =
      TempFile("constant.hlo",
               "ENTRY main {\n  ROOT c = f32[2] constant({1, 2}), metadata={op_name=\"layer/bias\"}\n}\n");
  ExpectFailure(constant + " --shard layer/bais={replicated}", 1, "did you mean layer/bias?");
  ExpectFailure(constant + " --shard nosuchname={replicated}", 1, "matches no op_name");
  ExpectFailure(plain + " --shard nosuchname={replicated}", 1, "; the parameters are x, params['kernel']");
}

TEST(HloPartitionTest, ExplainFitsTheWidthAndListsAllWhenAsked) {
  const auto lines = [](const std::string& flags, const std::string& columns) {
    const Outcome outcome =
        RunShell(absl::StrCat("COLUMNS=", columns, " ", kPartition,
                              "tests/corpus/jax/lm_fsdp_tensor_parallel.shardy.hlo.pb ", flags));
    EXPECT_EQ(outcome.exit, 0) << outcome.err;
    return std::vector<std::string>(absl::StrSplit(outcome.out, '\n', absl::SkipEmpty()));
  };
  for (const auto& [columns, width] : std::vector<std::pair<std::string, int>>{{"80", 80}, {"160", 160}}) {
    for (const std::string flags : {"--explain", "--explain=full"}) {
      for (const std::string& line : lines(flags, columns)) EXPECT_LE(TextWidth(line), width) << line;
    }
  }
  const std::vector<std::string> grouped = lines("--explain", "200"), full = lines("--explain=full", "200");
  EXPECT_LT(grouped.size(), full.size());
  const auto total = [](const std::vector<std::string>& table) {
    const auto is_total = [](const std::string& line) {
      return absl::StartsWith(line, "sent per device in all");
    };
    const auto at = std::find_if(table.begin(), table.end(), is_total);
    return at == table.end() ? "" : *at;
  };
  EXPECT_NE(total(grouped), "");
  EXPECT_EQ(total(grouped), total(full));
  ExpectFailure(std::string(kModel) + " --explain=some", 2, "explain");
}

TEST(HloPartitionTest, OutputNamesChooseTheFormat) {
  for (const char* name : {"o.hlo", "o.txt", "o.pbtxt", "o.json", "o.hlo.pb", "o.snapshot.pb"}) {
    SCOPED_TRACE(name);
    const Outcome outcome = RunShell(absl::StrCat(kPartition, kModel, " -o ", TempPath(name)));
    ASSERT_EQ(outcome.exit, 0) << outcome.err;
    const auto module = ReadOutput(TempPath(name));
    EXPECT_EQ(module->proto().device_assignment().computation_count(), 8);
    EXPECT_TRUE(module->proto().has_spmd_output_sharding());
  }
  // A snapshot's arguments are the global program's: hlo-partition writes an HloProto.
  ASSERT_OK_AND_ASSIGN(const HloFile file, ReadHloFile(TempPath("o.hlo.pb")));
  EXPECT_EQ(file.container, Container::kProto);
}

TEST(HloPartitionTest, StandardInputAndOutput) {
  const std::string layer = TempFile("layer.hlo", kLayer);
  const Outcome outcome = RunShell(absl::StrCat("cat ", layer, " | ", kPartition, "- -o - --format=text"));
  ASSERT_EQ(outcome.exit, 0) << outcome.err;
  ASSERT_OK_AND_ASSIGN(const auto module, ParseModule(outcome.out));
  EXPECT_EQ(module->entry()->parameter(0)->shape().ToString(), "f32[2,6]");
  EXPECT_EQ(RunShell(absl::StrCat(kPartition, layer, " -o /dev/null")).exit, 0);
}

// A constraint in between cuts the columns of an array whose rows are cut before and after.
TEST(HloPartitionTest, ExplainSaysBelowItsTableWhatAChangeWouldSave) {
  const std::string layer = TempFile("rows.hlo", R"(HloModule m
ENTRY main {
  x = f32[512,256] parameter(0), sharding={devices=[8,1]<=[8]}
  h = f32[512,256] negate(x)
  s = f32[512,256] custom-call(h), custom_call_target="Sharding", sharding={devices=[1,8]<=[8]}
  t = f32[512,256] tanh(s)
  ROOT y = f32[512,256] custom-call(t), custom_call_target="Sharding", sharding={devices=[8,1]<=[8]}
})");
  const Outcome outcome = RunShell(absl::StrCat(kPartition, layer, " --explain"));
  ASSERT_EQ(outcome.exit, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("tried: s [{a8}, {}] instead of [{}, {a8}] sends 0 B instead of "));
  const Outcome json_of = RunShell(absl::StrCat(kPartition, layer, " --explain=json"));
  const nlohmann::json json = nlohmann::json::parse(json_of.out, nullptr, /*allow_exceptions=*/false);
  ASSERT_FALSE(json.is_discarded()) << json_of.out;
  ASSERT_FALSE(json["diagnosis"].empty());
  EXPECT_EQ(json["diagnosis"][0]["given"], std::vector<std::string>({"s={devices=[8,1]<=[8]}"}));
  EXPECT_EQ(json["diagnosis"][0]["sent_bytes_then"], 0);
}

TEST(HloPartitionTest, FramesSayWhoseTheCallsOfARowAreAndMayBeOverridden) {
  const std::string module = "tests/corpus/jax/lm_fsdp_tensor_parallel.shardy.hlo.pb";
  const Outcome frames = RunShell(absl::StrCat(kPartition, module, " --frames"));
  ASSERT_EQ(frames.exit, 0) << frames.err;
  EXPECT_THAT(frames.out, HasSubstr("all-reduce of 12.3 kB for mul.*\n  * programs/jax_programs.py:251 "));
  EXPECT_THAT(frames.out, HasSubstr("the author's\n"));
  const Outcome misspelled = RunShell(absl::StrCat(kPartition, module, " --explain --author=programs.jax"));
  EXPECT_THAT(misspelled.err,
              HasSubstr("--author=programs.jax: no file of the program has this in its name; it names "));
  EXPECT_THAT(misspelled.err, HasSubstr("jax_programs.py"));
  const Outcome other = RunShell(absl::StrCat(kPartition, module, " --explain --not_author=jax_programs.py"));
  EXPECT_EQ(other.err, "");
  ASSERT_EQ(other.exit, 0) << other.err;
  EXPECT_THAT(other.out, ::testing::Not(HasSubstr("jax_programs.py")));
}

TEST(HloPartitionTest, StatsHaveTheDocumentedKeys) {
  const Outcome outcome = RunShell(absl::StrCat(kPartition, kModel, " --stats=-"));
  ASSERT_EQ(outcome.exit, 0) << outcome.err;
  EXPECT_EQ(std::count(outcome.out.begin(), outcome.out.end(), '\n'), 1);
  const nlohmann::json json = nlohmann::json::parse(outcome.out, nullptr, /*allow_exceptions=*/false);
  ASSERT_FALSE(json.is_discarded()) << outcome.out;
  std::vector<std::string> keys;
  for (const auto& [key, value] : json.items()) keys.push_back(key);
  EXPECT_THAT(keys, ::testing::UnorderedElementsAre("schema_version", "num_partitions", "seconds",
                                                    "instructions", "flops_per_device", "collectives",
                                                    "memory", "full_replications"));
  EXPECT_EQ(json["num_partitions"], 8);
  for (const char* phase : {"read", "propagate", "partition", "optimize", "write", "total"}) {
    EXPECT_TRUE(json["seconds"][phase].is_number()) << phase;
  }
  std::vector<std::string> passes;
  for (const auto& pass : json["seconds"]["passes"]) {
    passes.push_back(pass["pass"]);
    EXPECT_GE(pass["seconds"], 0) << passes.back();
  }
  EXPECT_THAT(passes, ::testing::ElementsAre(
                          "mixed_precision", "expand_ops", "inline_calls", "run_time_sizes", "dead_code",
                          "constant_starts", "merge_movement", "single_rows", "duplicates", "windowed_einsum",
                          "dead_code", "duplicates", "loop_collectives", "reduce_scatter", "unit_dimensions",
                          "merge_movement", "dead_code", "product_order", "merge_collectives", "causes"));
  EXPECT_EQ(json["instructions"]["before"], 238);
  EXPECT_TRUE(json["instructions"]["after"].is_number_integer());
  EXPECT_GT(json["flops_per_device"], 0);
  for (const char* key : {"count", "operand_bytes", "sent_bytes"}) {
    EXPECT_GT(json["collectives"]["all-to-all"][key], 0) << key;
  }
  for (const char* key : {"parameters", "outputs", "peak"}) EXPECT_GT(json["memory"][key], 0) << key;
  EXPECT_TRUE(json["full_replications"].is_array());
  // Writes to a file.
  ASSERT_EQ(RunShell(absl::StrCat(kPartition, kModel, " --stats=", TempPath("stats.json"))).exit, 0);
  const nlohmann::json written =
      nlohmann::json::parse(ReadFile(TempPath("stats.json")).value(), nullptr, false);
  EXPECT_EQ(written["collectives"], json["collectives"]);
}

TEST(HloPartitionTest, PassesAreAListOfNames) {
  const auto passes_of = [](const std::string& flag) {
    const Outcome outcome = RunShell(absl::StrCat(kPartition, kModel, " --verify --stats=- ", flag));
    EXPECT_EQ(outcome.exit, 0) << outcome.err;
    return nlohmann::json::parse(outcome.out, nullptr, false);
  };
  const auto both = passes_of(""), none = passes_of("--passes=none"),
             twice = passes_of("--passes=dead_code,dead_code");
  EXPECT_EQ(none["seconds"]["passes"].size(), 9) << "those before propagation stay";
  EXPECT_EQ(twice["seconds"]["passes"].size(), 11);
  EXPECT_GT(none["instructions"]["after"], both["instructions"]["after"]);
  EXPECT_GT(twice["instructions"]["after"], both["instructions"]["after"]);
  EXPECT_GT(none["instructions"]["after"], twice["instructions"]["after"]);
  const auto apart = passes_of("--passes=dead_code,merge_collectives:bytes=0,causes"),
             merged = passes_of("--passes=dead_code,merge_collectives:bytes=1M");
  EXPECT_GE(apart["collectives"]["all-reduce"]["count"], merged["collectives"]["all-reduce"]["count"]);
  EXPECT_THAT(RunShell(absl::StrCat(kPartition, kModel, " --passes=dead_code:bytes=4")).err,
              HasSubstr("the pass has no options"));
  EXPECT_THAT(RunShell(absl::StrCat(kPartition, kModel, " --passes=merge_collectives:bytes=few")).err,
              HasSubstr("expected bytes=NUMBER"));
  const Outcome unknown = RunShell(absl::StrCat(kPartition, kModel, " --passes=fusion"));
  EXPECT_NE(unknown.exit, 0);
  EXPECT_THAT(
      unknown.err,
      HasSubstr(
          "there is no pass 'fusion'; there are windowed_einsum, dead_code, duplicates, loop_collectives, "));
}

// Three users of an array want other shardings: it is moved once if the search is on.
TEST(HloPartitionTest, StrategiesAreAListOfNames) {
  ASSERT_OK(WriteFile(TempPath("users.hlo"), R"(HloModule users
ENTRY main {
  p = f32[10,64] parameter(0), sharding={devices=[4,1]<=[4]}
  a = f32[10,64] negate(p)
  b = f32[64,10] transpose(p), dimensions={1,0}
  c = f32[10,64] abs(p)
  ROOT r = (f32[10,64], f32[64,10], f32[10,64]) tuple(a, b, c), sharding={{devices=[1,4]<=[4]}, {devices=[4,1]<=[4]}, {devices=[1,4]<=[4]}}
})"));
  const auto sent = [](const std::string& flag) {
    const Outcome outcome = RunShell(absl::StrCat(
        kPartition, TempPath("users.hlo"), " --check -o /dev/null --stats=", TempPath("stats.json"), flag));
    EXPECT_EQ(outcome.exit, 0) << outcome.err;
    const nlohmann::json json =
        nlohmann::json::parse(ReadFile(TempPath("stats.json")).value(), nullptr, false);
    int64_t bytes = 0;
    for (const auto& collective : json["collectives"]) bytes += collective["sent_bytes"].get<int64_t>();
    return bytes;
  };
  EXPECT_EQ(sent(" --strategies=none"), 3 * 576);
  EXPECT_EQ(sent(" --strategies=neighbours"), 576);
  EXPECT_EQ(sent(" --strategies=neighbours:steps=0"), 3 * 576);
  EXPECT_EQ(sent(""), 576);
  const Outcome unknown = RunShell(absl::StrCat(kPartition, TempPath("users.hlo"), " --strategies=luck"));
  EXPECT_NE(unknown.exit, 0);
  EXPECT_THAT(
      unknown.err,
      HasSubstr("there is no strategy 'luck'; there are even_cuts, idle_axes, neighbours, frontier, forms"));
}

TEST(HloPartitionTest, ExplainNamesEachCollectiveAndItsLine) {
  const Outcome outcome = RunShell(absl::StrCat("COLUMNS=200 ", kPartition, kModel, " --explain"));
  ASSERT_EQ(outcome.exit, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("all-to-all"), HasSubstr("needed by"), HasSubstr(".py:"),
                                 HasSubstr("sent per device in all")));
}

TEST(HloPartitionTest, ShardGivesShardingsByAnyName) {
  const std::string plain = TempFile("plain.hlo", kPlain);
  EXPECT_EQ(ParameterShape(plain + " --num_partitions=4", 0), "f32[8,6]");
  EXPECT_EQ(ParameterShape(plain + " --shard 'parameter(0)={devices=[4,1]<=[4]}'", 0), "f32[2,6]");
  EXPECT_EQ(ParameterShape(plain + " --shard 'x={devices=[2,1]<=[2]}'", 0), "f32[4,6]");
  // Propagated back from the result.
  EXPECT_EQ(ParameterShape(plain + " --shard 'output{0}={devices=[4,1]<=[4]}'", 0), "f32[2,6]");
  EXPECT_EQ(ParameterShape(plain + " --shard 'jit(f)/*/dot={devices=[1,4]<=[4]}'", 1), "f32[6,1]");
}

TEST(HloPartitionTest, AnnotationsFileIsOneShardingALine) {
  const std::string plain = TempFile("plain.hlo", kPlain);
  const std::string file = TempFile("annotations.txt",
                                    "# the batch\nparameter(0)={devices=[4,1]<=[4]}  # split\n\n"
                                    "parameter(1)={replicated}\n");
  EXPECT_EQ(ParameterShape(absl::StrCat(plain, " --annotations=", file), 0), "f32[2,6]");
  EXPECT_EQ(ParameterShape(absl::StrCat(plain, " --annotations=", file), 1), "f32[6,4]");
}

TEST(HloPartitionTest, ErrorsOfAnAnnotationsFileNameItsLine) {
  const std::string layer = TempFile("layer.hlo", kLayer);
  const std::string file = TempFile("bad.txt", "# all of it\n\nw={replicated}\nx\n");
  ExpectFailure(absl::StrCat(layer, " --annotations=", file), 1, file + ":4: 'x': expected NAME=SHARDING");
  const std::string rank = TempFile("rank.txt", "w={devices=[4]<=[4]}\n");
  ExpectFailure(absl::StrCat(layer, " --annotations=", rank), 1, rank + ":1: main/w: sharding");
}

TEST(HloPartitionTest, AGlobSaysHowManyValuesItShardsAndLeavesOtherRanksAlone) {
  const std::string module = TempFile("layers.hlo", R"(HloModule layers

ENTRY main {
  x = f32[8,4] parameter(0), sharding={devices=[4,1]<=[4]}, metadata={op_name="x"}
  a = f32[8,4] negate(x), metadata={op_name="jit(f)/layers_0/mlp"}
  b = f32[8,4] sine(a), metadata={op_name="jit(f)/layers_1/mlp"}
  s = f32[32] reshape(b), metadata={op_name="jit(f)/layers_2/mlp"}
  ROOT r = f32[32] cosine(s)
})");
  const Outcome outcome = RunShell(absl::StrCat(kPartition, module, " --shard '*/mlp={devices=[4,1]<=[4]}'"));
  EXPECT_EQ(outcome.exit, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("'*/mlp' shards 2 values, not the 1 of another rank that it matches"));
  ExpectFailure(module + " --shard '*/mlp={devices=[1,1,4]<=[4]}'", 1, "main/a: sharding");
}

TEST(HloPartitionTest, AskedForNothingItSaysWhatTheProgramSends) {
  const std::string module = TempFile("sum.hlo", R"(HloModule sum

ENTRY main {
  x = f32[8,8] parameter(0), sharding={devices=[1,4]<=[4]}
  w = f32[8,8] parameter(1), sharding={devices=[4,1]<=[4]}
  ROOT y = f32[8,8] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}, sharding={replicated}
})");
  const Outcome outcome = RunShell(kPartition + module);
  EXPECT_EQ(outcome.exit, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("one program for 4 devices: 1 collective sends 384 B per device"));
}

TEST(HloPartitionTest, ReplicateOutputsGivesEveryDeviceTheWhole) {
  const std::string layer = TempFile("layer.hlo", kLayer);
  const auto result = [&](const std::string& flags) {
    EXPECT_EQ(RunShell(absl::StrCat(kPartition, layer, flags, " -o ", TempPath("result.hlo"))).exit, 0);
    return ReadOutput(TempPath("result.hlo"))->entry()->root()->shape().ToString();
  };
  EXPECT_EQ(result(""), "f32[2,4]");
  EXPECT_EQ(result(" --replicate_outputs"), "f32[8,4]");
}

TEST(HloPartitionTest, OnePartitionIsTheModuleItself) {
  const std::string layer = TempFile("layer.hlo", kLayer);
  ASSERT_EQ(RunShell(absl::StrCat(kPartition, layer, " --num_partitions=1 -o ", TempPath("one.hlo"))).exit,
            0);
  EXPECT_EQ(ReadOutput(TempPath("one.hlo"))->entry()->parameter(0)->shape().ToString(), "f32[8,6]");
  ExpectFailure("tests/corpus/jax/manual_collectives.gspmd.snapshot.pb --num_partitions=1", 1,
                "manual regions");
}

TEST(HloPartitionTest, DumpDirHoldsTheModuleAfterEachPhase) {
  const std::string folder = TempPath("dump");
  std::filesystem::remove_all(folder);
  ASSERT_EQ(RunShell(absl::StrCat(kPartition, kModel, " --dump_dir=", folder)).exit, 0);
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    files.push_back(entry.path().filename().string());
    ASSERT_OK_AND_ASSIGN(const std::string text, ReadFile(entry.path().string()));
    EXPECT_OK(ParseModule(text)) << entry.path();
  }
  EXPECT_THAT(files, ::testing::UnorderedElementsAre(
                         "00_mixed_precision.hlo", "01_expand_ops.hlo", "02_inline_calls.hlo",
                         "03_run_time_sizes.hlo", "04_dead_code.hlo", "05_constant_starts.hlo",
                         "06_merge_movement.hlo", "07_single_rows.hlo", "08_duplicates.hlo",
                         "09_propagate.hlo", "10_partition.hlo", "11_windowed_einsum.hlo", "12_dead_code.hlo",
                         "13_duplicates.hlo", "14_loop_collectives.hlo", "15_reduce_scatter.hlo",
                         "16_unit_dimensions.hlo", "17_merge_movement.hlo", "18_dead_code.hlo",
                         "19_product_order.hlo", "20_merge_collectives.hlo", "21_causes.hlo"));
}

TEST(HloPartitionTest, CheckPrintsOneLineOfJson) {
  for (const char* flags : {"", " --device_order=random:3", " --poison_padding", " --replicate_outputs"}) {
    SCOPED_TRACE(flags);
    const Outcome outcome = RunShell(absl::StrCat(kPartition, kModel, " --check", flags));
    EXPECT_EQ(outcome.exit, 0) << outcome.err;
    const nlohmann::json json = nlohmann::json::parse(outcome.out, nullptr, false);
    ASSERT_FALSE(json.is_discarded()) << outcome.out;
    EXPECT_EQ(json["equal"], true);
    EXPECT_EQ(json["num_partitions"], 8);
    for (const char* key : {"outputs", "max_abs_error", "max_rel_error"})
      EXPECT_TRUE(json[key].is_number()) << key;
    for (const char* key : {"partition", "run", "reference"})
      EXPECT_TRUE(json["seconds"][key].is_number()) << key;
  }
}

TEST(HloPartitionTest, DeviceOrdersRelabelDevicesAndRefuseManualRegions) {
  const auto stats = [](const std::string& flags) {
    const Outcome outcome = RunShell(absl::StrCat(kPartition, kModel, " --stats=-", flags));
    EXPECT_EQ(outcome.exit, 0) << outcome.err;
    return nlohmann::json::parse(outcome.out, nullptr, false)["collectives"].dump();
  };
  EXPECT_EQ(stats(" --device_order=random:7"), stats(""));
  ExpectFailure("tests/corpus/jax/manual_collectives.gspmd.snapshot.pb --device_order=random:1", 1, "manual");
}

// Written text is a complete program: run from the file, it gives the result that hlo-run gives for the
// original.
TEST(HloPartitionTest, PartitionedTextRunsLikeTheOriginal) {
  for (const char* text : {kLayer, kPlain}) {
    const std::string input = TempFile("original.hlo", text);
    for (const char* name : {"x.hlo", "x.hlo.pb", "x.json"}) {
      SCOPED_TRACE(name);
      const std::string spmd = TempPath(name);
      ASSERT_EQ(RunShell(absl::StrCat(kPartition, input, " --num_partitions=4 -o ", spmd)).exit, 0);
      const Outcome original = RunShell(absl::StrCat(kRun, input, " --num_partitions=1 --seed=3"));
      const Outcome partitioned = RunShell(absl::StrCat(kRun, spmd, " --seed=3"));
      EXPECT_EQ(original.exit, 0) << original.err;
      EXPECT_EQ(partitioned.exit, 0) << partitioned.err;
      EXPECT_THAT(original.out, StartsWith("output{} = f32[8,4]"));
      EXPECT_EQ(partitioned.out, original.out);
    }
  }
}

TEST(HloPartitionTest, PartitionedTextOfAModelRunsOnTheSnapshotsArguments) {
  const std::string spmd = TempPath("model.hlo");
  ASSERT_EQ(RunShell(absl::StrCat(kPartition, kModel, " -o ", spmd)).exit, 0);
  const Outcome original = RunShell(absl::StrCat(kRun, kModel));
  const Outcome partitioned = RunShell(absl::StrCat(kRun, spmd, " --args ", kModel));
  EXPECT_EQ(partitioned.exit, 0) << partitioned.err;
  EXPECT_EQ(partitioned.out, original.out);
  EXPECT_FALSE(original.out.empty());
}

TEST(HloPartitionTest, TheNumberOfPartitionsInAFileIsBounded) {
  for (const char* count : {"4000000007", "1048577", "-3"}) {
    const std::string file =
        TempFile("many.hlo", absl::StrCat("HloModule many, num_partitions=", count,
                                          "\nENTRY main {\n  ROOT x = f32[8] parameter(0)\n}\n"));
    ExpectFailure(file, 1, "partitions; there can be 1 to 1048576");
  }
}

TEST(HloPartitionTest, ShardingsOfCalleesCountWithCheckAndWithout) {
  const std::string file = TempFile("call.hlo", R"(HloModule m
f { q = f32[8] parameter(0)
 ROOT n = f32[8] negate(q) }
ENTRY main {
 a = f32[8] parameter(0)
 ROOT ra = f32[8] call(a), to_apply=f
}
)");
  EXPECT_EQ(ParameterShape(file + " --shard 'q={devices=[2]<=[2]}'", 0), "f32[4]");
  const Outcome check = RunShell(absl::StrCat(kPartition, file, " --shard 'q={devices=[2]<=[2]}' --check"));
  EXPECT_EQ(check.exit, 0) << check.err;
  EXPECT_EQ(nlohmann::json::parse(check.out, nullptr, false)["num_partitions"], 2);
}

TEST(HloPartitionTest, NamesMayHoldEqualsSignsAndHashes) {
  std::string text = kPlain;
  text.replace(text.find("jit(f)/layer/dot"), 16, "jit(f)/k=v/dot#1");
  const std::string plain = TempFile("plain.hlo", text);
  EXPECT_EQ(ParameterShape(plain + " --shard 'jit(f)/k=v/dot#1={devices=[1,4]<=[4]}'", 1), "f32[6,1]");
  const std::string file = TempFile("annotations.txt", "jit(f)/k=v/dot#1={devices=[1,4]<=[4]} # a comment\n");
  EXPECT_EQ(ParameterShape(absl::StrCat(plain, " --annotations=", file), 1), "f32[6,1]");
}

// One element of the recorded result differs.
TEST(HloPartitionTest, CheckSaysWhatDiffersAndWritesNothing) {
  ASSERT_OK_AND_ASSIGN(HloFile file, ReadHloFile(kModel));
  xla::HloSnapshot snapshot = *file.snapshot;
  ASSERT_GT(snapshot.result().f32s_size() + snapshot.result().tuple_literals_size(), 0);
  xla::LiteralProto* result = snapshot.mutable_result();
  if (result->tuple_literals_size() > 0) result = result->mutable_tuple_literals(0);
  result->set_f32s(0, result->f32s(0) + 1);
  file.snapshot = &snapshot;
  const std::string damaged = TempPath("damaged.snapshot.pb"), out = TempFile("keep.hlo", "keep");
  ASSERT_OK(WriteHloFile(file, damaged));
  const Outcome outcome = RunShell(absl::StrCat(kPartition, damaged, " --check -o ", out));
  EXPECT_EQ(outcome.exit, 1);
  EXPECT_EQ(nlohmann::json::parse(outcome.out, nullptr, false)["equal"], false);
  EXPECT_EQ(ReadFile(out).value(), "keep");
}

}  // namespace
}  // namespace toroid
