// Converts a stated sharding, which lists devices, to an annotation over the axes of the mesh.
#pragma once

#include <optional>

#include "absl/status/statusor.h"
#include "hlo/devices/mesh.h"
#include "partitioner/propagation/annotations.h"
#include "partitioner/propagation/stated_shardings.h"

namespace toroid {

// If the mesh cannot express the sharding's device order, the annotation is foreign: it holds the stated
// sharding, and one with the same number of tiles in mesh order.
// Errors: kUnimplemented for manual or unreduced devices in an order that the mesh cannot express;
// kInvalidArgument if the numbers of tiles are no products of mesh axes.
absl::StatusOr<Annotation> OnMesh(const StatedSharding& stated, const Mesh& mesh, int rank);

// The axes of `mesh` that make up `ref`, an axis or sub-axis of a Shardy mesh. Empty if `mesh` has no such
// axes, for example because the Shardy mesh has another number of devices.
AxisList AxesOnMesh(const std::optional<SdyMesh>& sdy_mesh, const SdyAxisRef& ref, const Mesh& mesh);

}  // namespace toroid
