// hlo-run as a user sees it: exit status, messages, arguments, results, --check.
// BUILD: size = "medium"
// BUILD: data = ["//hlo:hlo-convert", "//partitioner:hlo-partition", "//runtime:hlo-run", "//tests/corpus:jax", "//tests/corpus:mixed_precision", "//tests/corpus:numpy", "//tests/corpus:tpu_dumps"]
#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "hlo/base/files.h"
#include "hlo/io/file.h"
#include "hlo/proto/hlo.pb.h"
#include "nlohmann/json.hpp"
#include "tests/commands/command_runner.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::HasSubstr;

const char kRun[] = "runtime/hlo-run ";
const char kModel[] = "tests/corpus/jax/moe_layer_forward.gspmd.snapshot.pb";

const char kSum[] = R"(HloModule sum

ENTRY main {
  x = f32[5] parameter(0), sharding={devices=[4]<=[4]}
  y = f32[5] parameter(1)
  s = f32[5] add(x, y)
  d = f32[5] subtract(x, y)
  ROOT t = (f32[5], f32[5]) tuple(s, d)
}
)";

void ExpectFailure(const std::string& arguments, int exit, const std::string& message) {
  const Outcome outcome = RunShell(kRun + arguments);
  EXPECT_EQ(outcome.exit, exit) << arguments << "\n" << outcome.err;
  EXPECT_EQ(outcome.ErrorLines(), 1) << arguments << "\n" << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr(message)) << arguments;
}

TEST(HloRunTest, ExitStatusTellsUsageFromInput) {
  const std::string sum = TempFile("sum.hlo", kSum);
  EXPECT_EQ(RunShell(absl::StrCat(kRun, "--help")).exit, 0);
  ExpectFailure("", 2, "IN");
  ExpectFailure(sum + " --no_such_flag", 2, "no_such_flag");
  ExpectFailure(sum + " --num_partitions=0", 2, "num_partitions");
  ExpectFailure(sum + " --tolerance=-1", 2, "tolerance");
  ExpectFailure(sum + " --seed=x", 2, "seed");
  ExpectFailure(sum + " --max_bytes=0", 2, "max_bytes");
  ExpectFailure(sum + " --max_bytes=-5", 2, "max_bytes");
  ExpectFailure("/nonexistent.hlo", 1, "/nonexistent.hlo");
  ExpectFailure("/dev/null", 1, "/dev/null");
  ExpectFailure(sum + " --num_partitions=3", 1, "4 devices");
  ExpectFailure(sum + " --args=/nonexistent.npz", 1, "/nonexistent.npz");
  ExpectFailure(sum + " -o /nonexistent/out.snapshot.pb", 1, "/nonexistent/out");
  // The arguments of another program.
  ExpectFailure(absl::StrCat(sum, " --args=", kModel), 1, "argument");
}

