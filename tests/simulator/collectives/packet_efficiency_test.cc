// The table of router efficiencies holds what its parameters give.
#include "simulator/collectives/packet_efficiency.h"

#include "gmock/gmock.h"
#include "simulator/machines/machine.h"
#include "simulator/machines/router_tables.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::HasSubstr;

TEST(PacketEfficiencyTest, RowsOfTheBuiltInTableAreComputedAgain) {
  ASSERT_OK_AND_ASSIGN(const Machine machine, LoadMachine("tpu-v3-16"));
  const NetworkSpec& network = machine.family.network();
  const RouterEfficiencyTable& table = RouterTableOf(network);
  EXPECT_EQ(table.router().SerializeAsString(), network.router().SerializeAsString());
  EXPECT_EQ(table.link_bytes_per_second(), network.link_bytes_per_second());
  EXPECT_EQ(table.hop_latency_seconds(), network.hop_latency_seconds());
  int computed = 0;
  for (const RouterEfficiencyTable::Row& row : table.rows()) {
    int64_t chips = 1;
    for (const int64_t n : row.chips()) chips *= n;
    // The others take longer: packets grow with both.
    if (chips * row.bytes_per_core() > 16 * (8 << 20)) continue;
    if (chips > 64 || row.chips_size() != 2) continue;
    SCOPED_TRACE(row.ShortDebugString());
    ASSERT_OK_AND_ASSIGN(const RouterEfficiencyTable::Row again, ComputeRouterEfficiency(network, row));
    EXPECT_DOUBLE_EQ(again.efficiency(), row.efficiency());
    ++computed;
  }
  EXPECT_GE(computed, 12);
}

TEST(PacketEfficiencyTest, RowsOfATorusOfThreeAxesAreComputedAgain) {
  ASSERT_OK_AND_ASSIGN(const Machine machine, LoadMachine("tpu-v4-4x4x4"));
  const NetworkSpec& network = machine.family.network();
  int computed = 0;
  for (const RouterEfficiencyTable::Row& row : RouterTableOf(network).rows()) {
    if (row.chips_size() != 3 || row.chips(2) > 4 || row.bytes_per_core() > 1 << 20) continue;
    SCOPED_TRACE(row.ShortDebugString());
    ASSERT_OK_AND_ASSIGN(const RouterEfficiencyTable::Row again, ComputeRouterEfficiency(network, row));
    EXPECT_DOUBLE_EQ(again.efficiency(), row.efficiency());
    ++computed;
  }
  EXPECT_EQ(computed, 4);
}

TEST(PacketEfficiencyTest, EverySliceOfTpuV3And4HasRowsOfItsOwn) {
  for (const char* name :
       {"tpu-v3-16", "tpu-v3-32", "tpu-v3-64", "tpu-v3-128", "tpu-v3-256", "tpu-v3-512", "tpu-v3-1024",
        "tpu-v3-2048", "tpu-v4-4x4x4", "tpu-v4-4x4x8", "tpu-v4-8x8x8", "tpu-v4-16x16x16"}) {
    SCOPED_TRACE(name);
    ASSERT_OK_AND_ASSIGN(const Machine machine, LoadMachine(name));
    int rows = 0;
    for (const RouterEfficiencyTable::Row& row : RouterTableOf(machine.family.network()).rows()) {
      rows += std::equal(row.chips().begin(), row.chips().end(), machine.slice.chips().begin(),
                         machine.slice.chips().end());
    }
    EXPECT_GE(rows, 6);
  }
}

TEST(PacketEfficiencyTest, AnUnknownPatternIsRefused) {
  RouterEfficiencyTable::Row row;
  row.set_pattern("gossip");
  row.add_chips(2);
  row.set_cores_per_chip(1);
  NetworkSpec network;
  network.set_link_bytes_per_second(1);
  EXPECT_THAT(ComputeRouterEfficiency(network, row),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("\"gossip\"")));
}

}  // namespace
}  // namespace toroid
