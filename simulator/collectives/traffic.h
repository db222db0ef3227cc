// What a collective puts on the network, and the time it takes: the common form of all algorithms here.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "hlo/devices/replica_groups.h"
#include "simulator/machines/network.pb.h"
#include "simulator/network/flow_simulation.h"
#include "simulator/network/router_efficiency.h"
#include "simulator/network/routing.h"
#include "simulator/network/symmetry.h"
#include "simulator/network/topology.h"

namespace toroid {

// The slice on which a collective runs.
struct CollectiveNetwork {
  const Topology& topology;
  const NetworkSpec& network;
};

// Transfers that are under way at the same time.
class Traffic {
 public:
  // Every link on its own, or one of each class.
  explicit Traffic(const Topology& topology);
  Traffic(const Topology& topology, Folding folding);

  // `count` transfers alike, each of `bytes`, of which `links` tells where they pass and `injected` how many leave a
  // chip for each byte, of the core that sends most, at `injection` bytes per second.
  void Add(double bytes, double count, absl::Span<const LinkShare> links, double injected, double injection);

  const FlowProblem& flows() const { return flows_; }
  const Folding& folding() const { return folding_; }
  // Adds to `link_bytes`, by link id, what the links carried.
  void AddLinkBytes(const FlowResult& result, std::vector<double>* link_bytes) const;

 private:
  const Topology& topology_;
  Folding folding_;
  FlowProblem flows_;
  std::vector<ResourceShare> shares_;
};

// How an algorithm carries out a collective of payload p (bytes):
//   time = fixed_seconds + p * (pass_seconds_per_byte + (sum over phases of their flow time) / efficiency)
struct CollectivePlan {
  std::string algorithm;             // "direct", "axes, 2 colors", ...
  double fixed_seconds = 0;          // Start and end, steps, latencies.
  double pass_seconds_per_byte = 0;  // What a core does with its payload beside sending it.
  std::vector<Traffic> phases;       // One after the other, for one byte of payload.
  // Efficiency: the least that the packet level found for this pattern on these shapes; 1 without a pattern.
  std::string pattern;
  std::vector<BoxShape> shapes;
};

}  // namespace toroid
