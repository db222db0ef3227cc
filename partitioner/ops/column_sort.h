// Sorts along a cut dimension whose tiles stay cut: Leighton's columnsort, one column per tile.
//
// Global:  lines of n rows over s tiles. A tile takes r rows: those that it has, and padding up to a multiple of s.
// Shard:   1. each tile sorts its own rows
//          2. row k goes to tile k mod s (an all-to-all): every tile has every s-th row of all others
//          3. each tile sorts these
//          4. row i goes to tile i / (r / s) (an all-to-all): now every row is at most w = (s - 1)^2 rows from its place
//          5. each tile sorts these, and neighbours merge the w rows on either side of their border (two permutes)
//          6. where r is no tile of the result, rows move to where they belong: a halo exchange
// Example: f32[8000] without an order of equal rows, over 4: tiles of 2000 rows, w = 9. Sent: 2 x 1500 + 2 x 9 rows, 12.1 kB;
//          an all-gather would send 6000, 24 kB.
// Equal rows: where these can be told apart, a number travels with each row from step 4 on, which is greater the later
//          the row stood. Padding has the greatest. An operand that counts rows (argsort) is such a number itself.
// Holds for: r >= 2 w; smaller tiles are padded.
// Source: F. T. Leighton, Tight bounds on the complexity of parallel sorting, IEEE ToC C-34 (1985).
#ifndef TOROID_PARTITIONER_OPS_COLUMN_SORT_H_
#define TOROID_PARTITIONER_OPS_COLUMN_SORT_H_

#include <cstdint>
#include <vector>

#include "partitioner/ops/local_program.h"

namespace toroid {

// A `sort` along a dimension cut in `tiles`.
class ColumnSort {
 public:
  ColumnSort(const Instruction& op, int64_t tiles);

  // Bytes that a device sends, at most. bytes_per_row: of all operands; lines: that lie on a device.
  int64_t SentBytes(double bytes_per_row, double lines) const;

  // The local results, cut as the operands are.
  std::vector<Instruction*> Build(OpContext& context) const;

 private:
  friend class ColumnSortWriter;
  bool IsPadded() const { return rows_ * tiles_ != n_; }

  const Instruction& op_;
  const int dim_;
  const int64_t n_, tiles_, tile_;
  int64_t border_ = 0;    // w
  int64_t rows_ = 0;      // r
  int counter_ = -1;      // The operand that counts rows.
  bool numbers_ = false;  // A number travels with each row.
  PrimitiveType number_type_ = xla::S32;
};

// The operand of a sort that counts rows, up to their number at least; -1: none. Equal rows are in its order, and any device
// can make it.
int CounterOf(const Instruction& op);

// The op over other operands, one result each.
std::vector<Instruction*> SortOf(const OpContext& context, absl::Span<Instruction* const> operands,
                                 Computation* less);

// The comparison of rows with one flag more: rows with a flag come behind all others.
Computation* LessWithFlag(const OpContext& context);

}  // namespace toroid

#endif  // TOROID_PARTITIONER_OPS_COLUMN_SORT_H_
