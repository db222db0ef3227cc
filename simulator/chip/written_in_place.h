// What takes no time, as its parts were written where they go.
#pragma once

#include "hlo/ir/instruction.h"
#include "simulator/program/tiling.h"

namespace toroid {

// Two halves, whole tiles, that a group makes from both halves of an array of the same sizes, and nothing else: it writes them to their
// places.
bool IsMadeFromHalves(const Instruction& op, const Tiling& tiling);

// A reshape of what was spread to whole tiles.
bool JoinsSpreadTiles(const Instruction& op, const Tiling& tiling);

}  // namespace toroid
