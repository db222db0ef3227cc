#include "simulator/collectives/axis_rings.h"

#include <algorithm>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "hlo/base/status.h"
#include "simulator/collectives/ring.h"

namespace toroid {
namespace {

// Calls visit(at) for every place in `box`, with at[axis] = 0 along `axis`.
template <class Visit>
absl::Status ForEachLine(const GroupBox& box, int axis, Visit visit) {
  std::vector<int64_t> at(box.axes.size(), 0);
  const int64_t lines = box.chips() / box.axes[axis].count;
  for (int64_t line = 0; line < lines; ++line) {
    int64_t rest = line;
    for (int i = static_cast<int>(at.size()) - 1; i >= 0; --i) {
      if (i == axis) continue;
      at[i] = rest % box.axes[i].count;
      rest /= box.axes[i].count;
    }
    RETURN_IF_ERROR(visit(at));
  }
  return absl::OkStatus();
}

// One phase of one group: what all its colors put on links for a payload of 1.
class PhaseLoad {
 public:
  PhaseLoad(const Topology& topology, Router* router)
      : topology_(topology), router_(router), injected_(topology.cores(), 0) {}

  // Rings along box.axes[axis] that reduce `payload` each.
  absl::Status AddRings(const GroupBox& box, int axis, bool all_places, double payload) {
    const int64_t places = static_cast<int64_t>(box.places.size());
    const int64_t g = box.axes[axis].count * (all_places ? places : 1);
    const double bytes = payload / 2 * static_cast<double>(g - 1) / static_cast<double>(g);
    return ForEachLine(box, axis, [&](const std::vector<int64_t>& at) {
      for (int64_t i = 0; i < (all_places ? 1 : places); ++i) {
        const absl::Span<const int64_t> of_chip =
            all_places ? absl::MakeConstSpan(box.places) : absl::MakeConstSpan(box.places).subspan(i, 1);
        const std::vector<int64_t> ring = RingAlongAxis(topology_, box, axis, at, of_chip);
        RETURN_IF_ERROR(AddRing(topology_, ring, bytes, router_, &links_, &injected_));
      }
      return absl::OkStatus();
    });
  }

  // Adds the transfer and begins anew.
  void Flush(absl::Span<const int64_t> members, double bytes, double injection, Traffic* traffic) {
    double most = 0;
    for (const int64_t core : members) {
      most = std::max(most, injected_[core]);
      injected_[core] = 0;
    }
    traffic->Add(bytes, 1, links_, most, injection);
    links_.clear();
  }

 private:
  const Topology& topology_;
  Router* router_;
  std::vector<LinkShare> links_;
  std::vector<double> injected_;
};

bool SameAxes(const GroupBox& a, const GroupBox& b) {
  return a.places.size() == b.places.size() &&
         std::equal(a.axes.begin(), a.axes.end(), b.axes.begin(), b.axes.end(),
                    [](const BoxAxis& x, const BoxAxis& y) {
                      return x.axis == y.axis && x.count == y.count && x.closed == y.closed;
                    });
}

}  // namespace

std::vector<ColorChoice> ColorChoices(const GroupBox& box, const AlgorithmSpec& algorithms) {
  const int axes = static_cast<int>(box.axes.size());
  if (axes == 0) return {ColorChoice()};
  bool equal = true, closed = false;
  for (const BoxAxis& a : box.axes) {
    equal = equal && a.count == box.axes[0].count;
    closed = closed || a.closed;
  }
  const int64_t most = closed  ? algorithms.wrapped_max_colors()
                       : equal ? algorithms.max_colors()
                               : algorithms.asymmetric_max_colors();
  std::vector<int64_t> color_counts = {1, axes};
  if (most > 0) color_counts = {std::min<int64_t>(most, axes)};
  if (axes == 1) color_counts = {1};
  // Closed axes before open ones, then by length; ties in the order of the topology.
  const bool longest = algorithms.first_axis() == "long";
  std::vector<int> order(axes);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int x, int y) {
    const BoxAxis &a = box.axes[x], &b = box.axes[y];
    if (a.closed != b.closed) return a.closed;
    return longest ? a.count > b.count : a.count < b.count;
  });
  std::vector<ColorChoice> choices;
  for (const int64_t colors : color_counts) {
    const int rotations = algorithms.first_axis().empty() && colors < axes ? axes : 1;
    for (int k = 0; k < rotations; ++k) {
      ColorChoice choice{order, colors};
      std::rotate(choice.order.begin(), choice.order.begin() + k, choice.order.end());
      choices.push_back(std::move(choice));
    }
  }
  return choices;
}

