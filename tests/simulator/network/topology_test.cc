#include "simulator/network/topology.h"

#include <cmath>

#include "gmock/gmock.h"
#include "tests/simulator/network/slices.h"
#include "tests/status_matchers.h"

namespace toroid {
namespace {

using ::testing::HasSubstr;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

TEST(TopologyTest, AMeshHasNoLinksAtItsEndsAndATorusHas) {
  ASSERT_OK_AND_ASSIGN(const Topology mesh, Topology::Create(PlainNetwork(), Slice({4, 2}), 2));
  EXPECT_EQ(mesh.cores(), 16);
  EXPECT_EQ(mesh.LiveLinks(), 2 * (3 * 2 + 1 * 4));
  EXPECT_FALSE(mesh.Exists(mesh.Link(7, 0, kPlus)));
  ASSERT_OK_AND_ASSIGN(const Topology torus, Topology::Create(PlainNetwork(), Slice({4, 2}, true), 2));
  EXPECT_EQ(torus.LiveLinks(), 2 * 2 * 8);
  EXPECT_EQ(torus.TargetOfLink(torus.Link(7, 0, kPlus)), 1);
  EXPECT_EQ(torus.LinkName(torus.Link(7, 0, kPlus)), "(3,1) +0");
}

TEST(TopologyTest, AnAxisOfOneChipHasNoLinks) {
  ASSERT_OK_AND_ASSIGN(const Topology one, Topology::Create(PlainNetwork(), Slice({1, 1}, true), 2));
  EXPECT_EQ(one.LiveLinks(), 0);
}

TEST(TopologyTest, WhatNoMachineCanBeIsRefused) {
  const auto error = [](const SliceSpec& slice, const NetworkSpec& network = PlainNetwork(),
                        int64_t cores = 2) { return Topology::Create(network, slice, cores).status(); };
  EXPECT_THAT(error(Slice({})), StatusIs(kInvalid, HasSubstr("0 axes")));
  EXPECT_THAT(error(Slice({4, 0})), StatusIs(kInvalid, HasSubstr("axis 1 has 0 chips")));
  EXPECT_THAT(error(Slice({4, -3})), StatusIs(kInvalid, HasSubstr("-3")));
  EXPECT_THAT(error(Slice({1 << 20, 1 << 20})), StatusIs(kInvalid, HasSubstr("cores")));
  EXPECT_THAT(error(Slice({INT64_MAX})), StatusIs(kInvalid, HasSubstr("cores")));
  EXPECT_THAT(error(Slice({2}), PlainNetwork(), 0), StatusIs(kInvalid, HasSubstr("cores_per_chip is 0")));
  EXPECT_THAT(error(Slice({2}), PlainNetwork(), INT64_MAX), StatusIs(kInvalid, HasSubstr("cores_per_chip")));
  EXPECT_THAT(error(Slice({2}), PlainNetwork(0)), StatusIs(kInvalid, HasSubstr("rate of its links is 0")));
  EXPECT_THAT(error(Slice({2}), PlainNetwork(-5)), StatusIs(kInvalid, HasSubstr("-5")));
  EXPECT_THAT(error(Slice({2}), PlainNetwork(NAN)), StatusIs(kInvalid, HasSubstr("nan")));
  SliceSpec slice = Slice({2, 2}, true);
  slice.add_switched(true);
  EXPECT_THAT(error(slice), StatusIs(kInvalid, HasSubstr("switched and wraps")));
  slice = Slice({2, 2});
  slice.add_far_wrap(true);
  EXPECT_THAT(error(slice), StatusIs(kInvalid, HasSubstr("far_wrap without wrap")));
  slice = Slice({2});
  slice.add_wrap(true);
  EXPECT_THAT(error(slice), StatusIs(kInvalid, HasSubstr("a list by axis has 2")));
  slice = Slice({2, 2});
  slice.add_dead_links()->set_chip(4);
  EXPECT_THAT(error(slice), StatusIs(kInvalid, HasSubstr("chip 4 has no link")));
  slice = Slice({2, 2});
  slice.add_slow_chips()->set_chip(1);
  EXPECT_THAT(error(slice), StatusIs(kInvalid, HasSubstr("speed is 0")));
}

}  // namespace
}  // namespace toroid
