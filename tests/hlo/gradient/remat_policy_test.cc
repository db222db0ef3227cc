// BUILD: size = "small"
// Rematerialization policies: what is kept, what is recomputed, and when.
#include "hlo/gradient/remat/remat_policy.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "hlo/analysis/peak_memory.h"
#include "hlo/builder/builder.h"
#include "hlo/gradient/gradient.h"
#include "hlo/io/hlo_text.h"
#include "hlo/ops/verify_module.h"
#include "runtime/engine/executor.h"
#include "tests/hlo/gradient/layered_mlp.h"
#include "tests/partition_and_run.h"
#include "tests/runtime/evaluate.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::HasSubstr;

constexpr LayeredMlpSizes kSizes = {.tokens = 16, .model = 4, .hidden = 64};

int Count(const Computation& computation, Opcode opcode) {
  return static_cast<int>(std::count_if(computation.instructions().begin(), computation.instructions().end(),
                                        [&](const auto& op) { return op->opcode() == opcode; }));
}

// By index: true for instructions that `instruction` depends on.
std::vector<bool> Ancestors(const Instruction& op) {
  std::vector<bool> is_one(op.computation()->size(), false);
  is_one[op.index()] = true;
  for (int i = op.index(); i >= 0; --i) {
    if (!is_one[i]) continue;
    for (const Instruction* operand : op.computation()->instruction(i)->operands())
      is_one[operand->index()] = true;
  }
  return is_one;
}

int CountNeeded(const Computation& computation, Opcode opcode) {
  const std::vector<bool> needed = Ancestors(*computation.root());
  return static_cast<int>(
      std::count_if(computation.instructions().begin(), computation.instructions().end(),
                    [&](const auto& op) { return op->opcode() == opcode && needed[op->index()]; }));
}

void Nothing(const LayeredMlp&, GradientOptions*) {}
void Dots(const LayeredMlp&, GradientOptions* options) { KeepDots(options); }
void Layers(const LayeredMlp& mlp, GradientOptions* options) {
  const std::vector<const Instruction*> boundaries(mlp.x.begin(), mlp.x.end());
  EXPECT_OK(KeepLayerInputs(*mlp.b.computation(), boundaries, options));
}
void Scopes(const LayeredMlp& mlp, GradientOptions* options) {
  EXPECT_OK(KeepScopeInputs(*mlp.b.computation(), "layer_", options));
}
void DotsInLayers(const LayeredMlp& mlp, GradientOptions* options) {
  KeepDots(options);
  Layers(mlp, options);
}
void None(const LayeredMlp&, GradientOptions* options) {
  options->keep = [](const Instruction&) { return false; };
}
using Policy = void (*)(const LayeredMlp&, GradientOptions*);

std::unique_ptr<Module> StepWith(Policy policy, int layers, int64_t devices = 1) {
  LayeredMlp mlp(layers, kSizes, devices);
  GradientOptions options;
  policy(mlp, &options);
  auto step = mlp.Step(options);
  EXPECT_OK(step);
  EXPECT_OK(VerifyModule(**step));
  return *std::move(step);
}

TEST(RematPolicyTest, NoPolicyChangesAValueWholeOrCut) {
  const auto all = StepWith(Nothing, 3, 4);
  ASSERT_OK_AND_ASSIGN(const Literal expected, RunSingle(*all, SmallArguments(*all, 0.05f)));
  for (const Policy policy : {Dots, Layers, Scopes, DotsInLayers, None}) {
    const auto step = StepWith(policy, 3, 4);
    SCOPED_TRACE(PrintModule(*step));
    ASSERT_OK_AND_ASSIGN(const Literal whole, RunSingle(*step, SmallArguments(*step, 0.05f)));
    ASSERT_OK_AND_ASSIGN(const Literal cut,
                         PartitionAndRun(*step, PartitionOptions(), SmallArguments(*step, 0.05f)));
    for (int64_t leaf = 0; leaf < expected.shape().NumLeaves(); ++leaf) {
      const auto e = expected.element(leaf).data<float>();
      for (size_t i = 0; i < e.size(); ++i) {
        ASSERT_EQ(whole.element(leaf).data<float>()[i], e[i]);
        ASSERT_NEAR(cut.element(leaf).data<float>()[i], e[i], 1e-5 * std::max(1.0f, std::abs(e[i])));
      }
    }
  }
}

