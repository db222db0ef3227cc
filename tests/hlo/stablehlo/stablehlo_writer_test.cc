// Modules written as StableHLO are read again, and compute the same.
// BUILD: size = "medium"
// BUILD: data = ["//tests/corpus:jax", "//tests/corpus:stablehlo"]
#include "hlo/stablehlo/write/stablehlo_writer.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "hlo/devices/spmd_record.h"
#include "hlo/io/file.h"
#include "hlo/io/hlo_text.h"
#include "hlo/ops/verify_module.h"
#include "hlo/stablehlo/stablehlo_reader.h"
#include "partitioner/stages/spmd_partitioner.h"
#include "runtime/arguments/random_arguments.h"
#include "runtime/engine/executor.h"
#include "runtime/numerics/compare.h"
#include "runtime/partitioned/run_partitioned.h"
#include "tests/corpus_files.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

absl::StatusOr<std::unique_ptr<Module>> ThereAndBack(const Module& module) {
  ASSIGN_OR_RETURN(const std::string text, PrintStableHlo(module));
  ASSIGN_OR_RETURN(std::unique_ptr<Module> back, ReadStableHlo(text));
  RETURN_IF_ERROR(VerifyModule(*back));
  return back;
}

std::string Written(const std::string& hlo) {
  const auto module = ParseModule(hlo);
  if (!module.ok()) return std::string(module.status().message());
  const absl::StatusOr<std::string> text = PrintStableHlo(**module);
  return text.ok() ? *text : std::string(text.status().message());
}

std::vector<Literal> ArgumentsOf(const Module& module) {
  std::vector<Shape> shapes;
  for (const Instruction* parameter : module.entry()->parameters()) shapes.push_back(parameter->shape());
  return RandomLiterals(shapes, 3, /*seed=*/1);
}

// The arrays of a result in order. A tuple of one array is written as that array.
void AppendArrays(const Literal& literal, std::vector<Literal>* arrays) {
  if (!literal.shape().IsTuple()) {
    arrays->push_back(literal);
    return;
  }
  for (const Literal& element : literal.elements()) AppendArrays(element, arrays);
}

void ExpectSameArrays(const Literal& actual, const Literal& expected) {
  std::vector<Literal> a, b;
  AppendArrays(actual, &a);
  AppendArrays(expected, &b);
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) EXPECT_TRUE(Compare(a[i], b[i]).equal) << i;
}

TEST(StableHloWriterTest, ProgramsComputeTheSameBeforeAndAfterPartitioning) {
  int programs = 0;
  std::vector<std::string> paths = CorpusFiles("jax", ".pb");
  for (const std::string& path : CorpusFiles("stablehlo", ".hlo")) paths.push_back(path);
  for (const std::string& path : paths) {
    SCOPED_TRACE(path);
    ASSERT_OK_AND_ASSIGN(const HloFile file, ReadHloFile(path));
    ASSERT_OK_AND_ASSIGN(const Partitioned partitioned, PartitionModule(*file.module, PartitionOptions()));
    ASSERT_OK_AND_ASSIGN(const auto local, ThereAndBack(*partitioned.module));
    EXPECT_TRUE(IsPartitioned(*local));
    EXPECT_THAT(PartitionsOf(*local), IsOkAndHolds(partitioned.num_partitions));
    ASSERT_OK_AND_ASSIGN(const auto global, ThereAndBack(*file.module));
    const std::vector<Literal> arguments = ArgumentsOf(*file.module);
    const absl::StatusOr<Literal> expected = RunSingle(*file.module, arguments);
    if (!expected.ok()) continue;  // Manual regions run on several devices only.
    ASSERT_OK_AND_ASSIGN(const Literal actual, RunSingle(*global, arguments));
    ExpectSameArrays(actual, *expected);
    ASSERT_OK_AND_ASSIGN(const Partitioned again, PartitionModule(*global, PartitionOptions()));
    ASSERT_OK_AND_ASSIGN(const Literal result, RunPartitioned(*again.module, arguments, actual.shape()));
    ASSERT_OK_AND_ASSIGN(const Literal before,
                         RunPartitioned(*partitioned.module, arguments, expected->shape()));
    ExpectSameArrays(result, before);
    ++programs;
  }
  EXPECT_GT(programs, 40);
}

