#include "explain/page/mesh_section.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "hlo/analysis/device_groups.h"
#include "hlo/base/math.h"
#include "hlo/devices/hlo_sharding.h"
#include "hlo/devices/replica_groups.h"
#include "hlo/devices/spmd_record.h"
#include "hlo/ir/parameter_name.h"
#include "partitioner/provenance/named_axes.h"

namespace toroid {
namespace {

using Json = nlohmann::ordered_json;

// Groups list every device, and there may be many collectives.
constexpr int64_t kMostListedDevices = 1 << 14;
constexpr size_t kMostTensors = 4000;
// Groups of collectives beyond so many devices together are left out.
constexpr int64_t kMostMembers = 1 << 24;

Json ShardingJson(const HloSharding& sharding) {
  Json json = {{"text", sharding.NumDevices() > kMostListedDevices && !sharding.order().is_iota()
                            ? "{tiled over a list of devices}"
                            : sharding.ToString()}};
  switch (sharding.kind()) {
    case HloSharding::Kind::kMaximal:
      json["kind"] = "maximal";
      json["device"] = sharding.maximal_device();
      return json;
    case HloSharding::Kind::kManual:
      json["kind"] = "manual";
      return json;
    case HloSharding::Kind::kTiled:
      break;
    default:
      json["kind"] = "replicated";
      return json;
  }
  json["kind"] = "tiled";
  json["tiles"] = std::vector<int64_t>(sharding.tiles().begin(), sharding.tiles().end());
  const DeviceOrder& order = sharding.order();
  if (order.is_iota()) {
    json["reshape"] = std::vector<int64_t>(order.reshape().begin(), order.reshape().end());
    json["perm"] = std::vector<int>(order.perm().begin(), order.perm().end());
  } else if (order.size() <= kMostListedDevices) {
    json["devices"] = Json::array();
    for (int64_t i = 0; i < order.size(); ++i) json["devices"].push_back(order.DeviceAt(i));
  } else {
    json["kind"] = "unknown";
  }
  return json;
}

void AppendLeaves(const Shape& shape, std::vector<const Shape*>* leaves) {
  if (!shape.IsTuple()) {
    leaves->push_back(&shape);
    return;
  }
  for (const Shape& element : shape.tuple_shapes()) AppendLeaves(element, leaves);
}

std::vector<const Shape*> LeavesOf(const Shape& shape) {
  std::vector<const Shape*> leaves;
  AppendLeaves(shape, &leaves);
  return leaves;
}

class Tensors {
 public:
  // The leaves of an argument or a result. `local`, `global`: their shapes on a device and as a whole.
  void Add(const std::string& name, const char* kind, const Shape& local, const Shape* global,
           const absl::StatusOr<std::vector<HloSharding>>& shardings) {
    if (!shardings.ok()) return;
    const std::vector<const Shape*> leaves = LeavesOf(local);
    const std::vector<const Shape*> whole = global != nullptr ? LeavesOf(*global) : leaves;
    for (size_t i = 0; i < leaves.size() && i < shardings->size(); ++i) {
      if (!leaves[i]->IsArray() || tensors_.size() >= kMostTensors) continue;
      const HloSharding& sharding = (*shardings)[i];
      Json dims = Json::array();
      const bool exact =
          global != nullptr && whole.size() == leaves.size() && whole[i]->rank() == leaves[i]->rank();
      for (int d = 0; d < leaves[i]->rank(); ++d) {
        const int64_t tiles =
            sharding.IsTiled() && d < static_cast<int>(sharding.tiles().size()) ? sharding.tiles()[d] : 1;
        dims.push_back(exact ? whole[i]->dim(d) : SaturatingMultiply(leaves[i]->dim(d), tiles));
      }
      tensors_.push_back({{"name", leaves.size() == 1 ? name : absl::StrCat(name, "{", i, "}")},
                          {"kind", kind},
                          {"type", Shape(leaves[i]->element_type(), {}).ToString()},
                          {"dims", std::move(dims)},
                          {"dims_are_exact", exact},
                          {"sharding", Place(sharding)}});
      sizes_.push_back(sharding.IsTiled() ? sharding : HloSharding());
    }
  }

  Json TakeTensors() { return std::move(tensors_); }
  Json TakeShardings() { return std::move(shardings_); }
  const std::vector<HloSharding>& tiled() const { return sizes_; }

 private:
  int Place(const HloSharding& sharding) {
    Json json = ShardingJson(sharding);
    const auto [it, is_new] = places_.try_emplace(json.dump(), static_cast<int>(shardings_.size()));
    if (is_new) shardings_.push_back(std::move(json));
    return it->second;
  }

