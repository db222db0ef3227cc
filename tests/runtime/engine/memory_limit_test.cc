// BUILD: size = "small"
// Runs that cannot fit are refused before they start; others are refused when they allocate too much.
#include "runtime/engine/memory_limit.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hlo/io/hlo_text.h"
#include "hlo/io/shape_text.h"
#include "runtime/check/program_runner.h"
#include "runtime/engine/executor.h"
#include "runtime/engine/plan_builder.h"
#include "runtime/mesh/block_pool.h"
#include "runtime/mesh/mesh_value.h"
#include "tests/runtime/evaluate.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::HasSubstr;

int64_t Peak(const std::string& body, const std::string& computations = "", int64_t copies = 1,
             bool uniform = true) {
  const auto module = MakeModule(body, computations);
  PlanBuilder builder;
  const auto plan = builder.Build(*module->entry());
  EXPECT_OK(plan);
  return EstimatePeak(**plan, std::vector<bool>(module->entry()->num_parameters(), uniform), copies).bytes;
}

TEST(EstimatePeakTest, OperandsThatDieMayGiveTheirPlace) {
  EXPECT_EQ(Peak("x = f32[1000] parameter(0) y = f32[1000] negate(x) ROOT z = f32[1000] sine(y)"), 4000);
  EXPECT_EQ(Peak("x = f32[1000] parameter(0) y = f32[1000] negate(x) ROOT z = f32[1000] add(x, y)"), 4000);
  EXPECT_EQ(
      Peak("x = f32[1000] parameter(0) y = f32[1000] negate(x) ROOT z = (f32[1000], f32[1000]) tuple(x, y)"),
      8000);
}

TEST(EstimatePeakTest, SharedStorageCountsOnce) {
  EXPECT_EQ(
      Peak("x = f32[1000] parameter(0) y = f32[10,100] reshape(x) z = (f32[1000], f32[10,100]) tuple(x, y) "
           "ROOT w = f32[10,100] get-tuple-element(z), index=1"),
      4000);
}

TEST(EstimatePeakTest, DevicesCountWhereTheyDiffer) {
  EXPECT_EQ(Peak("x = f32[1000] parameter(0) ROOT y = f32[1000] negate(x)", "", 8, false), 32000);
  EXPECT_EQ(Peak("x = f32[1000] parameter(0) ROOT y = f32[1000] negate(x)", "", 8, true), 4000);
}

TEST(EstimatePeakTest, CalledComputationsCountAndTheSmallerBranch) {
  const std::string branches =
      "big { x = f32[] parameter(0) b = f32[1000] broadcast(x), dimensions={} z = s32[] constant(0) s = "
      "f32[1] dynamic-slice(b, z), dynamic_slice_sizes={1} "
      "ROOT r = f32[] reshape(s) }\n"
      "small { ROOT x = f32[] parameter(0) }\n";
  EXPECT_GE(Peak("x = f32[] parameter(0) ROOT y = f32[] call(x), to_apply=big", branches), 4000);
  EXPECT_LT(Peak("p = pred[] parameter(0) x = f32[] parameter(1) "
                 "ROOT y = f32[] conditional(p, x, x), true_computation=big, false_computation=small",
                 branches),
            100);
}

