#include "simulator/network/flow_simulation.h"

#include <algorithm>
#include <limits>
#include <random>

#include "gmock/gmock.h"
#include "simulator/network/routing.h"
#include "simulator/network/symmetry.h"
#include "tests/simulator/network/slices.h"
#include "tests/status_matchers.h"
#include "tests/tolerances.h"

namespace toroid {
namespace {

using ::testing::DoubleEq;
using ::testing::ElementsAre;

// Rates by the definition: all rise by the smallest step that fills a resource, until each transfer is held by one.
std::vector<double> SlowRates(const FlowProblem& problem, const std::vector<bool>& active) {
  const int64_t n = problem.transfers();
  std::vector<double> rates(n, 0);
  std::vector<bool> held(n);
  for (int64_t t = 0; t < n; ++t) held[t] = !active[t] || problem.shares(t).empty();
  while (std::find(held.begin(), held.end(), false) != held.end()) {
    double step = std::numeric_limits<double>::infinity();
    std::vector<double> used(problem.resources(), 0), rising(problem.resources(), 0);
    for (int64_t t = 0; t < n; ++t) {
      for (const ResourceShare& s : problem.shares(t)) {
        used[s.resource] += problem.count(t) * s.share * rates[t];
        if (!held[t]) rising[s.resource] += problem.count(t) * s.share;
      }
    }
    for (int64_t r = 0; r < problem.resources(); ++r) {
      if (rising[r] > 0) step = std::min(step, (problem.capacity(r) - used[r]) / rising[r]);
    }
    for (int64_t t = 0; t < n; ++t) {
      if (!held[t]) rates[t] += step;
    }
    for (int64_t t = 0; t < n; ++t) {
      for (const ResourceShare& s : problem.shares(t)) {
        const double now = used[s.resource] + rising[s.resource] * step;
        if (rising[s.resource] > 0 && now > problem.capacity(s.resource) * (1 - 1e-9)) held[t] = true;
      }
    }
  }
  return rates;
}

double SlowSeconds(const FlowProblem& problem) {
  std::vector<double> left;
  std::vector<bool> active;
  for (int64_t t = 0; t < problem.transfers(); ++t) {
    left.push_back(problem.bytes(t));
    active.push_back(problem.bytes(t) > 0 && !problem.shares(t).empty());
  }
  double now = 0;
  while (std::find(active.begin(), active.end(), true) != active.end()) {
    const std::vector<double> rates = SlowRates(problem, active);
    double next = std::numeric_limits<double>::infinity();
    for (size_t t = 0; t < left.size(); ++t) {
      if (active[t]) next = std::min(next, left[t] / rates[t]);
    }
    now += next;
    for (size_t t = 0; t < left.size(); ++t) {
      if (!active[t]) continue;
      left[t] -= rates[t] * next;
      if (left[t] < 1e-9 * problem.bytes(t)) active[t] = false;
    }
  }
  return now;
}

// Messages between chips, one transfer each.
FlowProblem Messages(const Topology& topology, const std::vector<std::pair<int64_t, int64_t>>& pairs,
                     const std::vector<double>& bytes) {
  FlowProblem problem;
  std::vector<int32_t> resource_of(topology.link_ids(), -1);
  for (int64_t link = 0; link < topology.link_ids(); ++link) {
    if (topology.Exists(link)) resource_of[link] = problem.AddResource(topology.LinkRate(link));
  }
  Router router(topology);
  for (size_t i = 0; i < pairs.size(); ++i) {
    std::vector<LinkShare> links;
    EXPECT_OK(router.Route(pairs[i].first, pairs[i].second, &links));
    std::vector<ResourceShare> shares;
    for (const LinkShare& l : links) shares.push_back({resource_of[l.link], l.share});
    problem.AddTransfer(bytes[i], 1, shares);
  }
  return problem;
}

TEST(FlowSimulationTest, OneFlowHasTheLinkToItself) {
  ASSERT_OK_AND_ASSIGN(const Topology line, Topology::Create(PlainNetwork(), Slice({4}), 1));
  EXPECT_DOUBLE_EQ(SimulateFlows(Messages(line, {{0, 3}}, {500})).seconds, 5);
}

TEST(FlowSimulationTest, OppositeFlowsDoNotMeet) {
  ASSERT_OK_AND_ASSIGN(const Topology line, Topology::Create(PlainNetwork(), Slice({4}), 1));
  EXPECT_DOUBLE_EQ(SimulateFlows(Messages(line, {{0, 3}, {3, 0}}, {500, 500})).seconds, 5);
}

TEST(FlowSimulationTest, AHotSpotSharesItsLastLink) {
  ASSERT_OK_AND_ASSIGN(const Topology line, Topology::Create(PlainNetwork(), Slice({4}), 1));
  const FlowResult result = SimulateFlows(Messages(line, {{0, 3}, {1, 3}, {2, 3}}, {100, 100, 100}));
  EXPECT_THAT(result.finish_seconds, ElementsAre(DoubleEq(3), DoubleEq(3), DoubleEq(3)));
}

TEST(FlowSimulationTest, WhatOneFlowCannotUseAnotherGets) {
  FlowProblem problem;
  const int32_t a = problem.AddResource(10), b = problem.AddResource(4);
  problem.AddTransfer(100, 1, {{a, 1}});
  problem.AddTransfer(100, 1, {{a, 1}, {b, 1}});
  EXPECT_THAT(MaxMinRates(problem, {true, true}), ElementsAre(6, 4));
  EXPECT_THAT(SimulateFlows(problem).finish_seconds, ElementsAre(DoubleEq(100 / 6.0), DoubleEq(25)));
}

TEST(FlowSimulationTest, AFlowThatEndsLeavesItsShareToOthers) {
  FlowProblem problem;
  const int32_t a = problem.AddResource(10);
  problem.AddTransfer(50, 1, {{a, 1}});
  problem.AddTransfer(150, 1, {{a, 1}});
  EXPECT_THAT(SimulateFlows(problem).finish_seconds, ElementsAre(DoubleEq(10), DoubleEq(20)));
}

TEST(FlowSimulationTest, NothingToSendAndNoResourceTakeNoTime) {
  FlowProblem problem;
  const int32_t a = problem.AddResource(10);
  problem.AddTransfer(0, 1, {{a, 1}});
  problem.AddTransfer(100, 1, {});
  EXPECT_EQ(SimulateFlows(problem).seconds, 0);
  EXPECT_EQ(SimulateFlows(FlowProblem()).seconds, 0);
}

// Random slices, random messages.
class RandomMessages {
 public:
  explicit RandomMessages(uint32_t seed) : random_(seed) {
    SliceSpec slice;
    for (int a = 0; a < 1 + static_cast<int>(random_() % 3); ++a) {
      slice.add_chips(2 + random_() % 4);
      slice.add_wrap(random_() % 2 == 0);
      slice.add_link_rate_factor(1 + random_() % 2);
    }
    topology_ = *Topology::Create(PlainNetwork(), slice, 1);
    for (int i = 0; i < 1 + static_cast<int>(random_() % 40); ++i) {
      pairs_.push_back({random_() % topology_->chips(), random_() % topology_->chips()});
      bytes_.push_back(static_cast<double>(random_() % 5) * 100);
    }
  }
  FlowProblem Problem() const { return Messages(*topology_, pairs_, bytes_); }
  void Shuffle() {
    for (size_t i = pairs_.size(); i > 1; --i) {
      const size_t k = random_() % i;
      std::swap(pairs_[i - 1], pairs_[k]);
      std::swap(bytes_[i - 1], bytes_[k]);
    }
  }

