#include "simulator/network/packet_simulation.h"

#include <numeric>

#include "gmock/gmock.h"
#include "tests/simulator/network/slices.h"
#include "tests/status_matchers.h"
#include "tests/tolerances.h"

namespace toroid {
namespace {

using ::testing::HasSubstr;

// Links of 1 byte per picosecond, hops of 10 ps, one write at a time, no set-up.
NetworkSpec FastNetwork() {
  NetworkSpec network = PlainNetwork(1e12);
  network.set_hop_latency_seconds(10e-12);
  RouterSpec& router = *network.mutable_router();
  router.set_virtual_channels(2);
  router.set_buffer_bytes(200);
  router.set_packet_bytes(100);
  router.set_write_bytes(400);
  router.set_writes_in_progress(4);
  return network;
}

Topology MakeTopology(std::vector<int64_t> chips, bool wrap = false, int64_t cores_per_chip = 1) {
  auto topology = Topology::Create(FastNetwork(), Slice(std::move(chips), wrap), cores_per_chip);
  EXPECT_OK(topology);
  return *std::move(topology);
}

Picoseconds PermuteTime(const Topology& topology, const RouterSpec& router,
                        const std::vector<std::pair<int64_t, int64_t>>& pairs, Bytes bytes) {
  const auto result = SimulatePackets(topology, router, PermuteWrites(topology, router, pairs, bytes));
  EXPECT_OK(result);
  return result.ok() ? result->time : -1;
}

TEST(PacketSimulationTest, OnePacketTakesItsHopsAndItsLength) {
  EXPECT_EQ(PermuteTime(MakeTopology({4}), FastNetwork().router(), {{0, 3}}, 100), 3 * 10 + 100);
}

TEST(PacketSimulationTest, PacketsOfAWriteFollowEachOther) {
  EXPECT_EQ(PermuteTime(MakeTopology({4}), FastNetwork().router(), {{0, 3}}, 400), 3 * 10 + 400);
}

TEST(PacketSimulationTest, SetUpComesFirst) {
  RouterSpec router = FastNetwork().router();
  router.set_write_setup_seconds(50e-12);
  EXPECT_EQ(PermuteTime(MakeTopology({4}), router, {{0, 3}}, 100), 50 + 3 * 10 + 100);
}

TEST(PacketSimulationTest, TwoFlowsOverOneLinkTakeTurns) {
  const Topology line = MakeTopology({3});
  EXPECT_EQ(PermuteTime(line, FastNetwork().router(), {{0, 2}}, 4000), 2 * 10 + 4000);
  // Both cross the link from 1 to 2.
  const Topology longer = MakeTopology({4});
  const Picoseconds both = PermuteTime(longer, FastNetwork().router(), {{0, 3}, {1, 2}}, 4000);
  EXPECT_EQ(both, 2 * 10 + 8000);
}

TEST(PacketSimulationTest, OppositeFlowsDoNotMeet) {
  EXPECT_EQ(PermuteTime(MakeTopology({4}), FastNetwork().router(), {{0, 3}, {3, 0}}, 4000), 3 * 10 + 4000);
}

TEST(PacketSimulationTest, AllBytesArriveAndEachLinkCarriesWhatItsWaysNeed) {
  for (const bool wrap : {false, true}) {
    const Topology topology = MakeTopology({4, 4}, wrap, 2);
    const RouterSpec router = FastNetwork().router();
    const auto result = SimulatePackets(topology, router, AllToAllWrites(topology, router, 32 * 500));
    ASSERT_OK(result);
    EXPECT_EQ(result->injected,
              32 * 30 * 500);  // All but those to the core itself and its neighbour on the chip.
    EXPECT_EQ(result->delivered, result->injected);
    const Bytes carried = std::accumulate(result->link_bytes.begin(), result->link_bytes.end(), Bytes{0});
    // Mean hops per axis of 4, own position included: 1.25 on a line, 1 on a ring.
    EXPECT_EQ(carried, Bytes{32 * 32 * 500 * 2} * (wrap ? 4 : 5) / 4);
    for (const Bytes bytes : result->link_bytes) EXPECT_LE(bytes, result->time);
  }
}

TEST(PacketSimulationTest, TheSameSeedGivesTheSameTime) {
  const Topology topology = MakeTopology({4, 4}, false, 2);
  const RouterSpec router = FastNetwork().router();
  const auto time = [&](uint64_t seed) {
    const auto result =
        SimulatePackets(topology, router, AllToAllWrites(topology, router, 32000, seed), seed);
    EXPECT_OK(result);
    return result->time;
  };
  EXPECT_EQ(time(1), time(1));
  EXPECT_NE(time(1), time(2));
}

TEST(PacketSimulationTest, FullBuffersBlockAndLargeOnesDoNot) {
  const Topology topology = MakeTopology({4, 4}, false, 2);
  RouterSpec router = FastNetwork().router();
  const auto time = [&] {
    const auto result = SimulatePackets(topology, router, AllToAllWrites(topology, router, 32 * 1600));
    EXPECT_OK(result);
    return static_cast<double>(result->time);
  };
  const double bound = 4 * 2 * 32 * 1600 / 4.0;  // Busiest link of the mesh.
  const double small = time();
  router.set_buffer_bytes(1 << 20);
  router.set_virtual_channels(8);
  const double large = time();
  EXPECT_GT(large, bound);
  EXPECT_THAT(large, IsWithin(kFivePercent, bound));
  EXPECT_GT(small, (1 + kTwentyPercent) * large);
}

TEST(PacketSimulationTest, RingsDoNotLockUp) {
  for (const auto& chips : std::vector<std::vector<int64_t>>{{8}, {6, 5}, {3, 4, 5}}) {
    const Topology topology = MakeTopology(chips, true, 2);
    RouterSpec router = FastNetwork().router();
    router.set_buffer_bytes(100);  // One packet.
    EXPECT_OK(SimulatePackets(topology, router, AllToAllWrites(topology, router, topology.cores() * 1000)));
  }
}

TEST(PacketSimulationTest, WhatCannotBeBuiltIsRefused) {
  const Topology topology = MakeTopology({4}, true, 2);
  const auto error = [&](auto change) {
    RouterSpec router = FastNetwork().router();
    change(router);
    return SimulatePackets(topology, router, [](int64_t, int64_t, RemoteWrite*) { return false; }).status();
  };
  constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
  EXPECT_THAT(error([](RouterSpec& r) { r.set_virtual_channels(0); }),
              StatusIs(kInvalid, HasSubstr("1 or more")));
  EXPECT_THAT(error([](RouterSpec& r) { r.set_virtual_channels(3); }), StatusIs(kInvalid, HasSubstr("even")));
  EXPECT_THAT(error([](RouterSpec& r) { r.set_buffer_bytes(99); }),
              StatusIs(kInvalid, HasSubstr("does not hold")));
  EXPECT_THAT(error([](RouterSpec& r) { r.set_writes_in_progress(100); }),
              StatusIs(kInvalid, HasSubstr("at most 64")));
}

}  // namespace
}  // namespace toroid
