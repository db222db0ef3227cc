// BUILD: size = "small"
// Single rules of differentiation: what is kept, rejected and left out.
#include "hlo/gradient/gradient.h"

#include "gmock/gmock.h"
#include "hlo/builder/builder.h"
#include "hlo/gradient/sweep/pullback.h"
#include "hlo/io/hlo_text.h"
#include "hlo/ops/verify_module.h"
#include "partitioner/rewrite/poison_padding.h"
#include "runtime/engine/executor.h"
#include "tests/partition_and_run.h"
#include "tests/runtime/evaluate.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::HasSubstr;

// The derivative of the first result by the first parameter, as text.
std::string Derivative(const std::string& body, const std::vector<Literal>& arguments,
                       const GradientOptions& options = GradientOptions(),
                       const std::string& computations = "") {
  const auto module = MakeModule(body, computations);
  const auto gradient = GradientModule(*module, {0}, options);
  if (!gradient.ok()) return std::string(gradient.status().message());
  const absl::Status verified = VerifyModule(**gradient);
  if (!verified.ok()) return std::string(verified.message());
  const auto result = RunSingle(**gradient, arguments);
  return result.ok() ? ToText(result->element(1)) : std::string(result.status().message());
}

Literal Scalar(float x) { return Literal::Scalar<float>(x); }

TEST(GradientTest, SeveralUsesAddUp) {
  EXPECT_EQ(Derivative("x = f32[] parameter(0) y = f32[] multiply(x, x) ROOT z = f32[] multiply(y, x)",
                       {Scalar(2)}),
            "12");
}

TEST(GradientTest, WhatDoesNotDependIsZero) {
  EXPECT_EQ(Derivative("x = f32[] parameter(0) y = f32[] parameter(1) ROOT z = f32[] exponential(y)",
                       {Scalar(2), Scalar(0)}),
            "0");
}

TEST(GradientTest, IntegersAreRefused) {
  EXPECT_THAT(Derivative("x = s32[2] parameter(0) ROOT z = f32[] constant(1)", {}),
              HasSubstr("main/x: no derivatives by s32[2]"));
  EXPECT_THAT(Derivative("x = f32[] parameter(0) ROOT z = s32[] convert(x)", {}),
              HasSubstr("a real scalar, this is s32[]"));
}

TEST(GradientTest, OpsWithoutGradientsAreNamed) {
  EXPECT_THAT(Derivative("x = f32[] parameter(0) y = f32[] custom-call(x), custom_call_target=\"mystery\" "
                         "ROOT z = f32[] negate(y)",
                         {}),
              HasSubstr("main/y: custom-call has no gradient; stop the gradient"));
}

TEST(GradientTest, LoopsOfUnknownLengthAreNamed) {
  EXPECT_THAT(
      Derivative(
          "x = f32[] parameter(0) ROOT w = f32[] while(x), condition=small, body=grow", {Scalar(1)},
          GradientOptions(),
          "small { x = f32[] parameter(0) n = f32[] constant(9) ROOT c = pred[] compare(x, n), direction=LT }\n"
          "grow { x = f32[] parameter(0) ROOT y = f32[] add(x, x) }"),
      HasSubstr("main/w: the number of trips"));
}

TEST(GradientTest, ParametersAndLeavesThatDoNotExistAreRefused) {
  const auto module = MakeModule("ROOT x = f32[] parameter(0)");
  EXPECT_THAT(GradientModule(*module, {1}, GradientOptions()).status().message(),
              HasSubstr("no parameter 1"));
  EXPECT_THAT(GradientModule(*module, {0}, GradientOptions(), 1).status().message(), HasSubstr("no leaf 1"));
}

TEST(GradientTest, NothingFlowsThroughWhatIsStopped) {
  const auto module =
      MakeModule("x = f32[] parameter(0) y = f32[] multiply(x, x) ROOT z = f32[] multiply(y, x)");
  GradientOptions options;
  options.stopped.insert(module->entry()->instruction(1));
  ASSERT_OK_AND_ASSIGN(const auto gradient, GradientModule(*module, {0}, options));
  ASSERT_OK_AND_ASSIGN(const Literal result, RunSingle(*gradient, {Scalar(2)}));
  EXPECT_EQ(ToText(result.element(1)), "4");
}

TEST(GradientTest, TheCallersRuleWins) {
  const auto module = MakeModule("x = f32[] parameter(0) y = f32[] floor(x) ROOT z = f32[] multiply(y, y)");
  GradientOptions options;  // A straight-through estimator.
  options.custom[module->entry()->instruction(1)] = [](Pullback& p) {
    p.Add(0, p.cotangent());
    return absl::OkStatus();
  };
  ASSERT_OK_AND_ASSIGN(const auto gradient, GradientModule(*module, {0}, options));
  ASSERT_OK_AND_ASSIGN(const Literal result, RunSingle(*gradient, {Scalar(2.5)}));
  EXPECT_EQ(ToText(result.element(1)), "4");
}