absl::StatusOr<CollectivePlan> PlanAxisRings(const CollectiveNetwork& network, const DeviceGroups& groups,
                                             RingPasses passes, const ColorChoice& choice) {
  const Topology& topology = network.topology;
  std::vector<GroupBox> boxes;
  for (int64_t i = 0; i < groups.size(); ++i) {
    std::optional<GroupBox> box = BoxOf(topology, groups.group(i));
    if (!box.has_value() || (i > 0 && !SameAxes(boxes[0], *box))) {
      return absl::FailedPreconditionError("rings along axes need groups that are boxes of one shape");
    }
    boxes.push_back(*std::move(box));
  }
  const double bytes = static_cast<int>(passes);
  CollectivePlan plan;
  plan.algorithm = absl::StrCat("axes, ", choice.colors, choice.colors == 1 ? " color" : " colors");
  plan.fixed_seconds = network.network.collective_cost_seconds();
  plan.pass_seconds_per_byte = network.network.local_pass_seconds_per_byte();
  if (boxes.empty()) return plan;
  const int axes = static_cast<int>(choice.order.size());
  const int64_t places = static_cast<int64_t>(boxes[0].places.size());

  int64_t most_steps = axes == 0 ? places / 2 : 0;
  for (int64_t color = 0; color < choice.colors && axes > 0; ++color) {
    int64_t steps = 0;
    for (int phase = 0; phase < axes; ++phase) {
      const int64_t count = boxes[0].axes[choice.order[(color + phase) % axes]].count;
      steps += (phase == 0 ? count * places : count) / 2;
    }
    most_steps = std::max(most_steps, steps);
  }
  plan.fixed_seconds +=
      network.network.step_cost_seconds() * static_cast<double>(most_steps) * static_cast<int>(passes);

  Router router(topology);
  PhaseLoad load(topology, &router);
  for (int phase = 0; phase < axes; ++phase) {
    Traffic traffic(topology);
    for (int64_t i = 0; i < groups.size(); ++i) {
      for (int64_t color = 0; color < choice.colors; ++color) {
        // What is left of a color's part after the phases before.
        double left = 1.0 / static_cast<double>(choice.colors);
        for (int before = 0; before < phase; ++before) {
          const int64_t count = boxes[i].axes[choice.order[(color + before) % axes]].count;
          left /= static_cast<double>(before == 0 ? count * places : count);
        }
        RETURN_IF_ERROR(load.AddRings(boxes[i], choice.order[(color + phase) % axes], phase == 0, left));
      }
      load.Flush(groups.group(i), bytes, network.network.injection_bytes_per_second(), &traffic);
    }
    plan.phases.push_back(std::move(traffic));
  }
  return plan;
}

double AxisAllReduceSeconds(const NetworkSpec& network, RingAxis first, RingAxis second, int64_t colors,
                            Bytes payload) {
  const double p = static_cast<double>(payload), c = static_cast<double>(colors);
  const double a = static_cast<double>(first.chips), b = static_cast<double>(second.chips);
  // Both passes of each phase, for one byte of payload: a way round the ring; what is left for the second axis.
  const double round = (2 * a - 1) / (2 * a), rest = 2 / (2 * a) * (b - 1) / b;
  const auto seconds = [&](double link, double core) {
    return p * std::max(link / network.link_bytes_per_second(), core / network.injection_bytes_per_second());
  };
  const int64_t steps = 2 * first.chips + second.chips / 2 * 2;
  return network.collective_cost_seconds() + network.step_cost_seconds() * static_cast<double>(steps) +
         network.local_pass_seconds_per_byte() * p +
         seconds((first.closed ? 1 : 2) * round / c, (first.closed ? 1 : 2) * round) +
         seconds((second.closed ? 1 : 2) * rest / c, rest);
}

}  // namespace toroid
