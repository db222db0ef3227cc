#include "hlo/analysis/sharding_stats.h"

#include <algorithm>
#include <cstdint>
#include <map>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "hlo/base/math.h"
#include "hlo/io/mesh_text.h"
#include "hlo/io/module_meshes.h"
#include "hlo/io/sdy_sharding.h"
#include "hlo/io/sharding_text.h"

namespace toroid {
namespace {

constexpr char kSdySharding[] = "xla.sdy.sharding";

int64_t MeshDevices(const xla::MeshProto& mesh) {
  int64_t devices = 1;
  for (const auto& axis : mesh.axes())
    devices = SaturatingMultiply(devices, std::max<int64_t>(axis.size(), 1));
  return devices;
}

// Devices that a sharding names; 1 if it names none.
int64_t DevicesOf(const xla::OpSharding& sharding) {
  if (sharding.has_named_sharding()) return MeshDevices(sharding.named_sharding().mesh());
  int64_t devices = 1;
  for (const xla::OpSharding& leaf : sharding.tuple_shardings()) devices = std::max(devices, DevicesOf(leaf));
  if (sharding.type() != xla::OpSharding::OTHER) return devices;
  int64_t tiles = 1;
  for (const int64_t size : sharding.tile_assignment_dimensions()) {
    tiles = SaturatingMultiply(tiles, std::max<int64_t>(size, 1));
  }
  return std::max(devices, tiles);
}

void AddMeshes(const xla::OpSharding& sharding, int64_t uses, ShardingStats* stats) {
  if (sharding.has_named_sharding() && sharding.named_sharding().mesh().axes_size() > 0) {
    stats->meshes[MeshToString(sharding.named_sharding().mesh())] += uses;
  }
  for (const xla::OpSharding& leaf : sharding.tuple_shardings()) AddMeshes(leaf, uses, stats);
}

// "mesh['x'=2]" for a mesh of the module's frontend attributes.
std::string SdyMeshText(const SdyMesh& mesh) {
  xla::MeshProto proto;
  for (const SdyMesh::Axis& axis : mesh.axes) {
    auto* added = proto.add_axes();
    added->set_name(axis.name);
    added->set_size(axis.size);
  }
  for (const int64_t id : mesh.device_ids) proto.add_device_ids(id);
  return MeshToString(proto);
}

// True if a Shardy text names @mesh.
bool NamesMesh(absl::string_view sharding, absl::string_view mesh) {
  for (const char* after : {",", "\"", ">", " "}) {
    if (sharding.find(absl::StrCat("@", mesh, after)) != absl::string_view::npos) return true;
  }
  return false;
}

}  // namespace

std::string ShardingText(const Instruction& instruction) {
  if (const std::string* sdy = instruction.FrontendAttribute(kSdySharding)) return *sdy;
  return instruction.sharding() == nullptr ? "" : ShardingToString(*instruction.sharding());
}

ShardingStats ComputeShardingStats(const Module& module) {
  ShardingStats stats;
  // Instructions share messages: each message is spelled once.
  absl::flat_hash_map<const xla::OpSharding*, int64_t> uses;
  std::map<std::string, int64_t> sdy_uses;
  for (const auto& computation : module.computations()) {
    for (const auto& instruction : computation->instructions()) {
      if (const std::string* sdy = instruction->FrontendAttribute(kSdySharding)) {
        ++sdy_uses[*sdy];
      } else if (instruction->sharding() != nullptr) {
        ++uses[instruction->sharding()];
      } else {
        ++stats.unannotated;
        continue;
      }
      ++stats.annotated;
    }
  }
  stats.devices = std::max<int64_t>(1, module.config().num_partitions);
  for (const auto& [sharding, count] : uses) {
    stats.distinct[ShardingToString(*sharding)] += count;
    AddMeshes(*sharding, count, &stats);
    stats.devices = std::max(stats.devices, DevicesOf(*sharding));
  }
  for (const auto& [sharding, count] : sdy_uses) stats.distinct[sharding] += count;
  const absl::StatusOr<SdyMeshes> meshes = SdyMeshesOf(module);
  if (!meshes.ok()) return stats;
  for (const auto& [name, mesh] : *meshes) {
    stats.devices = std::max(stats.devices, mesh.NumDevices());
    int64_t& mesh_uses = stats.meshes[SdyMeshText(mesh)];
    for (const auto& [sharding, count] : sdy_uses) {
      if (NamesMesh(sharding, name)) mesh_uses += count;
    }
  }
  return stats;
}

}  // namespace toroid