TEST(RematPolicyTest, ContractionsAreRepeatedByLayersAndNotByDots) {
  const int once = Count(*StepWith(Nothing, 4)->entry(), Opcode::kDot);
  EXPECT_EQ(Count(*StepWith(Dots, 4)->entry(), Opcode::kDot), once);
  EXPECT_EQ(Count(*StepWith(DotsInLayers, 4)->entry(), Opcode::kDot), once);
  // Two in each layer, none in the head, which keeps its exponentials.
  EXPECT_EQ(Count(*StepWith(Layers, 4)->entry(), Opcode::kDot), once + 2 * 4);
  EXPECT_EQ(Count(*StepWith(Scopes, 4)->entry(), Opcode::kDot), once + 2 * 4);
  EXPECT_EQ(Count(*StepWith(Layers, 4)->entry(), Opcode::kExp), 1);
}

TEST(RematPolicyTest, ALayerIsComputedAgainAfterTheBackwardPassOfTheNext) {
  for (const Policy policy : {Layers, Scopes}) {
    const auto step = StepWith(policy, 4);
    SCOPED_TRACE(PrintModule(*step));
    const Computation& entry = *step->entry();
    int repeated = 0;
    for (const auto& op : entry.instructions()) {
      if (!IsComputedAgain(*op) || op->opcode() != Opcode::kDot) continue;
      ++repeated;
      const int layer = op->metadata()->op_name()[absl::string_view("recomputed/layer_").size()] - '0';
      const std::vector<bool> needed = Ancestors(*op);
      int of_next = 0;
      for (const auto& other : entry.instructions()) {
        if (other->opcode() != Opcode::kDot || other->metadata() == nullptr) continue;
        if (absl::StartsWith(other->metadata()->op_name(), absl::StrCat("gradient/layer_", layer + 1))) {
          of_next += needed[other->index()] ? 1 : 0;
        }
      }
      // The two dots on the path of the cotangents; those for weights may run at any time.
      EXPECT_EQ(of_next, layer == 3 ? 0 : 2) << op->Path();
    }
    EXPECT_EQ(repeated, 8);
  }
}

TEST(RematPolicyTest, PeakMemoryGrowsByLayersInputsAlone) {
  const auto peak = [](Policy policy, int layers) {
    return ComputePeakMemory(*StepWith(policy, layers)).bytes;
  };
  const auto [tokens, model, hidden_size] = kSizes;
  const int64_t input = tokens * model * 4, hidden = tokens * hidden_size * 4,
                weights = 2 * 2 * model * hidden_size * 4;
  // Weights and their gradients are always held. A layer keeps its input, hidden values and tanh.
  EXPECT_GE(peak(Nothing, 12) - peak(Nothing, 6), 6 * (weights + 2 * hidden));
  EXPECT_LE(peak(Layers, 12) - peak(Layers, 6), 6 * (weights + input));
  EXPECT_LE(peak(Scopes, 12) - peak(Scopes, 6), 6 * (weights + input));
  EXPECT_LT(peak(Dots, 12), peak(Nothing, 12));
  EXPECT_LT(peak(Layers, 12), peak(Dots, 12));
}

TEST(RematPolicyTest, BarriersStayInTheProgramOfAPartition) {
  const auto step = StepWith(Layers, 2, 4);
  ASSERT_OK_AND_ASSIGN(const Partitioned cut, PartitionModule(*step, PartitionOptions()));
  EXPECT_EQ(CountNeeded(*step->entry(), Opcode::kOptimizationBarrier), 2);
  EXPECT_EQ(Count(*cut.module->entry(), Opcode::kOptimizationBarrier), 2);
}

TEST(RematPolicyTest, WhereNothingIsComputedAgainThereIsNoBarrier) {
  GradientOptions options;
  options.keep = [](const Instruction&) { return true; };
  LayeredMlp mlp(3, kSizes);
  ASSERT_OK_AND_ASSIGN(const auto step, mlp.Step(options));
  EXPECT_EQ(CountNeeded(*step->entry(), Opcode::kOptimizationBarrier), 0) << PrintModule(*step);
}

