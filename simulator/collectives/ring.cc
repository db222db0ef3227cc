#include "simulator/collectives/ring.h"

#include <algorithm>

#include "hlo/base/status.h"

namespace toroid {
namespace {

// Places along `axes` of a box back and forth: from each to the next one coordinate changes by one.
// Example: 2 x 3: (0,0) (0,1) (0,2) (1,2) (1,1) (1,0).
std::vector<std::vector<int64_t>> BackAndForth(absl::Span<const BoxAxis> axes) {
  std::vector<std::vector<int64_t>> path = {{}};
  for (const BoxAxis& axis : axes) {
    std::vector<std::vector<int64_t>> longer;
    for (size_t i = 0; i < path.size(); ++i) {
      for (int64_t c = 0; c < axis.count; ++c) {
        longer.push_back(path[i]);
        longer.back().push_back(i % 2 == 0 ? c : axis.count - 1 - c);
      }
    }
    path = std::move(longer);
  }
  return path;
}

// Chips of a box in a closed ring of neighbours: out along the axis of even length over all of the rest but its first
// place, back over the first. Empty where no axis is even or there is only one.
std::vector<int64_t> ClosedRing(const Topology& topology, const GroupBox& box) {
  const auto even =
      std::find_if(box.axes.begin(), box.axes.end(), [](const BoxAxis& a) { return a.count % 2 == 0; });
  if (even == box.axes.end() || box.axes.size() < 2) return {};
  const size_t along = even - box.axes.begin();
  std::vector<BoxAxis> others(box.axes);
  others.erase(others.begin() + along);
  const std::vector<std::vector<int64_t>> rest = BackAndForth(others);
  const int64_t last = static_cast<int64_t>(rest.size()) - 1;
  std::vector<int64_t> chips;
  const auto add = [&](int64_t place, int64_t c) {
    std::vector<int64_t> at = rest[place];
    at.insert(at.begin() + along, c);
    chips.push_back(box.Chip(topology, at));
  };
  for (int64_t c = 0; c < even->count; ++c) {
    for (int64_t i = 1; i <= last; ++i) add(c % 2 == 0 ? i : last + 1 - i, c);
  }
  for (int64_t c = even->count - 1; c >= 0; --c) add(0, c);
  return chips;
}

// The cores of each chip, one chip after the other.
std::vector<int64_t> AllOfEach(const Topology& topology, absl::Span<const int64_t> chips,
                               absl::Span<const int64_t> places) {
  std::vector<int64_t> ring;
  for (const int64_t chip : chips) {
    for (const int64_t place : places) ring.push_back(chip * topology.cores_per_chip() + place);
  }
  return ring;
}

// Out over the first place of each chip, back over the others.
std::vector<int64_t> OutAndBack(const Topology& topology, absl::Span<const int64_t> chips,
                                absl::Span<const int64_t> places) {
  std::vector<int64_t> ring = AllOfEach(topology, chips, places.subspan(0, 1));
  const std::vector<int64_t> way_back(chips.rbegin(), chips.rend());
  const std::vector<int64_t> back = AllOfEach(topology, way_back, places.subspan(1));
  ring.insert(ring.end(), back.begin(), back.end());
  return ring;
}

}  // namespace

absl::Status AddRing(const Topology& topology, absl::Span<const int64_t> cores, double bytes, Router* router,
                     std::vector<LinkShare>* links, std::vector<double>* injected) {
  const size_t g = cores.size();
  if (g < 2) return absl::OkStatus();
  const auto send = [&](int64_t from, int64_t to) {
    const int64_t chip = topology.ChipOfCore(from), next = topology.ChipOfCore(to);
    if (chip == next) return absl::OkStatus();
    const size_t first = links->size();
    RETURN_IF_ERROR(router->Route(chip, next, links));
    for (size_t i = first; i < links->size(); ++i) (*links)[i].share *= bytes;
    (*injected)[from] += bytes;
    return absl::OkStatus();
  };
  for (size_t i = 0; i < g; ++i) {
    RETURN_IF_ERROR(send(cores[i], cores[(i + 1) % g]));
    RETURN_IF_ERROR(send(cores[(i + 1) % g], cores[i]));
  }
  return absl::OkStatus();
}

std::vector<int64_t> RingAlongAxis(const Topology& topology, const GroupBox& box, int axis,
                                   std::vector<int64_t> at, absl::Span<const int64_t> places) {
  std::vector<int64_t> chips;
  for (int64_t c = 0; c < box.axes[axis].count; ++c) {
    at[axis] = c;
    chips.push_back(box.Chip(topology, at));
  }
  const bool open = !box.axes[axis].closed && places.size() > 1;
  return open ? OutAndBack(topology, chips, places) : AllOfEach(topology, chips, places);
}

std::vector<int64_t> RingThroughAll(const Topology& topology, absl::Span<const int64_t> cores) {
  const std::optional<GroupBox> box = BoxOf(topology, cores);
  if (box.has_value() && box->axes.size() < 2) {
    if (box->axes.empty()) return AllOfEach(topology, {box->first_chip}, box->places);
    return RingAlongAxis(topology, *box, 0, {0}, box->places);
  }
  if (box.has_value()) {
    const std::vector<int64_t> closed = ClosedRing(topology, *box);
    if (!closed.empty()) return AllOfEach(topology, closed, box->places);
    std::vector<int64_t> chips;
    for (const std::vector<int64_t>& at : BackAndForth(box->axes)) chips.push_back(box->Chip(topology, at));
    return box->places.size() > 1 ? OutAndBack(topology, chips, box->places)
                                  : AllOfEach(topology, chips, box->places);
  }
  // Back and forth over the whole slice, members only.
  std::vector<std::pair<int64_t, int64_t>> order;
  for (const int64_t core : cores) {
    int64_t place = 0;
    for (int axis = 0; axis < static_cast<int>(topology.axes().size()); ++axis) {
      const int64_t size = topology.axes()[axis].size;
      const int64_t c = topology.Coordinate(topology.ChipOfCore(core), axis);
      place = place * size + (place % 2 == 0 ? c : size - 1 - c);
    }
    order.push_back({place * topology.cores_per_chip() + core % topology.cores_per_chip(), core});
  }
  std::sort(order.begin(), order.end());
  std::vector<int64_t> ring;
  for (const auto& [place, core] : order) ring.push_back(core);
  return ring;
}

}  // namespace toroid