// tanh(x w), added to the result of a scan over layers: has every kind of value that a policy may keep.
constexpr char kBody[] = R"(
  body { s = (s32[], f32[4,4], f32[4,4]) parameter(0)
   i = s32[] get-tuple-element(s), index=0
   one = s32[] constant(1)
   j = s32[] add(i, one)
   x = f32[4,4] get-tuple-element(s), index=1
   w = f32[4,4] get-tuple-element(s), index=2
   d = f32[4,4] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
   y = f32[4,4] tanh(d)
   ROOT t = (s32[], f32[4,4], f32[4,4]) tuple(j, y, w) }
  condition { s = (s32[], f32[4,4], f32[4,4]) parameter(0)
   i = s32[] get-tuple-element(s), index=0
   n = s32[] constant(3)
   ROOT c = pred[] compare(i, n), direction=LT }
  sum { a = f32[] parameter(0)
   b = f32[] parameter(1)
   ROOT s = f32[] add(a, b) })";
constexpr char kEntry[] = R"(
   x = f32[4,4] parameter(0), sharding={devices=[2,1,2]<=[4] last_tile_dim_replicate}
   w = f32[4,4] parameter(1), sharding={devices=[1,2,2]<=[2,2]T(1,0) last_tile_dim_replicate}
   z = s32[] constant(0)
   t = (s32[], f32[4,4], f32[4,4]) tuple(z, x, w)
   l = (s32[], f32[4,4], f32[4,4]) while(t), condition=condition, body=body
   y = f32[4,4] get-tuple-element(l), index=1
   d = f32[4,4] dot(y, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
   e = f32[4,4] exponential(d)
   zero = f32[] constant(0)
   ROOT r = f32[] reduce(e, zero), dimensions={0,1}, to_apply=sum)";

std::vector<Literal> Arguments() {
  std::vector<Literal> arguments(2, Literal(Shape(xla::F32, {4, 4})));
  for (int k = 0; k < 2; ++k) {
    for (int i = 0; i < 16; ++i)
      arguments[k].mutable_data<float>()[i] = 0.1f * static_cast<float>((7 * i + 3 * k) % 11 - 5);
  }
  return arguments;
}

void ExpectNear(const Literal& actual, const Literal& expected) {
  for (int leaf = 0; leaf < 3; ++leaf) {
    const auto a = actual.element(leaf).data<float>(), e = expected.element(leaf).data<float>();
    ASSERT_EQ(a.size(), e.size());
    for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], e[i], 1e-5 * std::max(1.0f, std::abs(e[i])));
  }
}

TEST(GradientTest, WhatIsKeptChangesNoValue) {
  const auto module = MakeModule(kEntry, kBody);
  ASSERT_OK_AND_ASSIGN(const auto all, GradientModule(*module, {0, 1}, GradientOptions()));
  ASSERT_OK_AND_ASSIGN(const Literal expected, RunSingle(*all, Arguments()));
  const std::function<bool(const Instruction&)> policies[] = {
      [](const Instruction&) { return false; }, [](const Instruction&) { return true; },
      [](const Instruction& value) { return value.opcode() == Opcode::kDot; }};
  for (const auto& keep : policies) {
    GradientOptions options;
    options.keep = keep;
    ASSERT_OK_AND_ASSIGN(const auto gradient, GradientModule(*module, {0, 1}, options));
    ASSERT_OK(VerifyModule(*gradient));
    ASSERT_OK_AND_ASSIGN(const Literal actual, RunSingle(*gradient, Arguments()));
    ExpectNear(actual, expected);
  }
}

TEST(GradientTest, CutGradientsAreThoseOfTheWhole) {
  const auto module = MakeModule(kEntry, kBody);
  ASSERT_OK_AND_ASSIGN(const auto gradient, GradientModule(*module, {0, 1}, GradientOptions()));
  ASSERT_OK_AND_ASSIGN(const Literal expected, RunSingle(*gradient, Arguments()));
  for (const bool reordered : {false, true}) {
    PartitionOptions options;
    if (reordered) options.device_order_seed = 5;
    options.on_local_value = PoisonPadding;
    ASSERT_OK_AND_ASSIGN(const Literal actual, PartitionAndRun(*gradient, options, Arguments()));
    ExpectNear(actual, expected);
  }
}

TEST(GradientTest, ACotangentLiesAsItsValueDoes) {
  const auto module = MakeModule(
      "x = f32[8] parameter(0), sharding={devices=[4]<=[4]} y = f32[8] negate(x) "
      "i = f32[] constant(0) ROOT r = f32[] reduce(y, i), dimensions={0}, to_apply=sum",
      "sum { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT s = f32[] add(a, b) }");
  ASSERT_OK_AND_ASSIGN(const auto gradient, GradientModule(*module, {0}, GradientOptions()));
  const Instruction& of_x = *gradient->entry()->root()->operand(1);
  ASSERT_NE(of_x.sharding(), nullptr) << PrintModule(*gradient);
  EXPECT_EQ(of_x.sharding()->tile_assignment_devices_size() + of_x.sharding()->iota_reshape_dims_size(), 1);
}

}  // namespace
}  // namespace toroid
