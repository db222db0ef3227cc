// BUILD: size = "small"
// Collectives on small meshes: the result on each device.
#include <string>
#include <vector>

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

std::vector<Literal> Values(const std::string& shape, const std::vector<std::string>& values) {
  std::vector<Literal> literals;
  for (const std::string& value : values) literals.push_back(ParseLiteral(shape + " " + value));
  return literals;
}

// Runs `op` on one s32[2] per device, {10 d, 10 d + 1} on device d.
std::vector<std::string> OnDevices(const std::string& op, int64_t partitions, int64_t replicas = 1) {
  std::vector<std::string> values;
  for (int64_t d = 0; d < partitions * replicas; ++d)
    values.push_back(absl::StrCat("{", 10 * d, ", ", 10 * d + 1, "}"));
  return EvaluateOnDevices("x = s32[2] parameter(0) ROOT y = " + op, ReducerText("sum", "s32", "add"),
                           {Values("s32[2]", values)}, partitions, replicas);
}

TEST(AllReduceTest, GroupsOfDifferentSizes) {
  EXPECT_THAT(OnDevices("s32[2] all-reduce(x), to_apply=sum, channel_id=1, use_global_device_ids=true, "
                        "replica_groups={{2,0},{1},{3,4}}",
                        5),
              ElementsAre("{20, 22}", "{10, 11}", "{20, 22}", "{70, 72}", "{70, 72}"));
}

TEST(AllReduceTest, GroupModes) {
  // Two replicas of three partitions: device = 3 r + p.
  EXPECT_THAT(OnDevices("s32[2] all-reduce(x), to_apply=sum, replica_groups={}", 3, 2),
              ElementsAre("{30, 32}", "{50, 52}", "{70, 72}", "{30, 32}", "{50, 52}", "{70, 72}"));
  EXPECT_THAT(OnDevices("s32[2] all-reduce(x), to_apply=sum, channel_id=1, replica_groups={{0},{1}}", 3, 2),
              ElementsAre("{30, 33}", "{30, 33}", "{30, 33}", "{120, 123}", "{120, 123}", "{120, 123}"));
}

TEST(AllReduceTest, IotaAndMeshGroups) {
  EXPECT_THAT(OnDevices("s32[2] all-reduce(x), to_apply=sum, channel_id=1, use_global_device_ids=true, "
                        "replica_groups=[2,2]<=[2,2]T(1,0)",
                        4),
              ElementsAre("{20, 22}", "{40, 42}", "{20, 22}", "{40, 42}"));
  EXPECT_THAT(OnDevices("s32[2] all-reduce(x), to_apply=sum, channel_id=1, use_global_device_ids=true, "
                        "replica_groups=mesh['a'=2,'b'=2] {'a'}",
                        4),
              ElementsAre("{20, 22}", "{40, 42}", "{20, 22}", "{40, 42}"));
}

TEST(AllReduceTest, SharedValuesCountOncePerDevice) {
  EXPECT_THAT(
      EvaluateOnDevices("x = s32[] constant(3) ROOT y = s32[] all-reduce(x), to_apply=sum, channel_id=1, "
                        "use_global_device_ids=true, replica_groups={{0,1,2},{3}}",
                        ReducerText("sum", "s32", "add"), {}, 4),
      ElementsAre("9", "9", "9", "3"));
}

TEST(AllReduceTest, BodiesOfSeveralOps) {
  EXPECT_THAT(
      EvaluateOnDevices("x = s32[2] parameter(0) ROOT y = s32[2] all-reduce(x), to_apply=f, channel_id=1, "
                        "use_global_device_ids=true, replica_groups={{0,1,2}}",
                        "f { a = s32[] parameter(0) b = s32[] parameter(1) c = s32[] add(a, b) "
                        "m = s32[] constant(7) ROOT d = s32[] remainder(c, m) }",
                        {Values("s32[2]", {"{5, 6}", "{4, 4}", "{6, 1}"})}, 3),
      ElementsAre("{1, 4}", "{1, 4}", "{1, 4}"));
}

TEST(AllReduceTest, NarrowFloatsAreRoundedOnce) {
  EXPECT_THAT(
      EvaluateOnDevices("x = bf16[] parameter(0) ROOT y = bf16[] all-reduce(x), to_apply=sum, channel_id=1, "
                        "use_global_device_ids=true, replica_groups={{0,1,2}}",
                        ReducerText("sum", "bf16", "add"), {Values("bf16[]", {"256", "1", "1"})}, 3),
      ElementsAre("258", "258", "258"));
}