  Json tensors_ = Json::array(), shardings_ = Json::array();
  std::map<std::string, int> places_;
  std::vector<HloSharding> sizes_;
};

// The sizes of a mesh, out of the sharding that tells most of them apart.
std::vector<int64_t> SizesOf(const std::vector<HloSharding>& shardings, int64_t n) {
  std::vector<int64_t> best = {n};
  const auto offer = [&](absl::Span<const int64_t> sizes) {
    std::vector<int64_t> own;
    int64_t product = 1;
    for (const int64_t size : sizes) {
      if (size > 1) own.push_back(size);
      product = SaturatingMultiply(product, size);
    }
    if (product == n && own.size() > best.size()) best = std::move(own);
  };
  for (const HloSharding& sharding : shardings) {
    if (!sharding.IsTiled() || !sharding.order().is_iota()) continue;
    const DeviceOrder& order = sharding.order();
    offer(order.reshape());
    if (order.reshape().size() != 1) continue;
    std::vector<int64_t> sizes(sharding.tiles().begin(), sharding.tiles().end());
    for (const auto& subgroup : sharding.subgroups()) sizes.push_back(subgroup.size);
    offer(sizes);
  }
  return best;
}

Json AxesJson(const Module& module, const Module* global, int64_t n,
              const std::vector<HloSharding>& shardings) {
  NamedAxes axes;
  const DeviceOrder plain(n);
  for (const Module* named : {global, &module}) {
    if (named == nullptr || !axes.empty()) continue;
    axes = ShardyAxes(*named, n, &plain);
    if (axes.empty()) axes = GspmdAxes(*named, n);
  }
  if (axes.empty()) {
    for (const int64_t size : SizesOf(shardings, n)) axes.emplace_back("", size);
  }
  Json json = Json::array();
  for (const auto& [name, size] : axes) {
    if (size > 1) json.push_back({{"name", name}, {"size", size}});
  }
  return json;
}

// By device of the first replica the number of its group, or pairs. Null if they are unknown.
Json GroupJson(const Instruction& collective, const DeviceCounts& counts, int64_t n) {
  const int64_t replicas = counts.replicas.value_or(1);
  if (replicas != 1 || n > kMostListedDevices) return nullptr;
  if (collective.opcode() == Opcode::kCollectivePermute ||
      collective.opcode() == Opcode::kCollectivePermuteStart) {
    const auto pairs = ExpandSourceTargetPairs(collective, replicas, n);
    if (!pairs.ok()) return nullptr;
    return {{"pairs", *pairs}};
  }
  const absl::StatusOr<DeviceGroups> groups = ExpandDeviceGroups(collective, replicas, n);
  if (!groups.ok()) return nullptr;
  std::vector<int64_t> of(n, groups->size() == 0 ? 0 : -1);
  for (int64_t g = 0; g < groups->size(); ++g) {
    for (const int64_t device : groups->group(g)) {
      if (device >= 0 && device < n) of[device] = g;
    }
  }
  return {{"group", of}};
}

}  // namespace

MeshSection MakeMeshSection(const Module& module, const Module* global, int64_t num_partitions,
                            absl::Span<const Instruction* const> collectives,
                            absl::Span<const WholeArray> inside) {
  Tensors tensors;
  const Computation& entry = *module.entry();
  const Computation* whole = global != nullptr ? global->entry() : nullptr;
  if (whole != nullptr && whole->num_parameters() != entry.num_parameters()) whole = nullptr;
  for (int i = 0; i < entry.num_parameters(); ++i) {
    tensors.Add(ParameterName(*entry.parameter(i)), "argument", entry.parameter(i)->shape(),
                whole != nullptr ? &whole->parameter(i)->shape() : nullptr, ParameterShardings(module, i));
  }
  tensors.Add("output", "result", entry.root()->shape(), whole != nullptr ? &whole->root()->shape() : nullptr,
              OutputShardings(module));
  for (const WholeArray& array : inside) {
    const std::vector<HloSharding> shardings = {array.sharding};
    tensors.Add(array.name, "value", array.shape, &array.shape, shardings);
  }

  MeshSection out;
  Json groups = Json::array();
  std::map<std::string, int> places;
  absl::flat_hash_map<const Instruction*, int> known;
  const DeviceCounts counts = DeviceCountsOf(module);
  int64_t members = 0;
  for (const Instruction* collective : collectives) {
    const auto [it, is_new] = known.try_emplace(collective, -1);
    if (is_new && (members += num_partitions) <= kMostMembers) {
      Json group = GroupJson(*collective, counts, num_partitions);
      if (!group.is_null()) {
        const auto place = places.try_emplace(group.dump(), static_cast<int>(groups.size()));
        if (place.second) groups.push_back(std::move(group));
        it->second = place.first->second;
      }
    }
    out.groups.push_back(it->second);
  }
  out.json = {{"devices", num_partitions},
              {"axes", AxesJson(module, global, num_partitions, tensors.tiled())},
              {"shardings", tensors.TakeShardings()},
              {"tensors", tensors.TakeTensors()},
              {"groups", std::move(groups)}};
  return out;
}

}  // namespace toroid
