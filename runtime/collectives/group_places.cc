#include "runtime/collectives/group_places.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "hlo/base/status.h"

namespace toroid {
namespace {

struct GroupCache : KernelCache {
  explicit GroupCache(const OpCall&) {}

  int64_t num_replicas = 0, num_partitions = 0;  // The mesh that the cache was made for.
  DeviceGroups groups;
  std::vector<std::pair<int64_t, int64_t>> pairs;
  bool full = false;  // `places` is for the full mesh.
  GroupPlaces places;
};

absl::Status CheckNotLifted(const OpCall& call) {
  if (!call.mesh().lifted) return absl::OkStatus();
  return absl::UnimplementedError(
      "a collective in a computation that is applied to single elements, such as a reducer");
}

// The place of each active device, by device.
absl::flat_hash_map<int64_t, int64_t> PlaceOfDevice(const MeshContext& mesh) {
  absl::flat_hash_map<int64_t, int64_t> places;
  for (int64_t place = 0; place < mesh.num_active; ++place) places[mesh.DeviceAt(place)] = place;
  return places;
}

absl::Status PartlyHere(absl::string_view what, const std::vector<int64_t>& here,
                        const std::vector<int64_t>& away, absl::Span<const int64_t> all) {
  return absl::InvalidArgumentError(
      absl::StrCat(here.size() == 1 ? "device " : "devices ", absl::StrJoin(here, ","), " of ", what, " {",
                   absl::StrJoin(all, ","), "} ", here.size() == 1 ? "is" : "are", " here, ",
                   away.size() == 1 ? "device " : "devices ", absl::StrJoin(away, ","),
                   away.size() == 1 ? " is not" : " are not"));
}

absl::Status ToPlaces(const MeshContext& mesh, const DeviceGroups& groups, bool all_take_part,
                      GroupPlaces* result) {
  const auto place_of = PlaceOfDevice(mesh);
  std::vector<bool> covered(mesh.num_active, false);
  result->groups.clear();
  for (int64_t g = 0; g < groups.size(); ++g) {
    std::vector<int64_t> places, here, away;
    for (const int64_t device : groups.group(g)) {
      const auto it = place_of.find(device);
      (it == place_of.end() ? away : here).push_back(device);
      if (it == place_of.end()) continue;
      places.push_back(it->second);
      covered[it->second] = true;
    }
    if (!here.empty() && !away.empty()) return PartlyHere("group", here, away, groups.group(g));
    if (!places.empty()) result->groups.push_back(std::move(places));
  }
  int64_t in_groups = 0, size = result->groups.empty() ? 0 : result->groups[0].size();
  for (const auto& group : result->groups) {
    in_groups += group.size();
    if (static_cast<int64_t>(group.size()) != size) size = 0;
  }
  if (all_take_part && in_groups != mesh.num_active) {
    const int64_t place = std::find(covered.begin(), covered.end(), false) - covered.begin();
    return absl::InvalidArgumentError(absl::StrCat("device ", mesh.DeviceAt(place), " is in no group"));
  }
  result->common_size = in_groups == mesh.num_active ? size : 0;
  result->one_group = result->groups.size() == 1 && in_groups == mesh.num_active;
  return absl::OkStatus();
}

}  // namespace

absl::Status FindGroups(OpCall& call, bool all_take_part, const GroupPlaces** groups) {
  RETURN_IF_ERROR(CheckNotLifted(call));
  GroupCache& cache = call.Cache<GroupCache>();
  const MeshContext& mesh = call.mesh();
  if (cache.num_replicas != mesh.num_replicas || cache.num_partitions != mesh.num_partitions) {
    ASSIGN_OR_RETURN(cache.groups,
                     ExpandDeviceGroups(call.instruction(), mesh.num_replicas, mesh.num_partitions));
    cache.num_replicas = mesh.num_replicas;
    cache.num_partitions = mesh.num_partitions;
    cache.full = false;
  }
  if (!cache.full || mesh.active != nullptr) {
    cache.full = false;
    RETURN_IF_ERROR(ToPlaces(mesh, cache.groups, all_take_part, &cache.places));
    cache.full = mesh.active == nullptr;
  }
  *groups = &cache.places;
  return absl::OkStatus();
}

absl::Status FindPairs(OpCall& call, std::vector<std::pair<int64_t, int64_t>>* pairs) {
  RETURN_IF_ERROR(CheckNotLifted(call));
  GroupCache& cache = call.Cache<GroupCache>();
  const MeshContext& mesh = call.mesh();
  if (cache.num_replicas != mesh.num_replicas || cache.num_partitions != mesh.num_partitions) {
    ASSIGN_OR_RETURN(cache.pairs,
                     ExpandSourceTargetPairs(call.instruction(), mesh.num_replicas, mesh.num_partitions));
    cache.num_replicas = mesh.num_replicas;
    cache.num_partitions = mesh.num_partitions;
  }
  pairs->clear();
  if (mesh.active == nullptr) {
    *pairs = cache.pairs;
    return absl::OkStatus();
  }
  const auto place_of = PlaceOfDevice(mesh);
  for (const auto& [source, target] : cache.pairs) {
    const auto s = place_of.find(source), t = place_of.find(target);
    if (s == place_of.end() && t == place_of.end()) continue;
    if (s == place_of.end()) return PartlyHere("pair", {target}, {source}, {source, target});
    if (t == place_of.end()) return PartlyHere("pair", {source}, {target}, {source, target});
    pairs->emplace_back(s->second, t->second);
  }
  return absl::OkStatus();
}

absl::Status CheckGroupSize(const Shape& small, const Shape& large, int64_t d, int64_t size) {
  const int64_t from = small.dim(d), to = large.dim(d);
  if (from == 0 ? to == 0 : to % from == 0 && to / from == size) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("groups of ", size, " on this mesh, but dimension ", d,
                                                 " of ", small.ToString(), " and ", large.ToString(),
                                                 " says ", from == 0 ? 0 : to / from));
}

void SetResults(OpCall& call, std::vector<MeshBuffer> results) {
  if (!call.shape().IsTuple()) {
    call.result() = std::move(results[0]);
    return;
  }
  call.result() = MeshBuffer::Tuple(std::move(results));
}

PieceLayout::PieceLayout(const Shape& shape, int64_t d) : inner(ByteWidth(shape.element_type())) {
  for (int i = 0; i < shape.rank(); ++i) {
    if (i < d) outer *= shape.dim(i);
    if (i == d) count = shape.dim(i);
    if (i > d) inner *= shape.dim(i);
  }
}

}  // namespace toroid
