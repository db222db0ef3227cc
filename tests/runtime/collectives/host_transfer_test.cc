// BUILD: size = "small"
// infeed, outfeed, send and recv.
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

absl::StatusOr<std::vector<std::string>> RunWithFeed(const std::string& body, std::vector<Literal> infeed,
                                                     int devices, Outfeed* outfeed = nullptr) {
  const auto module = MakeModule(body);
  RunOptions options;
  options.num_partitions = devices;
  options.infeed = std::make_shared<LiteralInfeed>(std::move(infeed));
  options.outfeed = outfeed;
  ASSIGN_OR_RETURN(const std::vector<Literal> results, RunOnDevices(*module, {}, options));
  std::vector<std::string> texts;
  for (const Literal& result : results) texts.push_back(ToText(result));
  return texts;
}

const char kInfeed[] =
    "t = token[] after-all() i = ((s32[2], f32[]), token[]) infeed(t) d = (s32[2], f32[]) "
    "get-tuple-element(i), index=0 ";

TEST(InfeedTest, TakesOneValuePerArrayInOrder) {
  ASSERT_OK_AND_ASSIGN(
      const auto texts,
      RunWithFeed(std::string(kInfeed) + "ROOT r = (s32[2], f32[]) copy(d)",
                  {ParseLiteral("s32[2] {1, 2}"), ParseLiteral("f32[] 0.5"), ParseLiteral("f32[] 9")}, 2));
  EXPECT_THAT(texts, ElementsAre("( {1, 2}, 0.5 )", "( {1, 2}, 0.5 )"));
}

TEST(InfeedTest, ALeadingDimensionGivesEachDeviceItsOwn) {
  ASSERT_OK_AND_ASSIGN(
      const auto texts,
      RunWithFeed(std::string(kInfeed) + "ROOT r = (s32[2], f32[]) copy(d)",
                  {ParseLiteral("s32[2,2] {{1, 2}, {3, 4}}"), ParseLiteral("f32[] 0.5")}, 2));
  EXPECT_THAT(texts, ElementsAre("( {1, 2}, 0.5 )", "( {3, 4}, 0.5 )"));
}

TEST(InfeedTest, NarrowTypesAreConverted) {
  ASSERT_OK_AND_ASSIGN(const auto texts,
                       RunWithFeed("t = token[] after-all() i = (f8e5m2[2], token[]) infeed(t) "
                                   "ROOT r = f8e5m2[2] get-tuple-element(i), index=0",
                                   {ParseLiteral("f32[2] {1.1, 1e9}")}, 1));
  EXPECT_THAT(texts, ElementsAre("{1, inf}"));
}

TEST(InfeedTest, MissingAndOtherValuesAreErrors) {
  const std::string body = std::string(kInfeed) + "ROOT r = (s32[2], f32[]) copy(d)";
  EXPECT_THAT(RunWithFeed(body, {ParseLiteral("s32[2] {1, 2}")}, 1).status().message(),
              HasSubstr("main/i: nothing is left in the infeed for f32[]"));
  EXPECT_THAT(
      RunWithFeed(body, {ParseLiteral("s32[3] {1, 2, 3}"), ParseLiteral("f32[] 1")}, 1).status().message(),
      HasSubstr("the infeed has s32[3] for s32[2]"));
  EXPECT_THAT(
      RunWithFeed(body, {ParseLiteral("f32[2] {1, 2}"), ParseLiteral("f32[] 1")}, 1).status().message(),
      HasSubstr("the infeed has f32[2] for s32[2]"));
}

TEST(OutfeedTest, GathersArraysAndStacksWhatDiffers) {
  Outfeed outfeed;
  ASSERT_OK(
      RunWithFeed("t = token[] after-all() i = u32[] partition-id() x = s32[2] constant({1, 2}) "
                  "d = (u32[], s32[2]) tuple(i, x) a = token[] outfeed(d, t), outfeed_shape=(u32[], s32[2]) "
                  "b = token[] outfeed(x, a), outfeed_shape=s32[2] ROOT r = u32[] add-dependency(i, b)",
                  {}, 3, &outfeed));
  ASSERT_EQ(outfeed.size(), 3);
  EXPECT_EQ(ToText(outfeed[0].value), "{0, 1, 2}");
  EXPECT_EQ(ToText(outfeed[1].value), "{1, 2}");
  EXPECT_EQ(outfeed[2].value.shape().ToString(), "s32[2]");
}

