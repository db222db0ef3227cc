#include "simulator/network/topology.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "hlo/base/status.h"

namespace toroid {
namespace {

absl::Status CheckRate(double rate, absl::string_view field) {
  if (std::isfinite(rate) && rate > 0) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(field, " is ", rate, "; a rate is more than 0 bytes per second"));
}

absl::Status CheckLatency(double seconds, absl::string_view field) {
  if (std::isfinite(seconds) && seconds >= 0) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(field, " is ", seconds, "; a time is 0 seconds or more"));
}

// Element `i` of a list by axis, `otherwise` where the list ends before.
template <class List, class T>
T ByAxis(const List& list, int i, T otherwise) {
  return i < list.size() ? static_cast<T>(list[i]) : otherwise;
}

absl::StatusOr<TopologyAxis> MakeAxis(const NetworkSpec& network, const SliceSpec& slice, int i,
                                      const std::string& name) {
  TopologyAxis axis;
  axis.size = slice.chips(i);
  axis.wrap = ByAxis(slice.wrap(), i, false);
  axis.far_wrap = ByAxis(slice.far_wrap(), i, axis.wrap);
  axis.switched = ByAxis(slice.switched(), i, false);
  const double rate_factor = ByAxis(slice.link_rate_factor(), i, 1.0);
  const double latency_factor = ByAxis(slice.hop_latency_factor(), i, 1.0);
  axis.bytes_per_second = network.link_bytes_per_second() * rate_factor;
  axis.hop_seconds = network.hop_latency_seconds() * latency_factor;
  const std::string where = absl::StrCat(name, ": axis ", i);
  if (axis.size < 1)
    return absl::InvalidArgumentError(absl::StrCat(where, " has ", axis.size, " chips; use 1 or more"));
  if (axis.switched && axis.wrap) {
    return absl::InvalidArgumentError(absl::StrCat(where, " is switched and wraps; choose one"));
  }
  if (axis.far_wrap && !axis.wrap)
    return absl::InvalidArgumentError(absl::StrCat(where, " has far_wrap without wrap"));
  RETURN_IF_ERROR(CheckRate(axis.bytes_per_second, absl::StrCat(where, ": rate of its links")));
  RETURN_IF_ERROR(CheckLatency(axis.hop_seconds, absl::StrCat(where, ": latency of its hops")));
  return axis;
}

}  // namespace

absl::StatusOr<Topology> Topology::Create(const NetworkSpec& network, const SliceSpec& slice,
                                          int64_t cores_per_chip) {
  const std::string name = absl::StrCat("slice ", slice.name());
  const int axes = slice.chips_size();
  if (axes < 1 || axes > kMostAxes) {
    return absl::InvalidArgumentError(absl::StrCat(name, " has ", axes, " axes; use 1 to ", kMostAxes));
  }
  for (const int given : {slice.wrap_size(), slice.far_wrap_size(), slice.switched_size(),
                          slice.link_rate_factor_size(), slice.hop_latency_factor_size()}) {
    if (given <= axes) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(name, " has ", axes, " axes, but a list by axis has ", given));
  }
  if (cores_per_chip < 1 || cores_per_chip > kMostCores) {
    return absl::InvalidArgumentError(
        absl::StrCat("cores_per_chip is ", cores_per_chip, "; use 1 to ", kMostCores));
  }
  Topology t;
  t.cores_per_chip_ = cores_per_chip;
  for (int i = 0; i < axes; ++i) {
    ASSIGN_OR_RETURN(TopologyAxis axis, MakeAxis(network, slice, i, name));
    if (axis.size > kMostCores / t.cores()) {
      return absl::InvalidArgumentError(absl::StrCat(name, " has more than ", kMostCores, " cores"));
    }
    t.chips_ *= axis.size;
    t.axes_.push_back(axis);
  }
  for (int i = axes - 2; i >= 0; --i) t.axes_[i].stride = t.axes_[i + 1].stride * t.axes_[i + 1].size;
  for (const DeadLink& dead : slice.dead_links()) {
    const bool inside = dead.chip() >= 0 && dead.chip() < t.chips_ && dead.axis() >= 0 &&
                        dead.axis() < static_cast<int64_t>(t.axes_.size());
    const int64_t link = inside ? t.Link(dead.chip(), dead.axis(), dead.minus() ? kMinus : kPlus) : -1;
    if (!inside || !t.Exists(link)) {
      return absl::InvalidArgumentError(absl::StrCat(name, ".dead_links: chip ", dead.chip(), " has no link ",
                                                     dead.minus() ? "-" : "+", " on axis ", dead.axis()));
    }
    t.has_dead_links_ = true;
    t.dead_.resize(t.link_ids());
    t.dead_[link] = true;
  }
  for (const SlowChip& slow : slice.slow_chips()) {
    if (slow.chip() < 0 || slow.chip() >= t.chips_) {
      return absl::InvalidArgumentError(
          absl::StrCat(name, ".slow_chips: chip ", slow.chip(), " of ", t.chips_, " does not exist"));
    }
    if (!std::isfinite(slow.speed()) || slow.speed() <= 0) {
      return absl::InvalidArgumentError(
          absl::StrCat(name, ".slow_chips: speed is ", slow.speed(), "; use more than 0"));
    }
  }
  return t;
}

int64_t Topology::TargetOfLink(int64_t link) const {
  const int64_t chip = ChipOfLink(link);
  const int axis = AxisOfLink(link);
  const TopologyAxis& a = axes_[axis];
  if (a.switched) return chip;
  const int64_t at = Coordinate(chip, axis);
  const int64_t next = DirectionOfLink(link) == kPlus ? (at + 1) % a.size : (at + a.size - 1) % a.size;
  return Along(chip, axis, next);
}

bool Topology::Exists(int64_t link) const {
  const int axis = AxisOfLink(link);
  const TopologyAxis& a = axes_[axis];
  if (a.size == 1) return false;
  if (a.wrap || a.switched) return true;
  return Coordinate(ChipOfLink(link), axis) != (DirectionOfLink(link) == kPlus ? a.size - 1 : 0);
}

int64_t Topology::LiveLinks() const {
  int64_t count = 0;
  for (int64_t link = 0; link < link_ids(); ++link) count += Exists(link) && !Dead(link);
  return count;
}

std::string Topology::LinkName(int64_t link) const {
  std::string name = "(";
  for (int axis = 0; axis < static_cast<int>(axes_.size()); ++axis) {
    absl::StrAppend(&name, axis == 0 ? "" : ",", Coordinate(ChipOfLink(link), axis));
  }
  return absl::StrCat(name, ") ", DirectionOfLink(link) == kPlus ? "+" : "-", AxisOfLink(link));
}

}  // namespace toroid
