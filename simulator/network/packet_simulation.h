// Remote writes packet by packet through routers with input queues: slow and exact.
//
// Each link ends in virtual_channels first-in first-out queues of buffer_bytes. The packet at the head of a queue moves on
// when the link of its way is free and the queue at that link's end has room for all of it; it then holds link and queue
// for size / rate, and its head reaches the next router after hop latency, where it may move on while its tail
// still comes (virtual cut-through). Of all that wait for a link (queues, and the engines of the router's own cores) the
// next in turn goes first. Memory at the destination takes packets as they come.
// A core has writes_in_progress engines. An engine takes the core's next write, waits for write_setup, then sends it in
// packets. A write keeps the channel that it draws at its source; on an axis with far_wrap channels serve in two
// halves, the lower one until the wrap link is crossed. Ways are those of Router; where two are equally long, writes take
// turns. One packet blocked at the head of a queue holds all behind it: what makes an all-to-all slower than its
// busiest link.
// Example: one write of 32 KiB over 3 hops of 82 GB/s and 50 ns, packets of 8 KiB, set-up 1 us: 1 + 4 * 0.0999 + 3 * 0.05
// = 1.55 us.
// The same input gives the same result: nothing depends on addresses, hashes of the library, or threads.
// Source: Dally, Towles, Principles and Practices of Interconnection Networks, 12 and 13 (virtual cut-through).
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "hlo/base/units.h"
#include "simulator/machines/network.pb.h"
#include "simulator/network/remote_writes.h"
#include "simulator/network/topology.h"

namespace toroid {

struct PacketResult {
  Picoseconds time = 0;               // When the last byte arrives.
  Bytes injected = 0, delivered = 0;  // Of writes that leave their chip.
  int64_t packets = 0;
  std::vector<Bytes> link_bytes;  // By link id.
};

// `seed` draws the channels.
// Errors: kInvalidArgument for router parameters below 1, a queue that holds no packet, more than 64 queues and engines
// at a router, an odd number of channels on an axis with far_wrap, writes out of range; kUnimplemented: dead links,
// switched axes, links of different rates.
absl::StatusOr<PacketResult> SimulatePackets(const Topology& topology, const RouterSpec& router,
                                             const WritesOfCore& writes, uint64_t seed = 0);

}  // namespace toroid