TEST(AllReduceTest, SeveralOperandsAndStartDone) {
  EXPECT_THAT(
      OnDevices("(s32[2], s32[2]) all-reduce(x, x), to_apply=sum, channel_id=1, use_global_device_ids=true, "
                "replica_groups={{0,1}}",
                2),
      ElementsAre("( {10, 12}, {10, 12} )", "( {10, 12}, {10, 12} )"));
  EXPECT_THAT(
      EvaluateOnDevices("x = s32[] parameter(0) s = s32[] all-reduce-start(x), to_apply=sum, channel_id=1, "
                        "use_global_device_ids=true, replica_groups={{0,1}} "
                        "ROOT y = s32[] all-reduce-done(s)",
                        ReducerText("sum", "s32", "add"), {Values("s32[]", {"1", "2"})}, 2),
      ElementsAre("3", "3"));
}

TEST(AllReduceTest, DevicesOutsideAllGroupsAreAnError) {
  EXPECT_THAT(OnDevices("s32[2] all-reduce(x), to_apply=sum, channel_id=1, use_global_device_ids=true, "
                        "replica_groups={{0,1}}",
                        3),
              ElementsAre(HasSubstr("main/y: device 2 is in no group")));
  EXPECT_THAT(OnDevices("s32[2] all-reduce(x), to_apply=sum, channel_id=1, use_global_device_ids=true, "
                        "replica_groups={{0,5}}",
                        3),
              ElementsAre(HasSubstr("name 5, ids go up to 2")));
}

TEST(AllGatherTest, PiecesInGroupOrder) {
  EXPECT_THAT(OnDevices("s32[4] all-gather(x), dimensions={0}, channel_id=1, use_global_device_ids=true, "
                        "replica_groups={{2,0},{1,3}}",
                        4),
              ElementsAre("{20, 21, 0, 1}", "{10, 11, 30, 31}", "{20, 21, 0, 1}", "{10, 11, 30, 31}"));
}

TEST(AllGatherTest, AlongAnInnerDimension) {
  EXPECT_THAT(EvaluateOnDevices("x = s32[2,1] parameter(0) ROOT y = s32[2,2] all-gather(x), dimensions={1}, "
                                "channel_id=1, use_global_device_ids=true, replica_groups={{0,1}}",
                                "", {Values("s32[2,1]", {"{{1}, {2}}", "{{3}, {4}}"})}, 2),
              ElementsAre("{ { 1, 3 }, { 2, 4 } }", "{ { 1, 3 }, { 2, 4 } }"));
}

TEST(ReduceScatterTest, MembersKeepTheirBlock) {
  EXPECT_THAT(
      OnDevices(
          "s32[1] reduce-scatter(x), dimensions={0}, to_apply=sum, channel_id=1, use_global_device_ids=true, "
          "replica_groups={{1,0},{2,3}}",
          4),
      ElementsAre("{12}", "{10}", "{50}", "{52}"));
}

TEST(AllToAllTest, ArrayForm) {
  EXPECT_THAT(
      OnDevices("s32[2] all-to-all(x), dimensions={0}, channel_id=1, replica_groups={{0,1},{3,2}}", 4),
      ElementsAre("{0, 10}", "{1, 11}", "{31, 21}", "{30, 20}"));
}

TEST(AllToAllTest, TupleForm) {
  EXPECT_THAT(
      EvaluateOnDevices("x = s32[] parameter(0) y = s32[] parameter(1) "
                        "ROOT t = (s32[], s32[]) all-to-all(x, y), channel_id=1, replica_groups={{0,1}}",
                        "", {Values("s32[]", {"1", "2"}), Values("s32[]", {"3", "4"})}, 2),
      ElementsAre("( 1, 2 )", "( 3, 4 )"));
}

TEST(CollectivePermuteTest, DevicesWithoutSourceGetZeros) {
  EXPECT_THAT(OnDevices("s32[2] collective-permute(x), channel_id=1, source_target_pairs={{0,2},{2,1}}", 3),
              ElementsAre("{0, 0}", "{20, 21}", "{0, 1}"));
  EXPECT_THAT(OnDevices("s32[2] collective-permute(x), source_target_pairs={{0,1}}", 2, 2),
              ElementsAre("{0, 0}", "{0, 0}", "{0, 1}", "{10, 11}"));
}

TEST(CollectivePermuteTest, StartAndDone) {
  EXPECT_THAT(EvaluateOnDevices(
                  "x = s32[] parameter(0) s = (s32[], s32[], u32[], u32[]) collective-permute-start(x), "
                  "channel_id=1, source_target_pairs={{0,1},{1,0}} "
                  "ROOT y = s32[] collective-permute-done(s)",
                  "", {Values("s32[]", {"1", "2"})}, 2),
              ElementsAre("2", "1"));
}

// x = {10 d, 10 d + 1, 10 d + 2, 10 d + 3} on device d; each pair moves blocks of it into {-1, -1, -1, -1}.
std::vector<std::string> MoveBlocks(const std::string& starts_and_root) {
  return EvaluateOnDevices(
      "i = u32[] partition-id() k = s32[] convert(i) ten = s32[] constant(10) b = s32[] multiply(k, ten) "
      "bb = s32[4] broadcast(b), dimensions={} io = s32[4] iota(), iota_dimension=0 x = s32[4] add(bb, io) "
      "m = s32[] constant(-1) o = s32[4] broadcast(m), dimensions={} zero = s32[] constant(0) one = s32[] "
      "constant(1) "
      "two = s32[] constant(2) far = s32[] constant(99) " +
          starts_and_root,
      "", {}, 2);
}

