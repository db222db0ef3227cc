// BUILD: size = "small"
// Arrays with dynamic dimensions: every op computes on the valid part, whatever the rest holds.
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/engine/executor.h"
#include "tests/runtime/evaluate.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// d = f32[<=4] {1, 2, 3 | nan}.
const char kLine[] =
    "x = f32[4] constant({1, 2, 3, nan}) n = s32[] constant(3) d = f32[<=4] set-dimension-size(x, n), "
    "dimensions={0} "
    "zero = f32[] constant(0) ";
// m = f32[<=3,2] {{1, 2}, {3, 4} | {nan, nan}}.
const char kMatrix[] =
    "y = f32[3,2] constant({{1, 2}, {3, 4}, {nan, nan}}) two = s32[] constant(2) "
    "m = f32[<=3,2] set-dimension-size(y, two), dimensions={0} zero = f32[] constant(0) ";

std::string OnLine(const std::string& rest, const std::string& computations = "") {
  return Evaluate(kLine + rest, computations);
}
std::string OnMatrix(const std::string& rest, const std::string& computations = "") {
  return Evaluate(kMatrix + rest, computations);
}

TEST(DynamicShapesTest, ResultsAreTheValidPart) {
  EXPECT_EQ(OnLine("ROOT r = f32[<=4] negate(d)"), "{-1, -2, -3}");
  EXPECT_EQ(OnLine("ROOT r = s32[] get-dimension-size(d), dimensions={0}"), "3");
  EXPECT_EQ(
      Evaluate("x = f32[4] constant({1, 2, 3, 4}) ROOT r = s32[] get-dimension-size(x), dimensions={0}"),
      "4");
}

TEST(DynamicShapesTest, StaticOperandsAreCutToTheRunTimeSize) {
  EXPECT_EQ(OnLine("ROOT r = f32[<=4] add(d, x)"), "{2, 4, 6}");
  EXPECT_EQ(OnLine("p = pred[4] constant({1, 0, 1, 0}) ROOT r = f32[<=4] select(p, d, x)"), "{1, 2, 3}");
  EXPECT_EQ(OnLine("ROOT r = f32[] dot(d, x), lhs_contracting_dims={0}, rhs_contracting_dims={0}"), "14");
}

TEST(DynamicShapesTest, ReductionsIgnoreTheRestAndInitEntersOnce) {
  EXPECT_EQ(OnLine("five = f32[] constant(5) ROOT r = f32[] reduce(d, five), dimensions={0}, to_apply=add",
                   ReducerText("add", "f32", "add")),
            "11");
  EXPECT_EQ(OnMatrix("ROOT r = f32[2] reduce(m, zero), dimensions={0}, to_apply=add",
                     ReducerText("add", "f32", "add")),
            "{4, 6}");
  EXPECT_EQ(OnMatrix("ROOT r = f32[<=3] reduce(m, zero), dimensions={1}, to_apply=add",
                     ReducerText("add", "f32", "add")),
            "{3, 7}");
}

TEST(DynamicShapesTest, WindowsEndWhereTheValidPartEnds) {
  EXPECT_EQ(OnLine("ROOT r = f32[<=4] reduce-window(d, zero), window={size=3 pad=1_1}, to_apply=add",
                   ReducerText("add", "f32", "add")),
            "{3, 6, 5}");
  EXPECT_EQ(
      OnLine("l = f32[1,1,<=4] reshape(d) w = f32[1,1,2] constant({{{1, 10}}}) "
             "ROOT r = f32[1,1,<=4] convolution(l, w), window={size=2 pad=0_1}, dim_labels=bf0_oi0->bf0"),
      "{ { { 21, 32, 3 } } }");
}