// The plan's peak against the bytes that were held at once, in a run on one device.
TEST(EstimatePeakTest, ItIsWhatRunsHold) {
  const std::string less =
      "less { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = pred[] compare(a, b), direction=LT }\n"
      "less_of_two { a = f32[] parameter(0) b = f32[] parameter(1) c = s32[] parameter(2) d = s32[] parameter(3) "
      "ROOT e = pred[] compare(a, b), direction=LT }\n";
  const std::string matrix = "x = f32[1024,512] parameter(0) ";
  for (const std::string body : {
           "ROOT y = f32[1024,512] negate(x)",
           "y = f32[1024,512] exponential(x) ROOT z = f32[512,1024] transpose(y), dimensions={1,0}",
           "ROOT y = f32[512,1024] transpose(x), dimensions={1,0}",
           "y = f32[1024,512] sine(x) ROOT z = f32[1024,512] reverse(y), dimensions={0}",
           "ROOT y = f32[1024,1024] concatenate(x, x), dimensions={1}",
           "z = f32[] constant(0) ROOT y = f32[1100,600] pad(x, z), padding=10_66x8_80",
           "y = f32[1024,512] cosine(x) ROOT z = f32[1000,500] slice(y), slice={[0:1000], [3:503]}",
           "ROOT y = f32[1024,1024] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={1}",
           "ROOT y = f32[512,512] dot(x, x), lhs_contracting_dims={0}, rhs_contracting_dims={0}",
           "ROOT y = bf16[512,512] dot(x, x), lhs_contracting_dims={0}, rhs_contracting_dims={0}",
           "h = bf16[1024,512] convert(x) ROOT y = bf16[1024,1024] dot(h, h), lhs_contracting_dims={1}, "
           "rhs_contracting_dims={1}",
           "h = bf16[1024,512] convert(x) ROOT y = f32[512,512] dot(h, h), lhs_contracting_dims={0}, "
           "rhs_contracting_dims={0}",
           "a = f32[32,32,512] reshape(x) ROOT y = f32[32,512,512] dot(a, a), lhs_batch_dims={1}, "
           "rhs_batch_dims={1}, lhs_contracting_dims={0}, rhs_contracting_dims={0}",
           "ROOT y = f32[1024,512] sort(x), dimensions={1}, to_apply=less",
           "ROOT y = f32[1024,512] sort(x), dimensions={0}, to_apply=less",
           "l = f32[524288] reshape(x) ROOT y = f32[524288] sort(l), dimensions={0}, to_apply=less",
           "l = f32[524288] reshape(x) i = s32[524288] iota(), iota_dimension=0 "
           "ROOT y = (f32[524288], s32[524288]) sort(l, i), dimensions={0}, to_apply=less_of_two",
           "i = s32[2000,1] iota(), iota_dimension=0 ROOT y = f32[2000,512] gather(x, i), offset_dims={1}, "
           "collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,512}",
           "t = f32[512,1024] transpose(x), dimensions={1,0} e = f32[512,1024] exponential(t) "
           "ROOT y = (f32[512,1024], f32[512,1024]) tuple(t, e)",
           "d = f32[1024,1024] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={1} "
           "ROOT y = f32[1024,1024] sort(d), dimensions={1}, to_apply=less",
       }) {
    const auto module = MakeModule(matrix + body, less);
    ASSERT_OK_AND_ASSIGN(const auto executor, Executor::Create(*module));
    const int64_t before = LiveBlockBytes();
    ResetPeakBlockBytes();
    std::vector<MeshValue> arguments;
    ASSERT_OK_AND_ASSIGN(arguments.emplace_back(),
                         MeshValue::Uniform(Literal(module->entry()->parameter(0)->shape()), 1));
    ASSERT_OK(executor->Run(std::move(arguments), RunOptions()));
    const double held = static_cast<double>(PeakBlockBytes() - before);
    const double planned = static_cast<double>(Peak(matrix + body, less));
    EXPECT_LE(held, 1.2 * planned) << body;
    EXPECT_GE(held, planned / 1.2) << body;
  }
}

TEST(MaxBytesTest, ScratchOfKernelsIsRefusedBeforeTheRun) {
  const auto sort = MakeModule(
      "x = f32[1000000] parameter(0) ROOT s = f32[1000000] sort(x), dimensions={0}, to_apply=less",
      "less { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = pred[] compare(a, b), direction=LT }\n");
  EXPECT_THAT(
      CheckRunMemory(*sort, {sort->entry()->parameter(0)->shape()}, 1, 30'000'000),
      StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("main/s: the values alive here take")));
  EXPECT_OK(CheckRunMemory(*sort, {sort->entry()->parameter(0)->shape()}, 1, 60'000'000));
}

// 2^60 calls, but only 60 distinct ones.
TEST(EstimatePeakTest, CallsThatNestTwoByTwoAreRefusedAtOnce) {
  const auto module = [](int levels) {
    std::string computations = "f0 { x = f32[2] parameter(0) ROOT y = f32[2] negate(x) }\n";
    for (int i = 1; i < levels; ++i) {
      absl::StrAppend(&computations, "f", i, " { x = f32[2] parameter(0) y = f32[2] call(x), to_apply=f",
                      i - 1, " ROOT z = f32[2] call(y), to_apply=f", i - 1, " }\n");
    }
    return MakeModule(absl::StrCat("x = f32[2] parameter(0) ROOT y = f32[2] call(x), to_apply=f", levels - 1),
                      computations);
  };
  EXPECT_THAT(
      Executor::Create(*module(60)).status(),
      StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("calls nest to more than 4294967296")));
  ASSERT_OK_AND_ASSIGN(const Literal result,
                       RunSingle(*module(11), {Literal::Array<float>({2}, {1, -2})}, RunOptions()));
  EXPECT_EQ(result, Literal::Array<float>({2}, {1, -2}));
}

TEST(MaxBytesTest, ImpossibleRunsAreRefusedBeforeTheyStart) {
  const auto module = MakeModule(
      "z = f32[] constant(0) b = f32[1000000000000] broadcast(z), dimensions={} "
      "ROOT s = f32[1000000000000] negate(b)");
  EXPECT_THAT(RunModule(*module, {}, RunOptions()),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       HasSubstr("main/s: the values alive here take 4.0 TB, the limit is")));
}

