// Which operand rows a tile of a result reads, for ops that move boundaries: slice, pad, concatenate, reverse, windows.
//
// The result's dimension is cut in tiles of t rows; tile i owns rows [i t, (i + 1) t). Each such op family says in its
// ReadsOf<Family> what they read. Its local program fetches these rows (reshard/halo_exchange.h), and assignments count
// what that sends (CostOfExchanges in op_families.h).
#ifndef TOROID_PARTITIONER_OPS_TILE_WINDOWS_H_
#define TOROID_PARTITIONER_OPS_TILE_WINDOWS_H_

#include <cstdint>
#include <vector>

#include "hlo/ir/instruction.h"
#include "partitioner/reshard/halo_plan.h"

namespace toroid {

struct OperandWindows {
  int operand = 0;
  int dim = 0;  // Of the operand.
  TileWindows windows;
  int64_t size =
      0;            // Rows of what is read, over all its tiles; or fewer, if rows from there on are nobody's.
  int64_t all = 0;  // Rows over all tiles, if `size` is fewer; 0: `size`.
};

// Rows of a tile of dimension `dim` of the result, or of the first of several, cut in `tiles`.
int64_t TileRows(const Instruction& op, int dim, int64_t tiles);

// Rows behind `span` positions from scale i + shift, where the rows stand `step` positions apart: of those that any tile has
// there, no more. Example: rows 2 apart, 4 positions from 4 i - 1 on: positions 0 and 2 of the first tile, two rows.
TileWindows SpreadWindows(int64_t scale, int64_t shift, int64_t span, int64_t step);

}  // namespace toroid

#endif  // TOROID_PARTITIONER_OPS_TILE_WINDOWS_H_
