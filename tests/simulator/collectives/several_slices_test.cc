// Collectives whose groups lie in several slices.
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "simulator/collectives/between_slices.h"
#include "simulator/collectives/collective_simulator.h"
#include "simulator/collectives/slice_groups.h"
#include "tests/simulator/network/slices.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::HasSubstr;

constexpr Bytes kMiB = 1 << 20;
constexpr double kStep = 50e-6, kHostRate = 25e9;

NetworkSpec Network() {
  NetworkSpec network = PlainNetwork(45e9);
  network.mutable_data_centre()->set_host_bytes_per_second(kHostRate);
  network.mutable_data_centre()->set_chips_per_host(8);
  network.mutable_data_centre()->set_step_seconds(kStep);
  return network;
}

std::unique_ptr<CollectiveSimulator> Simulator(int64_t copies) {
  SliceSpec slice = Slice({4, 4}, false);
  slice.set_copies(copies);
  auto simulator =
      CollectiveSimulator::Create(Network(), slice, 1, RouterEfficiencyTable(), Iota(16 * copies));
  EXPECT_OK(simulator);
  return *std::move(simulator);
}

// Device d of each slice, for every d.
DeviceGroups Across(int64_t copies) {
  DeviceGroups groups;
  for (int64_t d = 0; d < 16; ++d) {
    std::vector<int64_t> group;
    for (int64_t s = 0; s < copies; ++s) group.push_back(s * 16 + d);
    groups.Append(group);
  }
  return groups;
}

double Seconds(const absl::StatusOr<CollectiveEstimate>& estimate) {
  EXPECT_OK(estimate);
  return estimate.ok() ? static_cast<double>(estimate->time) * 1e-12 : -1;
}

TEST(SeveralSlicesTest, GroupsAreDividedBySlice) {
  const SliceGroups all = SplitBySlice(Groups({Iota(32)}), 16, 8);
  ASSERT_EQ(all.within.size(), 1u) << "both slices are alike";
  EXPECT_EQ(all.within[0].group(0).size(), 16u);
  EXPECT_EQ(all.slices, 2);
  EXPECT_EQ(all.members, 16);
  EXPECT_EQ(all.host_cores, 8);

  const SliceGroups pairs = SplitBySlice(Groups({{0, 16}, {1, 17}, {2, 3}}), 16, 8);
  ASSERT_EQ(pairs.within.size(), 1u);
  EXPECT_EQ(pairs.members, 1);
  EXPECT_EQ(pairs.host_cores, 2);

  const SlicePairs messages =
      SplitBySlice(std::vector<std::pair<int64_t, int64_t>>{{0, 16}, {1, 2}, {17, 18}}, 16, 8);
  ASSERT_EQ(messages.within.size(), 1u);
  EXPECT_EQ(messages.host_cores, 1);
}

TEST(SeveralSlicesTest, RingsBetweenSlicesTakeWhatTheirFormulaSays) {
  for (const int64_t n : {2, 3, 8}) {
    SCOPED_TRACE(n);
    const auto simulator = Simulator(n);
    const double payload = static_cast<double>(kMiB);
    const double steps = 2 * static_cast<double>(n - 1);
    const double expected = steps * (kStep + 8 * payload / static_cast<double>(n) / kHostRate);
    EXPECT_NEAR(Seconds(simulator->Estimate(CollectiveKind::kAllReduce, kMiB, Across(n))), expected, 1e-9);
    EXPECT_NEAR(Seconds(simulator->Estimate(CollectiveKind::kReduceScatter, kMiB, Across(n))), expected / 2,
                1e-9);
    // Of an all-gather the bytes are those of a shard.
    EXPECT_NEAR(Seconds(simulator->Estimate(CollectiveKind::kAllGather, kMiB, Across(n))),
                static_cast<double>(n - 1) * (kStep + 8 * payload / kHostRate), 1e-9);
    EXPECT_NEAR(Seconds(simulator->Estimate(CollectiveKind::kAllToAll, kMiB, Across(n))),
                kStep + 8 * payload * static_cast<double>(n - 1) / static_cast<double>(n) / kHostRate, 1e-9);
  }
}

TEST(SeveralSlicesTest, AGroupOfAllRunsWithinSlicesAndOnShardsBetweenThem) {
  const auto one = Simulator(1), two = Simulator(2);
  const double within = Seconds(one->Estimate(CollectiveKind::kAllReduce, 16 * kMiB, Groups({Iota(16)})));
  const double between = Seconds(two->Estimate(CollectiveKind::kAllReduce, kMiB, Across(2)));
  const auto all = two->Estimate(CollectiveKind::kAllReduce, 16 * kMiB, Groups({Iota(32)}));
  EXPECT_NEAR(Seconds(all), within + between, 1e-9);
  EXPECT_THAT(all->algorithm, HasSubstr("2 slices"));
  EXPECT_NEAR(static_cast<double>(all->between_slices) * 1e-12, between, 1e-9);
}

TEST(SeveralSlicesTest, WhatStaysWithinSlicesTakesAsLongAsOnOne) {
  const auto one = Simulator(1), four = Simulator(4);
  DeviceGroups groups;
  for (int64_t s = 0; s < 4; ++s) {
    std::vector<int64_t> group = Iota(16);
    for (int64_t& d : group) d += 16 * s;
    groups.Append(group);
  }
  EXPECT_EQ(Seconds(four->Estimate(CollectiveKind::kAllGather, kMiB, groups)),
            Seconds(one->Estimate(CollectiveKind::kAllGather, kMiB, Groups({Iota(16)}))));
  const std::pair<int64_t, int64_t> near[] = {{0, 1}, {16, 17}}, far[] = {{0, 16}};
  EXPECT_LT(Seconds(four->EstimatePermute(kMiB, near)), kStep);
  EXPECT_NEAR(Seconds(four->EstimatePermute(kMiB, far)), kStep + static_cast<double>(kMiB) / kHostRate, 1e-9);
}

TEST(SeveralSlicesTest, SlicesThatNothingJoinsAreRefused) {
  SliceSpec slice = Slice({4, 4}, false);
  slice.set_copies(2);
  EXPECT_THAT(
      CollectiveSimulator::Create(PlainNetwork(45e9), slice, 1, RouterEfficiencyTable(), Iota(32)).status(),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("no network.data_centre joins them")));
}

}  // namespace
}  // namespace toroid
