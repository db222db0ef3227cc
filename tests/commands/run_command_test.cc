// BUILD: size = "small"
// BUILD: data = ["//tests/corpus:jax"]
// hlo-run as a library call: sources of arguments, findings of a check.
#include "commands/run_command.h"

#include <cstdlib>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "commands/partition_on_demand.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hlo/base/files.h"
#include "hlo/base/status.h"
#include "hlo/io/file.h"
#include "hlo/ir/native_types.h"
#include "runtime/arguments/npz.h"
#include "tests/runtime/evaluate.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::HasSubstr;

std::string TempPath(const std::string& name) { return std::string(std::getenv("TEST_TMPDIR")) + "/" + name; }

std::string WriteText(const std::string& name, const std::string& body) {
  const std::string path = TempPath(name);
  TOROID_CHECK(WriteFile(path, "HloModule m\nENTRY main {\n" + body + "\n}\n").ok());
  return path;
}

TEST(RunCommandTest, RecordedResultsAreChecked) {
  HloRunCommand command;
  command.input = "tests/corpus/jax/moe_layer_forward.gspmd.snapshot.pb";
  command.num_partitions = 1;
  command.check = true;
  testing::internal::CaptureStdout();
  EXPECT_OK(RunHloCommand(command));
  EXPECT_THAT(testing::internal::GetCapturedStdout(),
              HasSubstr("{\"schema_version\":1,\"equal\":true,\"verdict\":\"equal\",\"outputs\":2,"));
}

TEST(RunCommandTest, OutputSnapshotServesAsArguments) {
  HloRunCommand command;
  command.input = WriteText("a.hlo", "x = f32[3] parameter(0) ROOT y = f32[3] negate(x)");
  command.seed = 5;
  command.output = TempPath("a.snapshot.pb");
  ASSERT_OK(RunHloCommand(command));
  // The same function with another result: the recorded one differs.
  HloRunCommand check;
  check.input = WriteText("b.hlo", "x = f32[3] parameter(0) ROOT y = f32[3] copy(x)");
  check.args = command.output;
  check.check = true;
  testing::internal::CaptureStdout();
  EXPECT_THAT(RunHloCommand(check), StatusIs(absl::StatusCode::kFailedPrecondition,
                                             HasSubstr("output 0 differs from the recorded result")));
  EXPECT_THAT(testing::internal::GetCapturedStdout(), HasSubstr("{\"schema_version\":1,\"equal\":false,"));
  check.input = command.input;
  testing::internal::CaptureStdout();
  EXPECT_OK(RunHloCommand(check));
  testing::internal::GetCapturedStdout();
}

TEST(RunCommandTest, SeedsGiveTheSameArguments) {
  HloRunCommand command;
  command.input = WriteText("c.hlo", "ROOT x = (f32[2], s32[2]) parameter(0)");
  std::string printed[3];
  for (int i = 0; i < 3; ++i) {
    command.seed = i == 2 ? 2 : 1;
    testing::internal::CaptureStdout();
    ASSERT_OK(RunHloCommand(command));
    printed[i] = testing::internal::GetCapturedStdout();
  }
  EXPECT_EQ(printed[0], printed[1]);
  EXPECT_NE(printed[0], printed[2]);
  EXPECT_THAT(printed[0], HasSubstr("output{1} = s32[2] {"));
}

TEST(RunCommandTest, FeedsComeFromAndGoToFiles) {
  // The output of one run is the input of the next.
  HloRunCommand out;
  out.input =
      WriteText("out.hlo",
                "t = token[] after-all() x = bf16[2] constant({1.5, 3}) "
                "o = token[] outfeed(x, t), outfeed_shape=bf16[2] ROOT y = bf16[2] add-dependency(x, o)");
  out.outfeed = TempPath("feed.npz");
  testing::internal::CaptureStdout();
  ASSERT_OK(RunHloCommand(out));
  testing::internal::GetCapturedStdout();
  HloRunCommand in;
  in.input = WriteText("in.hlo",
                       "t = token[] after-all() i = (bf16[2], token[]) infeed(t) "
                       "ROOT y = bf16[2] get-tuple-element(i), index=0");
  in.infeed = out.outfeed;
  testing::internal::CaptureStdout();
  ASSERT_OK(RunHloCommand(in));
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "output{} = bf16[2] {1.5, 3}\n");
  in.infeed.clear();
  EXPECT_THAT(RunHloCommand(in),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("nothing is left in the infeed")));
}

