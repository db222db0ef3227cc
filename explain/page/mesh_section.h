// The devices of a program and what lies on them, as JSON for pages.
//
//   devices    their number
//   axes       [{"name", "size"}, ...] of the mesh, the major axis first, without those of size 1; names are "" where the module names none
//   shardings  each {"text", "kind"}; one of kind "tiled" has "tiles", the number of tiles for each dimension of an array, and the
//              device at each position of the tile assignment (position t * copies + c holds tile t): as an iota, "reshape" and
//              "perm", or as a list, "devices"
//   tensors    arguments, results and values inside the program: {"name", "kind", "type", "dims", "dims_are_exact", "sharding"}; dims of the whole array
//   groups     of collectives: {"group"}, by device the number of its group or -1, or {"pairs"} of a collective-permute
//
// Dims are not exact, but rounded up to whole shards, where only the program of one partition is known.
#pragma once

#include <cstdint>

#include "absl/types/span.h"
#include "explain/page/whole_arrays.h"
#include "hlo/ir/module.h"
#include "nlohmann/json.hpp"

namespace toroid {

struct MeshSection {
  nlohmann::ordered_json json;
  std::vector<int>
      groups;  // By collective: its place in "groups"; -1 if they are unknown or there are too many devices.
};

// `global`: the program before partitioning; null if it is not known. `inside`: arrays inside it.
MeshSection MakeMeshSection(const Module& module, const Module* global, int64_t num_partitions,
                            absl::Span<const Instruction* const> collectives,
                            absl::Span<const WholeArray> inside = {});

}  // namespace toroid