// Two layers share a mask that depends on neither; each has its own noise.
TEST(RematPolicyTest, WhatTwoLayersShareIsKeptAndWhatOneUsesIsItsOwn) {
  Builder b("shared");
  const Value first = b.Parameter(Shape(xla::F32, {8}), "x"),
              seed = b.Parameter(Shape(xla::F32, {8}), "seed");
  const Value shared = b.Unary(Opcode::kSin, seed);
  std::vector<Value> x = {first};
  for (int k = 0; k < 2; ++k) {
    const Value own = b.Unary(Opcode::kCos, b.AddNumber(seed, k));
    x.push_back(b.Multiply(b.Multiply(b.Tanh(x.back()), shared), own));
  }
  const Value loss = b.Sum(x.back(), {0});
  GradientOptions options;
  ASSERT_OK(KeepLayerInputs(*b.computation(), std::vector<const Instruction*>(x.begin(), x.end()), &options));
  ASSERT_OK_AND_ASSIGN(const std::vector<Value> gradients, Gradients(loss, {first}, options, &b));
  ASSERT_OK_AND_ASSIGN(const auto module, b.Build(b.Tuple({loss, gradients[0]})));
  EXPECT_EQ(Count(*module->entry(), Opcode::kSin), 1);
  EXPECT_EQ(Count(*module->entry(), Opcode::kCos), 4);
}

TEST(RematPolicyTest, OfABoundaryInTwoPrecisionsTheSmallerIsKept) {
  Builder b("narrow");
  const Value first = b.Parameter(Shape(xla::F32, {8}), "x");
  const Value wide = b.Unary(Opcode::kSin, first);
  const Value x0 = b.Convert(wide, xla::BF16);
  const Value x1 = b.Unary(Opcode::kCos, b.Tanh(x0));
  b.Sum(b.Convert(x1, xla::F32), {0});
  GradientOptions options;
  ASSERT_OK(KeepLayerInputs(*b.computation(), {x0, x1}, &options));
  EXPECT_TRUE(options.keep(*x0));
  EXPECT_FALSE(options.keep(*x1->operand(0)));
}

TEST(RematPolicyTest, RandomStateIsNeverAdvancedTwice) {
  const std::string noise =
      "zero = f32[] constant(0) one = f32[] constant(1) "
      "r = f32[4] rng(zero, one), distribution=rng_uniform ";
  const auto module =
      MakeModule(noise +
                     "x = f32[4] parameter(0) y = f32[4] multiply(x, r) s = f32[4] sine(y) "
                     "ROOT z = f32[] reduce(s, zero), dimensions={0}, to_apply=sum",
                 "sum { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT s = f32[] add(a, b) }");
  GradientOptions options;
  options.keep = [](const Instruction&) { return false; };
  ASSERT_OK_AND_ASSIGN(const auto gradient, GradientModule(*module, {0}, options));
  EXPECT_EQ(Count(*gradient->entry(), Opcode::kRng), 1);
  const auto called = MakeModule(
      "x = f32[4] parameter(0) s = f32[4] call(x), to_apply=noisy zero = f32[] constant(0) "
      "ROOT z = f32[] reduce(s, zero), dimensions={0}, to_apply=sum",
      absl::StrCat("sum { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT s = f32[] add(a, b) }\n"
                   "noisy { ",
                   noise, " x = f32[4] parameter(0) ROOT y = f32[4] multiply(x, r) }"));
  EXPECT_THAT(GradientModule(*called, {0}, GradientOptions()).status().message(),
              HasSubstr("noisy/r: rng cannot be computed again"));
}

TEST(RematPolicyTest, BoundariesOutOfOrderAndScopesThatDoNotExistAreRefused) {
  LayeredMlp mlp(3, kSizes);
  GradientOptions options;
  EXPECT_THAT(KeepLayerInputs(*mlp.b.computation(), {mlp.x[2], mlp.x[1]}, &options).message(),
              HasSubstr("list them in the order in which they are computed"));
  LayeredMlp other(1, kSizes);
  EXPECT_THAT(KeepLayerInputs(*mlp.b.computation(), {other.x[1]}, &options).message(),
              HasSubstr("must be a value of"));
  EXPECT_THAT(KeepScopeInputs(*mlp.b.computation(), "block", &options).message(),
              HasSubstr("is in a scope whose name begins with 'block'"));
}

TEST(RematPolicyTest, LayersThatNeedEachOtherAreRefused) {
  Builder b("circle");
  Value x = b.Parameter(Shape(xla::F32, {}), "x");
  for (const char* layer : {"layer_0", "layer_1", "layer_0", "layer_2", "layer_1", "layer_0"}) {
    Builder::Scope scope(&b, layer);
    x = b.Tanh(x);
  }
  GradientOptions options;
  EXPECT_THAT(KeepScopeInputs(*b.computation(), "layer_", &options).message(),
              HasSubstr("which ends after it"));
}

}  // namespace
}  // namespace toroid
