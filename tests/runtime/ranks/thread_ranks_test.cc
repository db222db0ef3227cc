// Runs over several ranks, which are threads here, give the bits of one process.
// BUILD: size = "medium"
// BUILD: data = ["//tests/corpus:jax"]
// BUILD: shard_count = 4
#include "tests/runtime/ranks/thread_ranks.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/runtime/evaluate.h"
#include "tests/runtime/ranks/compare_with_ranks.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::HasSubstr;

RanksReport OnThreads(int ranks, absl::FunctionRef<RanksReport(Transport&)> compare) {
  RanksReport report;
  const absl::Status status = WithRanks(ranks, [&](Transport& transport) {
    report = compare(transport);
    return absl::OkStatus();
  });
  if (!status.ok()) report.differences.push_back(std::string(status.message()));
  return report;
}

class ThreadRanksTest : public testing::TestWithParam<int> {};

TEST_P(ThreadRanksTest, CorpusGivesTheBitsOfOneProcess) {
  const RanksReport report = OnThreads(GetParam(), [](Transport& t) { return CompareCorpus(t); });
  EXPECT_GT(report.programs, 40);
  EXPECT_EQ(absl::StrJoin(report.differences, "\n"), "");
}

TEST_P(ThreadRanksTest, RandomProgramsGiveTheBitsOfOneProcess) {
  const uint64_t from = 1000000 * GetParam();
  const RanksReport report =
      OnThreads(GetParam(), [&](Transport& t) { return CompareRandomPrograms(t, from, 1500); });
  EXPECT_EQ(report.programs, 1500);
  EXPECT_EQ(absl::StrJoin(report.differences, "\n"), "");
}

// 5 ranks are more than many of the meshes have devices: some ranks have no device, and keep in step.
INSTANTIATE_TEST_SUITE_P(Ranks, ThreadRanksTest, testing::Values(1, 2, 3, 5));

TEST(SharesTest, EveryDeviceIsOnOneRankAndSharesDifferByOneAtMost) {
  Mailboxes boxes(1);
  for (const int ranks : {1, 2, 3, 4, 7}) {
    for (const int64_t devices : {1, 2, 3, 5, 8, 2048, 1000003}) {
      int64_t next = 0;
      for (int rank = 0; rank < ranks; ++rank) {
        const auto [begin, end] = ThreadTransport(0, ranks, &boxes).ShareOf(rank, devices);
        EXPECT_EQ(begin, next);
        EXPECT_GE(end - begin, devices / ranks);
        EXPECT_LE(end - begin, devices / ranks + 1);
        next = end;
      }
      EXPECT_EQ(next, devices);
    }
  }
}

TEST(FailingRankTest, OthersNameTheRankAndWhatItSays) {
  // Device 1 alone waits for a message, so only rank 1 finds out that none comes.
  const auto module = MakeModule(R"(
    t = token[] after-all()
    i = u32[] partition-id()
    zero = u32[] constant(0)
    first = pred[] compare(i, zero), direction=EQ
    r = (u32[], u32[], token[]) recv(t), channel_id=2, frontend_attributes={_xla_send_recv_source_target_pairs="{{0,1}}"}
    d = (u32[], token[]) recv-done(r), channel_id=2
    v = u32[] get-tuple-element(d), index=0
    ROOT y = u32[] all-reduce(v), to_apply=add, channel_id=1, replica_groups={{0,1}}, use_global_device_ids=true)",
                                 ReducerText("add", "u32", "add"));
  RunOptions options;
  options.num_partitions = 2;
  const auto result = RunOnThreadRanks(*module, {}, options, 2);
  EXPECT_THAT(result.status().message(), HasSubstr("rank 1: "));
  EXPECT_THAT(result.status().message(), HasSubstr("device 1 waits for a message of channel 2"));
}

}  // namespace
}  // namespace toroid