TEST(HloRunTest, ShardingsOfTheCommandLineArePartitionedToo) {
  const std::string file = TempFile("plain.hlo", R"(HloModule plain
ENTRY main {
  x = f32[6,5] parameter(0)
  w = f32[5,4] parameter(1)
  ROOT y = f32[6,4] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
)");
  const Outcome outcome = RunShell(
      absl::StrCat(kRun, file, " --check --shard 'x={devices=[1,4]<=[4]}' --shard 'w={replicated}'"));
  ASSERT_EQ(outcome.exit, 0) << outcome.err;
  const nlohmann::json json = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(json["num_partitions"], 4);
  EXPECT_EQ(json["equal"], true);
  ExpectFailure(file + " --shard 'z={devices=[4]<=[4]}'", 1, "'z' names no instruction");
  ExpectFailure(file + " --shard 'x={devices=[4]<=[4]}'", 1, "1 data dimensions");
  const std::string partitioned = TempPath("plain.spmd.hlo");
  ASSERT_EQ(RunShell(absl::StrCat("partitioner/hlo-partition ", file, " --shard 'x={devices=[2,1]<=[2]}' -o ",
                                  partitioned))
                .exit,
            0);
  ExpectFailure(partitioned + " --shard 'x={devices=[2,1]<=[2]}'", 1, "is partitioned already");
}

TEST(HloRunTest, AMeshOfOtherSizesIsPartitionedFor) {
  const std::string file = TempFile("meshed.hlo", R"(HloModule meshed, num_partitions=2,
  frontend_attributes={xla.sdy.meshes="{mesh = #sdy.mesh<[\"data\"=2, \"model\"=1]>}"}
ENTRY main {
  x = f32[6,5] parameter(0), frontend_attributes={xla.sdy.sharding="#sdy.sharding<@mesh, [{\"data\"}, {}]>"}
  w = f32[5,4] parameter(1), frontend_attributes={xla.sdy.sharding="#sdy.sharding<@mesh, [{}, {\"model\"}]>"}
  ROOT y = f32[6,4] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
)");
  for (const auto& [mesh, devices] : {std::pair("data=3,model=2", 6), {"model=4", 8}, {"data=2", 2}}) {
    const Outcome outcome = RunShell(absl::StrCat(kRun, file, " --check --mesh=", mesh));
    ASSERT_EQ(outcome.exit, 0) << outcome.err;
    const nlohmann::json json = nlohmann::json::parse(outcome.out);
    EXPECT_EQ(json["num_partitions"], devices);
    EXPECT_EQ(json["equal"], true);
  }
  ExpectFailure(file + " --mesh=modl=4", 1,
                "--mesh: no mesh of the module has an axis \"modl\"; did you mean model?");
  ExpectFailure(file + " --mesh=model", 2, "NAME=SIZE");
  ExpectFailure(file + " --mesh=data=3 --num_partitions=2", 1, "name 3 devices, not 2");
  const std::string partitioned = TempPath("meshed.spmd.hlo");
  ASSERT_EQ(
      RunShell(absl::StrCat("partitioner/hlo-partition ", file, " --mesh=data=3 -o ", partitioned)).exit, 0);
  ExpectFailure(partitioned + " --mesh=data=2", 1, "is partitioned already; --mesh needs the module before");
}

TEST(HloRunTest, ATupleParameterNeedsNoFlagOnOneDevice) {
  const std::string file = TempFile("tuple.hlo",
                                    "ENTRY e { p = (f32[3], s32[]) parameter(0) "
                                    "ROOT x = f32[3] get-tuple-element(p), index=0 }");
  EXPECT_EQ(RunShell(absl::StrCat(kRun, file)).exit, 0);
}

TEST(HloRunTest, WhatCannotFitIsRefusedBeforeArgumentsAreMade) {
  // The arguments, one gigabyte, would fit.
  const std::string big = TempFile("big.hlo", R"(HloModule big

ENTRY main {
  x = f32[16384,16384] parameter(0)
  y = f32[16384,16384] negate(x)
  z = f32[16384,16384] sine(x)
  ROOT t = (f32[16384,16384], f32[16384,16384]) tuple(y, z)
})");
  const Outcome outcome = RunShell(absl::StrCat(kRun, big, " --max_bytes=3000000000"));
  EXPECT_EQ(outcome.exit, 1) << outcome.out;
  EXPECT_EQ(outcome.ErrorLines(), 1) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("the limit is 3.0 GB; raise it with --max_bytes"));
}

TEST(HloRunTest, AFolderOfArgumentsIsAnsweredWithWhatIsWanted) {
  const std::string one = TempFile("one.hlo", "ENTRY main { ROOT x = f32[4] parameter(0) }");
  const Outcome outcome = RunShell(absl::StrCat(kRun, one, " --args=", ::testing::TempDir()));
  EXPECT_EQ(outcome.exit, 1);
  EXPECT_THAT(outcome.err, HasSubstr("is a folder; give one file that holds all arguments"));
}

TEST(HloRunTest, OneLinePerOutputAndTheSameForTheSameSeed) {
  const std::string sum = TempFile("sum.hlo", kSum);
  const Outcome first = RunShell(absl::StrCat(kRun, sum, " --seed=1"));
  ASSERT_EQ(first.exit, 0) << first.err;
  EXPECT_EQ(std::count(first.out.begin(), first.out.end(), '\n'), 2);
  EXPECT_THAT(first.out, HasSubstr("output{1} = f32[5]"));
  EXPECT_EQ(RunShell(absl::StrCat(kRun, sum, " --seed=1")).out, first.out);
  EXPECT_NE(RunShell(absl::StrCat(kRun, sum, " --seed=2")).out, first.out);
  // For any number of devices, in any order.
  for (const char* flags :
       {" --num_partitions=1", " --num_partitions=4", " --device_order=random:9", " --poison_padding"}) {
    EXPECT_EQ(RunShell(absl::StrCat(kRun, sum, " --seed=1", flags)).out, first.out) << flags;
  }
  EXPECT_EQ(RunShell(absl::StrCat("cat ", sum, " | ", kRun, "- --seed=1")).out, first.out);
}

TEST(HloRunTest, CheckIsOneLineOfJson) {
  for (const char* flags : {"", " --device_order=random:2", " --num_partitions=8", " --poison_padding"}) {
    const Outcome outcome = RunShell(absl::StrCat(kRun, kModel, " --check", flags));
    EXPECT_EQ(outcome.exit, 0) << flags << outcome.err;
    EXPECT_EQ(std::count(outcome.out.begin(), outcome.out.end(), '\n'), 1);
    const nlohmann::json json = nlohmann::json::parse(outcome.out, nullptr, false);
    ASSERT_FALSE(json.is_discarded()) << outcome.out;
    EXPECT_EQ(json["equal"], true);
    EXPECT_EQ(json["num_partitions"], 8);
    EXPECT_EQ(json["outputs"], 2);
  }
}

TEST(HloRunTest, ShardyFilesTakeTheSnapshotsArguments) {
  EXPECT_EQ(RunShell(absl::StrCat(kRun, "tests/corpus/jax/decode_kv_cache.shardy.hlo.pb --check --args ",
                                  "tests/corpus/jax/decode_kv_cache.gspmd.snapshot.pb"))
                .exit,
            0);
}

// The sum of the differences from the mean is pure rounding, and differs with the order.
TEST(HloRunTest, WhatIsZeroButForRoundingIsSaidToBe) {
  const std::string path = TempFile("zero.hlo", R"(HloModule zero
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
ENTRY main {
  x = f32[4096] parameter(0), sharding={devices=[4]<=[4]}
  zero = f32[] constant(0)
  n = f32[] constant(4096)
  s = f32[] reduce(x, zero), dimensions={0}, to_apply=add
  m = f32[] divide(s, n)
  b = f32[4096] broadcast(m), dimensions={}
  d = f32[4096] subtract(x, b)
  ROOT r = f32[] reduce(d, zero), dimensions={0}, to_apply=add
}
)");
  const Outcome outcome = RunShell(absl::StrCat(kRun, path, " --check --promote"));
  EXPECT_EQ(outcome.exit, 0);
  EXPECT_THAT(outcome.out, HasSubstr("\"verdict\":\"proven equal, rounding aside\""));
  EXPECT_THAT(outcome.out, HasSubstr("\"verdict\":\"rounding\"}]}"));
}

// In bf16 the partitioned and the unpartitioned run are several percent apart, and so is the recorded result.
TEST(HloRunTest, DecodersInMixedPrecisionAreProvenEqual) {
  const std::string path = "tests/corpus/mixed_precision/decoder_bf16.snapshot.pb";
  for (const char* flags : {"", " --device_order=random:1", " --poison_padding"}) {
    const Outcome outcome = RunShell(absl::StrCat(kRun, path, " --check", flags));
    EXPECT_EQ(outcome.exit, 0) << flags << outcome.err;
    const nlohmann::json json = nlohmann::json::parse(outcome.out, nullptr, false);
    ASSERT_FALSE(json.is_discarded()) << outcome.out;
    EXPECT_EQ(json["verdict"], "proven equal, rounding aside");
    EXPECT_GT(json["max_rel_error"], 0.02);
    EXPECT_LT(json["proof"]["max_rel_error"], 1e-12);
  }
}

TEST(HloRunTest, DumpsOfTpuProgramsRun) {
  for (const char* name : {"tpu_mlp", "tpu_conv"}) {
    const Outcome outcome =
        RunShell(absl::StrCat(kRun, "tests/corpus/tpu_dumps/", name, ".after_optimizations.txt"));
    EXPECT_EQ(outcome.exit, 0) << name << outcome.err;
  }
}

// One element of the recorded result differs.
TEST(HloRunTest, CheckFailsOnAWrongRecordedResult) {
  const std::string sum = TempFile("sum.hlo", kSum);
  ASSERT_EQ(RunShell(absl::StrCat(kRun, sum, " --seed=1 -o ", TempPath("right.snapshot.pb"))).exit, 0);
  EXPECT_EQ(RunShell(absl::StrCat(kRun, TempPath("right.snapshot.pb"), " --check")).exit, 0);
  ASSERT_OK_AND_ASSIGN(const std::string bytes, ReadFile(TempPath("right.snapshot.pb")));
  xla::HloSnapshot wrong;
  ASSERT_TRUE(wrong.ParseFromString(bytes));
  wrong.mutable_result()->mutable_tuple_literals(0)->set_f32s(2, 1000);
  const std::string path = TempFile("wrong.snapshot.pb", wrong.SerializeAsString());
  const Outcome outcome = RunShell(absl::StrCat(kRun, path, " --check"));
  EXPECT_EQ(outcome.exit, 1);
  const nlohmann::json json = nlohmann::json::parse(outcome.out, nullptr, false);
  ASSERT_FALSE(json.is_discarded()) << outcome.out;
  EXPECT_EQ(json["equal"], false);
}

TEST(HloRunTest, AWrittenSnapshotHoldsArgumentsAndResult) {
  const std::string sum = TempFile("sum.hlo", kSum);
  ASSERT_EQ(RunShell(absl::StrCat(kRun, sum, " --seed=1 -o ", TempPath("o.snapshot.pb"))).exit, 0);
  ASSERT_OK_AND_ASSIGN(const HloFile file, ReadHloFile(TempPath("o.snapshot.pb")));
  ASSERT_OK_AND_ASSIGN(const auto arguments, file.Arguments());
  ASSERT_EQ(arguments.size(), 2);
  ASSERT_OK_AND_ASSIGN(const auto result, file.Result());
  ASSERT_TRUE(result.has_value());
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(result->element(0).data<float>()[i],
              arguments[0].data<float>()[i] + arguments[1].data<float>()[i]);
  }
}

