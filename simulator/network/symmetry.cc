#include "simulator/network/symmetry.h"

#include <utility>

#include "hlo/base/disjoint_sets.h"

namespace toroid {
namespace {

// The chips to which chips are carried when coordinate c of `axis` becomes to(c).
template <class To>
std::vector<int32_t> Image(const Topology& topology, int axis, To to) {
  std::vector<int32_t> image(topology.chips());
  for (int64_t chip = 0; chip < topology.chips(); ++chip) {
    image[chip] = static_cast<int32_t>(topology.Along(chip, axis, to(topology.Coordinate(chip, axis))));
  }
  return image;
}

// A link keeps its axis; the reflection of an axis turns its direction, unless a switch joins it.
void JoinAlike(const Topology& topology, const std::vector<int32_t>& image, int reflected_axis,
               DisjointSets* chips, DisjointSets* links) {
  const int axes = static_cast<int>(topology.axes().size());
  for (int64_t chip = 0; chip < topology.chips(); ++chip) {
    chips->Join(static_cast<int32_t>(chip), image[chip]);
    for (int axis = 0; axis < axes; ++axis) {
      const bool turned = axis == reflected_axis && !topology.axes()[axis].switched;
      for (const LinkDirection direction : {kPlus, kMinus}) {
        const LinkDirection to = turned ? (direction == kPlus ? kMinus : kPlus) : direction;
        links->Join(static_cast<int32_t>(topology.Link(chip, axis, direction)),
                    static_cast<int32_t>(topology.Link(image[chip], axis, to)));
      }
    }
  }
}

}  // namespace

Folding Fold(const Topology& topology, const KeepsPattern& keeps_pattern, bool fold) {
  DisjointSets chips(topology.chips()), links(topology.link_ids());
  for (int axis = 0; fold && !topology.has_dead_links() && axis < static_cast<int>(topology.axes().size());
       ++axis) {
    const TopologyAxis& a = topology.axes()[axis];
    if (a.size == 1) continue;
    const std::vector<int32_t> mirror = Image(topology, axis, [&](int64_t c) { return a.size - 1 - c; });
    if (keeps_pattern(mirror)) JoinAlike(topology, mirror, axis, &chips, &links);
    if (!a.far_wrap && !a.switched) continue;
    for (int64_t by = 1; by < a.size; ++by) {
      if (a.size % by != 0) continue;
      const std::vector<int32_t> moved = Image(topology, axis, [&](int64_t c) { return (c + by) % a.size; });
      if (!keeps_pattern(moved)) continue;
      JoinAlike(topology, moved, -1, &chips, &links);
      break;
    }
  }
  Folding folding;
  folding.chip_class.resize(topology.chips());
  folding.chip_count.assign(topology.chips(), 0);
  for (int64_t chip = 0; chip < topology.chips(); ++chip) {
    folding.chip_class[chip] = chips.Root(static_cast<int32_t>(chip));
    ++folding.chip_count[folding.chip_class[chip]];
  }
  folding.link_class.assign(topology.link_ids(), -1);
  std::vector<int32_t> class_of_root(topology.link_ids(), -1);
  for (int64_t link = 0; link < topology.link_ids(); ++link) {
    if (!topology.Exists(link)) continue;
    int32_t& link_class = class_of_root[links.Root(static_cast<int32_t>(link))];
    if (link_class < 0) {
      link_class = static_cast<int32_t>(folding.capacity.size());
      folding.capacity.push_back(0);
      folding.link_count.push_back(0);
    }
    folding.link_class[link] = link_class;
    folding.capacity[link_class] += topology.LinkRate(link);
    ++folding.link_count[link_class];
  }
  return folding;
}

}  // namespace toroid
