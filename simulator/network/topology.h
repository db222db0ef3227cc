// The chips of a slice and the directed links between them: a torus or mesh of any number of axes.
//
// Chips are numbered row-major over the axes, the last axis fastest; cores of chip c are c * cores_per_chip and on.
// Each chip has two links per axis: link (c, axis, plus) leaves towards the next larger coordinate, (c, axis, minus)
// towards the smaller, each carrying its rate one way; at the open ends of a mesh they do not exist. On a switched
// axis they are the way up to the switch and the way down from it.
// Example: axes 4 (open) x 2 (open), 2 cores per chip: 8 chips, 16 cores, 32 link ids, 2 * (3 * 2 + 1 * 4) links.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "simulator/machines/network.pb.h"

namespace toroid {

struct TopologyAxis {
  int64_t size = 1;
  bool wrap = false;
  bool far_wrap = false;
  bool switched = false;
  double bytes_per_second = 0;
  double hop_seconds = 0;
  int64_t stride = 1;  // Between neighbours, in chips.
};

enum LinkDirection { kPlus = 0, kMinus = 1, kUp = 0, kDown = 1 };

class Topology {
 public:
  static constexpr int64_t kMostCores = int64_t{1} << 20;
  static constexpr int kMostAxes = 8;

  // Errors: kInvalidArgument, naming the field: no axis or too many, sizes below 1 or more than kMostCores cores in
  // all, rates not positive and finite, latencies negative, dead links that are not there.
  static absl::StatusOr<Topology> Create(const NetworkSpec& network, const SliceSpec& slice,
                                         int64_t cores_per_chip);

  const std::vector<TopologyAxis>& axes() const { return axes_; }
  int64_t chips() const { return chips_; }
  int64_t cores_per_chip() const { return cores_per_chip_; }
  int64_t cores() const { return chips_ * cores_per_chip_; }
  int64_t ChipOfCore(int64_t core) const { return core / cores_per_chip_; }
  int64_t Coordinate(int64_t chip, int axis) const { return chip / axes_[axis].stride % axes_[axis].size; }
  // The chip at `coordinate` of `axis`, elsewhere as `chip`.
  int64_t Along(int64_t chip, int axis, int64_t coordinate) const {
    return chip + (coordinate - Coordinate(chip, axis)) * axes_[axis].stride;
  }

  // Ids of links lie in [0, link_ids()), some not existing.
  int64_t link_ids() const { return chips_ * static_cast<int64_t>(axes_.size()) * 2; }
  int64_t Link(int64_t chip, int axis, LinkDirection direction) const {
    return (chip * static_cast<int64_t>(axes_.size()) + axis) * 2 + direction;
  }
  int64_t ChipOfLink(int64_t link) const { return link / 2 / static_cast<int64_t>(axes_.size()); }
  int AxisOfLink(int64_t link) const {
    return static_cast<int>(link / 2 % static_cast<int64_t>(axes_.size()));
  }
  LinkDirection DirectionOfLink(int64_t link) const { return static_cast<LinkDirection>(link % 2); }
  // The chip to which the link leads; itself on a switched axis.
  int64_t TargetOfLink(int64_t link) const;
  // Wired, dead or not.
  bool Exists(int64_t link) const;
  bool Dead(int64_t link) const { return has_dead_links_ && dead_[link]; }
  bool has_dead_links() const { return has_dead_links_; }
  double LinkRate(int64_t link) const { return axes_[AxisOfLink(link)].bytes_per_second; }
  // Links that exist and are not dead.
  int64_t LiveLinks() const;
  // "(3,1) +0": from the chip at these coordinates, towards larger ones of axis 0.
  std::string LinkName(int64_t link) const;

 private:
  std::vector<TopologyAxis> axes_;
  int64_t chips_ = 1, cores_per_chip_ = 1;
  bool has_dead_links_ = false;
  std::vector<bool> dead_;
};

}  // namespace toroid