TEST(RunCommandTest, PromotedRunTellsRoundingFromMistakes) {
  HloRunCommand command;
  command.input = "tests/corpus/jax/moe_layer_forward.gspmd.snapshot.pb";
  command.num_partitions = 1;
  command.check = command.promote = true;
  testing::internal::CaptureStdout();
  EXPECT_OK(RunHloCommand(command));
  EXPECT_THAT(testing::internal::GetCapturedStdout(), HasSubstr("\"type\":\"f32\",\"plain_error\":"));
  // Another function than the recorded one.
  HloRunCommand record;
  record.input = WriteText("r1.hlo",
                           "x = f32[3] parameter(0) y = f32[3] sine(x) z = f32[3] cosine(x) "
                           "ROOT t = (f32[3], f32[3]) tuple(y, z)");
  record.output = TempPath("r1.snapshot.pb");
  ASSERT_OK(RunHloCommand(record));
  HloRunCommand other;
  other.input = WriteText("r2.hlo",
                          "x = f32[3] parameter(0) y = f32[3] sine(x) z = f32[3] copy(x) "
                          "ROOT t = (f32[3], f32[3]) tuple(y, z)");
  other.args = record.output;
  other.check = other.promote = true;
  testing::internal::CaptureStdout();
  EXPECT_FALSE(RunHloCommand(other).ok());
  const std::string printed = testing::internal::GetCapturedStdout();
  EXPECT_THAT(printed, HasSubstr("{\"output\":0,\"type\":\"f32\",\"plain_error\":0.0,"));
  EXPECT_THAT(printed, HasSubstr("\"verdict\":\"equal\"},{\"output\":1"));
  EXPECT_THAT(printed, HasSubstr("\"verdict\":\"differs\"}]}"));
}

TEST(RunCommandTest, PromotedResultsArePrintedInFull) {
  HloRunCommand command;
  command.input =
      WriteText("p.hlo", "a = bf16[] constant(256) b = bf16[] constant(1) ROOT c = bf16[] add(a, b)");
  command.promote = true;
  testing::internal::CaptureStdout();
  EXPECT_OK(RunHloCommand(command));
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "output{} = f64[] 257\n");
}

TEST(RunCommandTest, PromotedResultsAreWrittenInF64OrAsTheModuleDeclaresThem) {
  HloRunCommand command;
  command.input = WriteText(
      "w.hlo",
      "a = bf16[] constant(256) b = bf16[] constant(1) c = bf16[] add(a, b) ROOT d = bf16[] add(c, b)");
  command.promote = true;
  command.output = TempPath("w.npz");
  ASSERT_OK(RunHloCommand(command));
  ASSERT_OK_AND_ASSIGN(const std::string bytes, ReadInput(command.output));
  ASSERT_OK_AND_ASSIGN(const auto members, ReadNpz(bytes));
  EXPECT_EQ(members[0].array.values.data<double>()[0], 258);
  // A snapshot's result has the types of its module: 258, rounded once, where the plain run gives 256.
  command.output = TempPath("w.snapshot.pb");
  ASSERT_OK(RunHloCommand(command));
  ASSERT_OK_AND_ASSIGN(HloFile file, ReadHloFile(command.output));
  ASSERT_OK_AND_ASSIGN(const auto result, file.Result());
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->shape().ToString(), "bf16[]");
  EXPECT_EQ(static_cast<float>(result->data<bfloat16>()[0]), 258);
}

