// BUILD: size = "small"
// Which steps become groups, as the plan's text says.
#include "runtime/groups/form_groups.h"

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/engine/executor.h"
#include "tests/runtime/evaluate.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string PlanOf(const std::string& body) {
  const std::unique_ptr<Module> module =
      MakeModule(body, ReducerText("add", "f32", "add") + ReducerText("max", "f32", "maximum"));
  const auto executor = Executor::Create(*module);
  EXPECT_OK(executor);
  return (*executor)->PlanText();
}

// The kinds of the entry's steps, which the plan's text begins with.
std::vector<std::string> StepsOf(const std::string& body) {
  std::vector<std::string> kinds;
  const std::vector<std::string> lines = absl::StrSplit(PlanOf(body), '\n');
  for (size_t i = 2; i < lines.size() && absl::StartsWith(lines[i], " "); ++i) {
    const absl::string_view line = lines[i];
    if (line.substr(0, 2) != "  " || line.substr(0, 3) == "   ") continue;
    kinds.emplace_back(line.substr(2, line.find("  ", 2) - 2));
  }
  return kinds;
}

TEST(FormGroupsTest, ASoftmaxIsOneGroup) {
  const std::string body =
      "x = f32[8,512] parameter(0) z = f32[] constant(0) m = f32[8] reduce(x, z), dimensions={1}, to_apply=max "
      "mb = f32[8,512] broadcast(m), dimensions={0} d = f32[8,512] subtract(x, mb) e = f32[8,512] exponential(d) "
      "s = f32[8] reduce(e, z), dimensions={1}, to_apply=add sb = f32[8,512] broadcast(s), dimensions={0} "
      "ROOT y = f32[8,512] divide(e, sb)";
  EXPECT_THAT(StepsOf(body), ElementsAre("group of 5"));
  EXPECT_THAT(PlanOf(body), HasSubstr("reads 16.4 kB, writes 16.4 kB"));
}

TEST(FormGroupsTest, AGroupDoesNotWaitForItself) {
  // The sum needs the product, and the product the array that the sum reads.
  EXPECT_THAT(StepsOf("x = f32[16,16] parameter(0) a = f32[16,16] negate(x) "
                      "d = f32[16,16] dot(a, a), lhs_contracting_dims={1}, rhs_contracting_dims={0} "
                      "b = f32[16,16] abs(a) c = f32[16,16] add(b, d) ROOT e = f32[16,16] add(c, x)"),
              ElementsAre("group of 2", "dot", "group of 2"));
}

TEST(FormGroupsTest, GroupsOfTwoOperandsMerge) {
  EXPECT_THAT(
      StepsOf("x = f32[64] parameter(0) y = f32[64] parameter(1) a = f32[64] sine(x) b = f32[64] cosine(y) "
              "c = f32[64] add(a, b) ROOT t = (f32[64], f32[64]) tuple(a, c)"),
      ElementsAre("group of 3", "tuple"));
}

TEST(FormGroupsTest, ASumOverLinesEndsAGroup) {
  EXPECT_THAT(StepsOf("x = f32[64,32] parameter(0) z = f32[] constant(0) a = f32[64,32] multiply(x, x) "
                      "s = f32[32] reduce(a, z), dimensions={0}, to_apply=add "
                      "b = f32[64,32] broadcast(s), dimensions={1} ROOT y = f32[64,32] subtract(x, b)"),
              ElementsAre("group of 2", "group of 1"));
}

