#include "runtime/collectives/group_rows.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "hlo/base/status.h"

namespace toroid {
namespace {

struct GroupCache : KernelCache {
  explicit GroupCache(const OpCall&) {}

  int64_t num_replicas = 0, num_partitions = 0;  // What the rest was made for.
  DeviceGroups groups;
  std::vector<std::pair<int64_t, int64_t>> pairs;
  bool full = false;  // `rows` is that of the full mesh.
  GroupRows rows;
};

absl::Status CheckNotLifted(const OpCall& call) {
  if (!call.mesh().lifted) return absl::OkStatus();
  return absl::UnimplementedError("a collective inside a computation over elements");
}

// Row of each active device.
absl::flat_hash_map<int64_t, int64_t> RowOfDevice(const MeshContext& mesh) {
  absl::flat_hash_map<int64_t, int64_t> rows;
  for (int64_t row = 0; row < mesh.copies; ++row) rows[mesh.DeviceOfRow(row)] = row;
  return rows;
}

absl::Status PartlyHere(absl::string_view what, const std::vector<int64_t>& here,
                        const std::vector<int64_t>& away, absl::Span<const int64_t> all) {
  return absl::InvalidArgumentError(
      absl::StrCat(here.size() == 1 ? "device " : "devices ", absl::StrJoin(here, ","), " of ", what, " {",
                   absl::StrJoin(all, ","), "} ", here.size() == 1 ? "is" : "are", " here, ",
                   away.size() == 1 ? "device " : "devices ", absl::StrJoin(away, ","),
                   away.size() == 1 ? " is not" : " are not"));
}

absl::Status ToRows(const MeshContext& mesh, const DeviceGroups& groups, bool all_take_part,
                    GroupRows* result) {
  const auto row_of = RowOfDevice(mesh);
  std::vector<bool> covered(mesh.copies, false);
  result->groups.clear();
  for (int64_t g = 0; g < groups.size(); ++g) {
    std::vector<int64_t> rows, here, away;
    for (const int64_t device : groups.group(g)) {
      const auto it = row_of.find(device);
      (it == row_of.end() ? away : here).push_back(device);
      if (it == row_of.end()) continue;
      rows.push_back(it->second);
      covered[it->second] = true;
    }
    if (!here.empty() && !away.empty()) return PartlyHere("group", here, away, groups.group(g));
    if (!rows.empty()) result->groups.push_back(std::move(rows));
  }
  int64_t in_groups = 0, size = result->groups.empty() ? 0 : result->groups[0].size();
  for (const auto& group : result->groups) {
    in_groups += group.size();
    if (static_cast<int64_t>(group.size()) != size) size = 0;
  }
  if (all_take_part && in_groups != mesh.copies) {
    const int64_t row = std::find(covered.begin(), covered.end(), false) - covered.begin();
    return absl::InvalidArgumentError(absl::StrCat("device ", mesh.DeviceOfRow(row), " is in no group"));
  }
  result->common_size = in_groups == mesh.copies ? size : 0;
  result->one_group = result->groups.size() == 1 && in_groups == mesh.copies;
  return absl::OkStatus();
}

}  // namespace

absl::Status FindGroupRows(OpCall& call, bool all_take_part, const GroupRows** rows) {
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
  if (!cache.full || mesh.devices != nullptr) {
    cache.full = false;
    RETURN_IF_ERROR(ToRows(mesh, cache.groups, all_take_part, &cache.rows));
    cache.full = mesh.devices == nullptr;
  }
  *rows = &cache.rows;
  return absl::OkStatus();
}

absl::Status FindPairRows(OpCall& call, std::vector<std::pair<int64_t, int64_t>>* pairs) {
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
  if (mesh.devices == nullptr) {
    *pairs = cache.pairs;
    return absl::OkStatus();
  }
  const auto row_of = RowOfDevice(mesh);
  for (const auto& [source, target] : cache.pairs) {
    const auto s = row_of.find(source), t = row_of.find(target);
    if (s == row_of.end() && t == row_of.end()) continue;
    if (s == row_of.end()) return PartlyHere("pair", {target}, {source}, {source, target});
    if (t == row_of.end()) return PartlyHere("pair", {source}, {target}, {source, target});
    pairs->emplace_back(s->second, t->second);
  }
  return absl::OkStatus();
}

absl::Status CheckGroupSize(const Shape& small, const Shape& large, int64_t d, int64_t size) {
  const int64_t from = small.dim(static_cast<int>(d)), to = large.dim(static_cast<int>(d));
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
