// BUILD: size = "small"
// Runs that cannot fit are refused before they start; others are refused when they allocate too much.
#include "runtime/engine/memory_limit.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hlo/io/hlo_text.h"
#include "hlo/io/shape_text.h"
#include "runtime/check/program_runner.h"
#include "runtime/engine/executor.h"
#include "tests/runtime/evaluate.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::HasSubstr;

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
TEST(MaxBytesTest, CallsThatNestTwoByTwoAreRefusedAtOnce) {
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
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("main/s: ")));
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
                StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("main/s: ")))
        << op;
  }
  options.max_bytes = 64 << 20;
  EXPECT_OK(RunModule(*sort, {}, options));
  EXPECT_OK(RunModule(*scatter, {}, options));
}

// The state begins as one array many times over; each trip makes one more array of its own.
TEST(MaxBytesTest, LoopsThatFillTheirState) {
  constexpr int kArrays = 200;
  std::string shape = "(s32[]", elements, shifted, initial;
  for (int i = 1; i <= kArrays; ++i) {
    absl::StrAppend(&shape, ", f32[1000]");
    absl::StrAppend(&elements, "e", i, " = f32[1000] get-tuple-element(s), index=", i, " ");
    if (i > 1) absl::StrAppend(&shifted, ", e", i);
    absl::StrAppend(&initial, ", x");
  }
  absl::StrAppend(&shape, ")");
  const auto module = MakeModule(
      absl::StrCat("x = f32[1000] parameter(0) z = s32[] constant(0) t = ", shape, " tuple(z", initial,
                   ") w = ", shape,
                   " while(t), condition=more, body=body ROOT r = f32[1000] get-tuple-element(w), index=1"),
      absl::StrCat("body { s = ", shape,
                   " parameter(0) i = s32[] get-tuple-element(s), index=0 one = s32[] constant(1) "
                   "n = s32[] add(i, one) ",
                   elements, "made = f32[1000] sine(e", kArrays, ") ROOT r = ", shape, " tuple(n", shifted,
                   ", made) }\n"
                   "more { s = ",
                   shape,
                   " parameter(0) i = s32[] get-tuple-element(s), index=0 c = s32[] constant(500) "
                   "ROOT l = pred[] compare(i, c), direction=LT }\n"));
  RunOptions options;
  options.max_bytes = kArrays * 4000 / 2;
  const std::vector<Literal> arguments = {Literal(module->entry()->parameter(0)->shape())};
  EXPECT_THAT(RunSingle(*module, arguments, options),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("body/made: needs 4.0 kB beside")));
  options.max_bytes = kArrays * 4000 * 5 / 4;
  EXPECT_OK(RunSingle(*module, arguments, options));
}

TEST(MaxBytesTest, DefaultIsWithinTheMachine) { EXPECT_GT(DefaultMaxBytes(), 1 << 20); }

}  // namespace
}  // namespace toroid
