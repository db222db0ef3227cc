// BUILD: size = "small"
// Loops, branches and calls; devices that agree and devices that do not.
#include <string>
#include <vector>

#include "absl/strings/substitute.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/engine/executor.h"
#include "runtime/mesh/mesh_buffer.h"
#include "tests/runtime/evaluate.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Doubles x until the counter reaches n.
constexpr char kLoop[] = R"(
sum { a = s32[] parameter(0)
  b = s32[] parameter(1)
  ROOT c = s32[] add(a, b) }
body { s = (s32[], s32[], s32[2]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] get-tuple-element(s), index=1
  x = s32[2] get-tuple-element(s), index=2
  one = s32[] constant(1)
  j = s32[] add(i, one)
  y = s32[2] $0
  ROOT t = (s32[], s32[], s32[2]) tuple(j, n, y) }
condition { s = (s32[], s32[], s32[2]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] get-tuple-element(s), index=1
  ROOT c = pred[] compare(i, n), direction=LT }
)";
constexpr char kEntry[] = R"(
  n = s32[] parameter(0)
  x = s32[2] parameter(1)
  zero = s32[] constant(0)
  s = (s32[], s32[], s32[2]) tuple(zero, n, x)
  w = (s32[], s32[], s32[2]) while(s), condition=condition, body=body
  ROOT y = s32[2] get-tuple-element(w), index=2 )";

std::vector<std::string> Loop(const std::string& step, const std::vector<std::string>& trips,
                              const std::vector<std::string>& x) {
  std::vector<std::vector<Literal>> arguments(2);
  for (const std::string& n : trips) arguments[0].push_back(ParseLiteral("s32[] " + n));
  for (const std::string& v : x) arguments[1].push_back(ParseLiteral("s32[2] " + v));
  return EvaluateOnDevices(kEntry, absl::Substitute(kLoop, step), arguments, 4);
}

TEST(WhileTest, TripCountsMayDiffer) {
  EXPECT_THAT(Loop("add(x, x)", {"0", "3", "1", "3"}, {"{1, 2}", "{1, 2}", "{1, 2}", "{5, 6}"}),
              ElementsAre("{1, 2}", "{8, 16}", "{2, 4}", "{40, 48}"));
  // The value is shared, only the counts differ.
  EXPECT_THAT(Loop("add(x, x)", {"0", "3", "1", "3"}, {"{1, 2}"}),
              ElementsAre("{1, 2}", "{8, 16}", "{2, 4}", "{8, 16}"));
}

constexpr char kReduceInPairs[] =
    "all-reduce(x), to_apply=sum, channel_id=1, use_global_device_ids=true, replica_groups={{0,2},{1,3}}";

TEST(WhileTest, CollectivesRunForGroupsThatAreStillThere) {
  // Devices 0 and 2 loop once, 1 and 3 three times.
  EXPECT_THAT(Loop(kReduceInPairs, {"1", "3", "1", "3"}, {"{1, 1}", "{2, 2}", "{10, 10}", "{20, 20}"}),
              ElementsAre("{11, 11}", "{88, 88}", "{11, 11}", "{88, 88}"));
}

TEST(WhileTest, AGroupThatIsPartlyAwayIsAnError) {
  const std::vector<std::string> result = Loop(kReduceInPairs, {"1", "3", "2", "3"}, {"{1, 1}"});
  ASSERT_EQ(result.size(), 1);
  EXPECT_THAT(result[0], HasSubstr("body/y: device 2 of group {0,2} is here, device 0 is not"));
}

TEST(WhileTest, PermutePairsThatArePartlyAwayAreAnError) {
  const std::vector<std::string> result =
      Loop("collective-permute(x), channel_id=1, source_target_pairs={{0,1},{1,2}}", {"2", "1", "1", "1"},
           {"{1, 1}"});
  ASSERT_EQ(result.size(), 1);
  EXPECT_THAT(result[0], HasSubstr("device 0 of pair {0,1} is here, device 1 is not"));
}

