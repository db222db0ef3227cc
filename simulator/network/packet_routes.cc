#include "simulator/network/packet_routes.h"

#include "simulator/network/routing.h"

namespace toroid {

PacketRoutes::PacketRoutes(const Topology& topology, int channels)
    : topology_(topology), axes_(static_cast<int>(topology.axes().size())), channels_(channels) {
  target_of_link_.resize(topology_.link_ids());
  for (int64_t link = 0; link < topology_.link_ids(); ++link) {
    target_of_link_[link] = static_cast<int32_t>(topology_.TargetOfLink(link));
  }
  coordinate_.resize(topology_.chips() * axes_);
  direction_.resize(axes_);
  for (int axis = 0; axis < axes_; ++axis) {
    const TopologyAxis& a = topology_.axes()[axis];
    for (int64_t chip = 0; chip < topology_.chips(); ++chip) {
      coordinate_[chip * axes_ + axis] = static_cast<int32_t>(topology_.Coordinate(chip, axis));
    }
    direction_[axis].resize(a.size * a.size);
    for (int64_t from = 0; from < a.size; ++from) {
      for (int64_t to = 0; to < a.size; ++to) {
        const AxisRoute route = RouteAlong(a, from, to);
        int8_t& direction = direction_[axis][from * a.size + to];
        direction = kTie;
        if (route.plus_share == 1) direction = kPlus;
        if (route.minus_share == 1) direction = kMinus;
      }
    }
  }
}

void PacketRoutes::ChooseLink(int32_t chip, int axis_before, Packet* packet) const {
  const int32_t* at = &coordinate_[int64_t{chip} * axes_];
  const int32_t* to = &coordinate_[int64_t{packet->target} * axes_];
  int axis = 0;
  while (at[axis] == to[axis]) ++axis;
  const int64_t size = topology_.axes()[axis].size;
  int direction = direction_[axis][at[axis] * size + to[axis]];
  if (direction == kTie) direction = packet->ties_plus ? kPlus : kMinus;
  if (axis != axis_before) packet->crossed = false;
  packet->link_at_router = static_cast<int16_t>(2 * axis + direction);
}

bool PacketRoutes::CrossesWrap(int64_t link) const {
  const int axis = topology_.AxisOfLink(link);
  const int32_t at = coordinate_[topology_.ChipOfLink(link) * axes_ + axis];
  return at == (topology_.DirectionOfLink(link) == kPlus ? topology_.axes()[axis].size - 1 : 0);
}

int PacketRoutes::Channel(int64_t link, const Packet& packet) const {
  if (!topology_.axes()[topology_.AxisOfLink(link)].far_wrap) return packet.draw % channels_;
  const int half = channels_ / 2;
  return packet.draw % half + (packet.crossed || CrossesWrap(link) ? half : 0);
}

}  // namespace toroid
