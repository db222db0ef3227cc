// Events of the packet level (packet_simulation.h), in the order of their times.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "hlo/base/units.h"

namespace toroid {

enum class EventKind : uint8_t { kWriteReady, kHeadArrives, kLinkFree };

struct Event {
  Picoseconds time;
  uint64_t order;
  int32_t where;   // Engine, queue, or link.
  int32_t packet;  // That arrives.
  EventKind kind;
};

// Events come after one of few delays. As time never runs back, those of one delay are in order as they are added.
class EventQueue {
 public:
  void Add(Picoseconds now, Picoseconds delay, EventKind kind, int32_t where, int32_t packet = -1) {
    size_t lane = 0;
    while (lane < lanes_.size() && lanes_[lane].delay != delay) ++lane;
    if (lane == lanes_.size()) lanes_.push_back({delay, {}});
    lanes_[lane].events.push_back({now + delay, order_++, where, packet, kind});
  }
  bool Next(Event* event) {
    Lane* first = nullptr;
    for (Lane& lane : lanes_) {
      if (lane.events.empty()) continue;
      if (first == nullptr || Before(lane.events.front(), first->events.front())) first = &lane;
    }
    if (first == nullptr) return false;
    *event = first->events.front();
    first->events.pop_front();
    return true;
  }

 private:
  struct Lane {
    Picoseconds delay;
    std::deque<Event> events;
  };
  static bool Before(const Event& a, const Event& b) {
    return a.time != b.time ? a.time < b.time : a.order < b.order;
  }
  std::vector<Lane> lanes_;
  uint64_t order_ = 0;
};

}  // namespace toroid