TEST(WhileTest, CachesAreUpdatedInPlace) {
  const auto module = MakeModule(R"(
    cache = f32[262144] parameter(0)
    zero = s32[] constant(0)
    s = (s32[], f32[262144]) tuple(zero, cache)
    w = (s32[], f32[262144]) while(s), condition=condition, body=body
    ROOT y = f32[262144] get-tuple-element(w), index=1 )",
                                 R"(
    body { s = (s32[], f32[262144]) parameter(0)
      i = s32[] get-tuple-element(s), index=0
      cache = f32[262144] get-tuple-element(s), index=1
      u = f32[1] constant({7})
      v = f32[262144] dynamic-update-slice(cache, u, i)
      one = s32[] constant(1)
      j = s32[] add(i, one)
      ROOT t = (s32[], f32[262144]) tuple(j, v) }
    condition { s = (s32[], f32[262144]) parameter(0)
      i = s32[] get-tuple-element(s), index=0
      n = s32[] constant(5)
      ROOT c = pred[] compare(i, n), direction=LT })");
  const Literal cache(Shape(xla::F32, {262144}));
  ASSERT_OK_AND_ASSIGN(MeshValue argument, MeshValue::Uniform(cache, 1));
  RunOptions options;
  // Memory for the argument alone: any copy of it would be refused.
  options.max_bytes = MeshBuffer::LiveBytes() + 1000;
  std::vector<MeshValue> arguments;
  arguments.push_back(std::move(argument));
  ASSERT_OK_AND_ASSIGN(const MeshValue result, RunModule(*module, std::move(arguments), options));
  EXPECT_EQ(result.ToLiteral(0).data<float>()[4], 7);
  EXPECT_EQ(result.ToLiteral(0).data<float>()[5], 0);
}

constexpr char kBranches[] = R"(
sum { a = s32[] parameter(0)
  b = s32[] parameter(1)
  ROOT c = s32[] add(a, b) }
negative { x = s32[] parameter(0)
  ROOT y = s32[] negate(x) }
reduced { x = s32[] parameter(0)
  ROOT y = s32[] all-reduce(x), to_apply=sum, channel_id=1, use_global_device_ids=true, replica_groups={{0,1},{2,3}} }
same { ROOT x = s32[] parameter(0) }
)";

std::vector<std::string> Branch(const std::vector<std::string>& indices) {
  std::vector<std::vector<Literal>> arguments(2);
  for (const std::string& i : indices) arguments[0].push_back(ParseLiteral("s32[] " + i));
  for (const std::string x : {"1", "2", "3", "4"}) arguments[1].push_back(ParseLiteral("s32[] " + x));
  return EvaluateOnDevices(
      "i = s32[] parameter(0) x = s32[] parameter(1) "
      "ROOT y = s32[] conditional(i, x, x, x), branch_computations={negative, reduced, same}",
      kBranches, arguments, 4);
}

TEST(ConditionalTest, IndicesOutOfRangeTakeTheLastBranch) {
  EXPECT_THAT(Branch({"0"}), ElementsAre("-1", "-2", "-3", "-4"));
  EXPECT_THAT(Branch({"-1"}), ElementsAre("1", "2", "3", "4"));
  EXPECT_THAT(Branch({"3"}), ElementsAre("1", "2", "3", "4"));
}

TEST(ConditionalTest, DevicesThatAgreeRunTogether) {
  EXPECT_THAT(Branch({"0", "2", "0", "9"}), ElementsAre("-1", "2", "-3", "4"));
  EXPECT_THAT(Branch({"1", "1", "0", "2"}), ElementsAre("3", "3", "-3", "4"));
  const std::vector<std::string> result = Branch({"1", "0", "1", "1"});
  ASSERT_EQ(result.size(), 1);
  EXPECT_THAT(result[0], HasSubstr("reduced/y: device 0 of group {0,1} is here, device 1 is not"));
}

TEST(ConditionalTest, PredicateTrueIsBranchZero) {
  EXPECT_EQ(Evaluate("p = pred[] constant(true) x = s32[] constant(5) "
                     "ROOT y = s32[] conditional(p, x, x), true_computation=negative, false_computation=same",
                     kBranches),
            "-5");
}

TEST(CallTest, ErrorsNameTheInstructionThatFailed) {
  EXPECT_THAT(
      Evaluate(
          "x = s32[] constant(1) ROOT y = s32[] call(x), to_apply=f",
          "f { x = s32[] parameter(0) ROOT bad = s32[] custom-call(x), custom_call_target=\"mystery\" }"),
      HasSubstr("f/bad: custom-call target \"mystery\" cannot run here"));
}

TEST(ArgumentTest, MustMatchTheParameters) {
  const auto module = MakeModule("ROOT x = s32[2] parameter(0)");
  EXPECT_THAT(RunSingle(*module, {ParseLiteral("s32[3] {1, 2, 3}")}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("takes s32[2], argument 0 is s32[3]")));
  EXPECT_THAT(RunSingle(*module, {}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("takes 1 arguments")));
}

}  // namespace
}  // namespace toroid
