#include "partitioner/sharding_search/search_meshes.h"

#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "hlo/base/status.h"
#include "hlo/ir/edit.h"

namespace toroid {
namespace {

struct PricedMesh {
  std::vector<AxisSize> mesh;
  PricedShardings priced;
};

absl::StatusOr<std::unique_ptr<Module>> OnMesh(const Module& module, const std::vector<AxisSize>& mesh) {
  std::unique_ptr<Module> copy = CloneModule(module);
  RETURN_IF_ERROR(ChangeMesh(mesh, copy.get()));
  return copy;
}

}  // namespace

std::vector<std::vector<AxisSize>> MeshesOf(int64_t num_devices) {
  std::vector<std::vector<AxisSize>> meshes = {{{"x", num_devices}}};
  for (int64_t major = 2; major < num_devices; ++major) {
    if (num_devices % major == 0) meshes.push_back({{"x", major}, {"y", num_devices / major}});
  }
  return meshes;
}

absl::StatusOr<MeshFound> FindMeshAndShardings(const Module& module, int64_t num_devices, int most,
                                               const ShardingSearchOptions& options) {
  std::vector<PricedMesh> priced;
  absl::Status failure;
  for (std::vector<AxisSize>& mesh : MeshesOf(num_devices)) {
    ASSIGN_OR_RETURN(const std::unique_ptr<Module> on_mesh, OnMesh(module, mesh));
    const absl::StatusOr<PricedShardings> price = PriceShardings(*on_mesh, options);
    if (!price.ok()) {
      failure.Update(price.status());
      continue;
    }
    priced.push_back({std::move(mesh), *price});
    if (options.solve.cancelled && options.solve.cancelled()) break;
  }
  if (priced.empty()) return failure;
  absl::c_stable_sort(
      priced, [](const PricedMesh& a, const PricedMesh& b) { return a.priced.seconds < b.priced.seconds; });
  std::optional<MeshFound> best;
  for (int i = 0; i < most && i < static_cast<int>(priced.size()); ++i) {
    if (best && priced[i].priced.bound_seconds > best->found.measured.seconds) break;
    ASSIGN_OR_RETURN(const std::unique_ptr<Module> on_mesh, OnMesh(module, priced[i].mesh));
    absl::StatusOr<FoundShardings> found = FindShardings(*on_mesh, options);
    if (!found.ok()) {
      failure.Update(found.status());
      continue;
    }
    if (best && best->found.measured.seconds <= found->measured.seconds) continue;
    best = MeshFound{std::move(priced[i].mesh), *std::move(found)};
  }
  if (!best) return failure;
  return *std::move(best);
}

}  // namespace toroid
