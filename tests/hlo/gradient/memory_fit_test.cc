// BUILD: size = "small"
// FitMemory: the step fits the limit, its values stay, more memory never costs more time, and an unreachable
// limit is an error.
#include "hlo/gradient/memory_fit.h"

#include <cmath>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "hlo/analysis/peak_memory.h"
#include "hlo/analysis/work.h"
#include "hlo/builder/builder.h"
#include "hlo/gradient/gradient.h"
#include "hlo/gradient/remat/remat_policy.h"
#include "hlo/gradient/sweep/pullback.h"
#include "hlo/io/hlo_text.h"
#include "hlo/ops/verify_module.h"
#include "runtime/engine/executor.h"
#include "tests/hlo/gradient/layered_mlp.h"
#include "tests/partition_and_run.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::HasSubstr;

constexpr LayeredMlpSizes kSizes = {.tokens = 512, .model = 16, .hidden = 64};

absl::StatusOr<MemoryFitted> Fit(const LayeredMlp& mlp, const MemoryFit& fit, GradientOptions* options) {
  return FitMemory(*mlp.loss, std::vector<const Instruction*>(mlp.weights.begin(), mlp.weights.end()), fit,
                   options);
}

// Flops of recomputation.
int64_t FlopsAgain(const Module& module) {
  int64_t flops = 0;
  for (const auto& op : module.entry()->instructions()) {
    if (IsComputedAgain(*op)) flops += MatrixFlops(*op);
  }
  return flops;
}

TEST(MemoryFitTest, WhatFitsIsKeptWhole) {
  LayeredMlp mlp(4, kSizes);
  GradientOptions options;
  ASSERT_OK_AND_ASSIGN(const MemoryFitted fitted, Fit(mlp, {.limit_bytes = int64_t{1} << 40}, &options));
  EXPECT_EQ(options.keep, nullptr);
  EXPECT_EQ(fitted.seconds_again, 0);
  EXPECT_EQ(fitted.peak_bytes, fitted.peak_bytes_keeping_all);
}

TEST(MemoryFitTest, EveryLimitIsKeptAndMoreMemoryTakesLessTime) {
  LayeredMlp whole(8, kSizes);
  GradientOptions all;
  ASSERT_OK_AND_ASSIGN(const auto step, whole.Step(all));
  const int64_t most = ComputePeakMemory(*step).bytes;
  ASSERT_OK_AND_ASSIGN(const Literal expected, RunSingle(*step, SmallArguments(*step, 0.02f)));
  double before = INFINITY;
  int64_t flops = 0;
  for (const int percent : {35, 45, 60, 80, 95}) {
    SCOPED_TRACE(percent);
    LayeredMlp mlp(8, kSizes);
    GradientOptions options;
    const MemoryFit fit{.limit_bytes = most * percent / 100, .seconds = [](const Instruction& op) {
                          const int64_t elements = op.shape().IsArray() ? op.shape().NumElements() : 0;
                          return 1e-9 * static_cast<double>(MatrixFlops(op) + elements);
                        }};
    ASSERT_OK_AND_ASSIGN(const MemoryFitted fitted, Fit(mlp, fit, &options));
    ASSERT_OK_AND_ASSIGN(const auto fitting, mlp.Step(options));
    ASSERT_OK(VerifyModule(*fitting));
    EXPECT_EQ(ComputePeakMemory(*fitting).bytes, fitted.peak_bytes);
    EXPECT_LE(fitted.peak_bytes, fit.limit_bytes);
    EXPECT_GT(fitted.peak_bytes, fit.limit_bytes * 3 / 4) << "memory is left unused";
    EXPECT_LT(fitted.seconds_again, before);
    before = fitted.seconds_again;
    flops = FlopsAgain(*fitting);
    ASSERT_OK_AND_ASSIGN(const Literal actual, RunSingle(*fitting, SmallArguments(*fitting, 0.02f)));
    EXPECT_TRUE(actual == expected);
  }
  EXPECT_EQ(flops, 0) << "with 95 % no dot is computed again, for sigmoids take less time per byte";
}