// y = (x + 1) + 1 in bf16 for x = 256: 256 if every op rounds, 258 if a compiler keeps the chain in f32,
// which is exact. A recorded result may be either, or anything not much farther from 258 than 256 is.
TEST(RunCommandTest, RecordedResultsMayRoundAsTheirCompilerDoes) {
  HloRunCommand command;
  command.input = WriteText("bf16.hlo",
                            "x = f32[16] parameter(0) b = bf16[16] convert(x) one = bf16[] constant(1) "
                            "o = bf16[16] broadcast(one), dimensions={} c = bf16[16] add(b, o) "
                            "d = bf16[16] add(c, o) ROOT y = f32[16] convert(d)");
  command.output = TempPath("bf16.snapshot.pb");
  ASSERT_OK(RunHloCommand(command));
  ASSERT_OK_AND_ASSIGN(HloFile file, ReadHloFile(command.output));
  command.input = std::exchange(command.output, "");
  command.check = true;
  const auto check = [&](float result) {
    xla::HloSnapshot* changed = file.module->New<xla::HloSnapshot>();
    *changed = *file.snapshot;
    for (int i = 0; i < 16; ++i) {
      changed->mutable_arguments(0)->set_f32s(i, 256);
      changed->mutable_result()->set_f32s(i, result);
    }
    file.snapshot = changed;
    EXPECT_OK(WriteHloFile(file, command.input));
    testing::internal::CaptureStdout();
    const absl::Status status = RunHloCommand(command);
    const std::string printed = testing::internal::GetCapturedStdout();
    EXPECT_EQ(status.ok(), printed.find("\"equal\":true,\"verdict\"") != std::string::npos) << status;
    return status.ok();
  };
  EXPECT_TRUE(check(256));
  EXPECT_TRUE(check(258));
  EXPECT_TRUE(check(264));
  EXPECT_FALSE(check(240));
  EXPECT_FALSE(check(270));
  // A given tolerance alone decides.
  command.tolerance = 1e-4;
  EXPECT_TRUE(check(256));
  EXPECT_FALSE(check(258));
}

TEST(RunCommandTest, TheCheckTellsWhichShareOfAnOutputIsNotFinite) {
  HloRunCommand command;
  command.input = WriteText("nan.hlo",
                            "x = f32[4] parameter(0) c = f32[4] constant({1, nan, inf, 2}) "
                            "y = f32[4] multiply(x, c) ROOT t = (f32[4], f32[4]) tuple(x, y)");
  command.output = TempPath("nan.snapshot.pb");
  ASSERT_OK(RunHloCommand(command));
  command.input = std::exchange(command.output, "");
  command.check = true;
  testing::internal::CaptureStdout();
  EXPECT_OK(RunHloCommand(command));
  EXPECT_THAT(testing::internal::GetCapturedStdout(), HasSubstr("\"nonfinite\":[0.0,0.5]"));
}

TEST(RunCommandTest, OutfeedsOfSomeDevicesSayWhich) {
  HloRunCommand command;
  command.input = TempPath("some.hlo");
  ASSERT_OK(WriteFile(
      command.input,
      "HloModule m, replica_count=3\n"
      "feed { x = s32[2] parameter(0) t = token[] after-all() ROOT o = token[] outfeed(x, t), "
      "outfeed_shape=s32[2] }\n"
      "skip { x = s32[2] parameter(0) ROOT t = token[] after-all() }\n"
      "ENTRY e { x = s32[2] constant({7, 8}) t = token[] after-all() o = token[] outfeed(x, t), "
      "outfeed_shape=s32[2] i = u32[] replica-id() one = u32[] constant(1) "
      "p = pred[] compare(i, one), direction=GE c = token[] conditional(p, x, x), true_computation=feed, "
      "false_computation=skip ROOT r = s32[2] add-dependency(x, c) }"));
  command.outfeed = TempPath("some.npz");
  testing::internal::CaptureStdout();
  ASSERT_OK(RunHloCommand(command));
  testing::internal::GetCapturedStdout();
  ASSERT_OK_AND_ASSIGN(const std::string bytes, ReadInput(command.outfeed));
  ASSERT_OK_AND_ASSIGN(const auto members, ReadNpz(bytes));
  // A value fed by all devices has no companion; one fed by devices 1 and 2 has their numbers beside it.
  ASSERT_EQ(members.size(), 3);
  EXPECT_EQ(members[0].name, "arr_0");
  EXPECT_EQ(members[1].name, "arr_1");
  EXPECT_EQ(members[2].name, "arr_1_devices");
  EXPECT_THAT(members[2].array.values.data<int64_t>(), testing::ElementsAre(1, 2));
}

