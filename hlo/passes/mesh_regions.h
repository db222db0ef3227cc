// Manual regions (shard_map) of a module whose mesh gets other sizes.
//
// The body of a region is written for one device: its shapes are those of shards, its collectives list devices. It keeps its
// meaning if every value that enters or leaves is cut into as many parts as before, and if its collectives go over axes that
// keep their sizes; then only the devices they list change. A size of an axis that the body holds as a number of its own
// cannot be seen.
//
// Example: on a mesh a=2, b=2 a region takes x, cut over b, and sums it over b: {0,1},{2,3}. With a=4 it sums over
// {0,1},{2,3},{4,5},{6,7}; with b=4 its body, written for a half of x, is that of another program.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "hlo/io/sdy_sharding.h"
#include "hlo/ir/module.h"

namespace toroid {

struct RegionGroups {
  Instruction* collective = nullptr;
  xla::HloInstructionProto groups;  // As SetGroups takes them.
};

// The size that an axis has afterwards, given the size it has.
using NewAxisSize = absl::FunctionRef<int64_t(const std::string& axis, int64_t size)>;

// Returns the groups of the module's collectives on a mesh with other sizes. Changes nothing.
// Errors: kInvalidArgument, with the instruction, for a region that has a value cut into other parts, or that names its
// devices by number; a collective over an axis with another size (GroupsOnMesh); a device number that a body reads; a
// collective outside of any region.
absl::StatusOr<std::vector<RegionGroups>> RegionsOnMesh(const Module& module, const SdyMeshes& meshes,
                                                        NewAxisSize size_of);

}  // namespace toroid
