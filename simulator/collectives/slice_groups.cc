#include "simulator/collectives/slice_groups.h"

#include <algorithm>
#include <map>
#include <set>

namespace toroid {
namespace {

// By host; `core` is one of all slices. Hosts do not serve two slices.
class HostCores {
 public:
  HostCores(int64_t cores_per_slice, int64_t cores_per_host)
      : cores_per_slice_(cores_per_slice), cores_per_host_(cores_per_host) {}

  void Add(int64_t core) {
    const int64_t own = ++count_[{core / cores_per_slice_, core % cores_per_slice_ / cores_per_host_}];
    most_ = std::max(most_, own);
  }
  int64_t most() const { return most_; }

 private:
  const int64_t cores_per_slice_, cores_per_host_;
  std::map<std::pair<int64_t, int64_t>, int64_t> count_;
  int64_t most_ = 0;
};

// All that tells groups apart.
std::vector<int64_t> Numbers(const DeviceGroups& groups) {
  std::vector<int64_t> numbers(groups.members().begin(), groups.members().end());
  for (int64_t i = 0; i < groups.size(); ++i)
    numbers.push_back(-static_cast<int64_t>(groups.group(i).size()));
  return numbers;
}

}  // namespace

SliceGroups SplitBySlice(const DeviceGroups& cores, int64_t cores_per_slice, int64_t cores_per_host) {
  SliceGroups split;
  std::map<int64_t, DeviceGroups> by_slice;
  HostCores hosts(cores_per_slice, cores_per_host);
  for (int64_t i = 0; i < cores.size(); ++i) {
    std::map<int64_t, std::vector<int64_t>> parts;
    for (const int64_t core : cores.group(i)) {
      parts[core / cores_per_slice].push_back(core % cores_per_slice);
    }
    for (const auto& [slice, part] : parts) {
      if (part.size() > 1) by_slice[slice].Append(part);
    }
    if (parts.size() < 2) continue;
    for (const int64_t core : cores.group(i)) hosts.Add(core);
    int64_t fewest = cores_per_slice;
    for (const auto& [slice, part] : parts) fewest = std::min(fewest, static_cast<int64_t>(part.size()));
    split.members = split.slices == 1 ? fewest : std::min(split.members, fewest);
    split.slices = std::max(split.slices, static_cast<int64_t>(parts.size()));
  }
  split.host_cores = hosts.most();
  std::set<std::vector<int64_t>> known;
  for (auto& [slice, groups] : by_slice) {
    if (known.insert(Numbers(groups)).second) split.within.push_back(std::move(groups));
  }
  return split;
}

SlicePairs SplitBySlice(absl::Span<const std::pair<int64_t, int64_t>> cores, int64_t cores_per_slice,
                        int64_t cores_per_host) {
  SlicePairs split;
  std::map<int64_t, std::vector<std::pair<int64_t, int64_t>>> by_slice;
  HostCores hosts(cores_per_slice, cores_per_host);
  for (const auto& [from, to] : cores) {
    if (from / cores_per_slice == to / cores_per_slice) {
      by_slice[from / cores_per_slice].push_back({from % cores_per_slice, to % cores_per_slice});
    } else {
      hosts.Add(from);
    }
  }
  split.host_cores = hosts.most();
  std::set<std::vector<std::pair<int64_t, int64_t>>> known;
  for (auto& [slice, pairs] : by_slice) {
    if (known.insert(pairs).second) split.within.push_back(std::move(pairs));
  }
  return split;
}

}  // namespace toroid