TEST(RunCommandTest, MemoryIsBounded) {
  HloRunCommand command;
  command.input =
      WriteText("big.hlo", "z = f32[] constant(0) ROOT b = f32[1000000000000] broadcast(z), dimensions={}");
  EXPECT_THAT(RunHloCommand(command),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       HasSubstr("big.hlo: main/b: the values alive here take 4.0 TB, the limit is")));
  command.input = WriteText("arguments.hlo", "ROOT p = f32[1000] parameter(0)");
  command.max_bytes = 1000;
  EXPECT_THAT(
      RunHloCommand(command),
      StatusIs(absl::StatusCode::kResourceExhausted,
               HasSubstr("the arguments take 4.0 kB, the limit is 1.0 kB; raise it with --max_bytes")));
  // The error names the limit that was given. The run holds p and b, the caller p once more.
  command.input =
      WriteText("both.hlo", "p = f32[1000] parameter(0) ROOT b = f32[2,1000] broadcast(p), dimensions={1}");
  command.max_bytes = 10000;
  EXPECT_THAT(
      RunHloCommand(command),
      StatusIs(absl::StatusCode::kResourceExhausted,
               HasSubstr("main/b: the values alive here take 12.0 kB beside the 4.0 kB of arguments, the "
                         "limit is 10.0 kB; raise it with --max_bytes")));
}

TEST(RunCommandTest, FilesOfArgumentsAndInfeedsAreBounded) {
  HloRunCommand command;
  command.input = WriteText("arguments_of_file.hlo", "ROOT p = f32[20000000] parameter(0)");
  command.args = TempPath("zeros.npz.gz");
  command.max_bytes = 1000000;
  // 80 MB of zeros, once after the whole file, once after the members.
  ASSERT_OK_AND_ASSIGN(const std::string zeros, WriteNpz({Literal(Shape(xla::F32, {20000000}))}));
  ASSERT_OK(WriteOutput(command.args, zeros));
  EXPECT_THAT(RunHloCommand(command),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       HasSubstr("zeros.npz.gz: the gzip data holds 16 MiB or more, which is refused; the "
                                 "limit is 1.0 MB; raise it with --max_bytes")));
  ASSERT_OK_AND_ASSIGN(const std::string megabytes, WriteNpz({Literal(Shape(xla::F32, {1000000}))}));
  ASSERT_OK(WriteOutput(command.args, megabytes));
  EXPECT_THAT(RunHloCommand(command),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       HasSubstr("zeros.npz.gz: the arguments take 4.0 MB, the limit is 1.0 MB")));
  command.infeed = std::exchange(command.args, "");
  command.input = WriteText("infeed.hlo", "ROOT p = f32[] parameter(0)");
  EXPECT_THAT(
      RunHloCommand(command),
      StatusIs(absl::StatusCode::kResourceExhausted,
               HasSubstr("zeros.npz.gz: arr_0.npy: the members hold more than 1.0 MB, which is refused; "
                         "the limit is 1.0 MB; raise it with --max_bytes")));
}

TEST(RunCommandTest, MeshesThatAreTooLargeAreRefusedBeforeTheyAreMade) {
  HloRunCommand command;
  command.input =
      WriteText("mesh.hlo", "ROOT p = f32[8] parameter(0), sharding={devices=[100000]<=[100000]}");
  command.partition = [](const Module&, int64_t) -> absl::StatusOr<std::unique_ptr<Module>> {
    return absl::InternalError("the mesh is made");
  };
  command.max_bytes = 10000000;
  const auto refused = StatusIs(
      absl::StatusCode::kResourceExhausted,
      HasSubstr("a mesh of 100000 devices takes 35.0 MB beside its values, the limit is 10.0 MB; raise it"));
  EXPECT_THAT(RunHloCommand(command), refused);
  command.max_bytes = 35000000;
  EXPECT_THAT(RunHloCommand(command), StatusIs(absl::StatusCode::kInternal));
  // The limit also holds for devices that --num_partitions or replica_count asks for.
  command.max_bytes = 10000000;
  command.input = WriteText("plain.hlo", "ROOT p = f32[8] parameter(0)");
  command.num_partitions = 100000;
  EXPECT_THAT(RunHloCommand(command), refused);
  command.num_partitions = 0;
  ASSERT_OK(WriteFile(TempPath("many.hlo"),
                      "HloModule m, replica_count=100000\nENTRY e { ROOT p = f32[8] parameter(0) }"));
  command.input = TempPath("many.hlo");
  EXPECT_THAT(RunHloCommand(command), refused);
}

