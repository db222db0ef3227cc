// Concatenations and reshapes that take no time, as whoever made their operands wrote these to the right place.
#pragma once

#include "hlo/ir/instruction.h"
#include "simulator/program/tiling.h"

namespace toroid {

// A concatenation of two halves, each of whole tiles, that one group makes from the two halves of an array of the same sizes,
// and makes nothing else.
bool IsMadeFromHalves(const Instruction& op, const Tiling& tiling);

// A reshape of a broadcast whose pieces are whole tiles.
bool JoinsSpreadTiles(const Instruction& op, const Tiling& tiling);

}  // namespace toroid
