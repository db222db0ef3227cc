// BUILD: size = "small"
// What is kept under a memory limit: it fits, values stay, more memory never takes more time, and what cannot fit says so.
#include "hlo/gradient/memory_fit.h"

#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "gmock/gmock.h"
#include "hlo/analysis/peak_memory.h"
#include "hlo/analysis/work.h"
#include "hlo/gradient/gradient.h"
#include "hlo/gradient/remat_policy.h"
#include "hlo/io/hlo_text.h"
#include "hlo/ir/builder.h"
#include "hlo/ops/verify_module.h"
#include "runtime/engine/executor.h"
#include "tests/partition_and_run.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kTokens = 512, kModel = 16, kHidden = 64;

// x[k+1] = x[k] + (swish(x[k] a) b), the sum of the last one's exponentials.
struct Mlp {
  explicit Mlp(int layers, int64_t devices = 1) : b("mlp", devices) {
    x.push_back(b.Split(b.Parameter(Shape(xla::F32, {kTokens, kModel}), "x"), 0, devices));
    for (int k = 0; k < layers; ++k) {
      weights.push_back(b.Parameter(Shape(xla::F32, {kModel, kHidden}), "a"));
      const Value hidden = b.Einsum("TM,MH->TH", x.back(), weights.back());
      weights.push_back(b.Parameter(Shape(xla::F32, {kHidden, kModel}), "b"));
      const Value active = b.Multiply(hidden, b.Unary(Opcode::kLogistic, hidden));
      x.push_back(b.Add(x.back(), b.Einsum("TH,HM->TM", active, weights.back())));
    }
    loss = b.Sum(b.Exp(x.back()), {0, 1});
  }

  absl::StatusOr<MemoryFitted> Fit(const MemoryFit& fit, GradientOptions* options) const {
    return FitMemory(*loss, std::vector<const Instruction*>(weights.begin(), weights.end()), fit, options);
  }
  absl::StatusOr<std::unique_ptr<Module>> Step(const GradientOptions& options) {
    ASSIGN_OR_RETURN(std::vector<Value> results, Gradients(loss, weights, options, &b));
    results.insert(results.begin(), loss);
    return b.Build(b.Tuple(results));
  }

  Builder b;
  std::vector<Value> x, weights;
  Value loss;
};

std::vector<Literal> ArgumentsOf(const Module& module) {
  std::vector<Literal> arguments;
  for (const Instruction* parameter : module.entry()->parameters()) {
    Literal literal(parameter->shape());
    int64_t i = 7 * parameter->parameter_number();
    for (float& x : literal.mutable_data<float>()) x = 0.02f * static_cast<float>((i++ * 5) % 17 - 8);
    arguments.push_back(std::move(literal));
  }
  return arguments;
}

// Flops of what is computed again.
int64_t FlopsAgain(const Module& module) {
  int64_t flops = 0;
  for (const auto& op : module.entry()->instructions()) {
    if (op->metadata() != nullptr && absl::StartsWith(op->metadata()->op_name(), "recomputed")) flops += MatrixFlops(*op);
  }
  return flops;
}

TEST(MemoryFitTest, WhatFitsIsKeptWhole) {
  Mlp mlp(4);
  GradientOptions options;
  ASSERT_OK_AND_ASSIGN(const MemoryFitted fitted, mlp.Fit({.limit_bytes = int64_t{1} << 40}, &options));
  EXPECT_EQ(options.keep, nullptr);
  EXPECT_EQ(fitted.seconds_again, 0);
  EXPECT_EQ(fitted.peak_bytes, fitted.peak_bytes_keeping_all);
}

TEST(MemoryFitTest, EveryLimitIsKeptAndMoreMemoryTakesLessTime) {
  Mlp whole(8);
  GradientOptions all;
  ASSERT_OK_AND_ASSIGN(const auto step, whole.Step(all));
  const int64_t most = ComputePeakMemory(*step).bytes;
  ASSERT_OK_AND_ASSIGN(const Literal expected, RunSingle(*step, ArgumentsOf(*step)));
  double before = INFINITY;
  int64_t flops = 0;
  for (const int percent : {35, 45, 60, 80, 95}) {
    SCOPED_TRACE(percent);
    Mlp mlp(8);
    GradientOptions options;
    const MemoryFit fit{.limit_bytes = most * percent / 100, .seconds = [](const Instruction& op) {
                          const int64_t elements = op.shape().IsArray() ? op.shape().NumElements() : 0;
                          return 1e-9 * static_cast<double>(MatrixFlops(op) + elements);
                        }};
    ASSERT_OK_AND_ASSIGN(const MemoryFitted fitted, mlp.Fit(fit, &options));
    ASSERT_OK_AND_ASSIGN(const auto fitting, mlp.Step(options));
    ASSERT_OK(VerifyModule(*fitting));
    EXPECT_EQ(ComputePeakMemory(*fitting).bytes, fitted.peak_bytes);
    EXPECT_LE(fitted.peak_bytes, fit.limit_bytes);
    EXPECT_GT(fitted.peak_bytes, fit.limit_bytes * 3 / 4) << "memory is left unused";
    EXPECT_LT(fitted.seconds_again, before);
    before = fitted.seconds_again;
    flops = FlopsAgain(*fitting);
    ASSERT_OK_AND_ASSIGN(const Literal actual, RunSingle(*fitting, ArgumentsOf(*fitting)));
    EXPECT_TRUE(actual == expected);
  }
  EXPECT_EQ(flops, 0) << "with 95 % no dot is computed again, for sigmoids take less time per byte";
}

