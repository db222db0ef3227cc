// The way of a message: dimension order, the shorter direction of each axis, both where they are equally long.
//
// From (x, y) to (x', y') a message runs along axis 0 to x', then along axis 1 to y'. On an axis that wraps for
// messages (far_wrap) it takes the direction of fewer hops; at exactly half of the axis half of the bytes go each way.
// On an axis that wraps for neighbours only, the wrap link is taken from end to end and by nothing else. A message
// whose way has a dead link takes a shortest way over live ones instead (among those, links of smaller id first).
// Example: ring of 4, from 0 to 2: links 0->1, 1->2 with share 0.5, links 0->3, 3->2 with share 0.5.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "simulator/network/topology.h"

namespace toroid {

// `share` bytes pass `link` for each byte of the transfer.
struct LinkShare {
  int32_t link = 0;
  double share = 0;
};

// Hops in each direction that a message takes along an axis, and the share of its bytes that goes that way.
struct AxisRoute {
  int64_t plus_hops = 0, minus_hops = 0;
  double plus_share = 0, minus_share = 0;
};
AxisRoute RouteAlong(const TopologyAxis& axis, int64_t from, int64_t to);

class Router {
 public:
  explicit Router(const Topology& topology) : topology_(topology) {}

  // Appends the links from chip to chip; none where they are the same.
  // Errors: kUnavailable if dead links leave no way.
  absl::Status Route(int64_t from, int64_t to, std::vector<LinkShare>* links);

  // Links passed by one byte from `from` to each of `weights`' chips times its weight, summed. Linear in the number
  // of chips, as all messages of one chip make a tree. `links` may hold a link more than once.
  absl::Status RouteToAll(int64_t from, absl::Span<const double> weights, std::vector<LinkShare>* links);

  // Seconds that the head of a message takes.
  double Latency(int64_t from, int64_t to) const;

 private:
  bool MeetsDeadLink(absl::Span<const LinkShare> links) const;
  absl::Status Detour(int64_t from, int64_t to, std::vector<LinkShare>* links);
  void RouteLine(int64_t at, int axis, absl::Span<const double> weights, std::vector<LinkShare>* links);

  const Topology& topology_;
  // Last links of shortest ways from `detour_source_` over live links, -1 where there is none.
  int64_t detour_source_ = -1;
  std::vector<int32_t> last_link_;
  std::vector<int64_t> switch_source_;  // Of chips reached through a switch, the chip before.
  std::vector<double> plus_, minus_;
};

}  // namespace toroid
