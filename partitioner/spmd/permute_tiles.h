// Permutes of tiles: between shardings of equal tile counts, and between device orders.
//
// A device that already holds its tile keeps it.
// Example: mesh a=2, b=2, x cut [{a}] to [{b}]. Devices 0 and 3 keep their tiles; 1 and 2
// exchange theirs.
#pragma once

#include "partitioner/spmd/spmd_builder.h"

namespace toroid {

// Moves the tiles of x from one sharding to another. Requires: equal tile counts per dimension.
Instruction* PermuteTiles(SpmdBuilder& b, Instruction* x, const Sharding& from, const Sharding& to);

// Permutes tiles between the mesh's device order and another one: `order` lists the devices that hold the
// tiles of `sharding`, row-major, replicas last.
Instruction* FromDeviceOrder(SpmdBuilder& b, Instruction* x, const DeviceOrder& order,
                             const Sharding& sharding);
Instruction* ToDeviceOrder(SpmdBuilder& b, Instruction* x, const DeviceOrder& order,
                           const Sharding& sharding);

}  // namespace toroid