TEST(FormGroupsTest, SumsOfOneArrayReadItOnce) {
  const std::string sums =
      "x = f32[64,32] parameter(0) z = f32[] constant(0) s = f32[32] reduce(x, z), dimensions={0}, to_apply=add "
      "a = f32[64,32] multiply(x, x) q = f32[32] reduce(a, z), dimensions={0}, to_apply=add ";
  EXPECT_THAT(StepsOf(sums + "ROOT y = f32[32] add(s, q)"), ElementsAre("group of 3", "group of 1"));
  EXPECT_THAT(PlanOf(sums + "ROOT y = f32[32] add(s, q)"), HasSubstr("reads 8.2 kB, writes 256 B"));
  // Two that are alone.
  EXPECT_THAT(StepsOf("x = f32[64,32] parameter(0) z = f32[] constant(0) "
                      "s = f32[32] reduce(x, z), dimensions={0}, to_apply=add "
                      "m = f32[32] reduce(x, z), dimensions={0}, to_apply=max ROOT y = f32[32] add(s, m)"),
              ElementsAre("group of 2", "group of 1"));
  // The group that reads the array needs the sum.
  EXPECT_THAT(StepsOf("x = f32[64,32] parameter(0) z = f32[] constant(0) "
                      "s = f32[32] reduce(x, z), dimensions={0}, to_apply=add "
                      "b = f32[64,32] broadcast(s), dimensions={1} ROOT y = f32[64,32] subtract(x, b)"),
              ElementsAre("group of 1", "group of 1"));
  // One sums lines, the other rows of another length.
  EXPECT_THAT(StepsOf("x = f32[64,32] parameter(0) z = f32[] constant(0) r = f32[2048] reshape(x) "
                      "s = f32[32] reduce(x, z), dimensions={0}, to_apply=add "
                      "m = f32[] reduce(r, z), dimensions={0}, to_apply=max "
                      "b = f32[32] broadcast(m), dimensions={} ROOT y = f32[32] add(s, b)"),
              ElementsAre("reshape", "group of 1", "reduce", "group of 1"));
}

TEST(FormGroupsTest, BroadcastsAndSlicesAreReadWhereTheyAre) {
  EXPECT_THAT(
      StepsOf(
          "x = f32[32] parameter(0) y = f32[66,40] parameter(1) b = f32[64,32] broadcast(x), dimensions={1} "
          "s = f32[64,32] slice(y), slice={[2:66],[0:32]} ROOT a = f32[64,32] add(b, s)"),
      ElementsAre("group of 1"));
  // A product reads the broadcast too, so it is written for it.
  EXPECT_THAT(StepsOf("x = f32[32] parameter(0) b = f32[32,32] broadcast(x), dimensions={1} "
                      "d = f32[32,32] dot(b, b), lhs_contracting_dims={1}, rhs_contracting_dims={0} "
                      "ROOT a = f32[32,32] add(b, d)"),
              ElementsAre("broadcast", "dot", "group of 1"));
}

TEST(FormGroupsTest, CallsArePartOfTheirCaller) {
  const std::unique_ptr<Module> module = MakeModule(
      "x = f32[64] parameter(0) a = f32[64] negate(x) c = f32[64] call(a), to_apply=f ROOT y = f32[64] sine(c)",
      "f { p = f32[64] parameter(0) ROOT q = f32[64] cosine(p) }\n");
  ASSERT_OK_AND_ASSIGN(const auto executor, Executor::Create(*module));
  EXPECT_THAT(executor->PlanText(), HasSubstr("3 instructions in 1 step;"));
}

TEST(RunProfileTest, EveryStepHasARowWithItsBytes) {
  const std::unique_ptr<Module> module = MakeModule(
      "x = f32[1000] parameter(0) a = f32[1000] negate(x) b = f32[1000] sine(a) "
      "s = f32[1000] reverse(b), dimensions={0} ROOT t = (f32[1000], f32[1000]) tuple(s, b)");
  ASSERT_OK_AND_ASSIGN(const auto executor, Executor::Create(*module));
  RunProfile profile;
  RunOptions options;
  options.profile = &profile;
  ASSERT_OK_AND_ASSIGN(MeshValue x, MeshValue::Uniform(Literal(Shape(xla::F32, {1000})), 1));
  std::vector<MeshValue> arguments;
  arguments.push_back(std::move(x));
  ASSERT_OK(executor->Run(std::move(arguments), options));
  ASSERT_EQ(profile.rows.size(), 3);
  ASSERT_EQ(profile.events.size(), 3);
  for (const RunProfile::Row& row : profile.rows) {
    EXPECT_EQ(row.calls, 1);
    if (row.kind == "group of 2") {
      EXPECT_EQ(row.bytes, 8000);
      EXPECT_EQ(row.name, "a .. b");
    }
  }
  EXPECT_THAT(ProfileText(profile, {1e9, 1e9}, 120), HasSubstr("a .. b"));
  EXPECT_THAT(TraceJson(profile), HasSubstr("\"traceEvents\""));
}

}  // namespace
}  // namespace toroid