TEST(CollectivePermuteTest, OneBlockWithClampedStarts) {
  EXPECT_THAT(
      MoveBlocks(
          "f = (s32[]) tuple(one) t = (s32[]) tuple(far) ROOT y = s32[4] collective-permute(x, o, f, t), "
          "source_target_pairs={{0,1}}, channel_id=1, slice_sizes={{2}}"),
      ElementsAre("{-1, -1, -1, -1}", "{-1, -1, 1, 2}"));
}

TEST(CollectivePermuteTest, SeveralBlocksOfOneArray) {
  EXPECT_THAT(
      MoveBlocks("a = (s32[]) tuple(zero) b1 = (s32[]) tuple(two) c = (s32[]) tuple(one) f = ((s32[]), "
                 "(s32[])) tuple(a, b1) "
                 "t = ((s32[]), (s32[])) tuple(b1, a) ROOT y = s32[4] collective-permute(x, o, f, t), "
                 "source_target_pairs={{0,1},{1,0}}, channel_id=1, slice_sizes={{1},{2}}"),
      ElementsAre("{12, 13, 10, -1}", "{2, 3, 0, -1}"));
}

TEST(CollectivePermuteTest, BlocksOfSeveralArrays) {
  EXPECT_THAT(
      MoveBlocks("a = (s32[]) tuple(zero) b1 = (s32[]) tuple(two) f = ((s32[]), (s32[])) tuple(a, b1) "
                 "t = ((s32[]), (s32[])) tuple(b1, a) xs = (s32[4], s32[4]) tuple(x, x) os = (s32[4], "
                 "s32[4]) tuple(o, o) "
                 "ROOT y = (s32[4], s32[4]) collective-permute(xs, os, f, t), "
                 "source_target_pairs={{0,1}}, channel_id=1, slice_sizes={{1},{2}}"),
      ElementsAre("( {-1, -1, -1, -1}, {-1, -1, -1, -1} )", "( {-1, -1, 0, -1}, {2, 3, -1, -1} )"));
}

TEST(GroupSizeTest, ResultsOfOtherGroupsThanTheMeshHasAreRefused) {
  // Empty groups mean all devices, whose number only the run knows.
  for (const char* root :
       {"ROOT r = f32[8] all-gather(p), dimensions={0}, replica_groups={}",
        "ROOT r = f32[1] reduce-scatter(p), dimensions={0}, replica_groups={}, to_apply=add"}) {
    const auto module =
        MakeModule(absl::StrCat("p = f32[2] parameter(0) ", root),
                   "add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }");
    EXPECT_THAT(RunSingle(*module, {Literal(Shape(xla::F32, {2}))}),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("groups of 1 on this mesh")));
  }
}

TEST(CollectiveBroadcastTest, FirstMemberSends) {
  EXPECT_THAT(OnDevices("s32[2] collective-broadcast(x), channel_id=1, replica_groups={{2,0}}", 3),
              ElementsAre("{20, 21}", "{0, 0}", "{20, 21}"));
}

TEST(RaggedAllToAllTest, RowsGoWhereTheSenderSays) {
  EXPECT_THAT(
      EvaluateOnDevices(
          "x = s32[3] parameter(0) o = s32[4] parameter(1) a = s32[2] parameter(2) b = s32[2] parameter(3) "
          "c = s32[2] parameter(4) d = s32[2] parameter(5) "
          "ROOT y = s32[4] ragged-all-to-all(x, o, a, b, c, d), channel_id=1, replica_groups={{0,1}}",
          "",
          {Values("s32[3]", {"{1, 2, 3}", "{4, 5, 6}"}), Values("s32[4]", {"{-1, -1, -1, -1}"}),
           Values("s32[2]", {"{0, 1}", "{0, 2}"}), Values("s32[2]", {"{1, 2}", "{2, 1}"}),
           Values("s32[2]", {"{0, 0}", "{1, 3}"}), Values("s32[2]", {"{1, 2}", "{2, 1}"})},
          2),
      ElementsAre("{1, 4, 5, -1}", "{2, 3, -1, 6}"));
}

TEST(DeviceIdTest, PartitionsAndReplicas) {
  EXPECT_THAT(
      EvaluateOnDevices("p = u32[] partition-id() r = u32[] replica-id() ROOT t = (u32[], u32[]) tuple(p, r)",
                        "", {}, 2, 2),
      ElementsAre("( 0, 0 )", "( 1, 0 )", "( 0, 1 )", "( 1, 1 )"));
}

}  // namespace
}  // namespace toroid