 private:
  std::mt19937 random_;
  std::optional<Topology> topology_;
  std::vector<std::pair<int64_t, int64_t>> pairs_;
  std::vector<double> bytes_;
};

TEST(FlowSimulationTest, RandomMessagesAgreeWithTheSlowSolver) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    const FlowProblem problem = RandomMessages(seed).Problem();
    const std::vector<bool> all(problem.transfers(), true);
    const std::vector<double> rates = MaxMinRates(problem, all), slow = SlowRates(problem, all);
    for (int64_t t = 0; t < problem.transfers(); ++t) {
      if (problem.shares(t).empty()) continue;
      EXPECT_THAT(rates[t], IsWithin(kRounding, slow[t]));
    }
    EXPECT_THAT(SimulateFlows(problem).seconds, IsWithin(kRounding, SlowSeconds(problem)));
  }
}

TEST(FlowSimulationTest, NoLinkIsAboveItsRateAndAllBytesArrive) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    const FlowProblem problem = RandomMessages(seed).Problem();
    const std::vector<double> rates = MaxMinRates(problem, std::vector<bool>(problem.transfers(), true));
    const FlowResult result = SimulateFlows(problem);
    std::vector<double> load(problem.resources(), 0), bytes(problem.resources(), 0);
    for (int64_t t = 0; t < problem.transfers(); ++t) {
      for (const ResourceShare& s : problem.shares(t)) {
        load[s.resource] += rates[t] * s.share;
        bytes[s.resource] += problem.bytes(t) * s.share;
      }
    }
    for (int64_t r = 0; r < problem.resources(); ++r) {
      EXPECT_PRED_FORMAT2(::testing::DoubleLE, load[r], problem.capacity(r));
      EXPECT_DOUBLE_EQ(result.resource_bytes[r], bytes[r]);
      EXPECT_PRED_FORMAT2(::testing::DoubleLE, bytes[r], problem.capacity(r) * result.seconds);
    }
  }
}

TEST(FlowSimulationTest, TheOrderOfTransfersDoesNotMatterToTheLastBit) {
  for (uint32_t seed = 0; seed < 50; ++seed) {
    SCOPED_TRACE(seed);
    RandomMessages messages(seed);
    const double seconds = SimulateFlows(messages.Problem()).seconds;
    for (int i = 0; i < 3; ++i) {
      messages.Shuffle();
      EXPECT_EQ(SimulateFlows(messages.Problem()).seconds, seconds);
    }
  }
}

TEST(FlowSimulationTest, ManyDifferentTransfersEndInAFewThousandEvents) {
  FlowProblem problem;
  const int32_t a = problem.AddResource(1e6);
  double bytes = 0;
  for (int i = 0; i < 20000; ++i) {
    problem.AddTransfer(1000 + i, 1, {{a, 1}});
    bytes += 1000 + i;
  }
  EXPECT_THAT(SimulateFlows(problem).seconds, IsWithin(kTwoPercent, bytes / 1e6));
}

}  // namespace
}  // namespace toroid