std::string Exchange(const std::string& pairs) {
  const std::string attribute =
      pairs.empty()
          ? ""
          : absl::StrCat(", frontend_attributes={_xla_send_recv_source_target_pairs=\"", pairs, "\"}");
  return absl::StrCat(
      "i = u32[] partition-id() one = u32[] constant(1) x = u32[] add(i, one) t = token[] after-all() ",
      "r = (u32[], u32[], token[]) recv(t), channel_id=2", attribute,
      " s = (u32[], u32[], token[]) send(x, t), channel_id=2", attribute,
      " d = (u32[], token[]) recv-done(r), channel_id=2 sd = token[] send-done(s), channel_id=2 ",
      "ROOT y = u32[] get-tuple-element(d), index=0");
}

TEST(SendRecvTest, PairsMoveValuesAndOthersGetZeros) {
  EXPECT_THAT(EvaluateOnDevices(Exchange("{{0,1},{1,2}}"), "", {}, 3), ElementsAre("0", "1", "2"));
  EXPECT_THAT(EvaluateOnDevices(Exchange("{{0,1},{1,2},{2,0}}"), "", {}, 3), ElementsAre("3", "1", "2"));
}

TEST(SendRecvTest, WithoutPairsAMessageStaysOnItsDevice) {
  EXPECT_THAT(EvaluateOnDevices(Exchange(""), "", {}, 2), ElementsAre("1", "2"));
}

TEST(SendRecvTest, PairsOutsideTheMeshAndRepeatedSendersAreErrors) {
  EXPECT_THAT(EvaluateOnDevices(Exchange("{{0,5}}"), "", {}, 2),
              ElementsAre(HasSubstr("source and target pairs {{0,5}} on 2 partitions")));
  EXPECT_THAT(EvaluateOnDevices(Exchange("{{0,1},{0,0}}"), "", {}, 2), ElementsAre(HasSubstr("sends twice")));
  EXPECT_THAT(EvaluateOnDevices(Exchange("nonsense"), "", {}, 2), ElementsAre(HasSubstr("give {{0,1},..}")));
}

TEST(SendRecvTest, MessagesOfAChannelArriveInOrderAndChannelsDoNotMix) {
  EXPECT_EQ(
      Evaluate("t = token[] after-all() a = s32[] constant(1) b = s32[] constant(2) c = s32[] constant(3) "
               "s1 = (s32[], u32[], token[]) send(a, t), channel_id=1 s2 = (s32[], u32[], token[]) send(b, "
               "t), channel_id=1 "
               "s3 = (s32[], u32[], token[]) send(c, t), channel_id=2 r3 = (s32[], u32[], token[]) recv(t), "
               "channel_id=2 "
               "r1 = (s32[], u32[], token[]) recv(t), channel_id=1 r2 = (s32[], u32[], token[]) recv(t), "
               "channel_id=1 "
               "d3 = (s32[], token[]) recv-done(r3), channel_id=2 d1 = (s32[], token[]) recv-done(r1), "
               "channel_id=1 "
               "d2 = (s32[], token[]) recv-done(r2), channel_id=1 v1 = s32[] get-tuple-element(d1), index=0 "
               "v2 = s32[] get-tuple-element(d2), index=0 v3 = s32[] get-tuple-element(d3), index=0 "
               "ROOT v = (s32[], s32[], s32[]) tuple(v1, v2, v3)"),
      "( 1, 2, 3 )");
}

TEST(SendRecvTest, WaitingForWhatIsNeverSentIsAnError) {
  EXPECT_THAT(
      Evaluate(
          "t = token[] after-all() r = (s32[], u32[], token[]) recv(t), channel_id=7 "
          "d = (s32[], token[]) recv-done(r), channel_id=7 ROOT v = s32[] get-tuple-element(d), index=0"),
      HasSubstr("device 0 waits for a message of channel 7"));
}

TEST(SendRecvTest, HostTransfersUseTheFeeds) {
  Outfeed outfeed;
  ASSERT_OK_AND_ASSIGN(
      const auto texts,
      RunWithFeed("t = token[] after-all() x = s32[] constant(5) "
                  "s = (s32[], u32[], token[]) send(x, t), channel_id=1, is_host_transfer=true "
                  "sd = token[] send-done(s), channel_id=1, is_host_transfer=true "
                  "r = (s32[], u32[], token[]) recv(t), channel_id=2, is_host_transfer=true "
                  "d = (s32[], token[]) recv-done(r), channel_id=2, is_host_transfer=true "
                  "ROOT v = s32[] get-tuple-element(d), index=0",
                  {ParseLiteral("s32[] 8")}, 1, &outfeed));
  EXPECT_THAT(texts, ElementsAre("8"));
  ASSERT_EQ(outfeed.size(), 1);
  EXPECT_EQ(ToText(outfeed[0].value), "5");
}

}  // namespace
}  // namespace toroid
