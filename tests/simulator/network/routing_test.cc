#include "simulator/network/routing.h"

#include <map>
#include <random>

#include "gmock/gmock.h"
#include "tests/simulator/network/slices.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// "(x,y) +axis" -> share, of one way.
std::map<std::string, double> Way(const Topology& topology, int64_t from, int64_t to) {
  std::vector<LinkShare> links;
  Router router(topology);
  EXPECT_OK(router.Route(from, to, &links));
  std::map<std::string, double> way;
  for (const LinkShare& l : links) way[topology.LinkName(l.link)] += l.share;
  return way;
}

using Shares = std::map<std::string, double>;

TEST(RoutingTest, MessagesRunAlongTheFirstAxisFirst) {
  ASSERT_OK_AND_ASSIGN(const Topology mesh, Topology::Create(PlainNetwork(), Slice({3, 3}), 1));
  EXPECT_EQ(Way(mesh, 0, 4), (Shares{{"(0,0) +0", 1}, {"(1,0) +1", 1}}));
  EXPECT_EQ(Way(mesh, 4, 0), (Shares{{"(1,1) -0", 1}, {"(0,1) -1", 1}}));
  EXPECT_THAT(Way(mesh, 5, 5), IsEmpty());
}

TEST(RoutingTest, ATorusTakesTheShorterDirectionAndBothOnTies) {
  ASSERT_OK_AND_ASSIGN(const Topology ring, Topology::Create(PlainNetwork(), Slice({4}, true), 1));
  EXPECT_EQ(Way(ring, 0, 3), (Shares{{"(0) -0", 1}}));
  EXPECT_EQ(Way(ring, 0, 2), (Shares{{"(0) +0", 0.5}, {"(1) +0", 0.5}, {"(0) -0", 0.5}, {"(3) -0", 0.5}}));
}

TEST(RoutingTest, WithoutFarWrapOnlyTheEndsUseTheWrapLink) {
  SliceSpec slice = Slice({5}, true);
  slice.add_far_wrap(false);
  ASSERT_OK_AND_ASSIGN(const Topology ring, Topology::Create(PlainNetwork(), slice, 1));
  EXPECT_EQ(Way(ring, 0, 4), (Shares{{"(0) -0", 1}}));
  EXPECT_EQ(Way(ring, 0, 3), (Shares{{"(0) +0", 1}, {"(1) +0", 1}, {"(2) +0", 1}}));
}

TEST(RoutingTest, ASwitchIsOneLinkUpAndOneDown) {
  SliceSpec slice = Slice({4, 2});
  slice.add_switched(true);
  ASSERT_OK_AND_ASSIGN(const Topology islands, Topology::Create(PlainNetwork(), slice, 1));
  EXPECT_EQ(Way(islands, 0, 7), (Shares{{"(0,0) +0", 1}, {"(3,0) -0", 1}, {"(3,0) +1", 1}}));
}

TEST(RoutingTest, DeadLinksAreGoneAround) {
  SliceSpec slice = Slice({2, 3});
  slice.add_dead_links()->set_axis(1);  // (0,0) +1
  ASSERT_OK_AND_ASSIGN(const Topology mesh, Topology::Create(PlainNetwork(), slice, 1));
  EXPECT_EQ(Way(mesh, 0, 1), (Shares{{"(0,0) +0", 1}, {"(1,0) +1", 1}, {"(1,1) -0", 1}}));
  EXPECT_EQ(Way(mesh, 1, 0), (Shares{{"(0,1) -1", 1}}));  // The other direction lives.
}

TEST(RoutingTest, WhereNoWayIsLeftBothChipsAreNamed) {
  SliceSpec slice = Slice({2});
  slice.add_dead_links();
  ASSERT_OK_AND_ASSIGN(const Topology mesh, Topology::Create(PlainNetwork(), slice, 1));
  Router router(mesh);
  std::vector<LinkShare> links;
  EXPECT_THAT(router.Route(0, 1, &links),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("from chip 0 to chip 1")));
}

// The tree from one chip to all is the sum of the single ways, on any slice.
TEST(RoutingTest, RoutingToAllIsRoutingToEach) {
  std::mt19937 random(7);
  for (int round = 0; round < 60; ++round) {
    SCOPED_TRACE(round);
    SliceSpec slice;
    const int axes = 1 + static_cast<int>(random() % 3);
    for (int a = 0; a < axes; ++a) {
      slice.add_chips(1 + random() % 5);
      const int kind = static_cast<int>(random() % 4);
      slice.add_wrap(kind == 1 || kind == 2);
      slice.add_far_wrap(kind == 1);
      slice.add_switched(kind == 3);
    }
    ASSERT_OK_AND_ASSIGN(const Topology topology, Topology::Create(PlainNetwork(), slice, 1));
    std::vector<double> weights;
    for (int64_t c = 0; c < topology.chips(); ++c) weights.push_back(static_cast<double>(random() % 4));
    Router router(topology);
    for (int64_t from = 0; from < topology.chips(); ++from) {
      std::vector<LinkShare> tree, ways;
      EXPECT_OK(router.RouteToAll(from, weights, &tree));
      std::map<int32_t, double> expected, got;
      for (int64_t to = 0; to < topology.chips(); ++to) {
        if (weights[to] == 0) continue;
        ways.clear();
        EXPECT_OK(router.Route(from, to, &ways));
        for (const LinkShare& l : ways) expected[l.link] += l.share * weights[to];
      }
      for (const LinkShare& l : tree) got[l.link] += l.share;
      for (const auto& [link, share] : got) EXPECT_DOUBLE_EQ(share, expected[link]);
      EXPECT_EQ(got.size(), expected.size());
    }
  }
}

}  // namespace
}  // namespace toroid
