#include "simulator/collectives/collective_simulator.h"

#include <algorithm>
#include <random>

#include "gmock/gmock.h"
#include "simulator/collectives/all_to_all.h"
#include "simulator/collectives/axis_rings.h"
#include "simulator/collectives/one_ring.h"
#include "tests/simulator/network/slices.h"
#include "tests/status_matchers.h"
#include "tests/tolerances.h"

namespace toroid {
namespace {

using ::testing::HasSubstr;
using Shapes = std::vector<std::vector<int64_t>>;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr Bytes kMiB = 1 << 20;
constexpr double kLinkRate = 82e9;

// Every cost and limit at work.
NetworkSpec FullNetwork() {
  NetworkSpec network;
  network.set_link_bytes_per_second(kLinkRate);
  network.set_hop_latency_seconds(1e-7);
  network.set_collective_cost_seconds(2e-5);
  network.set_step_cost_seconds(7e-7);
  network.set_injection_bytes_per_second(136e9);
  network.set_local_pass_seconds_per_byte(1e-12);
  return network;
}

// Links alone, and direct all-to-alls.
NetworkSpec DirectNetwork() {
  NetworkSpec network = PlainNetwork(kLinkRate);
  network.mutable_algorithms()->set_all_to_all("direct");
  return network;
}

std::unique_ptr<CollectiveSimulator> Simulator(const SliceSpec& slice, const NetworkSpec& network,
                                               int64_t cores_per_chip = 2,
                                               const RouterEfficiencyTable& table = RouterEfficiencyTable()) {
  int64_t cores = cores_per_chip;
  for (const int64_t n : slice.chips()) cores *= n;
  auto simulator = CollectiveSimulator::Create(network, slice, cores_per_chip, table, Iota(cores));
  EXPECT_OK(simulator);
  return *std::move(simulator);
}

DeviceGroups AllOf(const CollectiveSimulator& simulator) {
  return Groups({Iota(simulator.topology().cores())});
}

double Microseconds(const absl::StatusOr<CollectiveEstimate>& estimate) {
  EXPECT_OK(estimate);
  return estimate.ok() ? static_cast<double>(estimate->time) / 1e6 : -1;
}

TEST(CollectiveSimulatorTest, AllReduceAlongAxesTakesWhatItsFormulaSays) {
  struct Case {
    int64_t n, m, colors;
    bool closed;
  };
  NetworkSpec network = FullNetwork();
  AlgorithmSpec& algorithms = *network.mutable_algorithms();
  algorithms.set_all_reduce("axes");
  algorithms.set_max_colors(2);
  algorithms.set_asymmetric_max_colors(1);
  algorithms.set_wrapped_max_colors(1);
  algorithms.set_first_axis("short");
  for (const Case& c :
       {Case{4, 4, 2, false}, Case{8, 8, 2, false}, Case{16, 16, 2, false}, Case{4, 8, 1, false},
        Case{8, 16, 1, false}, Case{3, 5, 1, false}, Case{8, 8, 1, true}, Case{4, 16, 1, true}}) {
    SCOPED_TRACE(absl::StrCat(c.n, " x ", c.m));
    const auto simulator = Simulator(Slice({c.n, c.m}, c.closed), network);
    for (const Bytes bytes : {Bytes{0}, kMiB, 32 * kMiB}) {
      EXPECT_THAT(
          Microseconds(simulator->Estimate(CollectiveKind::kAllReduce, bytes, AllOf(*simulator))),
          IsWithin(kRounding,
                   AxisAllReduceSeconds(network, {c.n, c.closed}, {c.m, c.closed}, c.colors, bytes) * 1e6));
    }
  }
}

TEST(CollectiveSimulatorTest, OneRingTakesWhatItsFormulaSays) {
  NetworkSpec network = FullNetwork();
  network.mutable_algorithms()->set_all_reduce("ring");
  network.mutable_algorithms()->set_all_gather("ring");
  network.mutable_algorithms()->set_reduce_scatter("ring");
  for (const auto& chips : Shapes{{4, 4}, {2, 6}, {3, 4}, {5, 2}, {4, 3, 5}, {2, 2, 2}}) {
    const auto simulator = Simulator(Slice(chips), network);
    const int64_t g = simulator->topology().cores();
    const DeviceGroups all = AllOf(*simulator);
    EXPECT_THAT(Microseconds(simulator->Estimate(CollectiveKind::kAllReduce, kMiB, all)),
                IsWithin(kRounding, OneRingSeconds(network, g, 2, kMiB) * 1e6));
    EXPECT_THAT(Microseconds(simulator->Estimate(CollectiveKind::kReduceScatter, kMiB, all)),
                IsWithin(kRounding, OneRingSeconds(network, g, 1, kMiB) * 1e6));
    EXPECT_THAT(Microseconds(simulator->Estimate(CollectiveKind::kAllGather, kMiB, all)),
                IsWithin(kRounding, OneRingSeconds(network, g, 1, kMiB * g) * 1e6));
  }
}

TEST(CollectiveSimulatorTest, AllToAllMeetsTheBisectionBoundOnMeshAndTorus) {
  for (const bool torus : {false, true}) {
    for (const auto& chips : Shapes{{2, 4}, {4, 4}, {8, 4}, {8, 8}, {32, 32}, {4, 8, 6}}) {
      const auto simulator = Simulator(Slice(chips, torus), DirectNetwork());
      const int64_t n = *std::max_element(chips.begin(), chips.end());
      EXPECT_THAT(Microseconds(simulator->Estimate(CollectiveKind::kAllToAll, 8 * kMiB, AllOf(*simulator))),
                  IsWithin(kRounding, MeshAllToAllSeconds(DirectNetwork(), n, torus, 2, 8 * kMiB) * 1e6));
    }
  }
}

TEST(CollectiveSimulatorTest, KnownBusiestLinksOfAnAllToAll) {
  // 204.6 us of 4 x 4 chips, half of whose 32 cores send half of what they have over 4 links, and so on.
  for (const int64_t n : {4, 8, 16, 32}) {
    const double microseconds = static_cast<double>(n) / 2 * 8 * kMiB / kLinkRate * 1e6;
    const auto simulator = Simulator(Slice({n, n}), DirectNetwork());
    ASSERT_OK_AND_ASSIGN(const CollectiveEstimate e,
                         simulator->Estimate(CollectiveKind::kAllToAll, 8 * kMiB, AllOf(*simulator)));
    EXPECT_THAT(static_cast<double>(e.time) / 1e6, IsWithin(kRounding, microseconds));
    EXPECT_DOUBLE_EQ(e.max_utilization, 1);
  }
}

TEST(CollectiveSimulatorTest, AllToAllAlongAxesIsOnePhaseAfterTheOther) {
  NetworkSpec network = PlainNetwork(kLinkRate);
  network.mutable_algorithms()->set_all_to_all("axes");
  const auto simulator = Simulator(Slice({8, 8}), network);
  EXPECT_THAT(Microseconds(simulator->Estimate(CollectiveKind::kAllToAll, 8 * kMiB, AllOf(*simulator))),
              IsWithin(kRounding, 8 * 8 * kMiB / kLinkRate * 1e6));
}

TEST(CollectiveSimulatorTest, APairAloneHasItsWayToItself) {
  const auto simulator = Simulator(Slice({4, 4}), FullNetwork(), 1);
  const double microseconds = 20 + 6 * 0.1 + kMiB / kLinkRate * 1e6;
  EXPECT_THAT(Microseconds(simulator->EstimatePermute(kMiB, {{0, 15}})), IsWithin(kRounding, microseconds));
  EXPECT_THAT(Microseconds(simulator->EstimatePermute(kMiB, {{0, 15}, {15, 0}})),
              IsWithin(kRounding, microseconds));
}

TEST(CollectiveSimulatorTest, APermuteIntoOneLinkSharesIt) {
  const auto simulator = Simulator(Slice({4}), PlainNetwork(kLinkRate), 1);
  EXPECT_THAT(Microseconds(simulator->EstimatePermute(4 * kMiB, {{0, 2}, {1, 3}})),
              IsWithin(kRounding, 8 * kMiB / kLinkRate * 1e6));
}

TEST(CollectiveSimulatorTest, ABroadcastPassesBothWaysRoundTheRing) {
  const auto simulator = Simulator(Slice({4, 4}), FullNetwork(), 1);
  EXPECT_THAT(Microseconds(simulator->Estimate(CollectiveKind::kBroadcast, kMiB, AllOf(*simulator))),
              IsWithin(kRounding, 20 + 8 * 0.7 + 2 * kMiB / 136e9 * 1e6));  // The source injects both ways.
}

TEST(CollectiveSimulatorTest, GroupsThatShareLinksWaitForEachOther) {
  const auto simulator = Simulator(Slice({8}), PlainNetwork(kLinkRate), 1);
  const auto time = [&](const DeviceGroups& groups) {
    return Microseconds(simulator->Estimate(CollectiveKind::kAllToAll, kMiB, groups));
  };
  const double alone = time(Groups({{0, 1, 2, 3}}));
  EXPECT_THAT(time(Groups({{0, 1, 2, 3}, {4, 5, 6, 7}})), IsWithin(kRounding, alone));
  EXPECT_EQ(time(Groups({{0, 2, 4, 6}, {1, 3, 5, 7}})), 2 * alone);
}

TEST(CollectiveSimulatorTest, GroupsOfAnyShapeHaveATime) {
  std::mt19937 random(3);
  const auto simulator = Simulator(Slice({4, 3, 2}, true), FullNetwork());
  for (int round = 0; round < 30; ++round) {
    std::vector<int64_t> order = Iota(simulator->topology().cores());
    std::shuffle(order.begin(), order.end(), random);
    DeviceGroups groups;
    for (size_t at = 0; at < order.size();) {
      const size_t size = std::min<size_t>(1 + random() % 9, order.size() - at);
      groups.Append(absl::MakeConstSpan(order).subspan(at, size));
      at += size;
    }
    for (const CollectiveKind kind :
         {CollectiveKind::kAllReduce, CollectiveKind::kAllGather, CollectiveKind::kAllToAll,
          CollectiveKind::kReduceScatter, CollectiveKind::kBroadcast}) {
      ASSERT_OK_AND_ASSIGN(const CollectiveEstimate e, simulator->Estimate(kind, kMiB, groups));
      EXPECT_GT(e.time, 20000000);
      EXPECT_PRED_FORMAT2(::testing::DoubleLE, e.max_utilization, 1);
      EXPECT_LE(e.mean_utilization, e.max_utilization);
    }
  }
}

TEST(CollectiveSimulatorTest, GroupsOfOneMoveNothing) {
  const auto simulator = Simulator(Slice({2, 2}), FullNetwork());
  ASSERT_OK_AND_ASSIGN(const CollectiveEstimate e,
                       simulator->Estimate(CollectiveKind::kAllReduce, kMiB, Groups({{0}, {1}, {}})));
  EXPECT_EQ(e.time, 0);
  EXPECT_EQ(e.algorithm, "none");
  EXPECT_EQ(Microseconds(simulator->EstimatePermute(kMiB, {{1, 1}})), 0);
}

TEST(CollectiveSimulatorTest, TwoCoresOfAChipUseNoLink) {
  const auto simulator = Simulator(Slice({2, 2}), FullNetwork());
  ASSERT_OK_AND_ASSIGN(const CollectiveEstimate e,
                       simulator->Estimate(CollectiveKind::kAllReduce, kMiB, Groups({{0, 1}, {2, 3}})));
  EXPECT_THAT(static_cast<double>(e.time) / 1e6, IsWithin(kRounding, 20 + 2 * 0.7 + kMiB * 1e-6));
  EXPECT_EQ(e.max_utilization, 0);
  EXPECT_EQ(e.busiest_link, -1);
}

// Microseconds of an exchange in which the traffic of every core is added core by core and link by link.
double UnfoldedMicroseconds(const Topology& topology, const DeviceGroups& groups, Bytes bytes) {
  Traffic traffic(topology);
  Router router(topology);
  for (int64_t i = 0; i < groups.size(); ++i) {
    const double g = static_cast<double>(groups.group(i).size());
    for (const int64_t from : groups.group(i)) {
      std::vector<LinkShare> links;
      for (const int64_t to : groups.group(i)) {
        const size_t first = links.size();
        EXPECT_OK(router.Route(topology.ChipOfCore(from), topology.ChipOfCore(to), &links));
        for (size_t l = first; l < links.size(); ++l) links[l].share /= g;
      }
      traffic.Add(static_cast<double>(bytes), 1, links, 0, 1);
    }
  }
  return SimulateFlows(traffic.flows()).seconds * 1e6;
}

TEST(CollectiveSimulatorTest, FoldedIsUnfolded) {
  for (const auto& chips : Shapes{{6}, {4, 4}, {5, 3}, {4, 2, 3}, {8, 2}, {1, 4}}) {
    for (const bool wrap : {false, true}) {
      const auto simulator = Simulator(Slice(chips, wrap), DirectNetwork());
      const int64_t cores = simulator->topology().cores();
      std::vector<int64_t> low, high, even, odd;
      DeviceGroups fours;
      for (int64_t c = 0; c < cores; ++c) {
        (c < cores / 2 ? low : high).push_back(c);
        (c % 2 == 0 ? even : odd).push_back(c);
        if (c % 4 == 3) fours.Append({c - 3, c - 2, c - 1, c});
      }
      for (const DeviceGroups& groups :
           {AllOf(*simulator), Groups({low, high}), Groups({even, odd}), fours}) {
        const double unfolded = UnfoldedMicroseconds(simulator->topology(), groups, kMiB);
        EXPECT_THAT(Microseconds(simulator->Estimate(CollectiveKind::kAllToAll, kMiB, groups)),
                    IsWithin(kRounding, unfolded));
      }
    }
  }
}

TEST(CollectiveSimulatorTest, AFoldedPermuteIsTheUnfoldedOne) {
  const auto simulator = Simulator(Slice({6, 4}, true), PlainNetwork(kLinkRate), 1);
  const Topology& topology = simulator->topology();
  for (int64_t shift : {1, 2, 3, 5}) {
    std::vector<std::pair<int64_t, int64_t>> pairs;
    Traffic traffic(topology);
    Router router(topology);
    for (int64_t c = 0; c < 24; ++c) {
      pairs.push_back({c, topology.Along(c, 0, (topology.Coordinate(c, 0) + shift) % 6)});
      std::vector<LinkShare> links;
      EXPECT_OK(router.Route(c, pairs.back().second, &links));
      traffic.Add(kMiB, 1, links, 0, 1);
    }
    EXPECT_THAT(Microseconds(simulator->EstimatePermute(kMiB, pairs)),
                IsWithin(kRounding, SimulateFlows(traffic.flows()).seconds * 1e6));
  }
}

TEST(CollectiveSimulatorTest, LinksCarryEachByteOverTheHopsItNeeds) {
  const auto simulator = Simulator(Slice({4, 6}), DirectNetwork());
  const Topology& topology = simulator->topology();
  ASSERT_OK_AND_ASSIGN(const CollectiveEstimate e,
                       simulator->Estimate(CollectiveKind::kAllToAll, 48 * kMiB, AllOf(*simulator)));
  double carried = 0, needed = 0;
  for (int64_t link = 0; link < topology.link_ids(); ++link) carried += e.LinkBytes(link);
  for (int64_t a = 0; a < 48; ++a) {
    for (int64_t b = 0; b < 48; ++b) {
      for (const int axis : {0, 1}) {
        needed += static_cast<double>(
            kMiB * std::abs(topology.Coordinate(a / 2, axis) - topology.Coordinate(b / 2, axis)));
      }
    }
  }
  EXPECT_THAT(carried, IsWithin(kRounding, needed));
}

TEST(CollectiveSimulatorTest, TheOrderOfGroupsAndMembersDoesNotMatter) {
  const auto simulator = Simulator(Slice({4, 4}), FullNetwork(), 1);
  for (const CollectiveKind kind :
       {CollectiveKind::kAllReduce, CollectiveKind::kAllToAll, CollectiveKind::kAllGather}) {
    EXPECT_EQ(Microseconds(simulator->Estimate(kind, kMiB, Groups({{0, 5, 10}, {3, 6, 9, 12}}))),
              Microseconds(simulator->Estimate(kind, kMiB, Groups({{12, 3, 9, 6}, {10, 0, 5}}))));
  }
}

TEST(CollectiveSimulatorTest, TheAssignmentDecidesTheLoadOfLinks) {
  // Each device to the next of its row of four.
  const std::vector<std::pair<int64_t, int64_t>> pairs = {{0, 1}, {1, 2}, {2, 3}, {3, 0},
                                                          {4, 5}, {5, 6}, {6, 7}, {7, 4}};
  const auto time = [&](std::vector<int64_t> cores) {
    auto simulator =
        CollectiveSimulator::Create(DirectNetwork(), Slice({4, 2}), 1, RouterEfficiencyTable(), cores);
    EXPECT_OK(simulator);
    return Microseconds((*simulator)->EstimatePermute(kMiB, pairs));
  };
  EXPECT_THAT(time({0, 4, 2, 6, 1, 5, 3, 7}), IsWithin(kRounding, 2 * time({0, 2, 4, 6, 1, 3, 5, 7})));
}

TEST(CollectiveSimulatorTest, ADeadLinkCostsTimeAndCarriesNothing) {
  SliceSpec slice = Slice({4, 4});
  const auto whole = Simulator(slice, DirectNetwork());
  slice.add_dead_links()->set_chip(5);
  const auto damaged = Simulator(slice, DirectNetwork());
  ASSERT_OK_AND_ASSIGN(const CollectiveEstimate before,
                       whole->Estimate(CollectiveKind::kAllToAll, kMiB, AllOf(*whole)));
  ASSERT_OK_AND_ASSIGN(const CollectiveEstimate after,
                       damaged->Estimate(CollectiveKind::kAllToAll, kMiB, AllOf(*damaged)));
  // The busiest link carries three quarters more.
  EXPECT_THAT(after.time, IsWithin(kRounding, 1.75 * static_cast<double>(before.time)));
  EXPECT_EQ(after.LinkBytes(damaged->topology().Link(5, 0, kPlus)), 0);
  for (const CollectiveKind kind : {CollectiveKind::kAllReduce, CollectiveKind::kAllGather}) {
    EXPECT_OK(damaged->Estimate(kind, kMiB, AllOf(*damaged)));
  }
}

TEST(CollectiveSimulatorTest, BlockedPacketsSlowTheirPatternAlone) {
  RouterEfficiencyTable table;
  RouterEfficiencyTable::Row& row = *table.add_rows();
  row.set_pattern("all-to-all");
  row.add_chips(4);
  row.add_chips(4);
  row.set_bytes_per_core(kMiB);
  row.set_efficiency(0.5);
  const auto ideal = Simulator(Slice({4, 4}), DirectNetwork()),
             blocked = Simulator(Slice({4, 4}), DirectNetwork(), 2, table);
  const auto time = [&](CollectiveSimulator& s, CollectiveKind kind) {
    return Microseconds(s.Estimate(kind, kMiB, AllOf(s)));
  };
  EXPECT_THAT(time(*blocked, CollectiveKind::kAllToAll),
              IsWithin(kRounding, 2 * time(*ideal, CollectiveKind::kAllToAll)));
  EXPECT_EQ(time(*blocked, CollectiveKind::kAllReduce), time(*ideal, CollectiveKind::kAllReduce));
  // Nothing waits in a switch.
  SliceSpec switched = Slice({4, 4});
  for (int axis = 0; axis < 2; ++axis) switched.add_switched(true);
  const auto free = Simulator(switched, DirectNetwork()),
             same = Simulator(switched, DirectNetwork(), 2, table);
  EXPECT_EQ(time(*same, CollectiveKind::kAllToAll), time(*free, CollectiveKind::kAllToAll));
}

TEST(CollectiveSimulatorTest, WhatIsNoCollectiveIsRefused) {
  const auto simulator = Simulator(Slice({2, 2}), FullNetwork());
  const auto error = [&](const DeviceGroups& groups, Bytes bytes = 1) {
    return simulator->Estimate(CollectiveKind::kAllReduce, bytes, groups).status();
  };
  EXPECT_THAT(error(Groups({{0, 8}})), StatusIs(kInvalid, HasSubstr("device 8 of 8")));
  EXPECT_THAT(error(Groups({{0, -1}})), StatusIs(kInvalid, HasSubstr("device -1")));
  EXPECT_THAT(error(Groups({{0, 1}, {1, 2}})), StatusIs(kInvalid, HasSubstr("device 1 is in two groups")));
  EXPECT_THAT(error(Groups({{0, 1}}), -1), StatusIs(kInvalid, HasSubstr("-1 bytes")));
  EXPECT_THAT(simulator->Estimate(CollectiveKind::kPermute, 1, Groups({{0, 1}})),
              StatusIs(kInvalid, HasSubstr("no groups")));
  EXPECT_THAT(simulator->EstimatePermute(1, {{0, 1}, {0, 2}}), StatusIs(kInvalid, HasSubstr("twice")));
  EXPECT_THAT(simulator->EstimatePermute(1, {{0, 9}}), StatusIs(kInvalid, HasSubstr("{0,9}")));
}

TEST(CollectiveSimulatorTest, WhatIsNoMachineIsRefused) {
  const auto error = [](const NetworkSpec& network, std::vector<int64_t> cores) {
    return CollectiveSimulator::Create(network, Slice({2}), 2, RouterEfficiencyTable(), std::move(cores))
        .status();
  };
  EXPECT_THAT(error(FullNetwork(), {0, 4}), StatusIs(kInvalid, HasSubstr("core 4")));
  EXPECT_THAT(error(FullNetwork(), {0, 0}), StatusIs(kInvalid, HasSubstr("two devices")));
  NetworkSpec network = FullNetwork();
  network.mutable_algorithms()->set_all_reduce("tree");
  EXPECT_THAT(error(network, {0}), StatusIs(kInvalid, HasSubstr("\"tree\"; use one of axes, ring")));
  network = FullNetwork();
  network.set_injection_bytes_per_second(0);
  EXPECT_THAT(error(network, {0}), StatusIs(kInvalid, HasSubstr("injection_bytes_per_second is 0")));
  network = FullNetwork();
  network.set_step_cost_seconds(-1);
  EXPECT_THAT(error(network, {0}), StatusIs(kInvalid, HasSubstr("step_cost_seconds is -1")));
}

}  // namespace
}  // namespace toroid