TEST(MaxBytesTest, ItNeedsNoArgumentsToRefuse) {
  const auto module = MakeModule(
      "x = f32[1000000000] parameter(0) y = f32[1000000000] negate(x) "
      "ROOT t = (f32[1000000000], f32[1000000000]) tuple(x, y)");
  const std::vector<Shape> shapes = {module->entry()->parameter(0)->shape()};
  EXPECT_THAT(
      CheckRunMemory(*module, shapes, 1, 11'000'000'000),
      StatusIs(absl::StatusCode::kResourceExhausted,
               HasSubstr("main/y: the values alive here take 8.0 GB beside the 4.0 GB of arguments")));
  EXPECT_OK(CheckRunMemory(*module, shapes, 1, 12'000'000'000));
  // Each of the 4 devices has a quarter.
  const auto cut = ParseModule(R"(HloModule cut, num_partitions=4,
  frontend_attributes={toroid.spmd_output_sharding={devices=[4]<=[4]},
  toroid.spmd_parameters_shardings={{devices=[4]<=[4]}}}

ENTRY main { x = f32[1000] parameter(0) ROOT y = f32[1000] negate(x) })");
  ASSERT_OK(cut);
  const std::vector<Shape> global = {*ParseShape("f32[4000]")};
  EXPECT_THAT(CheckRunMemory(**cut, global, 1, 30'000), StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_OK(CheckRunMemory(**cut, global, 1, 32'000));
}

TEST(MaxBytesTest, WhatTheEstimateMissesIsRefusedWhileRunning) {
  // The estimate takes the smaller branch; the run takes the other one.
  const auto module = MakeModule(
      "p = pred[] constant(1) x = f32[] constant(0) "
      "ROOT y = f32[] conditional(p, x, x), true_computation=big, false_computation=small",
      "big { x = f32[] parameter(0) b = f32[100000] broadcast(x), dimensions={} z = s32[] constant(0) "
      "s = f32[1] dynamic-slice(b, z), dynamic_slice_sizes={1} "
      "ROOT r = f32[] reshape(s) }\nsmall { ROOT x = f32[] parameter(0) }\n");
  RunOptions options;
  options.max_bytes = 100000;
  EXPECT_THAT(RunModule(*module, {}, options),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("big/b: needs 400.0 kB beside")));
  options.max_bytes = 1000000;
  EXPECT_OK(RunModule(*module, {}, options));
}

TEST(MaxBytesTest, WhatKernelsHoldBesideTheirResultsCounts) {
  RunOptions options;
  options.max_bytes = 2 << 20;
  const auto sort = MakeModule(
      "x = u8[1000000] iota(), iota_dimension=0 ROOT s = u8[1000000] sort(x), dimensions={0}, to_apply=less",
      "less { a = u8[] parameter(0) b = u8[] parameter(1) ROOT c = pred[] compare(a, b), direction=LT }\n");
  EXPECT_THAT(RunModule(*sort, {}, options),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       HasSubstr("main/s: the values alive here take 34.0 MB")));
  const auto scatter = MakeModule(
      "x = s8[10] iota(), iota_dimension=0 i = s8[300000,1] iota(), iota_dimension=1 "
      "u = s8[300000] iota(), iota_dimension=0 "
      "ROOT s = s8[10] scatter(x, i, u), update_window_dims={}, inserted_window_dims={0}, "
      "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=f",
      "f { a = s8[] parameter(0) b = s8[] parameter(1) ROOT c = s8[] subtract(a, b) }\n");
  EXPECT_THAT(RunModule(*scatter, {}, options),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("main/s: needs")));
  const std::string zeros = "z = f32[] constant(1) x = f32[400,400] broadcast(z), dimensions={} ";
  for (const std::string op :
       {"c64[400,201] fft(x), fft_type=RFFT, fft_length={400,400}", "f32[400,400] cholesky(x), lower=true",
        "f32[400,400] triangular-solve(x, x), left_side=true, lower=true, transpose_a=NO_TRANSPOSE",
        "f32[400,400] batch-norm-inference(x, v, v, v, v), epsilon=0.1, feature_index=1",
        "f32[400,400] select-and-scatter(x, x, z), window={size=1x1}, select=ge, scatter=add"}) {
    const auto module =
        MakeModule(zeros + "v = f32[400] broadcast(z), dimensions={} ROOT s = " + op,
                   "ge { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = pred[] compare(a, b), "
                   "direction=GE }\n" +
                       ReducerText("add", "f32", "add"));
    EXPECT_THAT(RunModule(*module, {}, options),
                StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("main/s: needs")))
        << op;
  }
  options.max_bytes = 64 << 20;
  EXPECT_OK(RunModule(*sort, {}, options));
  EXPECT_OK(RunModule(*scatter, {}, options));
}

TEST(MaxBytesTest, DefaultIsWithinTheMachine) { EXPECT_GT(DefaultMaxBytes(), 1 << 20); }

}  // namespace
}  // namespace toroid
