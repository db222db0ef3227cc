#include "simulator/network/device_assignment.h"

#include <algorithm>

#include "gmock/gmock.h"
#include "simulator/network/routing.h"
#include "tests/simulator/network/slices.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

// Hops from each device of a row to the next, summed over the rows of a mesh of two axes.
int64_t RowHops(const Topology& topology, int64_t rows, int64_t columns, const std::vector<int64_t>& cores) {
  Router router(topology);
  int64_t hops = 0;
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t column = 0; column + 1 < columns; ++column) {
      std::vector<LinkShare> links;
      const int64_t device = row * columns + column;
      EXPECT_OK(
          router.Route(topology.ChipOfCore(cores[device]), topology.ChipOfCore(cores[device + 1]), &links));
      hops += static_cast<int64_t>(links.size());
    }
  }
  return hops;
}

TEST(DeviceAssignmentTest, TopologyAwarePutsRowsOnNeighbours) {
  // Figure 10: a tensor cut 2 x 4 whose rows exchange data.
  ASSERT_OK_AND_ASSIGN(const Topology slice, Topology::Create(PlainNetwork(), Slice({4, 2}), 1));
  ASSERT_OK_AND_ASSIGN(const auto row_major, RowMajorAssignment(slice, 8));
  ASSERT_OK_AND_ASSIGN(const auto aware, TopologyAwareAssignment(slice, {2, 4}));
  EXPECT_THAT(row_major, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  EXPECT_THAT(aware, ElementsAre(0, 2, 4, 6, 1, 3, 5, 7));
  EXPECT_EQ(RowHops(slice, 2, 4, row_major), 2 * 4);
  EXPECT_EQ(RowHops(slice, 2, 4, aware), 2 * 3);
}

TEST(DeviceAssignmentTest, ASnakePutsEachDeviceBesideTheOneBeforeIt) {
  for (const std::vector<int64_t>& chips :
       std::vector<std::vector<int64_t>>{{8}, {4, 6}, {3, 5}, {2, 3, 4}, {1, 4, 1}}) {
    for (const int64_t cores_per_chip : {1, 2}) {
      ASSERT_OK_AND_ASSIGN(const Topology slice,
                           Topology::Create(PlainNetwork(), Slice(chips), cores_per_chip));
      ASSERT_OK_AND_ASSIGN(std::vector<int64_t> cores, SnakeAssignment(slice, slice.cores()));
      for (size_t d = 0; d + 1 < cores.size(); ++d) {
        std::vector<LinkShare> links;
        Router router(slice);
        EXPECT_OK(router.Route(slice.ChipOfCore(cores[d]), slice.ChipOfCore(cores[d + 1]), &links));
        EXPECT_LE(links.size(), 1u) << d;
      }
      std::sort(cores.begin(), cores.end());
      EXPECT_EQ(std::unique(cores.begin(), cores.end()), cores.end());
      EXPECT_EQ(cores.back(), slice.cores() - 1);
      ASSERT_OK_AND_ASSIGN(const auto some, SnakeAssignment(slice, slice.cores() - 1));
      EXPECT_EQ(static_cast<int64_t>(some.size()), slice.cores() - 1);
    }
  }
}

TEST(DeviceAssignmentTest, EveryDeviceHasACoreOfItsOwn) {
  ASSERT_OK_AND_ASSIGN(const Topology slice, Topology::Create(PlainNetwork(), Slice({4, 6}), 2));
  for (const std::vector<int64_t>& mesh : std::vector<std::vector<int64_t>>{
           {48}, {2, 24}, {24, 2}, {3, 16}, {16, 3}, {2, 2, 2, 2, 3}, {5, 7}, {1}, {1, 12}}) {
    ASSERT_OK_AND_ASSIGN(std::vector<int64_t> cores, TopologyAwareAssignment(slice, mesh));
    int64_t devices = 1;
    for (const int64_t n : mesh) devices *= n;
    EXPECT_EQ(static_cast<int64_t>(cores.size()), devices);
    std::sort(cores.begin(), cores.end());
    EXPECT_EQ(std::unique(cores.begin(), cores.end()), cores.end());
    EXPECT_LT(cores.back(), 48);
  }
}

TEST(DeviceAssignmentTest, TheBestIsNoWorseThanAnyOtherNamedOne) {
  ASSERT_OK_AND_ASSIGN(const Topology slice, Topology::Create(PlainNetwork(), Slice({4, 2}), 1));
  const auto cost = [&](const std::vector<int64_t>& cores) -> absl::StatusOr<double> {
    return static_cast<double>(RowHops(slice, 2, 4, cores));
  };
  ASSERT_OK_AND_ASSIGN(const auto best, BestAssignment(slice, {2, 4}, cost));
  EXPECT_EQ(RowHops(slice, 2, 4, best), 6);
}

TEST(DeviceAssignmentTest, AFileListsCores) {
  ASSERT_OK_AND_ASSIGN(const Topology slice, Topology::Create(PlainNetwork(), Slice({4}), 1));
  EXPECT_THAT(ParseAssignment(slice.cores(), 4, "3 2, # backwards\n1\t0\n", "f"),
              IsOkAndHolds(ElementsAre(3, 2, 1, 0)));
  EXPECT_THAT(ParseAssignment(slice.cores(), 4, "3 2\n1 1", "f"),
              StatusIs(kInvalid, HasSubstr("f:2: core 1 occurs twice")));
  EXPECT_THAT(ParseAssignment(slice.cores(), 4, "3 2\n1 4", "f"),
              StatusIs(kInvalid, HasSubstr("f:2: \"4\" is no core")));
  EXPECT_THAT(ParseAssignment(slice.cores(), 4, "3 x", "f"), StatusIs(kInvalid, HasSubstr("f:1: \"x\"")));
  EXPECT_THAT(ParseAssignment(slice.cores(), 4, "3 2", "f"),
              StatusIs(kInvalid, HasSubstr("f: 2 cores for a program of 4")));
  EXPECT_THAT(ParseAssignment(slice.cores(), 5, "", "f"),
              StatusIs(kInvalid, HasSubstr("5 devices, the slice has 4")));
}

TEST(DeviceAssignmentTest, TheMeshFollowsFromTheGroups) {
  EXPECT_THAT(MeshOfGroups(8, {Groups({{0, 1, 2, 3}, {4, 5, 6, 7}})}), ElementsAre(2, 4));
  EXPECT_THAT(MeshOfGroups(8, {Groups({{0, 4}, {1, 5}, {2, 6}, {3, 7}})}), ElementsAre(2, 4));
  EXPECT_THAT(MeshOfGroups(16, {Groups({{0, 1}}), Groups({{0, 4, 8, 12}})}), ElementsAre(4, 2, 2));
  EXPECT_THAT(MeshOfGroups(6, {Groups({{0, 3, 4}})}), ElementsAre(6));
  EXPECT_THAT(MeshOfGroups(1, {}), ElementsAre(1));
}

}  // namespace
}  // namespace toroid