TEST(MemoryFitTest, RulesOfTheCallersOwnReadTheirValuesInEveryTrial) {
  // The derivative of each relu is computed from another value than its operand.
  const auto step = [](int64_t limit) -> absl::StatusOr<std::unique_ptr<Module>> {
    Builder b("relus");
    const Value weight = b.Parameter(Shape(xla::F32, {1000}), "weight");
    GradientOptions options;
    Value x = weight;
    for (int k = 0; k < 8; ++k) {
      x = b.Tanh(b.AddNumber(x, 0.01));
      const Value relu = b.Maximum(x, b.FullLike(x, 0)), is_above = b.Compare(x, b.FullLike(x, 0), "GT");
      options.custom[relu] = CustomRule(
          [](Pullback& p) {
            p.Add(0, p.b.Select(p.read(0), p.cotangent(), p.b.FullLike(p.cotangent(), 0)));
            return absl::OkStatus();
          },
          {is_above});
      x = b.Add(relu, weight);
    }
    const Value loss = b.Sum(b.Exp(x), {0});
    RETURN_IF_ERROR(FitMemory(*loss, {weight}, {.limit_bytes = limit}, &options).status());
    ASSIGN_OR_RETURN(const std::vector<Value> gradients, Gradients(loss, {weight}, options, &b));
    return b.Build(b.Tuple({loss, gradients[0]}));
  };
  ASSERT_OK_AND_ASSIGN(const auto all_kept, step(int64_t{1} << 40));
  ASSERT_OK_AND_ASSIGN(const Literal expected, RunSingle(*all_kept, SmallArguments(*all_kept, 0.05f)));
  const int64_t most = ComputePeakMemory(*all_kept).bytes;
  ASSERT_OK_AND_ASSIGN(const auto fitting, step(most * 17 / 20));
  ASSERT_OK(VerifyModule(*fitting));
  EXPECT_LE(ComputePeakMemory(*fitting).bytes, most * 17 / 20);
  ASSERT_OK_AND_ASSIGN(const Literal actual, RunSingle(*fitting, SmallArguments(*fitting, 0.05f)));
  EXPECT_TRUE(actual == expected);
}

TEST(MemoryFitTest, ASearchEndsWhereEnoughIsUsed) {
  int measured = 0;
  const auto count = [&](double enough) {
    LayeredMlp mlp(8, kSizes);
    GradientOptions options;
    MemoryFit fit{.limit_bytes = 1 << 20, .enough = enough};
    fit.peak_bytes = [&](const Module& step) -> absl::StatusOr<int64_t> {
      ++measured;
      return ComputePeakMemory(step).bytes;
    };
    measured = 0;
    const auto fitted = Fit(mlp, fit, &options);
    EXPECT_OK(fitted);
    EXPECT_LE(fitted->peak_bytes, fit.limit_bytes);
    return measured;
  };
  EXPECT_LT(count(0.5), count(1));
}

TEST(MemoryFitTest, ALimitThatCannotBeMetSaysTheLeast) {
  LayeredMlp mlp(6, kSizes);
  GradientOptions options;
  const absl::Status status = Fit(mlp, {.limit_bytes = 1000}, &options).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(status.message(),
              HasSubstr("do not fit into 1000 bytes whatever is computed again: the least is "));
  EXPECT_EQ(options.keep, nullptr);
  // The smallest limit that the error names can be met.
  const std::string message(status.message());
  const std::string after = message.substr(message.find("the least is ") + 13);
  GradientOptions least;
  EXPECT_OK(Fit(mlp, {.limit_bytes = std::stoll(after)}, &least));
}

TEST(MemoryFitTest, CostsDecideWhatComesBackFirst) {
  // Two values have one size; the one that takes longer to compute is kept.
  for (const Opcode dear : {Opcode::kSin, Opcode::kCos}) {
    Builder b("two");
    const Value x = b.Parameter(Shape(xla::F32, {1000}), "x");
    Value y = x;
    for (int k = 0; k < 8; ++k) y = b.Unary(Opcode::kCos, b.Unary(Opcode::kSin, y));
    const Value loss = b.Sum(y, {0});
    MemoryFit fit;
    fit.seconds = [dear](const Instruction& op) { return op.opcode() == dear ? 10.0 : 1.0; };
    fit.limit_bytes = 4000 * 14;
    GradientOptions options;
    ASSERT_OK_AND_ASSIGN(const MemoryFitted fitted, FitMemory(*loss, {x}, fit, &options));
    int kept_dear = 0, kept_cheap = 0;
    for (const auto& op : b.computation()->instructions()) {
      if (op->opcode() != Opcode::kSin && op->opcode() != Opcode::kCos) continue;
      if (options.keep(*op)) ++(op->opcode() == dear ? kept_dear : kept_cheap);
    }
    EXPECT_GT(kept_dear, kept_cheap);
    EXPECT_LE(fitted.peak_bytes, fit.limit_bytes);
  }
}

