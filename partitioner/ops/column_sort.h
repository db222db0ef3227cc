// Sorts along a cut dimension without gathering it: Leighton's columnsort, one column per tile.
//
// Global:  lines of n rows over s tiles. Each tile is padded to r rows, a multiple of s.
// Shard:   1. each tile sorts its own rows
//          2. row k goes to tile k mod s (an all-to-all): a tile then has every s-th row of all tiles
//          3. each tile sorts the rows it received
//          4. row i goes to tile i / (r / s) (an all-to-all): now every row is at most w = (s - 1)^2 rows from
//             its final place
//          5. each tile sorts the rows it received, and neighbours merge the w rows on either side of their
//             border (two permutes)
//          6. if r is not the result's tile size, a halo exchange moves rows to their tiles
// Example: an unstable sort of f32[8000] over 4: tiles of 2000 rows, w = 9. A device sends 2 x 1500 + 2 x 9
//          rows, which are 12.1 kB; for an all-gather it would send 6000 rows, 24 kB.
// Equal rows: if rows that compare equal differ, each row carries its position as a number from step 3 on,
//          which breaks ties. Padding has the largest number. An operand that counts rows (argsort) serves as
//          the number.
// Requires: r >= 2 w; smaller tiles are padded.
// Source: F. T. Leighton, Tight bounds on the complexity of parallel sorting, IEEE ToC C-34 (1985).
#pragma once

#include <vector>

#include "partitioner/ops/local_program.h"

namespace toroid {

// Emits a `sort` whose sorted dimension is cut. The local results are cut like the operands.
std::vector<Instruction*> ColumnSort(const OpContext& context);

// Emits the sort over other operands, compared by `less`. One result per operand.
std::vector<Instruction*> SortOf(const OpContext& context, absl::Span<Instruction* const> operands,
                                 Computation* less);

// The sort's comparison with a flag (a pred) as one more operand: rows whose flag is set come behind all
// others.
Computation* LessWithFlag(const OpContext& context);

}  // namespace toroid