// A binary file does not hold the number of partitions, but how they are assigned to devices.
TEST(StableHloWriterTest, APartitionedProgramOfABinaryFileIsOne) {
  ASSERT_OK_AND_ASSIGN(const HloFile file, ReadHloFile(CorpusFiles("jax", ".pb").front()));
  ASSERT_OK_AND_ASSIGN(Partitioned partitioned, PartitionModule(*file.module, PartitionOptions()));
  HloFile out;
  out.module = std::move(partitioned.module);
  ASSERT_OK_AND_ASSIGN(const std::string bytes, SerializeHlo(out, Format::kContainer));
  ASSERT_OK_AND_ASSIGN(const HloFile read, ReadHlo(bytes));
  ASSERT_OK_AND_ASSIGN(const auto back, ThereAndBack(*read.module));
  EXPECT_TRUE(IsPartitioned(*back));
  EXPECT_THAT(PartitionsOf(*back), IsOkAndHolds(partitioned.num_partitions));
}

TEST(StableHloWriterTest, TuplesAreTakenApart) {
  EXPECT_THAT(
      Written(R"(
HloModule m
ENTRY main {
  p = (f32[3], (s32[], pred[2])) parameter(0)
  a = (s32[], pred[2]) get-tuple-element(p), index=1
  b = pred[2] get-tuple-element(a), index=1
  c = f32[3] get-tuple-element(p), index=0
  ROOT r = (pred[2], (f32[3])) tuple(b, (f32[3]) tuple(c))
})"),
      AllOf(
          HasSubstr("@main(%arg0: tensor<3xf32>, %arg1: tensor<i32>, %arg2: tensor<2xi1>) -> (tensor<2xi1>, "
                    "tensor<3xf32>)"),
          HasSubstr("\"func.return\"(%arg2, %arg0)")));
}