TEST(RunCommandTest, ACheckNeedsSomethingToCompareWith) {
  HloRunCommand command;
  command.input = WriteText("one.hlo", "ROOT p = f32[4] parameter(0)");
  command.check = true;
  EXPECT_THAT(RunHloCommand(command), StatusIs(absl::StatusCode::kInvalidArgument,
                                               HasSubstr("there is nothing to check against: one device")));
}

TEST(RunCommandTest, AProgramWithManualRegionsIsComparedWithAGivenResult) {
  HloRunCommand command;
  command.input = "tests/corpus/jax/manual_ring_matmul.shardy.hlo.pb";
  command.partition = [](const Module& module, int64_t n) {
    PartitionOptions options;
    options.num_partitions = n;
    return PartitionOnDemand(module, options);
  };
  command.check = true;
  EXPECT_THAT(RunHloCommand(command),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("give the result of another runtime with --expect=")));
  HloRunCommand run = command;
  run.check = false;
  for (const uint64_t seed : {0, 1}) {
    run.seed = seed;
    run.output = TempPath(absl::StrCat("ring", seed, ".npz"));
    ASSERT_OK(RunHloCommand(run));
  }
  testing::internal::CaptureStdout();
  command.expected = TempPath("ring0.npz");
  EXPECT_OK(RunHloCommand(command));
  command.expected = TempPath("ring1.npz");
  EXPECT_THAT(RunHloCommand(command), StatusIs(absl::StatusCode::kFailedPrecondition,
                                               HasSubstr("output 0 differs from the recorded result")));
  ASSERT_OK_AND_ASSIGN(const std::string two, WriteNpz({ParseLiteral("f32[] 1"), ParseLiteral("f32[] 2")}));
  ASSERT_OK(WriteFile(TempPath("two.npz"), two));
  command.expected = TempPath("two.npz");
  EXPECT_THAT(RunHloCommand(command), StatusIs(absl::StatusCode::kInvalidArgument,
                                               HasSubstr("two.npz: the result has 1 arrays, got 2")));
  ASSERT_OK_AND_ASSIGN(const std::string other, WriteNpz({ParseLiteral("f32[] 1")}));
  ASSERT_OK(WriteFile(TempPath("other.npz"), other));
  command.expected = TempPath("other.npz");
  EXPECT_FALSE(RunHloCommand(command).ok());
  testing::internal::GetCapturedStdout();
}

TEST(RunCommandTest, ZeroToleranceAsksForEqualValues) {
  HloRunCommand command;
  command.input =
      WriteText("third.hlo", "x = f32[] constant(1) y = f32[] constant(3) ROOT z = f32[] divide(x, y)");
  command.output = TempPath("third.snapshot.pb");
  ASSERT_OK(RunHloCommand(command));
  ASSERT_OK_AND_ASSIGN(HloFile file, ReadHloFile(command.output));
  xla::HloSnapshot* changed = file.module->New<xla::HloSnapshot>();
  *changed = *file.snapshot;
  changed->mutable_result()->set_f32s(0, 1.0f / 3 + 3e-8f);  // The next float.
  file.snapshot = changed;
  ASSERT_OK(WriteHloFile(file, command.output));
  command.input = std::exchange(command.output, "");
  command.check = true;
  testing::internal::CaptureStdout();
  EXPECT_OK(RunHloCommand(command));
  command.tolerance = 0;
  EXPECT_THAT(RunHloCommand(command),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("differs from the recorded result")));
  testing::internal::GetCapturedStdout();
}

