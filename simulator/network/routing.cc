#include "simulator/network/routing.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "hlo/base/status.h"

namespace toroid {

AxisRoute RouteAlong(const TopologyAxis& axis, int64_t from, int64_t to) {
  AxisRoute route;
  if (from == to) return route;
  const int64_t around_plus = (to - from + axis.size) % axis.size, around_minus = axis.size - around_plus;
  if (axis.far_wrap || (axis.wrap && std::min(around_plus, around_minus) == 1)) {
    if (around_plus <= around_minus) route.plus_hops = around_plus, route.plus_share = 1;
    if (around_minus <= around_plus) route.minus_hops = around_minus, route.minus_share = 1;
    if (around_plus == around_minus) route.plus_share = route.minus_share = 0.5;
  } else if (to > from) {
    route.plus_hops = to - from, route.plus_share = 1;
  } else {
    route.minus_hops = from - to, route.minus_share = 1;
  }
  return route;
}

absl::Status Router::Route(int64_t from, int64_t to, std::vector<LinkShare>* links) {
  const size_t first = links->size();
  int64_t at = from;
  for (int axis = 0; axis < static_cast<int>(topology_.axes().size()); ++axis) {
    const TopologyAxis& a = topology_.axes()[axis];
    const int64_t start = topology_.Coordinate(at, axis), end = topology_.Coordinate(to, axis);
    if (start == end) continue;
    const int64_t after = topology_.Along(at, axis, end);
    if (a.switched) {
      links->push_back({static_cast<int32_t>(topology_.Link(at, axis, kUp)), 1});
      links->push_back({static_cast<int32_t>(topology_.Link(after, axis, kDown)), 1});
    } else {
      const AxisRoute route = RouteAlong(a, start, end);
      int64_t chip = at;
      for (int64_t hop = 0; hop < route.plus_hops; ++hop) {
        links->push_back({static_cast<int32_t>(topology_.Link(chip, axis, kPlus)), route.plus_share});
        chip += topology_.Coordinate(chip, axis) + 1 == a.size ? -(a.size - 1) * a.stride : a.stride;
      }
      chip = at;
      for (int64_t hop = 0; hop < route.minus_hops; ++hop) {
        links->push_back({static_cast<int32_t>(topology_.Link(chip, axis, kMinus)), route.minus_share});
        chip += topology_.Coordinate(chip, axis) == 0 ? (a.size - 1) * a.stride : -a.stride;
      }
    }
    at = after;
  }
  if (MeetsDeadLink(absl::MakeConstSpan(*links).subspan(first))) {
    links->resize(first);
    return Detour(from, to, links);
  }
  return absl::OkStatus();
}

bool Router::MeetsDeadLink(absl::Span<const LinkShare> links) const {
  if (!topology_.has_dead_links()) return false;
  return std::any_of(links.begin(), links.end(), [&](const LinkShare& l) { return topology_.Dead(l.link); });
}

absl::Status Router::Detour(int64_t from, int64_t to, std::vector<LinkShare>* links) {
  const int axes = static_cast<int>(topology_.axes().size());
  if (detour_source_ != from) {
    detour_source_ = from;
    last_link_.assign(topology_.chips(), -1);
    switch_source_.assign(topology_.chips(), -1);
    std::vector<int64_t> queue = {from};
    for (size_t head = 0; head < queue.size(); ++head) {
      for (int axis = 0; axis < axes; ++axis) {
        for (const LinkDirection direction : {kPlus, kMinus}) {
          const TopologyAxis& a = topology_.axes()[axis];
          const int64_t link = topology_.Link(queue[head], axis, direction);
          if (!topology_.Exists(link) || topology_.Dead(link) || (a.switched && direction == kDown)) continue;
          const int64_t targets = a.switched ? a.size : 1;
          for (int64_t i = 0; i < targets; ++i) {
            const int64_t next =
                a.switched ? topology_.Along(queue[head], axis, i) : topology_.TargetOfLink(link);
            const int64_t last = a.switched ? topology_.Link(next, axis, kDown) : link;
            if (next == from || last_link_[next] >= 0 || topology_.Dead(last)) continue;
            last_link_[next] = static_cast<int32_t>(last);
            // The chip before is found again from the link, but behind a switch only if it is written down.
            queue.push_back(next);
            if (a.switched) switch_source_[next] = queue[head];
          }
        }
      }
    }
  }
  for (int64_t at = to; at != from;) {
    const int32_t link = last_link_[at];
    if (link < 0) {
      return absl::UnavailableError(
          absl::StrCat("dead links leave no way from chip ", from, " to chip ", to, " of the slice"));
    }
    links->push_back({link, 1});
    if (topology_.axes()[topology_.AxisOfLink(link)].switched) {
      at = switch_source_[at];
      links->push_back({static_cast<int32_t>(topology_.Link(at, topology_.AxisOfLink(link), kUp)), 1});
    } else {
      at = topology_.ChipOfLink(link);
    }
  }
  return absl::OkStatus();
}

void Router::RouteLine(int64_t at, int axis, absl::Span<const double> weights,
                       std::vector<LinkShare>* links) {
  const TopologyAxis& a = topology_.axes()[axis];
  const int64_t start = topology_.Coordinate(at, axis);
  if (a.switched) {
    double up = 0;
    for (int64_t t = 0; t < a.size; ++t) {
      if (t == start || weights[t] == 0) continue;
      up += weights[t];
      links->push_back(
          {static_cast<int32_t>(topology_.Link(topology_.Along(at, axis, t), axis, kDown)), weights[t]});
    }
    if (up > 0) links->push_back({static_cast<int32_t>(topology_.Link(at, axis, kUp)), up});
    return;
  }
  // Bytes that end h hops away in each direction.
  plus_.assign(a.size, 0);
  minus_.assign(a.size, 0);
  int64_t plus_reach = 0, minus_reach = 0;
  for (int64_t t = 0; t < a.size; ++t) {
    if (t == start || weights[t] == 0) continue;
    const AxisRoute route = RouteAlong(a, start, t);
    plus_[route.plus_hops] += weights[t] * route.plus_share;
    minus_[route.minus_hops] += weights[t] * route.minus_share;
    plus_reach = std::max(plus_reach, route.plus_hops);
    minus_reach = std::max(minus_reach, route.minus_hops);
  }
  double beyond = 0;
  for (int64_t hop = plus_reach; hop >= 1; --hop) {
    beyond += plus_[hop];
    const int64_t chip = topology_.Along(at, axis, (start + hop - 1) % a.size);
    links->push_back({static_cast<int32_t>(topology_.Link(chip, axis, kPlus)), beyond});
  }
  beyond = 0;
  for (int64_t hop = minus_reach; hop >= 1; --hop) {
    beyond += minus_[hop];
    const int64_t chip = topology_.Along(at, axis, (start - hop + 1 + a.size) % a.size);
    links->push_back({static_cast<int32_t>(topology_.Link(chip, axis, kMinus)), beyond});
  }
}

absl::Status Router::RouteToAll(int64_t from, absl::Span<const double> weights,
                                std::vector<LinkShare>* links) {
  if (topology_.has_dead_links()) {
    for (int64_t to = 0; to < topology_.chips(); ++to) {
      if (to == from || weights[to] == 0) continue;
      const size_t first = links->size();
      RETURN_IF_ERROR(Route(from, to, links));
      for (size_t i = first; i < links->size(); ++i) (*links)[i].share *= weights[to];
    }
    return absl::OkStatus();
  }
  // The last axis is travelled on the line where the destination lies; then all of a line is at its chip of `from`.
  std::vector<double> at_chip(weights.begin(), weights.end());
  for (int axis = static_cast<int>(topology_.axes().size()) - 1; axis >= 0; --axis) {
    const TopologyAxis& a = topology_.axes()[axis];
    // Lines along `axis` are `stride` = 1 in what is left of the array, as later axes are summed up.
    const int64_t lines = static_cast<int64_t>(at_chip.size()) / a.size;
    for (int64_t line = 0; line < lines; ++line) {
      const absl::Span<const double> ends = absl::MakeConstSpan(at_chip).subspan(line * a.size, a.size);
      // Chip of the line at coordinate 0: `line` counts the earlier axes, the later ones are those of `from`.
      const int64_t chip = line * a.size * a.stride + from % a.stride;
      RouteLine(topology_.Along(chip, axis, topology_.Coordinate(from, axis)), axis, ends, links);
      double sum = 0;
      for (const double weight : ends) sum += weight;
      at_chip[line] = sum;
    }
    at_chip.resize(lines);
  }
  return absl::OkStatus();
}

double Router::Latency(int64_t from, int64_t to) const {
  double seconds = 0;
  for (int axis = 0; axis < static_cast<int>(topology_.axes().size()); ++axis) {
    const TopologyAxis& a = topology_.axes()[axis];
    const int64_t start = topology_.Coordinate(from, axis), end = topology_.Coordinate(to, axis);
    if (start == end) continue;
    const AxisRoute route = RouteAlong(a, start, end);
    seconds +=
        a.hop_seconds * static_cast<double>(a.switched ? 2 : std::max(route.plus_hops, route.minus_hops));
  }
  return seconds;
}

}  // namespace toroid
