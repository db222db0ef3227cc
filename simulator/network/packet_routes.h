// Which link and which channel a packet takes (packet_simulation.h).
//
// Links leave a router in the order 2 * axis + direction. Ways are those of Router: axis by axis, the shorter direction of
// each.
#pragma once

#include <cstdint>
#include <vector>

#include "simulator/network/topology.h"

namespace toroid {

struct Packet {
  int32_t target = 0;  // Chip.
  int32_t bytes = 0;
  int32_t next = -1;           // Behind it in its queue.
  int16_t link_at_router = 0;  // Of those that leave the router where it is: 2 * axis + direction.
  uint8_t draw = 0;            // For its channel.
  bool ties_plus = false;
  bool crossed = false;  // The wrap link of the axis it is on.
};

class PacketRoutes {
 public:
  PacketRoutes(const Topology& topology, int channels);

  int axes() const { return axes_; }
  int channels() const { return channels_; }
  // Chip.
  int32_t TargetOfLink(int32_t link) const { return target_of_link_[link]; }
  // The link along `axis` in `direction` that ends at `chip`.
  int32_t FeedingLink(int32_t chip, int axis, int direction) const {
    const int32_t opposite = chip * 2 * axes_ + 2 * axis + (1 - direction);
    return target_of_link_[opposite] * 2 * axes_ + 2 * axis + direction;
  }
  // Sets the link that `packet` takes from `chip`, which is not its target; it came over `axis_before`, -1 from a core.
  void ChooseLink(int32_t chip, int axis_before, Packet* packet) const;
  bool CrossesWrap(int64_t link) const;
  // The channel of the queue at the end of `link`.
  int Channel(int64_t link, const Packet& packet) const;

 private:
  static constexpr int8_t kTie = 2;

  const Topology& topology_;
  const int axes_, channels_;
  std::vector<int32_t> coordinate_, target_of_link_;
  std::vector<std::vector<int8_t>> direction_;
};

}  // namespace toroid