TEST(StableHloWriterTest, ConstantsKeepTheirBits) {
  const std::string text = Written(R"(
HloModule m
ENTRY main {
  a = f32[3] constant({inf, -0, 0.1})
  b = s8[2,2] constant({{1, -2}, {3, -128}})
  c = c64[] constant((1, -2))
  d = pred[100] broadcast(pred[] constant(true)), dimensions={}
  e = bf16[2] constant({1.5, nan})
  f = u64[] constant(18446744073709551615)
  g = f32[70] iota(), iota_dimension=0
  h = s4[2] constant({-8, 7})
  ROOT r = (f32[3], s8[2,2], c64[], bf16[2], u64[], s4[2]) tuple(a, b, c, e, f, h)
})");
  for (const char* part : {"dense<[0x7F800000, -0.000000000e+00, 1.000000015e-01]> : tensor<3xf32>",
                           "dense<[[1, -2], [3, -128]]> : tensor<2x2xi8>",
                           "dense<(1.000000000e+00,-2.000000000e+00)> : tensor<complex<f32>>",
                           "dense<[1.500000000e+00, 0x7FC0]> : tensor<2xbf16>",
                           "dense<18446744073709551615> : tensor<ui64>", "dense<[-8, 7]> : tensor<2xi4>"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
}

TEST(StableHloWriterTest, NamesAndLinesGoWithIt) {
  const std::string hlo = R"(HloModule m

FileNames
1 "model.py"

FunctionNames
1 "layer"
2 "main"

FileLocations
1 {file_name_id=1 function_name_id=1 line=3 end_line=3 column=5 end_column=9}
2 {file_name_id=1 function_name_id=2 line=9 end_line=9 column=1 end_column=4}

StackFrames
1 {file_location_id=2 parent_frame_id=1}
2 {file_location_id=1 parent_frame_id=2}

ENTRY main {
  x = f32[4] parameter(0), sharding={devices=[4]<=[4]}, metadata={op_name="params['w \"up\"']"}
  ROOT y = f32[4] tanh(x), metadata={op_name="jit(f)/tanh" stack_frame_id=2}, frontend_attributes={a="b"}
})";
  EXPECT_THAT(Written(hlo),
              AllOf(HasSubstr(R"({mhlo.sharding = "{devices=[4]<=[4]}"} loc("params['w \22up\22']"))"),
                    HasSubstr(R"({mhlo.frontend_attributes = {a = "b"}})"),
                    HasSubstr(R"( loc("jit(f)/tanh"(#frame2)))")));
  ASSERT_OK_AND_ASSIGN(const auto module, ParseModule(hlo));
  ASSERT_OK_AND_ASSIGN(const auto back, ThereAndBack(*module));
  const xla::OpMetadata* metadata = back->entry()->root()->metadata();
  ASSERT_NE(metadata, nullptr);
  EXPECT_EQ(metadata->op_name(), "jit(f)/tanh");
  const xla::StackFrameIndexProto& index = back->proto().stack_frame_index();
  const auto& frame = index.stack_frames(metadata->stack_frame_id() - 1);
  EXPECT_EQ(index.file_locations(frame.file_location_id() - 1).line(), 3);
  EXPECT_EQ(
      index.file_locations(index.stack_frames(frame.parent_frame_id() - 1).file_location_id() - 1).line(), 9);
}

// A chain of bodies that each call the next twice: a region for each way would be 2^40 of them.
TEST(StableHloWriterTest, SharedBodiesAreWrittenOnce) {
  std::string text = "HloModule m\nb0 { x = f32[] parameter(0) ROOT y = f32[] tanh(x) }\n";
  for (int i = 1; i <= 40; ++i) {
    absl::StrAppend(&text, absl::StrReplaceAll(
                               "b$i { x = f32[] parameter(0) z = f32[] constant(0) c = pred[] compare(x, z), "
                               "direction=LT u = f32[] conditional(c, x, x), true_computation=b$p, "
                               "false_computation=b$p ROOT y = f32[] add(u, x) }\n",
                               {{"$i", absl::StrCat(i)}, {"$p", absl::StrCat(i - 1)}}));
  }
  absl::StrAppend(&text, "ENTRY main { x = f32[] parameter(0) ROOT y = f32[] call(x), to_apply=b40 }");
  ASSERT_OK_AND_ASSIGN(const auto module, ParseModule(text));
  ASSERT_OK_AND_ASSIGN(const std::string written, PrintStableHlo(*module));
  EXPECT_LT(written.size(), 100000);
  ASSERT_OK_AND_ASSIGN(const auto back, ReadStableHlo(written));
  EXPECT_OK(VerifyModule(*back));
}

TEST(StableHloWriterTest, CollectivesOfSeveralArraysBecomeOneForEach) {
  const std::string text = Written(R"(
HloModule m, num_partitions=4
sum { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }
ENTRY main {
  x = f32[8] parameter(0)
  y = f32[4,4] parameter(1)
  s = (f32[2], f32[1,4]) reduce-scatter(x, y), dimensions={0}, replica_groups=[1,4]<=[4], channel_id=1, use_global_device_ids=true, to_apply=sum
  p = (f32[8], f32[4,4]) collective-permute(x, y), source_target_pairs={{0,1},{1,0}}, channel_id=2
  g = f32[16] all-gather(x), dimensions={0}, replica_groups={{0,1},{2,3}}, channel_id=3, use_global_device_ids=true
  ROOT r = ((f32[2], f32[1,4]), (f32[8], f32[4,4]), f32[16]) tuple(s, p, g)
})");
  EXPECT_THAT(text, AllOf(HasSubstr("(tensor<8xf32>) -> (tensor<2xf32>)"),
                          HasSubstr("(tensor<4x4xf32>) -> (tensor<1x4xf32>)"),
                          HasSubstr("source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>"),
                          HasSubstr("replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>"),
                          HasSubstr("use_global_device_ids")));
}

TEST(StableHloWriterTest, WhatStableHloLacksIsAnError) {
  EXPECT_THAT(Written("HloModule m\nENTRY main { x = f32[4] parameter(0) ROOT y = (f32[4], f32[8]) "
                      "all-gather-start(x), dimensions={0}, replica_groups={{0,1}} }"),
              HasSubstr("main/y: StableHLO has no all-gather-start"));
  EXPECT_THAT(
      Written(
          "HloModule m\nENTRY main { x = f32[4] parameter(0) ROOT y = (f32[2], s32[2]) topk(x), k=2, largest=false }"),
      HasSubstr("main/y: StableHLO has no topk of the smallest elements"));
  std::string nested = "HloModule m\nb0 { x = f32[] parameter(0) ROOT y = f32[] tanh(x) }\n";
  for (int i = 1; i <= 300; ++i) {
    absl::StrAppend(&nested,
                    absl::StrReplaceAll(
                        "c$i { x = f32[] parameter(0) ROOT p = pred[] constant(false) }\n"
                        "b$i { x = f32[] parameter(0) ROOT y = f32[] while(x), condition=c$i, body=b$p }\n",
                        {{"$i", absl::StrCat(i)}, {"$p", absl::StrCat(i - 1)}}));
  }
  EXPECT_THAT(Written(nested + "ENTRY main { x = f32[] parameter(0) ROOT y = f32[] call(x), to_apply=b300 }"),
              HasSubstr("bodies nested deeper than 200"));
}

}  // namespace
}  // namespace toroid