TEST(MemoryFitTest, ALimitThatCannotBeMetSaysTheLeast) {
  Mlp mlp(6);
  GradientOptions options;
  const absl::Status status = mlp.Fit({.limit_bytes = 1000}, &options).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(status.message(), HasSubstr("do not fit into 1000 bytes whatever is computed again: the least is "));
  EXPECT_EQ(options.keep, nullptr);
  // The least that is named can be had.
  const std::string message(status.message());
  const std::string after = message.substr(message.find("the least is ") + 13);
  GradientOptions least;
  EXPECT_OK(mlp.Fit({.limit_bytes = std::stoll(after)}, &least));
}

TEST(MemoryFitTest, CostsDecideWhatComesBackFirst) {
  // Of two values of the same size the dearer one is kept, whichever it is.
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
  Mlp mlp(6, 4);
  GradientOptions options;
  ASSERT_OK(KeepLayerInputs(*mlp.b.computation(), std::vector<const Instruction*>(mlp.x.begin(), mlp.x.end()), &options));
  MemoryFit fit;
  int measured = 0;
  fit.peak_bytes = [&](const Module& step) -> absl::StatusOr<int64_t> {
    ++measured;
    ASSIGN_OR_RETURN(const Partitioned cut, PartitionModule(step, PartitionOptions()));
    return ComputePeakMemory(*cut.module).bytes;
  };
  fit.limit_bytes = int64_t{1} << 40;
  GradientOptions none;
  ASSERT_OK_AND_ASSIGN(const MemoryFitted all, mlp.Fit(fit, &none));
  fit.limit_bytes = all.peak_bytes * 3 / 4;
  ASSERT_OK_AND_ASSIGN(const MemoryFitted fitted, mlp.Fit(fit, &options));
  EXPECT_LE(fitted.peak_bytes, fit.limit_bytes);
  EXPECT_GT(measured, 2);
  for (size_t k = 0; k + 1 < mlp.x.size(); ++k) EXPECT_TRUE(options.keep(*mlp.x[k]) || mlp.x[k]->num_operands() == 0);
  ASSERT_OK_AND_ASSIGN(const auto step, mlp.Step(options));
  ASSERT_OK_AND_ASSIGN(const int64_t now, fit.peak_bytes(*step));
  EXPECT_EQ(now, fitted.peak_bytes);
  fit.peak_bytes = [](const Module&) -> absl::StatusOr<int64_t> { return absl::InternalError("no scale"); };
  EXPECT_THAT(mlp.Fit(fit, &options).status().message(), HasSubstr("no scale"));
}

// Layers in a loop: what its trips write down is chosen too.
TEST(MemoryFitTest, ValuesOfLoopsBodiesCountOncePerTrip) {
  Builder b("scan");
  const Value x = b.Parameter(Shape(xla::F32, {64, 16}), "x"), w = b.Parameter(Shape(xla::F32, {16, 16}), "w");
  const Value init = b.Tuple({b.Zero(xla::S32), x, w});
  InstructionBuilder condition = b.InNewComputation("condition");
  const Value at = condition.GetTupleElement(condition.Parameter(init->shape(), "state"), 0);
  Computation* more = condition.Finish(condition.Compare(at, condition.IntScalar(10), "LT"));
  InstructionBuilder body = b.InNewComputation("body");
  const Value state = body.Parameter(init->shape(), "state");
  Value y = body.GetTupleElement(state, 1);
  for (int k = 0; k < 4; ++k) y = body.Tanh(body.Einsum("TM,MN->TN", y, body.GetTupleElement(state, 2)));
  Computation* step = body.Finish(body.Tuple({body.Add(body.GetTupleElement(state, 0), body.IntScalar(1)), y,
                                              body.GetTupleElement(state, 2)}));
  const Value loop = b.While(init, more, step);
  const Value loss = b.Sum(b.GetTupleElement(loop, 1), {0, 1});
  GradientOptions all;
  ASSERT_OK_AND_ASSIGN(const MemoryFitted whole, FitMemory(*loss, {x, w}, {.limit_bytes = int64_t{1} << 40}, &all));
  GradientOptions options;
  ASSERT_OK_AND_ASSIGN(const MemoryFitted fitted,
                       FitMemory(*loss, {x, w}, {.limit_bytes = whole.peak_bytes * 7 / 10}, &options));
  EXPECT_LE(fitted.peak_bytes, whole.peak_bytes * 7 / 10);
  int kept = 0;
  for (const auto& op : step->instructions()) kept += op->opcode() == Opcode::kTanh && options.keep(*op) ? 1 : 0;
  EXPECT_GT(kept, 0);
  EXPECT_LT(kept, 4);
}

}  // namespace
}  // namespace toroid
