// From a sharding as it is stated to what is asked of a tensor, over the axes of the mesh.
#ifndef TOROID_PARTITIONER_PROPAGATION_SHARDING_ON_MESH_H_
#define TOROID_PARTITIONER_PROPAGATION_SHARDING_ON_MESH_H_

#include <optional>

#include "absl/status/statusor.h"
#include "hlo/ir/mesh.h"
#include "partitioner/propagation/annotations.h"
#include "partitioner/propagation/stated_shardings.h"

namespace toroid {

// Where the devices of the sharding stand in another order than the mesh's, the annotation is foreign: it has the
// sharding of equal tiles in mesh order, and the one that was stated.
// Errors: kUnimplemented for manual or unreduced devices in another order; kInvalidArgument if the tiles do not fit the
// mesh.
absl::StatusOr<Annotation> OnMesh(const StatedSharding& stated, const Mesh& mesh, int rank);

// The axes of the mesh that an axis, or a part of one, of a Shardy mesh is made of; none if that is over other devices.
AxisList AxesOnMesh(const std::optional<SdyMesh>& sdy_mesh, const SdyAxisRef& ref, const Mesh& mesh);

}  // namespace toroid

#endif  // TOROID_PARTITIONER_PROPAGATION_SHARDING_ON_MESH_H_
