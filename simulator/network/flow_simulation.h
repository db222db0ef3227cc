// Transfers that share resources max-min fair, from the time the first begins to the time the last ends.
//
// A resource is a directed link, or a core's way into the network; it carries `capacity` bytes per second. A transfer
// moves `bytes`, each of which puts share(r) bytes on resource r: a message has share 1 on each link of its way; all
// that a core sends in an all-to-all is one transfer that has on each link the part of its bytes that passes there, as
// its writes go round all destinations. At any time the rates of the transfers under way are
//   max-min fair:  sum over transfers of count * share(r) * rate <= capacity(r), and no rate can be raised without
//                  lowering one that is not larger.
// When a transfer ends, rates are found anew. A class of `count` transfers that fare alike is one transfer here, and a
// class of resources one resource with their capacity in sum: cost grows with classes.
// Example: 2 transfers of 100 B over one link of 10 B/s, one going on over a link of 4 B/s: rates 6 and 4; the first ends
// at 16.7 s; the second, which the second link holds at 4 B/s, at 25 s.
// Source: Bertsekas, Gallager, Data Networks, 6.5.2 (progressive filling).
#pragma once

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace toroid {

struct ResourceShare {
  int32_t resource = 0;
  double share = 0;
};

class FlowProblem {
 public:
  // Returns its id: 0, 1, ... `capacity` > 0; infinite is unlimited.
  int32_t AddResource(double capacity);
  // `shares` may name a resource more than once; entries of 0 are left out. `bytes` >= 0, `count` > 0.
  int32_t AddTransfer(double bytes, double count, absl::Span<const ResourceShare> shares);

  int64_t transfers() const { return static_cast<int64_t>(bytes_.size()); }
  int64_t resources() const { return static_cast<int64_t>(capacity_.size()); }
  double capacity(int64_t resource) const { return capacity_[resource]; }
  double bytes(int64_t transfer) const { return bytes_[transfer]; }
  double count(int64_t transfer) const { return count_[transfer]; }
  // By resource, each once.
  absl::Span<const ResourceShare> shares(int64_t transfer) const {
    return absl::MakeConstSpan(shares_).subspan(begin_[transfer], begin_[transfer + 1] - begin_[transfer]);
  }

 private:
  std::vector<double> capacity_, bytes_, count_;
  std::vector<int64_t> begin_ = {0};
  std::vector<ResourceShare> shares_;
  std::vector<double> sum_;  // Used by AddTransfer.
};

struct FlowResult {
  double seconds = 0;                  // When the last transfer ends.
  std::vector<double> finish_seconds;  // By transfer.
  std::vector<double> resource_bytes;  // Carried by each resource.
};

// The same for any order of the transfers. Transfers that use no resource end at once. Ends that lie within 1e-9 of the
// time since the last event are one event; while more than 4,096 transfers are under way, also those within 1/1024 of
// the time since the start, so that no input needs more than a few thousand events.
FlowResult SimulateFlows(const FlowProblem& problem);

// Max-min fair rates, by transfer, of those with active[t]; 0 for others. Transfers that use no resource: infinite.
std::vector<double> MaxMinRates(const FlowProblem& problem, const std::vector<bool>& active);

}  // namespace toroid