TEST(DynamicShapesTest, DotsContractTheValidPart) {
  EXPECT_EQ(OnMatrix("ROOT r = f32[2,2] dot(m, m), lhs_contracting_dims={0}, rhs_contracting_dims={0}"),
            "{ { 10, 14 }, { 14, 20 } }");
  EXPECT_EQ(
      OnMatrix("w = f32[2,1] constant({{1}, {1}}) ROOT r = f32[<=3,1] dot(m, w), lhs_contracting_dims={1}, "
               "rhs_contracting_dims={0}"),
      "{ {3}, {7} }");
}

TEST(DynamicShapesTest, MovementOfValidParts) {
  EXPECT_EQ(OnLine("ROOT r = f32[<=8] concatenate(d, d), dimensions={0}"), "{1, 2, 3, 1, 2, 3}");
  EXPECT_EQ(OnLine("ROOT r = f32[<=4] reverse(d), dimensions={0}"), "{3, 2, 1}");
  EXPECT_EQ(OnLine("ROOT r = f32[<=5] pad(d, zero), padding=1_0"), "{0, 1, 2, 3}");
  EXPECT_EQ(OnLine("ROOT r = f32[<=4,2] broadcast(d), dimensions={0}"), "{ { 1, 1 }, { 2, 2 }, { 3, 3 } }");
  EXPECT_EQ(OnMatrix("ROOT r = f32[2,<=3] transpose(m), dimensions={1,0}"), "{ { 1, 3 }, { 2, 4 } }");
  EXPECT_EQ(OnMatrix("ROOT r = f32[<=6] reshape(m)"), "{1, 2, 3, 4}");
}

TEST(DynamicShapesTest, StaticSlicesKeepToTheBound) {
  EXPECT_EQ(OnLine("ROOT r = f32[2] slice(d), slice={[0:2]}"), "{1, 2}");
  EXPECT_EQ(OnLine("ROOT r = f32[<=3] slice(d), slice={[1:4]}"), "{2, 3}");
  EXPECT_EQ(OnLine("i = s32[] constant(1) ROOT r = f32[2] dynamic-slice(d, i), dynamic_slice_sizes={2}"),
            "{2, 3}");
}

TEST(DynamicShapesTest, SortsAndSelectsAmongValidElements) {
  EXPECT_EQ(
      OnLine(
          "ROOT r = f32[<=4] sort(d), dimensions={0}, to_apply=gt",
          "gt { a = f32[] parameter(0) b = f32[] parameter(1) ROOT p = pred[] compare(a, b), direction=GT }"),
      "{3, 2, 1}");
  EXPECT_EQ(OnLine("ROOT r = (f32[2], s32[2]) topk(d), k=2, largest=true"), "( {3, 2}, {2, 1} )");
}

TEST(DynamicShapesTest, SizesTravelThroughTuplesLoopsAndBranches) {
  // Each round drops the last valid element.
  const std::string loop =
      "body { t = (f32[<=4]) parameter(0) d = f32[<=4] get-tuple-element(t), index=0 n = s32[] "
      "get-dimension-size(d), "
      "dimensions={0} one = s32[] constant(1) k = s32[] subtract(n, one) e = f32[<=4] set-dimension-size(d, "
      "k), dimensions={0} "
      "ROOT r = (f32[<=4]) tuple(e) }\n"
      "cond { t = (f32[<=4]) parameter(0) d = f32[<=4] get-tuple-element(t), index=0 n = s32[] "
      "get-dimension-size(d), "
      "dimensions={0} one = s32[] constant(1) ROOT p = pred[] compare(n, one), direction=GT }\n";
  EXPECT_EQ(OnLine("t = (f32[<=4]) tuple(d) w = (f32[<=4]) while(t), condition=cond, body=body "
                   "ROOT r = f32[<=4] get-tuple-element(w), index=0",
                   loop),
            "{1}");
}

