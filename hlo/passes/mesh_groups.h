// The devices that a collective of a manual region joins, on the same mesh with other sizes.
//
// Groups that are the devices along axes A of the mesh, at each place along the other axes, are those along A again. They keep
// their meaning if the axes A keep their sizes.
//
// Example: {0,2},{1,3} on a=2, b=2 are groups along a; with b=3 they are {0,3},{1,4},{2,5}.
#pragma once

#include "absl/status/statusor.h"
#include "hlo/io/sdy_sharding.h"
#include "hlo/ir/instruction.h"

namespace toroid {

// Returns a proto that holds the groups or the source-target pairs of `collective` alone, as they are on `after`. Without
// groups, or with groups of replicas with all their partitions, all devices are one group. `after` has the axes of `before` and
// the plain order of devices.
// Errors: kInvalidArgument for devices beyond the mesh, groups that are not those along axes, an axis among them that has
// another size, or more than kMaxDevices pairs.
absl::StatusOr<xla::HloInstructionProto> GroupsOnMesh(const Instruction& collective, const SdyMesh& before,
                                                      const SdyMesh& after);

// Gives `collective` the groups or pairs that GroupsOnMesh returned.
void SetGroups(const xla::HloInstructionProto& groups, Instruction* collective);

}  // namespace toroid
