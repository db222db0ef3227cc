#include "simulator/collectives/group_box.h"

#include <algorithm>

#include "hlo/base/math.h"

namespace toroid {
namespace {

// Sorted, each once.
std::vector<int64_t> Distinct(std::vector<int64_t> values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

std::vector<int64_t> CoordinatesOf(const Topology& topology, int axis, absl::Span<const int64_t> cores) {
  std::vector<bool> seen(topology.axes()[axis].size, false);
  for (const int64_t core : cores) seen[topology.Coordinate(topology.ChipOfCore(core), axis)] = true;
  std::vector<int64_t> coordinates;
  for (int64_t c = 0; c < static_cast<int64_t>(seen.size()); ++c) {
    if (seen[c]) coordinates.push_back(c);
  }
  return coordinates;
}

}  // namespace

int64_t GroupBox::chips() const {
  int64_t product = 1;
  for (const BoxAxis& a : axes) product *= a.count;
  return product;
}

int64_t GroupBox::Chip(const Topology& topology, absl::Span<const int64_t> at) const {
  int64_t chip = first_chip;
  for (size_t i = 0; i < axes.size(); ++i)
    chip += at[i] * axes[i].stride * topology.axes()[axes[i].axis].stride;
  return chip;
}

std::optional<GroupBox> BoxOf(const Topology& topology, absl::Span<const int64_t> cores) {
  GroupBox box;
  std::vector<int64_t> places;
  for (const int64_t core : cores) places.push_back(core % topology.cores_per_chip());
  box.places = Distinct(std::move(places));
  int64_t members = static_cast<int64_t>(box.places.size());
  for (int axis = 0; axis < static_cast<int>(topology.axes().size()); ++axis) {
    const TopologyAxis& a = topology.axes()[axis];
    const std::vector<int64_t> coordinates = CoordinatesOf(topology, axis, cores);
    if (coordinates.empty()) return std::nullopt;
    BoxAxis b;
    b.axis = axis;
    b.start = coordinates.front();
    b.count = static_cast<int64_t>(coordinates.size());
    if (b.count > 1) b.stride = coordinates[1] - coordinates[0];
    for (int64_t i = 0; i < b.count; ++i) {
      if (coordinates[i] != b.start + i * b.stride) return std::nullopt;
    }
    b.closed = a.switched || (a.wrap && (a.far_wrap || b.stride == 1) && b.stride * b.count == a.size);
    members *= b.count;
    box.first_chip += b.start * a.stride;
    if (b.count > 1) box.axes.push_back(b);
  }
  // All members lie in the box, so that as many as it holds fill it.
  if (members != static_cast<int64_t>(cores.size())) return std::nullopt;
  return box;
}

BoxShape ShapeAround(const Topology& topology, absl::Span<const int64_t> cores) {
  const std::optional<GroupBox> box = BoxOf(topology, cores);
  const bool apart = !box.has_value() || std::any_of(box->axes.begin(), box->axes.end(),
                                                     [](const BoxAxis& a) { return a.stride != 1; });
  BoxShape shape;
  for (int axis = 0; axis < static_cast<int>(topology.axes().size()); ++axis) {
    const TopologyAxis& a = topology.axes()[axis];
    int64_t count = apart ? a.size : 1;
    for (const BoxAxis& b : apart ? std::vector<BoxAxis>() : box->axes) {
      if (b.axis == axis) count = b.count;
    }
    // A switch lets all through that links carry.
    if (count == 1 || a.switched) continue;
    shape.chips.push_back(count);
    shape.far_wrap.push_back(a.far_wrap && count == a.size);
  }
  return shape;
}

}  // namespace toroid