TEST(DynamicShapesTest, DevicesMayDifferInSize) {
  const auto sums = EvaluateOnDevices(
      "x = s32[3] constant({1, 2, 4}) i = u32[] partition-id() n = s32[] convert(i) "
      "d = s32[<=3] set-dimension-size(x, n), dimensions={0} z = s32[] constant(0) "
      "s = s32[] reduce(d, z), dimensions={0}, to_apply=add e = s32[<=3] add(d, d) ROOT t = (s32[], "
      "s32[<=3]) tuple(s, e)",
      ReducerText("add", "s32", "add"), {}, 4);
  EXPECT_THAT(sums, ElementsAre("( 0, {} )", "( 1, {2} )", "( 3, {2, 4} )", "( 7, {2, 4, 8} )"));
}

TEST(DynamicShapesTest, DynamicReshapeCompactsAndChecksCounts) {
  EXPECT_EQ(OnMatrix("four = s32[] constant(4) one = s32[] constant(1) ROOT r = f32[<=6,1] "
                     "dynamic-reshape(m, four, one)"),
            "{ {1}, {2}, {3}, {4} }");
  EXPECT_THAT(OnMatrix("three = s32[] constant(3) one = s32[] constant(1) ROOT r = f32[<=6,1] "
                       "dynamic-reshape(m, three, one)"),
              HasSubstr("the element counts differ"));
}

TEST(DynamicShapesTest, HelpersBetweenStaticAndDynamic) {
  EXPECT_EQ(OnLine("p = (f32[4], s32[]) custom-call(d), custom_call_target=\"PadToStatic\" "
                   "ROOT r = s32[] get-tuple-element(p), index=1"),
            "3");
  EXPECT_EQ(
      OnLine(
          "k = s32[] constant(2) ROOT r = f32[<=4] custom-call(x, k), custom_call_target=\"SliceToDynamic\""),
      "{1, 2}");
}

TEST(DynamicShapesTest, ArgumentsMayHaveTheRunTimeSize) {
  const auto module =
      MakeModule("x = s32[<=4] parameter(0) ROOT r = s32[] get-dimension-size(x), dimensions={0}");
  ASSERT_OK_AND_ASSIGN(const Literal size, RunSingle(*module, {ParseLiteral("s32[2] {7, 8}")}));
  EXPECT_EQ(ToText(size), "2");
  EXPECT_FALSE(RunSingle(*module, {ParseLiteral("s32[5] {1, 2, 3, 4, 5}")}).ok());
}

TEST(DynamicShapesTest, SizesThatDoNotFitAreErrors) {
  EXPECT_THAT(OnLine("k = s32[] constant(5) ROOT r = f32[<=4] set-dimension-size(x, k), dimensions={0}"),
              HasSubstr("run-time size 5 of dimension 0"));
  EXPECT_THAT(OnLine("k = s32[] constant(2) e = f32[<=4] set-dimension-size(x, k), dimensions={0} ROOT r = "
                     "f32[<=4] add(d, e)"),
              HasSubstr("run-time sizes 3 and 2"));
}

TEST(DynamicShapesTest, CollectivesKeepEqualSizes) {
  const std::string start =
      "x = s32[3] constant({1, 2, 3}) i = u32[] partition-id() k = s32[] convert(i) two = s32[] constant(2) ";
  const std::string reduce =
      "ROOT r = s32[<=3] all-reduce(d), replica_groups={{0,1}}, channel_id=1, use_global_device_ids=true, "
      "to_apply=add";
  EXPECT_THAT(EvaluateOnDevices(start + "d = s32[<=3] set-dimension-size(x, two), dimensions={0} " + reduce,
                                ReducerText("add", "s32", "add"), {}, 2),
              ElementsAre("{2, 4}", "{2, 4}"));
  EXPECT_THAT(EvaluateOnDevices(start + "d = s32[<=3] set-dimension-size(x, k), dimensions={0} " + reduce,
                                ReducerText("add", "s32", "add"), {}, 2),
              ElementsAre(HasSubstr("differ between devices")));
}

}  // namespace
}  // namespace toroid
