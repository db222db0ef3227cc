#include "simulator/network/device_assignment.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "hlo/base/math.h"
#include "hlo/base/status.h"

namespace toroid {
namespace {

constexpr size_t kMostCandidates = 64;

absl::Status CheckFits(int64_t cores, int64_t devices) {
  if (devices >= 0 && devices <= cores) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("the program is for ", devices, " devices, the slice has ", cores, " cores"));
}

// A way to count: `count` steps of `stride` cores.
struct Digit {
  int64_t count, stride;
};

// What is left of one axis of the slice, or of the cores of a chip: the digits above those taken.
struct Rest {
  int64_t count, stride;
};

// Takes `want` from the rests, in the order that `preference` gives them, as digits from the least significant on: one
// rest of the same size, else one of which it is a divisor, else the largest common divisor, again and again.
std::vector<Digit> Take(int64_t want, absl::Span<const int> preference, std::vector<Rest>* rests) {
  std::vector<Digit> digits;
  while (want > 1) {
    int64_t most = 1;
    int chosen = -1;
    for (const int r : preference) {
      const int64_t part = std::gcd(want, (*rests)[r].count);
      const bool exact = part == want && (*rests)[r].count == want;
      if (exact) {
        most = part, chosen = r;
        break;
      }
      if (part > most) most = part, chosen = r;
    }
    if (chosen < 0) return {};
    Rest& rest = (*rests)[chosen];
    digits.push_back({most, rest.stride});
    rest.stride *= most;
    rest.count /= most;
    want /= most;
  }
  return digits;
}

// Device numbers count through the digits of the mesh axes, the last axis fastest. Empty if the mesh does not fit.
std::vector<int64_t> Assign(const Topology& topology, absl::Span<const int64_t> mesh,
                            absl::Span<const int> mesh_order, absl::Span<const int> preference) {
  std::vector<Rest> rests;
  rests.push_back({topology.cores_per_chip(), 1});
  for (const TopologyAxis& a : topology.axes())
    rests.push_back({a.size, a.stride * topology.cores_per_chip()});
  std::vector<std::vector<Digit>> digits(mesh.size());
  for (const int axis : mesh_order) {
    digits[axis] = Take(mesh[axis], preference, &rests);
    if (digits[axis].empty() && mesh[axis] > 1) return {};
  }
  std::vector<int64_t> cores = {0};
  // The last axis is the least significant.
  for (int axis = static_cast<int>(mesh.size()) - 1; axis >= 0; --axis) {
    for (const Digit& digit : digits[axis]) {
      const size_t before = cores.size();
      for (int64_t i = 1; i < digit.count; ++i) {
        for (size_t k = 0; k < before; ++k) cores.push_back(cores[k] + i * digit.stride);
      }
    }
  }
  return cores;
}

// Cores of a chip first, then axes of the slice from the last on, as row-major numbers do.
std::vector<int> RowMajorPreference(const Topology& topology) {
  std::vector<int> preference = {0};
  for (int axis = static_cast<int>(topology.axes().size()); axis >= 1; --axis) preference.push_back(axis);
  return preference;
}

std::vector<int> LastAxisFirst(size_t axes) {
  std::vector<int> order(axes);
  std::iota(order.rbegin(), order.rend(), 0);
  return order;
}

absl::StatusOr<int64_t> DevicesOf(absl::Span<const int64_t> mesh) {
  int64_t devices = 1;
  for (const int64_t size : mesh) {
    if (size < 1) return absl::InvalidArgumentError(absl::StrCat("a mesh axis has ", size, " devices"));
    devices = SaturatingMultiply(devices, size);
  }
  return devices;
}

}  // namespace

absl::StatusOr<std::vector<int64_t>> RowMajorAssignment(const Topology& topology, int64_t devices) {
  RETURN_IF_ERROR(CheckFits(topology.cores(), devices));
  std::vector<int64_t> cores(devices);
  std::iota(cores.begin(), cores.end(), 0);
  return cores;
}

absl::StatusOr<std::vector<int64_t>> SnakeAssignment(const Topology& topology, int64_t devices) {
  RETURN_IF_ERROR(CheckFits(topology.cores(), devices));
  const auto& axes = topology.axes();
  std::vector<int64_t> cores;
  cores.reserve(devices);
  // Digits of the chip; every digit turns round whenever the one above it moves on.
  std::vector<int64_t> place(axes.size(), 0), step(axes.size(), 1);
  while (static_cast<int64_t>(cores.size()) < devices) {
    int64_t chip = 0;
    for (size_t a = 0; a < axes.size(); ++a) chip += place[a] * axes[a].stride;
    for (int64_t c = 0; c < topology.cores_per_chip() && static_cast<int64_t>(cores.size()) < devices; ++c) {
      cores.push_back(chip * topology.cores_per_chip() + c);
    }
    for (size_t a = axes.size(); a-- > 0;) {
      const int64_t next = place[a] + step[a];
      if (next >= 0 && next < axes[a].size) {
        place[a] = next;
        break;
      }
      step[a] = -step[a];
    }
  }
  return cores;
}