TEST(RunCommandTest, ACheckComparesAllDevices) {
  // Claims that all devices hold the same result, but they hold their own numbers.
  HloRunCommand command;
  command.input = WriteText("devices.hlo", "i = u32[] partition-id() ROOT r = u32[] multiply(i, i)");
  ASSERT_OK_AND_ASSIGN(HloFile file, ReadHloFile(command.input));
  file.module->mutable_proto()->mutable_spmd_output_sharding()->set_type(xla::OpSharding::REPLICATED);
  file.module->config().num_partitions = 2;
  file.container = Container::kSnapshot;
  command.input = TempPath("devices.snapshot.pb");
  xla::HloSnapshot* snapshot = file.module->New<xla::HloSnapshot>();
  Literal(Shape(xla::U32, {})).ToProto(snapshot->mutable_result());
  file.snapshot = snapshot;
  file.proto = file.module->New<xla::HloProto>();
  auto* assignment = file.module->mutable_proto()->mutable_device_assignment();
  assignment->set_replica_count(1);
  assignment->set_computation_count(2);
  for (int device = 0; device < 2; ++device)
    assignment->add_computation_devices()->add_replica_device_ids(device);
  ASSERT_OK(WriteHloFile(file, command.input));
  testing::internal::CaptureStdout();
  EXPECT_OK(RunHloCommand(command));
  command.check = true;
  EXPECT_THAT(RunHloCommand(command),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("devices 0 and 1 disagree")));
  testing::internal::GetCapturedStdout();
}

TEST(RunCommandTest, ReplicasRunTogether) {
  HloRunCommand command;
  command.input = TempPath("replicas.hlo");
  ASSERT_OK(WriteFile(
      command.input,
      "HloModule m, replica_count=2\n"
      "add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }\n"
      "ENTRY e { f = f32[] constant(3) ROOT s = f32[] all-reduce(f), replica_groups={}, to_apply=add }"));
  testing::internal::CaptureStdout();
  EXPECT_OK(RunHloCommand(command));
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "output{} = f32[] 6\n");
}

TEST(RunCommandTest, ReplicasThatNoHeaderCountsAreInferredOrGiven) {
  const auto run = [](const std::string& groups, int64_t replicas) -> std::string {
    HloRunCommand command;
    command.input = TempPath("uncounted.hlo");
    TOROID_CHECK(
        WriteFile(
            command.input,
            "HloModule m\nadd { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }\n"
            "ENTRY e { f = f32[] constant(3) ROOT s = f32[] all-reduce(f), replica_groups=" +
                groups + ", to_apply=add }")
            .ok());
    command.num_replicas = replicas;
    testing::internal::CaptureStdout();
    EXPECT_OK(RunHloCommand(command));
    return testing::internal::GetCapturedStdout();
  };
  EXPECT_EQ(run("{{0,1,2,3}}", 0), "output{} = f32[] 12\n");
  EXPECT_EQ(run("{}", 5), "output{} = f32[] 15\n");
}

TEST(RunCommandTest, ModulesThatNameNoDevicesRunAsTheyAre) {
  HloRunCommand command;
  command.input =
      WriteText("tuple.hlo", "p = (f32[], f32[]) parameter(0) ROOT x = f32[] get-tuple-element(p), index=1");
  command.partition = [](const Module&, int64_t) -> absl::StatusOr<std::unique_ptr<Module>> {
    return nullptr;
  };
  testing::internal::CaptureStdout();
  EXPECT_OK(RunHloCommand(command));
  testing::internal::GetCapturedStdout();
}

TEST(RunCommandTest, ErrorsNameTheFile) {
  HloRunCommand command;
  command.input = TempPath("missing.hlo");
  EXPECT_THAT(RunHloCommand(command), StatusIs(absl::StatusCode::kNotFound, HasSubstr("missing.hlo")));
  command.input = WriteText("d.hlo", "ROOT x = f32[2] add(y, y)");
  EXPECT_THAT(RunHloCommand(command), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("d.hlo:3:")));
  command.input =
      WriteText("e.hlo", "x = f32[2] parameter(0) ROOT y = f32[2] custom-call(x), custom_call_target=\"z\"");
  EXPECT_THAT(RunHloCommand(command), StatusIs(absl::StatusCode::kUnimplemented,
                                               HasSubstr("e.hlo: main/y: custom-call target \"z\"")));
  command.num_partitions = 4;
  EXPECT_THAT(RunHloCommand(command),
              StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("partitioned already")));
}

}  // namespace
}  // namespace toroid