TEST(MemoryFitTest, WhatTheCallerMeasuresAndKeepsHolds) {
  // Bytes of a partition; layers named by the caller.
  LayeredMlp mlp(6, kSizes, 4);
  GradientOptions options;
  ASSERT_OK(KeepLayerInputs(*mlp.b.computation(), std::vector<const Instruction*>(mlp.x.begin(), mlp.x.end()),
                            &options));
  MemoryFit fit;
  int measured = 0;
  fit.peak_bytes = [&](const Module& step) -> absl::StatusOr<int64_t> {
    ++measured;
    ASSIGN_OR_RETURN(const Partitioned cut, PartitionModule(step, PartitionOptions()));
    return ComputePeakMemory(*cut.module).bytes;
  };
  fit.limit_bytes = int64_t{1} << 40;
  GradientOptions none;
  ASSERT_OK_AND_ASSIGN(const MemoryFitted all, Fit(mlp, fit, &none));
  fit.limit_bytes = all.peak_bytes * 3 / 4;
  ASSERT_OK_AND_ASSIGN(const MemoryFitted fitted, Fit(mlp, fit, &options));
  EXPECT_LE(fitted.peak_bytes, fit.limit_bytes);
  EXPECT_GT(measured, 2);
  for (size_t k = 0; k + 1 < mlp.x.size(); ++k)
    EXPECT_TRUE(options.keep(*mlp.x[k]) || mlp.x[k]->num_operands() == 0);
  ASSERT_OK_AND_ASSIGN(const auto step, mlp.Step(options));
  ASSERT_OK_AND_ASSIGN(const int64_t now, fit.peak_bytes(*step));
  EXPECT_EQ(now, fitted.peak_bytes);
  fit.peak_bytes = [](const Module&) -> absl::StatusOr<int64_t> { return absl::InternalError("no scale"); };
  EXPECT_THAT(Fit(mlp, fit, &options).status().message(), HasSubstr("no scale"));
}

// Layers in a loop: the values that its trips record are chosen too.
TEST(MemoryFitTest, ValuesOfLoopsBodiesCountOncePerTrip) {
  Builder b("scan");
  const Value x = b.Parameter(Shape(xla::F32, {64, 16}), "x"),
              w = b.Parameter(Shape(xla::F32, {16, 16}), "w");
  const Value init = b.Tuple({b.Zero(xla::S32), x, w});
  InstructionBuilder condition = b.InNewComputation("condition");
  const Value at = condition.GetTupleElement(condition.Parameter(init->shape(), "state"), 0);
  Computation* more = condition.Finish(condition.Compare(at, condition.IntScalar(10), "LT"));
  InstructionBuilder body = b.InNewComputation("body");
  const Value state = body.Parameter(init->shape(), "state");
  Value y = body.GetTupleElement(state, 1);
  for (int k = 0; k < 4; ++k) y = body.Tanh(body.Einsum("TM,MN->TN", y, body.GetTupleElement(state, 2)));
  Computation* step = body.Finish(body.Tuple(
      {body.Add(body.GetTupleElement(state, 0), body.IntScalar(1)), y, body.GetTupleElement(state, 2)}));
  const Value loop = b.While(init, more, step);
  const Value loss = b.Sum(b.GetTupleElement(loop, 1), {0, 1});
  GradientOptions all;
  ASSERT_OK_AND_ASSIGN(const MemoryFitted whole,
                       FitMemory(*loss, {x, w}, {.limit_bytes = int64_t{1} << 40}, &all));
  GradientOptions options;
  ASSERT_OK_AND_ASSIGN(const MemoryFitted fitted,
                       FitMemory(*loss, {x, w}, {.limit_bytes = whole.peak_bytes * 7 / 10}, &options));
  EXPECT_LE(fitted.peak_bytes, whole.peak_bytes * 7 / 10);
  int kept = 0;
  for (const auto& op : step->instructions())
    kept += op->opcode() == Opcode::kTanh && options.keep(*op) ? 1 : 0;
  EXPECT_GT(kept, 0);
  EXPECT_LT(kept, 4);
}

}  // namespace
}  // namespace toroid