TEST(HloRunTest, AConvertedModuleGivesTheSameResult) {
  const std::string sum = TempFile("sum.hlo", kSum);
  const std::string expected = RunShell(absl::StrCat(kRun, sum, " --seed=4")).out;
  for (const char* name : {"c.hlo.pb", "c.pbtxt", "c.json", "c.txt"}) {
    ASSERT_EQ(RunShell(absl::StrCat("hlo/hlo-convert ", sum, " -o ", TempPath(name))).exit, 0) << name;
    EXPECT_EQ(RunShell(absl::StrCat(kRun, TempPath(name), " --seed=4")).out, expected) << name;
  }
}

TEST(HloRunTest, ConstantsThatTextLeavesOutAreSaidToBeSuch) {
  const std::string elided = TempFile("elided.hlo", R"(ENTRY main {
  x = f32[4] parameter(0)
  c = f32[4] constant({...})
  ROOT y = f32[4] add(x, c)
}
)");
  ExpectFailure(elided, 1, "main/c: literal without a value");
  ExpectFailure(elided, 1, "--xla_dump_large_constants");
  ExpectFailure(elided, 1, ".hlo.pb");
}

TEST(HloRunTest, NumpyArraysGoInAndOut) {
  const std::string sum = TempFile("numpy_sum.hlo", kSum), folder = ::testing::TempDir();
  const std::string npz = folder + "/numpy_sum.npz";
  ASSERT_EQ(RunShell(absl::StrCat(kRun, sum, " --seed=3 -o ", npz)).exit, 0);
  // The results s and d as x and y: s + d = 2x.
  const Outcome from_npz = RunShell(absl::StrCat(kRun, sum, " --args=", npz));
  EXPECT_EQ(from_npz.exit, 0) << from_npz.err;
  ASSERT_EQ(RunShell(absl::StrCat(kRun, sum, " --seed=3 -o ", npz, ".gz")).exit, 0);
  EXPECT_EQ(RunShell(absl::StrCat(kRun, sum, " --args=", npz, ".gz")).out, from_npz.out);
  ExpectFailure(absl::StrCat(sum, " -o ", folder, "/two.npy"), 1,
                "the result has 2 arrays, a .npy file holds one");
  const std::string negate =
      TempFile("numpy_negate.hlo", "ENTRY main { x = bf16[2,2] parameter(0) ROOT y = bf16[2,2] negate(x) }");
  const Outcome negated = RunShell(absl::StrCat(kRun, negate, " --args=tests/corpus/numpy/bf16.npy"));
  EXPECT_EQ(negated.out, "output{} = bf16[2,2] { { -1, -1.5 }, { 2, -0.0078 } }\n") << negated.err;
  ExpectFailure(absl::StrCat(sum, " --args=tests/corpus/numpy/types.npz"), 1,
                "takes 2 arrays as arguments, got 32");
}

}  // namespace
}  // namespace toroid
