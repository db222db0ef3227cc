// The operand rows that a tile of a result reads, for ops that move tile boundaries: slice, pad, concatenate,
// reverse, windows.
//
// The result's dimension is cut in tiles of t rows; tile i owns rows [i t, (i + 1) t). ReadsOf<Family>
// returns the operand rows that each tile reads. The family's local program fetches them
// (reshard/halo_exchange.h), and assignments count the bytes that this sends (CostOfExchanges in
// op_families.h).
#pragma once

#include <cstdint>

#include "hlo/ir/instruction.h"
#include "partitioner/reshard/halo_plan.h"

namespace toroid {

struct OperandWindows {
  int operand = 0;
  int dim = 0;  // Dimension of the operand.
  TileWindows windows;
  // Rows of the operand's dimension, or fewer: tiles may get unspecified values for rows [size, all).
  int64_t size = 0;
  // Rows of the operand's dimension if `size` is fewer; 0: `size`.
  int64_t all = 0;
};

// Rows per tile of dimension `dim` of the op's first result, cut in `tiles`.
int64_t TileRows(const Instruction& op, int dim, int64_t tiles);

// Windows over the rows that lie in positions [scale i + shift, scale i + shift + span) for tile i, where row
// r lies at position r step. Their length is the largest number of such rows in any tile, at least 1.
// Example: step 2, span 4, scale 4, shift -1: tile 0 covers positions -1 to 2, in which rows 0 and 1 lie:
// length 2.
TileWindows SpreadWindows(int64_t scale, int64_t shift, int64_t span, int64_t step);

}  // namespace toroid