absl::StatusOr<std::vector<int64_t>> TopologyAwareAssignment(const Topology& topology,
                                                             absl::Span<const int64_t> mesh) {
  ASSIGN_OR_RETURN(const int64_t devices, DevicesOf(mesh));
  RETURN_IF_ERROR(CheckFits(topology.cores(), devices));
  std::vector<int64_t> cores =
      Assign(topology, mesh, LastAxisFirst(mesh.size()), RowMajorPreference(topology));
  if (cores.empty()) return RowMajorAssignment(topology, devices);
  return cores;
}

absl::StatusOr<std::vector<int64_t>> ParseAssignment(int64_t core_count, int64_t devices,
                                                     absl::string_view text, absl::string_view place) {
  RETURN_IF_ERROR(CheckFits(core_count, devices));
  std::vector<int64_t> cores;
  std::vector<bool> taken(core_count, false);
  int line_number = 0;
  for (const absl::string_view whole : absl::StrSplit(text, '\n')) {
    ++line_number;
    const absl::string_view line = whole.substr(0, whole.find('#'));
    for (const absl::string_view word : absl::StrSplit(line, absl::ByAnyChar(" \t\r,"), absl::SkipEmpty())) {
      int64_t core;
      const std::string where = absl::StrCat(place, ":", line_number, ": ");
      if (!absl::SimpleAtoi(word, &core) || core < 0 || core >= core_count) {
        return absl::InvalidArgumentError(
            absl::StrCat(where, "\"", word.substr(0, 40), "\" is no core; use 0 to ", core_count - 1));
      }
      if (taken[core]) return absl::InvalidArgumentError(absl::StrCat(where, "core ", core, " occurs twice"));
      taken[core] = true;
      cores.push_back(core);
    }
  }
  if (static_cast<int64_t>(cores.size()) != devices) {
    return absl::InvalidArgumentError(
        absl::StrCat(place, ": ", cores.size(), " cores for a program of ", devices, " devices"));
  }
  return cores;
}

absl::StatusOr<std::vector<int64_t>> BestAssignment(const Topology& topology, absl::Span<const int64_t> mesh,
                                                    const AssignmentCost& cost) {
  ASSIGN_OR_RETURN(const int64_t devices, DevicesOf(mesh));
  ASSIGN_OR_RETURN(std::vector<int64_t> best, RowMajorAssignment(topology, devices));
  ASSIGN_OR_RETURN(double least, cost(best));
  std::set<std::vector<int64_t>> tried = {best};
  ASSIGN_OR_RETURN(std::vector<int64_t> snake, SnakeAssignment(topology, devices));
  if (tried.insert(snake).second) {
    ASSIGN_OR_RETURN(const double seconds, cost(snake));
    if (seconds < least) least = seconds, best = std::move(snake);
  }
  std::vector<int> mesh_order = LastAxisFirst(mesh.size());
  const std::vector<int> first_order = mesh_order;
  do {
    std::vector<int> preference = RowMajorPreference(topology);
    const std::vector<int> first_preference = preference;
    do {
      std::vector<int64_t> cores = Assign(topology, mesh, mesh_order, preference);
      if (!cores.empty() && tried.insert(cores).second) {
        ASSIGN_OR_RETURN(const double seconds, cost(cores));
        if (seconds < least) least = seconds, best = std::move(cores);
        if (tried.size() >= kMostCandidates) return best;
      }
      // All orders, beginning with the usual one; back to it ends the round.
      std::next_permutation(preference.begin(), preference.end());
    } while (preference != first_preference);
    std::next_permutation(mesh_order.begin(), mesh_order.end());
  } while (mesh_order != first_order);
  return best;
}

std::vector<int64_t> MeshOfGroups(int64_t devices, absl::Span<const DeviceGroups> groups) {
  // Strides at which some mesh axis begins; each divides the next.
  std::set<int64_t> cuts = {1, devices};
  const auto fits = [&](int64_t cut) {
    return cut >= 1 && devices % cut == 0 && std::all_of(cuts.begin(), cuts.end(), [&](int64_t other) {
             return other <= cut ? cut % other == 0 : other % cut == 0;
           });
  };
  for (const DeviceGroups& some : groups) {
    if (some.size() == 0 || some.group(0).size() < 2) continue;
    const absl::Span<const int64_t> group = some.group(0);
    const int64_t stride = group[1] - group[0], size = static_cast<int64_t>(group.size());
    bool even = stride > 0 && fits(stride);
    for (int64_t i = 1; even && i < size; ++i) even = group[i] - group[i - 1] == stride;
    if (!even) continue;
    cuts.insert(stride);
    if (fits(SaturatingMultiply(stride, size))) cuts.insert(stride * size);
  }
  std::vector<int64_t> mesh;
  for (auto cut = std::next(cuts.rbegin()); cut != cuts.rend(); ++cut) mesh.push_back(*std::prev(cut) / *cut);
  if (mesh.empty()) mesh.push_back(1);
  return mesh;
}

}  // namespace toroid
