// Shardings that a permute of tiles makes, on the way to a target.
#pragma once

#include <optional>

#include "hlo/devices/mesh.h"

namespace toroid {

// `state` with its tiles reordered. Each dimension begins with the target's axes there, as many as its tile
// count allows. Behind them stand first the axes that other dimensions of the target lack, in the target's
// order, so that one all-to-all takes them there, then the others. Returns `state` if the remaining axes
// cannot make up the tile counts.
Sharding PermutedTowards(const Mesh& mesh, const Sharding& state, const Sharding& to);

// `state` with its tiles reordered so that each dimension lists the target's axes, then axes to be gathered
// afterwards. Nullopt if a tile count is no multiple of the target's, or the remaining axes cannot make up
// the quotient.
std::optional<Sharding> PermutedTo(const Mesh& mesh, const Sharding& state, const Sharding& to);

}  // namespace toroid
