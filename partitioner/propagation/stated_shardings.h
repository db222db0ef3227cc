// The shardings that the instructions of a module state, in either dialect, before a mesh is chosen.
//
// Two dialects are read: ordinary `sharding` fields (GSPMD: closed, except for a Sharding call's unspecified
// dimensions) and `xla.sdy.*` frontend attributes (Shardy: open and closed dimensions, priorities). In a
// module with Shardy meshes, the attributes count and ordinary shardings are ignored, except for those given
// from outside (Instruction::sharding_is_given). The ordinary dialect counts nevertheless if the module asks to import it
// (`xla.sdy.import_mhlo_shardings`), or if some Sharding call has an ordinary sharding and no Shardy
// sharding.
// BUILD: srcs += "sharding_on_mesh.cc"
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "hlo/devices/hlo_sharding.h"
#include "hlo/io/sdy_sharding.h"
#include "partitioner/propagation/annotations.h"

namespace toroid {

// A sharding, with the facts that a dialect states besides the tiles.
struct StatedSharding {
  HloSharding sharding;
  uint64_t closed = ~uint64_t{0};      // Bit d: propagation must not cut dimension d further.
  std::vector<int> priorities;         // Per dimension; empty: all 0.
  std::vector<SdyAxisRef> replicated;  // Axes of `mesh` that may not cut any dimension.
  std::optional<SdyMesh> mesh;         // The mesh of a Shardy sharding that names axes.
};

struct StatedShardings {
  bool shardy = false;  // Whether Shardy attributes count, not ordinary shardings.
  SdyMeshes meshes;
  int64_t num_devices = 0;           // The number that meshes and shardings name; 0: none does.
  std::optional<DeviceOrder> order;  // The device order that a Shardy mesh states.
  std::vector<std::pair<int, StatedSharding>> tensors;
  // The one device that runs an op with a side effect.
  absl::flat_hash_map<const Instruction*, int64_t> device;
  // The shardings of an outfeed's data operand, per leaf.
  std::vector<std::pair<const Instruction*, std::vector<StatedSharding>>> fed;
};

// Errors: kInvalidArgument "computation/instruction: ..." for shardings that are malformed, do not fit their
// array, or name different numbers of devices.
absl::StatusOr<StatedShardings> ReadStatedShardings(const Module& module, const FlowGraph& graph);

// Converts a Shardy sharding. A mesh without axes over one device gives a maximal sharding.
absl::StatusOr<StatedSharding> FromShardy(const SdySharding& sharding);

// Whether the sharding has a manual or unreduced subgroup. Its devices hold different values, so the mesh
// must be able to express the sharding.
bool HoldsOwnValues(const HloSharding& sharding);

// Converts a stated sharding, which lists devices, to an annotation over the axes of the mesh.
// If the mesh cannot express the sharding's device order, the annotation is foreign: it holds the stated
// sharding, and one with the same number of tiles in mesh order.
// Errors: kUnimplemented for manual or unreduced devices in an order that the mesh cannot express;
// kInvalidArgument if the numbers of tiles are no products of mesh axes.
absl::StatusOr<Annotation> OnMesh(const StatedSharding& stated, const Mesh& mesh, int rank);

// The axes of `mesh` that make up `ref`, an axis or sub-axis of a Shardy mesh. Empty if `mesh` has no such
// axes, for example because the Shardy mesh has another number of devices.
AxisList AxesOnMesh(const std::optional<SdyMesh>& sdy_mesh, const SdyAxisRef& ref, const Mesh& mesh);

}  // namespace toroid
